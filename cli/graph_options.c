/* SPDX-License-Identifier: MIT */
/* cli/graph_options.c - --undirected, --columns, --format and their like, and the graph that they make. */
#include "graph_options.h"

#include <stdlib.h>
#include <string.h>

#include "ranks.h"
#include "report.h"

void graph_options_add(arguments *arguments, graph_options *options) {
    const option table[] = {
        {.name = "undirected",
         .kind = OPTION_FLAG,
         .value = &options->undirected,
         .help = "every line of the file is an edge both ways"},
        {.name = "keep-loops",
         .kind = OPTION_FLAG,
         .value = &options->keep_loops,
         .help = "keep edges from a vertex to itself (default: drop them)"},
        {.name = "keep-duplicates",
         .kind = OPTION_FLAG,
         .value = &options->keep_duplicates,
         .help = "keep repeated edges apart (default: one edge, weights summed)"},
        {.name = "keep-gaps",
         .kind = OPTION_FLAG,
         .value = &options->keep_gaps,
         .help = "ids are vertex numbers as they stand (default: close up, keep names)"},
        {.name = "columns",
         .kind = OPTION_TEXT,
         .value = &options->columns,
         .placeholder = "LIST",
         .help = "of src dst weight type time -, such as src,dst,time"},
        {.name = "format",
         .kind = OPTION_TEXT,
         .value = &options->format,
         .placeholder = "NAME",
         .help = "text csv mtx npz gr csaw (default: by content and name)"},
    };
    arguments_add(arguments, table, sizeof table / sizeof table[0]);
}

/* communicator: NULL, or that of ranks that are to hold a part each, by_visits or not. */
static int load(const arguments *arguments, const graph_options *options, const char *path, const void *communicator,
                bool by_visits, csaw_graph **out) {
    static const char *const formats[] = {"text", "csv", "mtx", "npz", "gr", "csaw"};
    bool known = !options->format;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0] && !known; i++)
        known = !strcmp(options->format, formats[i]);
    if (!known) return arguments_wrong(arguments, "--format %s: give text, csv, mtx, npz, gr or csaw", options->format);
    const csaw_load_options load_options = {.size = sizeof load_options,
                                            .format = options->format,
                                            .columns = options->columns,
                                            .undirected = options->undirected,
                                            .keep_loops = options->keep_loops,
                                            .keep_duplicates = options->keep_duplicates,
                                            .keep_gaps = options->keep_gaps};
    const csaw_status status = communicator ? csaw_graph_load_split(path, &load_options, communicator, by_visits, out)
                                            : csaw_graph_load(path, &load_options, out);
    return status == CSAW_OK ? -1 : report_library_failure();
}

int graph_options_load(const arguments *arguments, const graph_options *options, const char *path, csaw_graph **out) {
    return load(arguments, options, path, NULL, false, out);
}

int graph_options_load_for(const arguments *arguments, const graph_options *options, const char *path,
                           const plan_options *plan, bool parts, csaw_graph **out) {
    uint64_t splits = parts && plan->split && !(plan->device && strchr(plan->device, ','));
    ranks_sum(&splits, 1);
    const bool all = ranks_size() > 1 && splits == ranks_size();
    return load(arguments, options, path, all ? ranks_communicator() : NULL, plan->by_visits, out);
}

/* Visiting sources in ascending order, the arcs into v must come in the order of v's own row: one pass over the arcs
 * with one cursor per vertex, no search. */
bool graph_is_symmetric(const csaw_csr *csr) {
    csaw_edge *cursor = allocate(csr->num_vertices, sizeof *cursor);
    bool symmetric = true;
    if (csr->num_vertices) memcpy(cursor, csr->rowptr, csr->num_vertices * sizeof *cursor);
    for (uint64_t v = 0; v < csr->num_vertices && symmetric; v++)
        for (csaw_edge e = csr->rowptr[v]; e < csr->rowptr[v + 1] && symmetric; e++) {
            csaw_vertex u = csr->col[e];
            symmetric = cursor[u] < csr->rowptr[u + 1] && csr->col[cursor[u]] == v;
            cursor[u]++;
        }
    free(cursor);
    return symmetric;
}

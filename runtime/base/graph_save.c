/* SPDX-License-Identifier: MIT */
/* runtime/base/graph_save.c - a graph as a .csaw file, or as the edge list that csaw_graph_load() reads: one arc a line
 * in CSR order, vertices by their names, then weight, type and time where the graph has them. The comment on top gives
 * the columns and, where vertices have no names, how many there are; where they have, `# csaw vertex NAME` stands for
 * each without an arc. So every vertex comes back. Nine digits give every float back. Loops and parallel arcs are
 * written, and come back with keep_loops and keep_duplicates. Names come back in ascending order. */
#include "runtime/base/csaw_file.h"
#include "runtime/base/edge_text.h"
#include "runtime/base/graph.h"
#include "runtime/base/memory.h"
#include "runtime/base/output_file.h"
#include "runtime/base/watch.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

static csaw_status put_arc(const csaw_graph *graph, csaw_vertex v, csaw_edge e, csaw__output *output) {
    const csaw_csr *csr = &graph->csr;
    const bool more = csr->weight || csr->type || csr->time;
    CSAW_TRY(csaw__put_vertex(graph, v, ' ', output));
    CSAW_TRY(csaw__put_vertex(graph, csr->col[e], more ? ' ' : '\n', output));
    return more ? csaw__put_columns(graph, v, e, output) : CSAW_OK;
}

/* Named vertices that no arc tells of. */
static csaw_status put_lone_vertices(const csaw_graph *graph, csaw__output *output) {
    const csaw_csr *csr = &graph->csr;
    bool *entered = NULL;
    csaw_status status = CSAW_OK;
    if (!graph->names.number && !graph->names.offset) return CSAW_OK;
    CSAW_TRY(csaw__alloc_zero(&entered, csr->num_vertices, "marks of vertices"));
    for (csaw_edge e = 0; e < csr->num_edges; e++) entered[csr->col[e]] = true;
    for (uint64_t v = 0; v < csr->num_vertices; v++) {
        if (entered[v] || csr->rowptr[v + 1] > csr->rowptr[v]) continue;
        CSAW_TRY_DONE(csaw__output_put(output, "# csaw vertex ", 14));
        CSAW_TRY_DONE(csaw__put_vertex(graph, (csaw_vertex)v, '\n', output));
    }
done:
    csaw__free(entered);
    return status;
}

static csaw_status put_graph(const csaw_graph *graph, csaw__output *output) {
    const csaw_csr *csr = &graph->csr;
    const bool named = graph->names.number || graph->names.offset;
    char heading[160], vertices[64] = "";
    if (!named && csr->num_vertices)
        snprintf(vertices, sizeof vertices, " vertices 0 to %" PRIu64, csr->num_vertices - 1);
    int length = snprintf(heading, sizeof heading, "# csaw graph: columns src,dst%s%s%s%s\n",
                          csr->weight ? ",weight" : "", csr->type ? ",type" : "", csr->time ? ",time" : "", vertices);
    CSAW_TRY(csaw__output_put(output, heading, (uint64_t)length));
    CSAW_TRY(put_lone_vertices(graph, output));
    for (uint64_t v = 0; v < csr->num_vertices; v++) {
        CSAW_TRY(csaw__go_on());
        for (csaw_edge e = csr->rowptr[v]; e < csr->rowptr[v + 1]; e++)
            CSAW_TRY(put_arc(graph, (csaw_vertex)v, e, output));
    }
    return CSAW_OK;
}

static bool ends_in(const char *path, const char *suffix) {
    const size_t length = path ? strlen(path) : 0, tail = strlen(suffix);
    return length >= tail && strcmp(path + length - tail, suffix) == 0;
}

/* A name by which readers would take the edge list for something else. */
static csaw_status refuse_read_only(const char *path) {
    static const char *const only_read[] = {".csv",    ".tsv",    ".mtx",    ".npz",    ".gr",   ".xz",
                                            ".csv.gz", ".tsv.gz", ".mtx.gz", ".npz.gz", ".gr.gz"};
    CSAW_REQUIRE(!ends_in(path, ".csaw.gz"), CSAW_EINVAL, "%s: csaw files are not compressed; leave .gz off the name",
                 path);
    for (size_t i = 0; i < sizeof only_read / sizeof *only_read; i++)
        CSAW_REQUIRE(
            !ends_in(path, only_read[i]), CSAW_EINVAL,
            "%s: csaw reads %s files but does not write graphs to them; end the path in .csaw, .txt or .txt.gz", path,
            only_read[i]);
    return CSAW_OK;
}

csaw_status csaw_graph_save(const csaw_graph *graph, const char *path) {
    csaw__output *output = NULL;
    CSAW_REQUIRE(graph, CSAW_EINVAL, "the graph to save is NULL; load or make one first");
    CSAW_TRY(csaw__graph_check_whole(graph, "csaw_graph_save"));
    if (ends_in(path, ".csaw")) return csaw__csaw_save(graph, path);
    CSAW_TRY(refuse_read_only(path));
    CSAW_TRY(csaw__output_open(path, ends_in(path, ".gz"), &output));
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(plain);
    csaw_status status = put_graph(graph, output);
    uselocale(before);
    if (plain) freelocale(plain);
    if (status == CSAW_OK) return csaw__output_close(output);
    csaw__output_discard(output);
    return status;
}

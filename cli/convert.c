/* SPDX-License-Identifier: MIT */
/* cli/convert.c - csaw convert: reads a graph in any form and writes it as a .csaw file, which opens at once, or as an
 * edge list; on the way its arcs may be reversed and its vertices renumbered by degree. */
#include <csaw/csaw.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph_options.h"
#include "report.h"

typedef struct convert_options {
    graph_options graph;
    const char *order, *names;
    bool transpose;
} convert_options;

static void add_options(arguments *arguments, convert_options *options) {
    const option own[] = {
        {.name = "order",
         .kind = OPTION_TEXT,
         .value = &options->order,
         .placeholder = "degree",
         .help = "renumber vertices by falling degree: faster walks, same names"},
        {.name = "transpose", .kind = OPTION_FLAG, .value = &options->transpose, .help = "reverse every arc"},
        {.name = "names",
         .kind = OPTION_OUTPUT,
         .value = &options->names,
         .placeholder = "FILE",
         .help = "also write the names: line N + 1 is what vertex N is called"},
    };
    arguments_add(arguments, own, sizeof own / sizeof own[0]);
    graph_options_add(arguments, &options->graph);
}

static bool ends_in(const char *path, const char *suffix) {
    size_t length = strlen(path), tail = strlen(suffix);
    return length >= tail && !strcmp(path + length - tail, suffix);
}

static int check_line(const arguments *arguments, const convert_options *options) {
    static const char *const only_read[] = {".csv",    ".tsv",    ".mtx",    ".npz",    ".gr",   ".xz",
                                            ".csv.gz", ".tsv.gz", ".mtx.gz", ".npz.gz", ".gr.gz"};
    if (arguments->num_operands < 2)
        return arguments_wrong(arguments, "%s is missing: the line is csaw convert IN OUT",
                               arguments->num_operands ? "OUT" : "IN");
    const char *out = arguments->operands[1];
    if (ends_in(out, ".csaw.gz"))
        return arguments_wrong(arguments, "%s: csaw files are not compressed; leave .gz off the name", out);
    for (size_t i = 0; i < sizeof only_read / sizeof only_read[0]; i++)
        if (ends_in(out, only_read[i]))
            return arguments_wrong(
                arguments, "%s: csaw reads %s files but does not write them; give OUT.csaw, OUT.txt or OUT.txt.gz", out,
                only_read[i]);
    if (options->order && strcmp(options->order, "degree"))
        return arguments_wrong(arguments, "--order %s: give degree, or leave it out to keep the order", options->order);
    if ((options->order || options->names) && !ends_in(out, ".csaw"))
        return arguments_wrong(arguments,
                               "--%s is about vertex numbers, and an edge list keeps names alone; give OUT.csaw",
                               options->order ? "order" : "names");
    return arguments_keep_files(arguments, arguments->operands[0], out);
}

/* Replaces *graph by what `make` makes of it. */
static csaw_status replace(csaw_status (*make)(const csaw_graph *, csaw_graph **), csaw_graph **graph) {
    csaw_graph *made = NULL;
    csaw_status status = make(*graph, &made);
    if (status != CSAW_OK) return status;
    csaw_graph_free(*graph);
    *graph = made;
    return CSAW_OK;
}

static int write_names(const csaw_graph *graph, const char *path) {
    const csaw_names names = csaw_graph_names(graph);
    const uint64_t num_vertices = csaw_graph_csr(graph).num_vertices;
    FILE *file = strcmp(path, "-") ? fopen(path, "w") : stdout;
    if (!file) return report_failure("names file %s: %s; check the path and its permissions", path, strerror(errno));
    for (uint64_t v = 0; v < num_vertices; v++) {
        if (names.text)
            fwrite(names.text + names.offset[v], 1, (size_t)(names.offset[v + 1] - names.offset[v]), file);
        else
            fprintf(file, "%" PRId64, names.number ? names.number[v] : (int64_t)v);
        fputc('\n', file);
    }
    if (file == stdout) return EXIT_OK; /* main() sees whether it went out */
    bool lost = ferror(file) != 0;
    if (fclose(file) || lost) {
        int error = errno;
        remove(path);
        return report_failure("names file %s: %s; free space there, or write elsewhere", path, strerror(error));
    }
    return EXIT_OK;
}

static void report_written(const csaw_graph *graph, const char *path) {
    csaw_csr csr = csaw_graph_csr(graph);
    csaw_names names = csaw_graph_names(graph);
    fprintf(stderr, "wrote   %s: %s vertices, %s arcs%s%s%s%s\n", path, count_text(csr.num_vertices).text,
            count_text(csr.num_edges).text, csr.weight ? ", weights" : "", csr.type ? ", types" : "",
            csr.time ? ", times" : "", names.text || names.number ? ", names" : "");
}

static int run(int argc, char **argv) {
    convert_options options = {0};
    arguments arguments = {.command = &convert_command};
    add_options(&arguments, &options);
    int result = arguments_parse(&arguments, argc, argv);
    if (result < 0) result = check_line(&arguments, &options);
    csaw_graph *graph = NULL;
    if (result < 0) result = graph_options_load(&arguments, &options.graph, arguments.operands[0], &graph);
    if (result >= 0) return result;

    csaw_status status = CSAW_OK;
    if (options.transpose) status = replace(csaw_graph_transpose, &graph);
    if (status == CSAW_OK && options.order) status = replace(csaw_graph_by_degree, &graph);
    if (status == CSAW_OK) status = csaw_graph_save(graph, arguments.operands[1]);
    result = status == CSAW_OK ? EXIT_OK : report_library_failure();
    if (result == EXIT_OK) report_written(graph, arguments.operands[1]);
    if (result == EXIT_OK && options.names) result = write_names(graph, options.names);
    csaw_graph_free(graph);
    return result;
}

const command convert_command = {
    .name = "convert",
    .operands = "IN OUT",
    .num_operands = 2,
    .summary = "turn a graph file into a .csaw file, which opens at once",
    .about = "Reads the graph IN and writes it to OUT: a .csaw file if OUT ends so, else an edge list,\n"
             "compressed if OUT ends in .gz. A .csaw file is the graph as it is in memory, with checksums:\n"
             "it opens in milliseconds whatever its size, and every command reads it. The options below say\n"
             "how IN is read; they are not needed again for OUT.\n\n"
             "Vertices keep their names: walks are written in them, seeds are read in them. So a graph in\n"
             "the order of degrees gives walks by the same law as before, faster, since the vertices that\n"
             "walks visit most share cache lines; the walks themselves are others for the same seed number.\n",
    .examples = "  csaw convert graph.txt.gz graph.csaw --undirected\n"
                "  csaw convert ratings.csv ratings.csaw --columns src,dst,weight,time\n"
                "  csaw convert graph.txt graph.csaw --undirected --order degree --names names.txt\n"
                "  csaw convert web.csaw backwards.csaw --transpose\n"
                "  csaw convert graph.csaw graph.txt.gz\n",
    .run = run,
};

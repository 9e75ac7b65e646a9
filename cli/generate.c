/* SPDX-License-Identifier: MIT */
/* cli/generate.c - csaw generate: writes a synthetic graph. */
#include <csaw/csaw.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "report.h"

typedef struct generate_options {
    uint64_t scale, edge_factor, seed;
    bool weighted, directed, keep_isolated;
    const char *output;
} generate_options;

static void add_options(arguments *arguments, generate_options *options) {
    const option own[] = {
        {.name = "scale",
         .kind = OPTION_COUNT,
         .value = &options->scale,
         .placeholder = "N",
         .lowest = 1,
         .highest = 31,
         .help = "2^N vertices, before isolated ones go (default 16)"},
        {.name = "edge-factor",
         .kind = OPTION_COUNT,
         .value = &options->edge_factor,
         .placeholder = "N",
         .lowest = 1,
         .highest = 65536,
         .help = "edges drawn per vertex (default 16)"},
        {.name = "seed",
         .kind = OPTION_COUNT,
         .value = &options->seed,
         .placeholder = "N",
         .highest = UINT64_MAX,
         .help = "another seed, another graph (default 0)"},
        {.name = "weighted",
         .kind = OPTION_FLAG,
         .value = &options->weighted,
         .help = "give weights, uniform on [1, 5)"},
        {.name = "directed",
         .kind = OPTION_FLAG,
         .value = &options->directed,
         .help = "keep arcs one way (default: both ways)"},
        {.name = "keep-isolated",
         .kind = OPTION_FLAG,
         .value = &options->keep_isolated,
         .help = "keep vertices without edges (default: drop them, close up ids)"},
        {.name = "output",
         .letter = 'o',
         .kind = OPTION_TEXT,
         .value = &options->output,
         .placeholder = "FILE",
         .help = "where to write; compressed if it ends in .gz"},
    };
    arguments_add(arguments, own, sizeof own / sizeof own[0]);
}

static int run(int argc, char **argv) {
    generate_options options = {.scale = 16, .edge_factor = 16};
    arguments arguments = {.command = &generate_command};
    add_options(&arguments, &options);
    int result = arguments_parse(&arguments, argc, argv);
    if (result >= 0) return result;
    if (!arguments.num_operands || strcmp(arguments.operands[0], "rmat"))
        return arguments_wrong(&arguments, "which model? There is one: csaw generate rmat");
    if (!options.output) return arguments_wrong(&arguments, "-o FILE is missing: where should the graph go?");

    csaw_graph *graph = NULL;
    csaw_status status = csaw_graph_rmat(
        CSAW_RMAT(.scale = (uint32_t)options.scale, .edge_factor = (uint32_t)options.edge_factor, .seed = options.seed,
                  .weighted = options.weighted, .directed = options.directed, .keep_isolated = options.keep_isolated),
        &graph);
    if (status == CSAW_OK) status = csaw_graph_save(graph, options.output);
    if (status == CSAW_OK) {
        csaw_csr csr = csaw_graph_csr(graph);
        fprintf(stderr, "wrote   %s: %s vertices, %s arcs%s%s\n", options.output, count_text(csr.num_vertices).text,
                count_text(csr.num_edges).text, options.weighted ? ", weighted" : "",
                options.directed ? "" : "; both directions are in the file, so --undirected is not needed");
    }
    csaw_graph_free(graph);
    return status == CSAW_OK ? EXIT_OK : report_library_failure();
}

const command generate_command = {
    .name = "generate",
    .operands = "rmat",
    .num_operands = 1,
    .summary = "write a synthetic graph",
    .about = "Writes an R-MAT graph (Chakrabarti, Zhan, Faloutsos, 2004; the quadrants of Graph500) as an\n"
             "edge list. Loops and repeated edges are removed. Equal options give the equal graph.\n",
    .examples = "  csaw generate rmat --scale 16 --seed 1 -o graph.txt\n"
                "  csaw generate rmat --scale 20 --edge-factor 8 --weighted -o graph.txt.gz\n",
    .run = run,
};

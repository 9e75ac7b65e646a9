/* SPDX-License-Identifier: MIT */
/* cli/info.c - csaw info: what kind of graph a file holds, and whether walks on it will meet dead ends. */
#include <csaw/csaw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph_options.h"
#include "report.h"

typedef struct facts {
    bool symmetric;
    uint64_t loops, parallel, dead_ends, isolated; /* arcs, arcs, vertices, vertices */
    uint64_t least, median, most;                  /* out-degree */
    double weight_least, weight_most;
    uint64_t bytes; /* of the CSR */
} facts;

static int compare_degrees(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void measure_degrees(const csaw_csr *csr, const bool *entered, facts *facts) {
    uint64_t n = csr->num_vertices, *degree = allocate(n, sizeof *degree);
    for (uint64_t v = 0; v < n; v++) {
        degree[v] = csr->rowptr[v + 1] - csr->rowptr[v];
        facts->dead_ends += degree[v] == 0;
        facts->isolated += degree[v] == 0 && !entered[v];
    }
    qsort(degree, n, sizeof *degree, compare_degrees);
    if (n) {
        facts->least = degree[0];
        facts->median = degree[(n - 1) / 2];
        facts->most = degree[n - 1];
    }
    free(degree);
}

static facts measure(const csaw_csr *csr) {
    facts facts = {.symmetric = graph_is_symmetric(csr)};
    bool *entered = allocate(csr->num_vertices, sizeof *entered);
    for (uint64_t v = 0; v < csr->num_vertices; v++)
        for (csaw_edge e = csr->rowptr[v]; e < csr->rowptr[v + 1]; e++) {
            facts.loops += csr->col[e] == v;
            facts.parallel += e > csr->rowptr[v] && csr->col[e] == csr->col[e - 1];
            entered[csr->col[e]] = true;
        }
    measure_degrees(csr, entered, &facts);
    free(entered);
    for (csaw_edge e = 0; csr->weight && e < csr->num_edges; e++) {
        double weight = (double)csr->weight[e];
        if (e == 0 || weight < facts.weight_least) facts.weight_least = weight;
        if (e == 0 || weight > facts.weight_most) facts.weight_most = weight;
    }
    facts.bytes = (csr->num_vertices + 1) * sizeof *csr->rowptr + csr->num_edges * sizeof *csr->col +
                  (csr->weight ? csr->num_edges * sizeof *csr->weight : 0);
    return facts;
}

static double mean_degree(const csaw_csr *csr) {
    return csr->num_vertices ? (double)csr->num_edges / (double)csr->num_vertices : 0;
}

static void print_text(const char *path, const csaw_csr *csr, const facts *facts) {
    printf("graph       %s\n", path);
    printf("vertices    %s\n", count_text(csr->num_vertices).text);
    printf("arcs        %s\n", count_text(csr->num_edges).text);
    printf("symmetric   %s\n", facts->symmetric ? "yes: every arc is there both ways"
                                                : "no: some arcs go one way only; --undirected would add the other");
    if (csr->weight)
        printf("weights     from %g to %g\n", facts->weight_least, facts->weight_most);
    else
        printf("weights     none\n");
    printf("out-degree  least %s, median %s, mean %.4g, most %s\n", count_text(facts->least).text,
           count_text(facts->median).text, mean_degree(csr), count_text(facts->most).text);
    printf("dead ends   %s vertices without arcs out, %s of them without arcs in\n", count_text(facts->dead_ends).text,
           count_text(facts->isolated).text);
    printf("loops       %s\n", count_text(facts->loops).text);
    printf("parallel    %s arcs repeat another\n", count_text(facts->parallel).text);
    printf("memory      %s\n", bytes_text(facts->bytes).text);
}

static void print_json(const char *path, const csaw_csr *csr, const facts *facts) {
    json_open(stdout, "info");
    fputs(", \"graph\": ", stdout);
    json_text(stdout, path);
    printf(", \"vertices\": %" PRIu64 ", \"arcs\": %" PRIu64 ", \"symmetric\": %s, \"weighted\": %s", csr->num_vertices,
           csr->num_edges, facts->symmetric ? "true" : "false", csr->weight ? "true" : "false");
    if (csr->weight) printf(", \"weight_least\": %.9g, \"weight_most\": %.9g", facts->weight_least, facts->weight_most);
    printf(", \"degree_least\": %" PRIu64 ", \"degree_median\": %" PRIu64
           ", \"degree_mean\": %.9g, \"degree_most\": %" PRIu64,
           facts->least, facts->median, mean_degree(csr), facts->most);
    printf(", \"dead_ends\": %" PRIu64 ", \"isolated\": %" PRIu64 ", \"loops\": %" PRIu64 ", \"parallel\": %" PRIu64
           ", \"bytes\": %" PRIu64 "}\n",
           facts->dead_ends, facts->isolated, facts->loops, facts->parallel, facts->bytes);
}

static int run(int argc, char **argv) {
    graph_options graph_options = {0};
    bool json = false;
    const option own[] = {
        {.name = "json", .kind = OPTION_FLAG, .value = &json, .help = "print one JSON object instead"}};
    arguments arguments = {.command = &info_command};
    graph_options_add(&arguments, &graph_options);
    arguments_add(&arguments, own, 1);
    int result = arguments_parse(&arguments, argc, argv);
    if (result >= 0) return result;
    if (!arguments.num_operands) return arguments_wrong(&arguments, "GRAPH is missing: which file holds the graph?");

    csaw_graph *graph = NULL;
    result = graph_options_load(&arguments, &graph_options, arguments.operands[0], &graph);
    if (result >= 0) return result;
    csaw_csr csr = csaw_graph_csr(graph);
    facts facts = measure(&csr);
    (json ? print_json : print_text)(arguments.operands[0], &csr, &facts);
    csaw_graph_free(graph);
    return EXIT_OK;
}

const command info_command = {
    .name = "info",
    .operands = "GRAPH",
    .num_operands = 1,
    .summary = "describe a graph file",
    .about = "Reads a graph as csaw walk would and describes it. An edge list has one edge a line,\n"
             "`src dst` or `src dst weight`, separated by blanks, tabs or commas; lines that start with\n"
             "# or % are comments; a file may be compressed with gzip. An arc is an edge in one direction.\n",
    .examples = "  csaw info data/karate.txt --undirected\n"
                "  csaw info graph.txt.gz --json\n",
    .run = run,
};

/* SPDX-License-Identifier: MIT */
/* cli/info.c - csaw info: what kind of graph a file holds, and whether walks on it will meet dead ends. */
#include <csaw/csaw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_options.h"
#include "report.h"

enum { LEAST, QUARTER, MEDIAN, THREE_QUARTERS, PERCENT_99, MOST, NUM_QUANTILES };
static const double quantiles[NUM_QUANTILES] = {0, 0.25, 0.5, 0.75, 0.99, 1};

typedef struct facts {
    bool symmetric, verified;
    uint64_t loops, parallel, dead_ends, isolated; /* arcs, arcs, vertices, vertices */
    uint64_t degree[NUM_QUANTILES];                /* out-degree */
    double weight_least, weight_most;
    uint32_t type_least, type_most;
    int64_t time_least, time_most;
    uint64_t bytes; /* of the CSR and the names */
    uint64_t checksum;
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
    for (int q = 0; q < NUM_QUANTILES && n; q++) facts->degree[q] = degree[(uint64_t)(quantiles[q] * (double)(n - 1))];
    free(degree);
}

/* The least and the largest of an array, or of none. */
#define MEASURE_RANGE(COUNT, ARRAY, LEAST_OUT, MOST_OUT)                  \
    for (uint64_t i = 0; (ARRAY) && i < (COUNT); i++) {                   \
        if (i == 0 || (ARRAY)[i] < (LEAST_OUT)) (LEAST_OUT) = (ARRAY)[i]; \
        if (i == 0 || (ARRAY)[i] > (MOST_OUT)) (MOST_OUT) = (ARRAY)[i];   \
    }

static facts measure(const csaw_graph *graph) {
    const csaw_csr csr = csaw_graph_csr(graph);
    const csaw_names names = csaw_graph_names(graph);
    const uint64_t n = csr.num_vertices, m = csr.num_edges;
    facts facts = {.symmetric = graph_is_symmetric(&csr), .checksum = csaw_graph_checksum(graph)};
    bool *entered = allocate(n, sizeof *entered);
    for (uint64_t v = 0; v < n; v++)
        for (csaw_edge e = csr.rowptr[v]; e < csr.rowptr[v + 1]; e++) {
            facts.loops += csr.col[e] == v;
            facts.parallel += e > csr.rowptr[v] && csr.col[e] == csr.col[e - 1];
            entered[csr.col[e]] = true;
        }
    measure_degrees(&csr, entered, &facts);
    free(entered);
    MEASURE_RANGE(m, csr.weight, facts.weight_least, facts.weight_most)
    MEASURE_RANGE(m, csr.type, facts.type_least, facts.type_most)
    MEASURE_RANGE(m, csr.time, facts.time_least, facts.time_most)
    facts.bytes = (n + 1) * sizeof *csr.rowptr + m * sizeof *csr.col + (csr.weight ? m * sizeof *csr.weight : 0) +
                  (csr.type ? m * sizeof *csr.type : 0) + (csr.time ? m * sizeof *csr.time : 0) +
                  (names.number ? n * sizeof *names.number : 0) +
                  (names.text ? (n + 1) * sizeof *names.offset + names.offset[n] : 0);
    return facts;
}

static double mean_degree(const csaw_csr *csr) {
    return csr->num_vertices ? (double)csr->num_edges / (double)csr->num_vertices : 0;
}

static const char *names_kind(const csaw_names *names) {
    return names->text ? "words" : names->number ? "numbers" : "none";
}

static void print_columns(const csaw_csr *csr, const facts *facts) {
    if (csr->weight)
        printf("weights     from %g to %g\n", facts->weight_least, facts->weight_most);
    else
        printf("weights     none\n");
    if (csr->type) printf("types       from %" PRIu32 " to %" PRIu32 "\n", facts->type_least, facts->type_most);
    if (csr->time) printf("times       from %" PRId64 " to %" PRId64 "\n", facts->time_least, facts->time_most);
}

static void print_names(const csaw_graph *graph) {
    const csaw_names names = csaw_graph_names(graph);
    const uint64_t n = csaw_graph_csr(graph).num_vertices;
    if (names.text && n)
        printf("names       words, vertex 0 is called '%.*s'\n", (int)(names.offset[1] < 60 ? names.offset[1] : 60),
               names.text);
    else if (names.number && n)
        printf("names       numbers, vertex 0 is called %" PRId64 "\n", names.number[0]);
    else
        printf("names       none: vertices are called by their numbers\n");
}

static void print_text(const char *path, const csaw_graph *graph, const facts *facts) {
    const csaw_csr csr = csaw_graph_csr(graph);
    const uint64_t *degree = facts->degree;
    printf("graph       %s\n", path);
    printf("vertices    %s\n", count_text(csr.num_vertices).text);
    printf("arcs        %s\n", count_text(csr.num_edges).text);
    printf("symmetric   %s\n", facts->symmetric ? "yes: every arc is there both ways"
                                                : "no: some arcs go one way only; --undirected would add the other");
    print_columns(&csr, facts);
    print_names(graph);
    printf("out-degree  least %s, median %s, mean %.4g, most %s\n", count_text(degree[LEAST]).text,
           count_text(degree[MEDIAN]).text, mean_degree(&csr), count_text(degree[MOST]).text);
    printf("quantiles   25%% of out-degrees are at most %s, 75%% %s, 99%% %s\n", count_text(degree[QUARTER]).text,
           count_text(degree[THREE_QUARTERS]).text, count_text(degree[PERCENT_99]).text);
    printf("dead ends   %s vertices without arcs out, %s of them without arcs in\n", count_text(facts->dead_ends).text,
           count_text(facts->isolated).text);
    printf("loops       %s\n", count_text(facts->loops).text);
    printf("parallel    %s arcs repeat another\n", count_text(facts->parallel).text);
    printf("memory      %s\n", bytes_text(facts->bytes).text);
    printf("checksum    %016" PRIx64 "\n", facts->checksum);
    if (facts->verified) printf("verified    every checksum of the file is right\n");
}

static void print_json(const char *path, const csaw_graph *graph, const facts *facts) {
    const csaw_csr csr = csaw_graph_csr(graph);
    const csaw_names names = csaw_graph_names(graph);
    const uint64_t *degree = facts->degree;
    json_open(stdout, "info");
    fputs(", \"graph\": ", stdout);
    json_text(stdout, path);
    printf(", \"vertices\": %" PRIu64 ", \"arcs\": %" PRIu64 ", \"symmetric\": %s, \"weighted\": %s", csr.num_vertices,
           csr.num_edges, facts->symmetric ? "true" : "false", csr.weight ? "true" : "false");
    if (csr.weight) {
        json_real(stdout, "weight_least", facts->weight_least);
        json_real(stdout, "weight_most", facts->weight_most);
    }
    printf(", \"typed\": %s", csr.type ? "true" : "false");
    if (csr.type) printf(", \"type_least\": %" PRIu32 ", \"type_most\": %" PRIu32, facts->type_least, facts->type_most);
    printf(", \"timed\": %s", csr.time ? "true" : "false");
    if (csr.time) printf(", \"time_least\": %" PRId64 ", \"time_most\": %" PRId64, facts->time_least, facts->time_most);
    printf(", \"names\": \"%s\"", names_kind(&names));
    printf(", \"degree_least\": %" PRIu64 ", \"degree_25\": %" PRIu64 ", \"degree_median\": %" PRIu64
           ", \"degree_75\": %" PRIu64 ", \"degree_99\": %" PRIu64 ", \"degree_mean\": %.9g, \"degree_most\": %" PRIu64,
           degree[LEAST], degree[QUARTER], degree[MEDIAN], degree[THREE_QUARTERS], degree[PERCENT_99],
           mean_degree(&csr), degree[MOST]);
    printf(", \"dead_ends\": %" PRIu64 ", \"isolated\": %" PRIu64 ", \"loops\": %" PRIu64 ", \"parallel\": %" PRIu64
           ", \"bytes\": %" PRIu64 ", \"checksum\": \"%016" PRIx64 "\", \"verified\": %s}\n",
           facts->dead_ends, facts->isolated, facts->loops, facts->parallel, facts->bytes, facts->checksum,
           facts->verified ? "true" : "false");
}

/* -1, or the exit code after saying what is wrong with the file. */
static int verify(const char *path) {
    csaw_status status = csaw_graph_verify_file(path);
    if (status == CSAW_OK) return -1;
    report_library_failure();
    return status == CSAW_EFORMAT ? EXIT_UNVERIFIED : EXIT_FAILED;
}

static int run(int argc, char **argv) {
    graph_options graph_options = {0};
    bool json = false, verified = false;
    const option own[] = {
        {.name = "verify",
         .kind = OPTION_FLAG,
         .value = &verified,
         .help = "first compare all checksums of a .csaw file with its contents"},
        {.name = "json", .kind = OPTION_FLAG, .value = &json, .help = "print one JSON object instead"}};
    arguments arguments = {.command = &info_command};
    graph_options_add(&arguments, &graph_options);
    arguments_add(&arguments, own, sizeof own / sizeof own[0]);
    int result = arguments_parse(&arguments, argc, argv);
    if (result >= 0) return result;
    if (!arguments.num_operands) return arguments_wrong(&arguments, "GRAPH is missing: which file holds the graph?");

    csaw_graph *graph = NULL;
    if (verified) result = verify(arguments.operands[0]);
    if (result < 0) result = graph_options_load(&arguments, &graph_options, arguments.operands[0], &graph);
    if (result >= 0) return result;
    facts facts = measure(graph);
    facts.verified = verified;
    (json ? print_json : print_text)(arguments.operands[0], graph, &facts);
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
             "# or % are comments. Read as well: CSV, MatrixMarket, scipy npz, DIMACS .gr and .csaw; gzip\n"
             "and xz are recognised. An arc is an edge in one direction. Graphs with equal checksums are\n"
             "equal in arcs, weights, types, times and names. Exit code 3: --verify found damage.\n",
    .examples = "  csaw info data/karate.txt --undirected\n"
                "  csaw info graph.csaw --verify\n"
                "  csaw info graph.txt.gz --json\n",
    .run = run,
};

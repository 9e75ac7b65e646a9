/* SPDX-License-Identifier: MIT */
/* bench/graph_choice.h - which graph a benchmark of aggregation runs on, by options that several have:
 *
 *   --graph NAME          rmat; reddit, products or arxiv (bench/zipf.h); or a file of any format that csaw loads
 *   --share F             of a zipf graph's vertices and draws, above 0 and up to 1
 *   --scale N, --edge-factor N    of R-MAT
 *   --undirected 0|1      1: the reverse of every edge of a file is added */
#ifndef CSAW_BENCH_GRAPH_CHOICE_H
#define CSAW_BENCH_GRAPH_CHOICE_H

#include <csaw/csaw.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graph_choice {
    const char *name;
    double share;
    uint32_t scale, edge_factor;
    bool undirected;
} graph_choice;

#define GRAPH_CHOICE \
    { "rmat", 1, 18, 16, false } /* by default */

/* Whether the option is one of these, whose value is taken then. */
bool reads_graph(graph_choice *s, const char *name, const char *value);

/* With weights: those of a file that has none are 1. Ends the program with a message if there is no such graph. */
csaw_graph *graph_of(const graph_choice *s);

/* {"kind": ..., "scale": ..., ...}, sizes included. */
void print_graph(FILE *json, const graph_choice *s, const csaw_graph *graph);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/* bench/parts_settings.h - what parts_bench or largest_bench is to do: its options, and the graph that they name. */
#ifndef CSAW_BENCH_PARTS_SETTINGS_H
#define CSAW_BENCH_PARTS_SETTINGS_H

#include <csaw/csaw.h>

typedef struct parts_settings {
    uint32_t scale, edge_factor, seed, undirected, weighted, memory /* KiB */, partitions, resident, streams, walks,
        few, length, ablation, repeat, in_memory;
    const char *graph, *name, *device, *only, *ways, *select, *p, *q, *json, *commit;
} parts_settings;

/* Ends the program where an option is unknown. */
parts_settings parts_settings_read(int argc, char **argv);

/* The graph of the run; file: what it borrows its arrays from, or NULL. */
typedef struct parts_graph {
    csaw_graph *graph, *file;
    double seconds;          /* that making or reading it took */
    const char *kind;        /* "rmat", "file" or "random" */
    char name[512], how[64]; /* what is said of it: "R-MAT 22", "edge factor 16, seed 1, made" */
    char json[96];           /* members that tell how it was made, each with a comma behind it */
} parts_graph;

parts_graph parts_graph_open(const parts_settings *settings);
void parts_graph_close(parts_graph *graph);
/* Evenly over the vertices: neighbours often have numbers close by, and so are in the same partition. 0: all of them,
 * in order. vertex, or NULL: to be freed. */
csaw_seeds parts_seeds(uint64_t count, uint64_t vertices);
double parts_graph_bytes(const csaw_csr *csr); /* of offsets, destinations and weights */

#endif

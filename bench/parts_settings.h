/* SPDX-License-Identifier: MIT */
/* bench/parts_settings.h - what a run of parts_bench is to do: its options, and the graph that they name. */
#ifndef CSAW_BENCH_PARTS_SETTINGS_H
#define CSAW_BENCH_PARTS_SETTINGS_H

#include <csaw/csaw.h>

typedef struct parts_settings {
    uint32_t scale, edge_factor, seed, undirected, memory /* KiB */, partitions, resident, streams, walks, few, length,
        ablation, repeat, in_memory;
    const char *graph, *name, *device, *only, *ways, *p, *q, *json, *commit;
} parts_settings;

/* Ends the program where an option is unknown. */
parts_settings parts_settings_read(int argc, char **argv);

/* The graph of the run; file: what it borrows its arrays from, or NULL. */
typedef struct parts_graph {
    csaw_graph *graph, *file;
    double seconds; /* that making or reading it took */
} parts_graph;

parts_graph parts_graph_open(const parts_settings *settings);
void parts_graph_close(parts_graph *graph);
double parts_graph_bytes(const csaw_csr *csr); /* of offsets and destinations */

#endif

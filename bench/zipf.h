/* SPDX-License-Identifier: MIT */
/* bench/zipf.h - graphs of the sizes of Reddit, ogbn-products and ogbn-arxiv with a power law of degrees, for SpMM. */
#ifndef CSAW_BENCH_ZIPF_H
#define CSAW_BENCH_ZIPF_H

#include <csaw/csaw.h>

typedef struct zipf_shape {
    const char *name;
    uint64_t num_vertices, num_draws;
} zipf_shape;

/* "reddit", "products" or "arxiv"; NULL if it is none of them. */
const zipf_shape *zipf_shape_of(const char *name);

/* num_draws pairs (row, column), each end of rank floor(u^2.5 num_vertices), so that the density of a rank is
 * proportional to rank^-0.6; one random permutation of ranks for rows and columns alike, duplicates removed, loops
 * kept, rows sorted, weights uniform in [0, 1). Ends the program with a message on failure. */
csaw_graph *zipf_graph(const zipf_shape *shape, uint64_t seed);

#endif

/* SPDX-License-Identifier: MIT */
/* bench/hand_walks.h - walks written by hand for one algorithm each: what csaw's general loops are measured against. */
#ifndef CSAW_BENCH_HAND_WALKS_H
#define CSAW_BENCH_HAND_WALKS_H

#include <csaw/csaw.h>

typedef struct hand_alias {
    uint32_t threshold;
    csaw_vertex own, other;
} hand_alias;

/* Memory as csaw's own arrays have it, in huge pages where the system gives them; release with free(). */
void *hand_alloc(uint64_t count, uint64_t size);

/* Walk i < num_walks starts at vertex i. path: [num_walks, length + 1] row-major. */
void hand_uniform(const csaw_csr *csr, uint64_t num_walks, uint32_t length, uint64_t seed, csaw_vertex *path);
/* table: [num_edges], by hand_alias_build(). */
void hand_weighted(const csaw_csr *csr, const hand_alias *table, uint64_t num_walks, uint32_t length, uint64_t seed,
                   csaw_vertex *path);
void hand_alias_build(const csaw_csr *csr, hand_alias *table);
/* Rejection on uniform proposals, weights by rejection too (largest: the largest weight), return arc folded apart. */
void hand_node2vec(const csaw_csr *csr, float p, float q, float largest, uint64_t num_walks, uint32_t length,
                   uint64_t seed, csaw_vertex *path);

#endif

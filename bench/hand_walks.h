/* SPDX-License-Identifier: MIT */
/* bench/hand_walks.h - walks written by hand for one algorithm each: what csaw's general loops are measured against. */
#ifndef CSAW_BENCH_HAND_WALKS_H
#define CSAW_BENCH_HAND_WALKS_H

#include <csaw/csaw.h>

typedef struct hand_alias {
    uint32_t threshold;
    csaw_vertex own, other;
} hand_alias;

/* path: [num_vertices, length + 1] row-major, one walk per vertex. */
void hand_uniform(const csaw_csr *csr, uint32_t length, uint64_t seed, csaw_vertex *path);
/* table: [num_edges], by hand_alias_build(). */
void hand_weighted(const csaw_csr *csr, const hand_alias *table, uint32_t length, uint64_t seed, csaw_vertex *path);
void hand_alias_build(const csaw_csr *csr, hand_alias *table);
/* Rejection on uniform proposals, weights by rejection too (largest: the largest weight), return arc folded apart. */
void hand_node2vec(const csaw_csr *csr, float p, float q, float largest, uint32_t length, uint64_t seed,
                   csaw_vertex *path);

#endif

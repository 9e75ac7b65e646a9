/* SPDX-License-Identifier: MIT */
/* bench/hand_samples.h - two-hop neighbour sampling written by hand, to compare with. */
#ifndef CSAW_BENCH_HAND_SAMPLES_H
#define CSAW_BENCH_HAND_SAMPLES_H

#include <csaw/csaw.h>

#include "bench/hand_walks.h"

typedef struct hand_sample { /* of one batch */
    csaw_vertex *src, *dst;
    csaw_edge *edge;
    uint64_t count, room;
} hand_sample;

/* For every batch j of seed[offset[j] .. offset[j + 1] - 1]: fanout[d] distinct arcs of every vertex that was reached
 * at hop d, each vertex once a hop, uniformly, or by weight where a table is given. Batches are dealt to threads; out:
 * [num_batches], arrays kept from call to call. into_l2: memory is asked for into L2, not L1. Returns the arcs of all.
 */
uint64_t hand_neighbors(const csaw_csr *csr, const hand_alias *table, const csaw_vertex *seed, const uint64_t *offset,
                        uint64_t num_batches, const uint32_t *fanout, uint32_t hops, uint64_t number, bool into_l2,
                        hand_sample *out);

#endif

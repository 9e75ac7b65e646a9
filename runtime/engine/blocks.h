/* SPDX-License-Identifier: MIT */
/* runtime/engine/blocks.h - what stands behind a csaw_blocks, on the host or on a GPU. */
#ifndef CSAW_ENGINE_BLOCKS_H
#define CSAW_ENGINE_BLOCKS_H

#include "runtime/engine/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct csaw_blocks {
    csaw_space space; /* of vertex, rowptr, col and edge; the other arrays are the host's */
    uint64_t num_instances;
    uint32_t depth;
    uint64_t *vertex_offset; /* [num_instances + 1] */
    /* One block of memory, in this order, which a GPU fills at once: */
    uint64_t *visited;    /* [num_instances, depth + 1] vertices before the picks of each depth; at last all */
    uint64_t *row_offset; /* [num_instances * depth + 1] where the rows of each block begin in rowptr */
    uint64_t *arc_offset; /* [num_instances * depth + 1] where its arcs begin in col and edge */
    uint64_t *unordered;  /* [1] not 0: a GPU had to sort its arcs */
    csaw_vertex *vertex;  /* [vertex_offset[num_instances]] */
    uint64_t *rowptr;
    csaw_vertex *col;
    csaw_edge *edge;
    csaw__device
        *device; /* of CSAW_DEVICE: whose memory that is, of which edge is the beginning; NULL = none is held */
};

/* Words of that block. */
static inline uint64_t csaw__blocks_words(uint64_t instances, uint32_t depth) {
    return instances * (3 * (uint64_t)depth + 1) + 3;
}

/* csaw_blocks_create_in(), but that those in device memory may be on their way, in the engine's stream. */
csaw_status csaw__blocks_make(csaw_samples *samples, csaw_space space, csaw_blocks **out);

/* Blocks of samples of one GPU, in its memory, from arcs there, in the engine's stream, which is waited for only to
 * learn sizes. Samples that are walks have their arcs from the host. blocks: with room in the host's arrays, and
 * vertex_offset[0] = 0. */
csaw_status csaw__device_blocks(csaw_samples *samples, csaw_blocks *blocks);
csaw_status csaw__device_blocks_wait(const csaw_blocks *blocks); /* until they are there */
/* The first vertices of instance 0, to the host; waits likewise. */
csaw_status csaw__device_blocks_begin(const csaw_blocks *blocks, uint64_t count, csaw_vertex *to);
void csaw__device_blocks_free(csaw_blocks *blocks); /* in the order of that stream */

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* runtime/base/csr_build.h - from an edge list in any order to a CSR with ascending rows. */
#ifndef CSAW_BASE_CSR_BUILD_H
#define CSAW_BASE_CSR_BUILD_H

#include "runtime/base/columns.h"

/* A stretch of an edge list. A list is an array of them, so that a reader need not know its length beforehand. */
typedef struct csaw__edge_segment {
    const csaw_vertex *src, *dst; /* [count] */
    const float *weight;          /* [count]; NULL in all segments of a list or in none; so type and time */
    const uint32_t *type;
    const int64_t *time;
    uint64_t count;
} csaw__edge_segment;

/* Edges whose ids are all below num_vertices. columns: set of CSAW__WEIGHT, CSAW__TYPE, CSAW__TIME that every segment
 * has. options: undirected, keep_loops and keep_duplicates count here. The result depends on the order of the edges
 * (parallel arcs, sums of weights), never on the number of threads. The arrays of out are new: csaw__csr_free(). */
csaw_status csaw__csr_build(const csaw__edge_segment *segments, uint64_t num_segments, uint64_t num_vertices,
                            uint32_t columns, const csaw_load_options *options, csaw_csr *out);

#endif

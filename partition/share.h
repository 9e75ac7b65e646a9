/* SPDX-License-Identifier: MIT */
/* partition/share.h - the share of a graph that a rank holds: a contiguous range of vertices with their whole rows, and
 * the degrees of all vertices, 4 bytes each. Edge ids are those of the whole graph.
 *
 * The arrays with an entry per arc are used where they stand. Of a graph that is mapped from a .csaw file, a rank
 * therefore reads the pages of its own rows alone; of the row offsets it reads all, once, for the degrees. */
#ifndef CSAW_PARTITION_SHARE_H
#define CSAW_PARTITION_SHARE_H

#include "partition/ranges.h"
#include "runtime/base/graph.h"
#include "runtime/base/job.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__share {
    csaw__ranges ranges; /* of all ranks */
    csaw__rows rows;     /* of this one; without tables */
    uint64_t *offset;    /* [rows.count + 1] in the arrays of rows */
    uint32_t *degree;    /* [num_vertices] */
} csaw__share;

/* The ranges of so many ranks. by_visits: of equal numbers of arcs, since a walk on an undirected graph comes to a
 * vertex in proportion to its degree; else of equal bytes. */
csaw_status csaw__share_ranges(const csaw_graph *graph, uint32_t ranks, bool by_visits, csaw__ranges *out);
/* The same of row offsets, of arcs of so many bytes. */
csaw_status csaw__share_cut(const csaw_csr *csr, uint32_t bytes_per_arc, uint32_t ranks, bool by_visits,
                            csaw__ranges *out);
/* graph outlives the share. */
csaw_status csaw__share_create(const csaw_graph *graph, uint32_t ranks, uint32_t rank, bool by_visits,
                               csaw__share *out);
void csaw__share_clear(csaw__share *share);

#ifdef __cplusplus
}
#endif

#endif

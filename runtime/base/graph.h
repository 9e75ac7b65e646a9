/* SPDX-License-Identifier: MIT */
/* runtime/base/graph.h - what stands behind a csaw_graph. */
#ifndef CSAW_BASE_GRAPH_H
#define CSAW_BASE_GRAPH_H

#include "runtime/base/status.h"

#define CSAW__MAX_VERTICES 0xfffffffeull /* 2^32 - 2 */
#define CSAW__MAX_DEGREE 0xfffffff0ull   /* 2^32 - 16: places in a row and a few marks fit 32 bits */

/* Bytes that the arrays with an entry per arc take for each. */
static inline uint32_t csaw__bytes_per_arc(const csaw_csr *csr) {
    return 4u + (csr->weight ? 4u : 0u) + (csr->type ? 4u : 0u) + (csr->time ? 8u : 0u);
}

/* Of a graph whose arcs are split over ranks: what this rank holds of them. csr.rowptr is the whole graph's, the arrays
 * of arcs begin where that of the whole graph would, and only those of the rank's own rows are there. */
typedef struct csaw__held {
    uint32_t ranks, rank;
    bool by_visits;
    csaw_vertex *first; /* [ranks + 1] bounds of ranges */
    csaw_csr own;       /* rowptr NULL; [own.num_edges] arcs from rowptr[first[rank]] on */
} csaw__held;

struct csaw_graph {
    csaw_csr csr;
    csaw__held *held; /* NULL: all is here */
    csaw_names names;
    const csaw_vertex *name_order; /* [num_vertices] vertices by ascending name; NULL: as they are numbered */
    bool owned;                    /* the arrays of csr are ours to free; names always are, but for a mapping */
    bool parallel_arcs;            /* some row holds a destination twice */
    uint32_t max_degree;
    void *mapping; /* the .csaw file in which all arrays lie, or NULL */
    uint64_t mapping_bytes;
    uint64_t checksum; /* of a mapping: what the file says of itself; of a graph that is split: of the whole */
};

/* A graph over arrays that are known to be a CSR as csaw.h wants it. owned: csaw_graph_free() frees the arrays with
 * csaw__free(); on failure they stay the caller's. */
csaw_status csaw__graph_adopt(const csaw_csr *csr, bool owned, csaw_graph **out);
/* CSAW_EINVAL and what is wrong, if these arrays are no CSR as csaw.h wants it. */
csaw_status csaw__csr_check(const csaw_csr *csr);
/* CSAW_EINVAL of a graph whose arcs are split over ranks, for what needs them all. */
csaw_status csaw__graph_check_whole(const csaw_graph *graph, const char *what);
/* Whether the arcs of v's row are here. */
static inline bool csaw__graph_holds(const csaw_graph *graph, csaw_vertex v) {
    const csaw__held *const held = graph->held;
    return !held || (v >= held->first[held->rank] && v < held->first[held->rank + 1]);
}
/* Frees the arrays. */
void csaw__csr_free(csaw_csr *csr);

#endif

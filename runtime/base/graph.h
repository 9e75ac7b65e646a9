/* SPDX-License-Identifier: MIT */
/* runtime/base/graph.h - what stands behind a csaw_graph. */
#ifndef CSAW_BASE_GRAPH_H
#define CSAW_BASE_GRAPH_H

#include "runtime/base/status.h"

#define CSAW__MAX_VERTICES 0xfffffffeull /* 2^32 - 2 */
#define CSAW__MAX_DEGREE 0xffffffffull   /* 2^32 - 1 */

struct csaw_graph {
    csaw_csr csr;
    bool owned;         /* the arrays are ours to free */
    bool parallel_arcs; /* some row holds a destination twice */
    uint32_t max_degree;
};

/* A graph over arrays that are known to be a CSR as csaw.h wants it. owned: csaw_graph_free() frees the arrays with
 * csaw__free(); on failure they stay the caller's. */
csaw_status csaw__graph_adopt(const csaw_csr *csr, bool owned, csaw_graph **out);
/* Frees the three arrays. */
void csaw__csr_free(csaw_csr *csr);

#endif

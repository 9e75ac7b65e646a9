/* SPDX-License-Identifier: MIT */
/* runtime/base/graph.h - what stands behind a csaw_graph. */
#ifndef CSAW_BASE_GRAPH_H
#define CSAW_BASE_GRAPH_H

#include <csaw/csaw.h>

struct csaw_graph {
    csaw_csr csr;
    bool     owned;          /* the arrays are ours to free */
    bool     parallel_arcs;  /* some row holds a destination twice */
    uint32_t max_degree;
};

#endif

/* SPDX-License-Identifier: MIT */
/* runtime/engine/subgraph.h - what stands behind a csaw_subgraph. */
#ifndef CSAW_ENGINE_SUBGRAPH_H
#define CSAW_ENGINE_SUBGRAPH_H

#include "runtime/base/graph.h"

struct csaw_subgraph {
    const csaw_graph *graph; /* that was sampled */
    bool per_instance;
    uint64_t num_graphs, first;
    uint64_t *vertex_offset; /* arrays as in csaw_subgraph_view, owned */
    csaw_vertex *vertex, *col;
    uint64_t *rowptr;
    csaw_edge *edge;
};

/* CSAW_EINVAL if these arcs cannot have been sampled from this graph. */
csaw_status csaw__arcs_check(const csaw_graph *graph, const csaw_arcs *arcs);

/* Sorts a row by (col, edge): heapsort, in place. col NULL: by edge alone. */
void csaw__sort_arcs(csaw_vertex *col, csaw_edge *edge, uint64_t count);

#endif

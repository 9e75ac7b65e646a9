/* SPDX-License-Identifier: MIT */
/* runtime/engine/subgraph_graph.c - a subgraph as a csaw_graph: its rows ascend already; weights, types and times are
 * fetched by edge id. */
#include "runtime/base/columns.h"
#include "runtime/base/memory.h"
#include "runtime/base/names.h"
#include "runtime/engine/subgraph.h"

csaw_status csaw_subgraph_graph(const csaw_subgraph *subgraph, uint64_t place, csaw_graph **out) {
    csaw_edge *rowptr = NULL;
    csaw__columns arcs = {0};
    csaw_graph *made = NULL;
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(subgraph && out, CSAW_EINVAL,
                 "csaw_subgraph_graph needs a subgraph and a place for the graph; one is NULL");
    CSAW_REQUIRE(place < subgraph->num_graphs, CSAW_EINVAL,
                 "there is no graph %llu: the subgraph has %llu, numbered from 0", (unsigned long long)place,
                 (unsigned long long)subgraph->num_graphs);
    const csaw_csr *csr = &subgraph->graph->csr;
    const uint64_t first = subgraph->vertex_offset[place], count = subgraph->vertex_offset[place + 1] - first;
    const uint64_t *row = subgraph->rowptr + first, base = row[0], num_edges = row[count] - base;
    CSAW_TRY_DONE(csaw__alloc(&rowptr, count + 1, "the row offsets of a graph"));
    CSAW_TRY_DONE(csaw__columns_alloc(csaw__columns_of(csr), num_edges, &arcs));
    for (uint64_t i = 0; i <= count; i++) rowptr[i] = row[i] - base;
    const csaw__columns from = csaw__columns_view(csr);
    for (uint64_t k = 0; k < num_edges; k++)
        csaw__columns_put(&arcs, k, subgraph->col[base + k], &from, subgraph->edge[base + k]);
    CSAW_TRY_DONE(csaw__graph_adopt(&(csaw_csr){count, num_edges, rowptr, arcs.dst, arcs.weight, arcs.type, arcs.time},
                                    true, &made));
    rowptr = NULL;
    arcs = (csaw__columns){0};
    CSAW_TRY_DONE(csaw__names_pick(subgraph->graph, subgraph->vertex + first, made));
    *out = made;
    made = NULL;
done:
    csaw_graph_free(made);
    csaw__columns_free(&arcs);
    csaw__free(rowptr);
    return status;
}

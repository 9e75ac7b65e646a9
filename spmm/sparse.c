/* SPDX-License-Identifier: MIT */
/* spmm/sparse.c - graphs and sampled blocks as sparse matrices, without a copy. */
#include "runtime/base/graph.h"
#include "runtime/base/parallel.h"
#include "spmm/check.h"
#include "spmm/rows.h"

csaw_sparse csaw_graph_sparse(const csaw_graph *graph) {
    const csaw_csr csr = csaw_graph_csr(graph);
    if (graph && graph->held) return (csaw_sparse){0}; /* other ranks have the rest */
    return (csaw_sparse){.rows = csr.num_vertices,
                         .cols = csr.num_vertices,
                         .num_edges = csr.num_edges,
                         .rowptr = csr.rowptr,
                         .col = csr.col,
                         .weight = csr.weight};
}

csaw_sparse csaw_block_sparse(const csaw_block_view *block, const float *weight) {
    return (csaw_sparse){.rows = block->num_dst,
                         .cols = block->num_src,
                         .num_edges = block->num_edges,
                         .rowptr = block->rowptr,
                         .col = block->col,
                         .weight = weight};
}

csaw_status csaw_block_weights(const csaw_graph *graph, const csaw_block_view *block, float *out) {
    CSAW_REQUIRE(graph && block, CSAW_EINVAL, "csaw_block_weights needs a graph and a block of it; one is NULL");
    CSAW_TRY(csaw__graph_check_whole(graph, "csaw_block_weights"));
    CSAW_TRY(csaw__array_check(out, "out", block->num_edges));
    CSAW_REQUIRE(block->space == CSAW_HOST, CSAW_EUNSUPPORTED,
                 "the block is in the memory of a GPU, but csaw_block_weights() looks weights up on the host; take "
                 "csaw_plan_weights(), with the plan that the block was made by");
    const csaw_csr csr = csaw_graph_csr(graph);
    const uint64_t num_edges = block->num_edges;
    uint64_t bad = UINT64_MAX;
    CSAW__OMP(parallel for if(csaw__is_long(num_edges)) reduction(min : bad))
    for (uint64_t k = 0; k < num_edges; k++)
        if (block->edge[k] >= csr.num_edges && k < bad) bad = k;
    CSAW_REQUIRE(bad == UINT64_MAX, CSAW_EINVAL,
                 "arc %llu of the block is edge %llu, but the graph has %llu edges; give the graph that was sampled",
                 (unsigned long long)bad, (unsigned long long)block->edge[bad], (unsigned long long)csr.num_edges);
    CSAW__OMP(parallel for if(csaw__is_long(num_edges)))
    for (uint64_t k = 0; k < num_edges; k++) out[k] = csr.weight ? csr.weight[block->edge[k]] : 1.0f;
    return CSAW_OK;
}

csaw_status csaw_sparse_check(const csaw_sparse *a) {
    csaw__rows rows;
    CSAW_TRY(csaw__sparse_check_struct(a));
    CSAW_TRY(csaw__rows_find(a, &rows));
    csaw__rows_free(&rows);
    uint64_t bad = UINT64_MAX;
    const uint64_t num_edges = a->num_edges;
    CSAW__OMP(parallel for if(csaw__is_long(num_edges)) reduction(min : bad))
    for (uint64_t e = 0; e < num_edges; e++)
        if (a->col[e] >= a->cols && e < bad) bad = e;
    CSAW_REQUIRE(bad == UINT64_MAX, CSAW_EINVAL,
                 "edge %llu has column %u, but the matrix has %llu columns, numbered from 0; fix the edge, or cols",
                 (unsigned long long)bad, a->col[bad], (unsigned long long)a->cols);
    return CSAW_OK;
}

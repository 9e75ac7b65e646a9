/* SPDX-License-Identifier: MIT */
/* spmm/device_edge_sampled.cu - edge-sampled aggregation on a GPU. Nothing here waits for the GPU: how many entries A'
 * has is known there alone, so work memory and launches go by the most that there can be.
 *
 * Gradients: dX = A'^T dY with A' written out, its entries sorted by column (stable, so by row and slot within one),
 * and then csaw_spmm()'s kernels. Places of A' past its last entry are in a column past the last one. */
#include "spmm/device_edge_sampled.cuh"

#include <cub/device/device_scan.cuh>

#include "spmm/device_private.cuh"

static csaw_dense with_stride(const csaw_dense *m) {
    csaw_dense out = *m;
    out.stride = csaw__stride(m);
    return out;
}

csaw_status csaw__device_es_spmm(const csaw__where *of, const csaw__edge_rule *rule, uint32_t lanes,
                                 const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y) {
    place where;
    csaw__es_product p = {};
    p.a = *a, p.rule = *rule, p.x = with_stride(x), p.y = with_stride(y);
    csaw__es_lay_out(&p, lanes);
    CSAW_REQUIRE(p.blocks <= 0x7fffffffu, CSAW_EINVAL,
                 "%llu rows take %llu blocks, but a launch has at most 2^31 - 1; split the matrix by rows",
                 (unsigned long long)a->rows, (unsigned long long)p.blocks);
    if (!p.blocks || !p.slices) return CSAW_OK;
    CSAW_TRY(where.enter(of->ordinal, of->stream, nullptr));
    const uint64_t most = 0x7fffffffu / p.blocks;
    for (; p.first_slice < p.slices; p.first_slice += most) {
        const uint64_t left = p.slices - p.first_slice, here = left < most ? left : most;
        CSAW_TRY(csaw__device_launch(where.stream, (unsigned)(here * p.blocks), CSAW__ES_THREADS,
                                     csaw__es_kernel_at(&p), p));
    }
    return CSAW_OK;
}

/* rowptr of A': [rows + 1] */
static csaw_status find_rowptr(const place &where, const csaw_sparse *a, const csaw__edge_rule *rule,
                               uint64_t *rowptr) {
    work<char> room;
    size_t bytes = 0;
    const int64_t count = (int64_t)a->rows + 1;
    CSAW_CUDA(cub::DeviceScan::InclusiveSum(nullptr, bytes, rowptr, rowptr, count, where.stream));
    CSAW_TRY(room.take(where, bytes, "sums over rows"));
    CSAW__LAUNCH(where, a->rows + 1, csaw__es_count, *a, *rule, rowptr);
    CSAW_CUDA(cub::DeviceScan::InclusiveSum(room.get(), bytes, rowptr, rowptr, count, where.stream));
    return CSAW_OK;
}

csaw_status csaw__device_edge_sample(const csaw__where *of, const csaw__edge_rule *rule, const csaw_sparse *a,
                                     uint64_t *rowptr, csaw_edge *edge, float *weight) {
    const uint64_t most = csaw__es_most(a, rule->width);
    place where;
    CSAW_TRY(where.enter(of->ordinal, of->stream, nullptr));
    CSAW_TRY(find_rowptr(where, a, rule, rowptr));
    if (edge || weight) CSAW__LAUNCH(where, most, csaw__es_entries, *a, *rule, rowptr, most, edge, nullptr, weight);
    return CSAW_OK;
}

/* dx = A'^T dy; rowptr: of A' */
static csaw_status features(const place &where, const csaw__edge_rule *rule, const csaw_sparse *a,
                            const uint64_t *rowptr, const csaw_dense *dy, const csaw_dense *dx) {
    const uint64_t most = csaw__es_most(a, rule->width);
    work<csaw_vertex> col, row;
    work<float> weight, sorted_weight;
    work<uint64_t> starts;
    work<csaw_edge> edge;
    csaw__device_run run;
    CSAW_TRY(col.take(where, most, "the sampled matrix"));
    CSAW_TRY(weight.take(where, most, "the sampled matrix"));
    CSAW_TRY(starts.take(where, a->cols + 2, "the sampled matrix by columns"));
    CSAW_TRY(row.take(where, most, "the sampled matrix by columns"));
    CSAW_TRY(edge.take(where, most, "the sampled matrix by columns"));
    CSAW_TRY(sorted_weight.take(where, most, "the sampled matrix by columns"));
    CSAW__LAUNCH(where, most, csaw__es_entries, *a, *rule, rowptr, most, nullptr, col.get(), weight.get());
    const csaw_sparse sampled = {a->rows, a->cols + 1, most, rowptr, col.get(), weight.get()};
    const csaw__device_transpose t = {starts.get(), row.get(), edge.get()};
    CSAW_TRY(csaw__device_transpose_fill(where, &sampled, &t));
    CSAW_TRY(csaw__device_transpose_weights(where, &sampled, &t, 1, false, nullptr, nullptr, sorted_weight.get()));
    csaw__product p = {};
    p.rowptr = t.rowptr, p.col = t.row, p.weight = sorted_weight.get();
    p.rows = a->cols, p.num_edges = most;
    p.x = with_stride(dy), p.y = with_stride(dx);
    p.reduce = CSAW_SUM;
    p.heads = 1;
    CSAW_TRY(run.open(where, p, nullptr, CSAW_SPMM_AUTO));
    return run.run(where);
}

csaw_status csaw__device_es_backward(const csaw__where *of, const csaw__edge_rule *rule, const csaw_sparse *a,
                                     const csaw_dense *x, const csaw_dense *dy, const csaw_dense *dx, float *dw) {
    place where;
    work<uint64_t> rowptr;
    CSAW_TRY(where.enter(of->ordinal, of->stream, nullptr));
    CSAW_TRY(rowptr.take(where, a->rows + 1, "the rows of the sampled matrix"));
    CSAW_TRY(find_rowptr(where, a, rule, rowptr.get()));
    if (dx) CSAW_TRY(features(where, rule, a, rowptr.get(), dy, dx));
    if (!dw) return CSAW_OK;
    const csaw__es_dots d = {*a, *rule, rowptr.get(), with_stride(x), with_stride(dy), dw};
    csaw__es_dots_kernel *const kernel = csaw__es_dots_kernel_at(&d);
    CSAW_CUDA(cudaMemsetAsync(dw, 0, a->num_edges * sizeof *dw, where.stream));
    CSAW__LAUNCH(where, csaw__es_most(a, rule->width), kernel, d);
    return CSAW_OK;
}

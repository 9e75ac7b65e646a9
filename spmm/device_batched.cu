/* SPDX-License-Identifier: MIT */
/* spmm/device_batched.cu - products of a batch of small graphs on a GPU, and gradients: one launch each. No work
 * memory, and nothing waits. */
#include "spmm/device_batched_dots.cuh"
#include "spmm/device_private.cuh"

static csaw__batched_matrix matrix_of(const csaw_batched_dense *m) {
    return csaw__batched_matrix{m->each ? nullptr : (char *)m->data, m->each, m->stride ? m->stride : m->cols,
                                m->dtype};
}

/* The kernel on all slices of columns, as many in a launch as there may be blocks. */
static csaw_status multiply(const place &where, csaw__batched_product p, uint32_t lanes) {
    csaw__batched_lay_out(&p, lanes);
    const uint64_t most = p.blocks ? 0x7fffffffu / p.blocks : 0; /* slices; outputs are 2^32 at most, 4 lanes or more */
    for (; p.blocks && p.first_slice < p.slices; p.first_slice += most) {
        const uint64_t left = p.slices - p.first_slice;
        CSAW_TRY(csaw__device_launch(where.stream, (unsigned)((left < most ? left : most) * p.blocks),
                                     CSAW__BATCHED_THREADS, csaw__batched_kernel_at(&p), p));
    }
    return CSAW_OK;
}

csaw_status csaw__device_batched_spmm(const csaw_batch *batch, uint32_t lanes, const csaw_batched_dense *x,
                                      const csaw_batched_options *options, const csaw_batched_dense *y) {
    const csaw__device_batch *const d = batch->device;
    place where;
    csaw__batched_product p = {};
    p.graph = d->graph, p.a = d->by_row, p.number = d->number;
    p.outputs = batch->total.rows, p.cols = y->cols;
    p.in = matrix_of(x), p.out = matrix_of(y);
    p.arg = options->arg;
    p.reduce = options->reduce;
    CSAW_TRY(where.enter(batch->ordinal, options->stream, nullptr));
    return multiply(where, p, lanes);
}

static csaw_status features(const place &where, const csaw_batch *batch, const csaw_batched_dense *dy,
                            const csaw_batched_options *options, const csaw_batched_dense *dx) {
    const csaw__device_batch *const d = batch->device;
    csaw__batched_product p = {};
    p.graph = d->graph, p.a = d->by_col;
    if (options->reduce == CSAW_MEAN) p.a.entry = d->mean;
    p.outputs = batch->total.cols, p.cols = dy->cols;
    p.in = matrix_of(dy), p.out = matrix_of(dx);
    p.transposed = true;
    if (!csaw__is_extreme(options->reduce)) return multiply(where, p, 0);
    p.arg = options->arg;
    CSAW__LAUNCH(where, p.outputs * p.cols, csaw__batched_winners, p);
    return CSAW_OK;
}

csaw_status csaw__device_batched_backward(const csaw_batch *batch, const csaw_batched_dense *x,
                                          const csaw_batched_dense *dy, const csaw_batched_options *options,
                                          const csaw_batched_dense *dx, float *dw) {
    const csaw__device_batch *const there = batch->device;
    place where;
    uint64_t threads;
    CSAW_TRY(where.enter(batch->ordinal, options->stream, nullptr));
    if (dx) CSAW_TRY(features(where, batch, dy, options, dx));
    if (!dw) return CSAW_OK;
    csaw__batched_dots d = {};
    d.graph = there->graph, d.a = there->by_row, d.row_of = there->row_of, d.number = there->number;
    d.edges = batch->total.edges, d.cols = dy->cols;
    d.mean = options->reduce == CSAW_MEAN;
    d.arg = csaw__is_extreme(options->reduce) ? options->arg : nullptr;
    d.x = matrix_of(x), d.dy = matrix_of(dy), d.dw = dw;
    csaw__batched_dots_kernel *const kernel = csaw__batched_dots_kernel_at(&d, &threads);
    CSAW__LAUNCH(where, threads, kernel, d);
    return CSAW_OK;
}

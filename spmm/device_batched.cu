/* SPDX-License-Identifier: MIT */
/* spmm/device_batched.cu - products of a batch of small graphs on a GPU, and gradients: one launch each, of more
 * than four million columns several. No work memory, and nothing waits. */
#include "spmm/device_batched_dots.cuh"
#include "spmm/device_batched_tiles.cuh"
#include "spmm/device_batched_won.cuh"
#include "spmm/device_private.cuh"

/* Of what the kernel reads. */
static csaw_status check_width(const csaw__batched_product &p) {
    const uint64_t widest = p.in.stride > p.cols ? p.in.stride : p.cols;
    CSAW_REQUIRE(widest <= CSAW__BATCHED_WIDEST, CSAW_EINVAL,
                 "%s has %llu columns, or its rows are so far apart, but a GPU takes %llu at most; give fewer columns",
                 p.transposed ? "dy" : "x", (unsigned long long)widest, CSAW__BATCHED_WIDEST);
    return CSAW_OK;
}

/* The kernel on all slices of columns, as many in a launch as a grid has in its second dimension. */
static csaw_status multiply(const place &where, csaw__batched_product p, uint32_t lanes) {
    constexpr uint32_t MOST = 65535;
    csaw__batched_lay_out(&p, lanes);
    for (; p.blocks && p.first_slice < p.slices; p.first_slice += MOST) {
        const uint32_t left = p.slices - p.first_slice;
        CSAW_TRY(csaw__device_launch(where.stream, dim3(p.blocks, left < MOST ? left : MOST, p.parts),
                                     CSAW__BATCHED_THREADS, csaw__batched_kernel_at(&p), p));
    }
    return CSAW_OK;
}

csaw_status csaw__device_batched_spmm(const csaw_batch *batch, uint32_t lanes, const csaw_batched_dense *x,
                                      const csaw_batched_options *options, const csaw_batched_dense *y) {
    const csaw__device_batch *const d = batch->device;
    place where;
    csaw__batched_product p = {};
    p.graph = d->graph, p.a = d->by_row, p.weight = options->weight;
    p.outputs = batch->total.rows, p.cols = y->cols;
    p.in = csaw__batched_matrix_of(x), p.out = csaw__batched_matrix_of(y);
    p.arg = options->arg;
    p.reduce = options->reduce;
    CSAW_TRY(check_width(p));
    CSAW_TRY(where.enter(batch->ordinal, options->stream, nullptr));
    return multiply(where, p, lanes);
}

/* By blocks that copy what they read to shared memory. */
csaw_status csaw__device_batched_tiles(const csaw_batch *batch, const csaw_batched_dense *x,
                                       const csaw_batched_options *options, const csaw_batched_dense *y) {
    const uint64_t graphs = batch->total.graphs, slices = (y->cols + CSAW__TILE_COLUMNS - 1) / CSAW__TILE_COLUMNS;
    place where;
    csaw__batched_product p = {};
    p.graph = batch->device->graph, p.a = batch->device->by_row;
    p.outputs = batch->total.rows, p.cols = y->cols;
    p.in = csaw__batched_matrix_of(x), p.out = csaw__batched_matrix_of(y);
    p.reduce = options->reduce;
    csaw__batched_lay_out(&p, 0);
    CSAW_REQUIRE(!slices || graphs <= 0x7fffffffu / slices, CSAW_EINVAL,
                 "%llu graphs of %llu slices of columns, but 2^31 blocks are the limit of a launch; give fewer graphs",
                 (unsigned long long)graphs, (unsigned long long)slices);
    CSAW_TRY(where.enter(batch->ordinal, options->stream, nullptr));
    if (!graphs || !slices) return CSAW_OK;
    return csaw__device_launch_shared(where.stream, (unsigned)(graphs * slices), CSAW__TILE_THREADS, CSAW__TILE_BYTES,
                                      csaw__batched_tiles_at(&p), p, graphs);
}

/* dx of MAX and MIN by the rows of dy. */
static csaw_status add_won(const place &where, const csaw_batch *batch, csaw__batched_product p) {
    unsigned blocks = 0;
    p.a = batch->device->by_row;
    p.outputs = batch->total.graphs;
    CSAW_TRY(blocks_for(csaw__won_threads(p.outputs, p.cols), CSAW__WON_THREADS, &blocks));
    return blocks ? csaw__device_launch_shared(where.stream, blocks, CSAW__WON_THREADS, csaw__won_bytes(batch->most),
                                               csaw__batched_won_at(&p), p)
                  : CSAW_OK;
}

static csaw_status features(const place &where, const csaw_batch *batch, const csaw_batched_dense *dy,
                            const csaw_batched_options *options, const csaw_batched_dense *dx) {
    const csaw__device_batch *const d = batch->device;
    csaw__batched_product p = {};
    p.graph = d->graph, p.a = d->by_col, p.weight = options->weight;
    if (options->reduce == CSAW_MEAN && p.weight) p.divided = d->divided;
    if (options->reduce == CSAW_MEAN) p.a.entry = d->mean;
    p.outputs = batch->total.cols, p.cols = dy->cols;
    p.in = csaw__batched_matrix_of(dy), p.out = csaw__batched_matrix_of(dx);
    p.transposed = true;
    p.reduce = csaw__is_extreme(options->reduce) ? options->reduce : CSAW_SUM; /* MEAN's weights are divided */
    p.arg = options->arg;
    CSAW_TRY(check_width(p));
    return csaw__goes_by_won(&p, batch->total.graphs, batch->most, d->in_order) ? add_won(where, batch, p)
                                                                                : multiply(where, p, 0);
}

/* lanes: 0 = as many as suit. */
static csaw_status multiply_dots(const place &where, const csaw__batched_dots &d, uint32_t lanes) {
    const uint32_t vector = csaw__batched_vector_of(d.cols, &d.x, &d.dy, d.arg);
    unsigned blocks = 0;
    if (!lanes || vector == 1) lanes = csaw__batched_dots_lanes_of(d.edges, vector);
    CSAW_TRY(blocks_for(d.edges * lanes, CSAW__DOTS_THREADS, &blocks));
    return blocks ? csaw__device_launch(where.stream, blocks, CSAW__DOTS_THREADS,
                                        csaw__batched_dots_kernel_at(&d, lanes), d)
                  : CSAW_OK;
}

csaw_status csaw__device_batched_backward(const csaw_batch *batch, uint32_t lanes, const csaw_batched_dense *x,
                                          const csaw_batched_dense *dy, const csaw_batched_options *options,
                                          const csaw_batched_dense *dx, float *dw) {
    const csaw__device_batch *const there = batch->device;
    place where;
    CSAW_TRY(where.enter(batch->ordinal, options->stream, nullptr));
    if (dx) CSAW_TRY(features(where, batch, dy, options, dx));
    if (!dw) return CSAW_OK;
    csaw__batched_dots d = {};
    d.graph = there->graph, d.a = there->by_row, d.row_of = there->row_of;
    d.edges = batch->total.edges, d.cols = dy->cols;
    d.mean = options->reduce == CSAW_MEAN, d.in_order = there->in_order;
    d.arg = csaw__is_extreme(options->reduce) ? options->arg : nullptr;
    d.x = csaw__batched_matrix_of(x), d.dy = csaw__batched_matrix_of(dy), d.dw = dw;
    return multiply_dots(where, d, lanes);
}

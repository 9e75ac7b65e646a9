/* SPDX-License-Identifier: MIT */
/* spmm/device_backward.cu - gradients of csaw_spmm() on a GPU, by the methods of spmm/backward.c: products with the
 * transpose and dot products, or for MAX and MIN by arg. All memory is taken before the first output is written. */
#include <cub/device/device_radix_sort.cuh>

#include "spmm/device_private.cuh"
#include "spmm/device_scatter.cuh"

static csaw_dense with_stride(const csaw_dense *m) {
    csaw_dense out = *m;
    out.stride = csaw__stride(m);
    return out;
}

csaw_status csaw__device_features(const place &where, csaw_spmm_method method, const csaw_sparse *a,
                                  const csaw_sparse *given, const csaw_spmm_plan *plan, uint32_t heads, bool mean,
                                  const csaw_dense *dy, const csaw_dense *dx) {
    csaw__device_turned turned;
    csaw__device_run run;
    csaw__product p = {};
    CSAW_TRY(turned.open(where, a, given, plan, heads, mean, &p));
    p.rows = a->cols, p.num_edges = a->num_edges;
    p.x = with_stride(dy), p.y = with_stride(dx);
    p.reduce = CSAW_SUM;
    p.heads = a->weight ? heads : 1;
    CSAW_TRY(run.open(where, p, plan ? &plan->device->transposed : nullptr, method));
    CSAW_TRY(turned.fill(where));
    return where.counted ? CSAW_OK : run.run(where);
}

static csaw_status sort(const place &where, void *room, size_t *bytes, uint32_t *const key[2], float *const product[2],
                        const csaw__device_scatter *s) {
    CSAW_CUDA(cub::DeviceRadixSort::SortPairs(room, *bytes, key[0], key[1], product[0], product[1],
                                              (int64_t)(s->a.rows * s->width), 0, csaw__scatter_bits(s), where.stream));
    return CSAW_OK;
}

/* dx of MAX and MIN by a sort */
static csaw_status scatter_features(const place &where, csaw__device_scatter s, const csaw__device_turned &turned) {
    const uint64_t cols = s.dy.cols, slots = csaw__scatter_slots(s.a.num_edges, s.a.cols);
    work<uint32_t> key[2];
    work<float> product[2], sum;
    work<char> room;
    size_t bytes = 0;
    CSAW_REQUIRE(
        slots <= 0xffffffffu, CSAW_EINVAL,
        "%llu columns and %llu edges have %llu sums of a column of dx each, but 2^32 - 1 is the limit; split a by "
        "columns",
        (unsigned long long)s.a.cols, (unsigned long long)s.a.num_edges, (unsigned long long)slots);
    s.width = csaw__scatter_columns(s.a.rows, slots, cols);
    const uint64_t most = s.a.rows * s.width;
    for (int i = 0; i < 2; i++) {
        CSAW_TRY(key[i].take(where, most, "gradients being sorted"));
        CSAW_TRY(product[i].take(where, most, "gradients being sorted"));
    }
    CSAW_TRY(sum.take(where, slots * s.width, "sums of chunks of gradients"));
    uint32_t *const keys[2] = {key[0].get(), key[1].get()};
    float *const products[2] = {product[0].get(), product[1].get()};
    if (most) CSAW_TRY(sort(where, nullptr, &bytes, keys, products, &s));
    CSAW_TRY(room.take(where, bytes, "gradients being sorted"));
    CSAW_TRY(turned.fill(where));
    if (where.counted) return CSAW_OK;
    for (; s.first < cols; s.first += s.width) {
        if (cols - s.first < s.width) s.width = (uint32_t)(cols - s.first);
        CSAW_CUDA(cudaMemsetAsync(sum.get(), 0, slots * s.width * sizeof *sum.get(), where.stream));
        if (most) {
            CSAW__LAUNCH(where, s.a.rows * s.width, csaw__scatter_products, s, keys[0], products[0]);
            CSAW_TRY(sort(where, room.get(), &bytes, keys, products, &s));
            CSAW__LAUNCH(where, s.a.rows * s.width, csaw__scatter_sums, s, keys[1], products[1], sum.get());
        }
        CSAW__LAUNCH(where, s.a.cols * s.width, csaw__scatter_merge, s, sum.get());
    }
    return CSAW_OK;
}

/* dx of MAX and MIN, over the plan's transpose or one that is made here. */
static csaw_status features_by_arg(const place &where, csaw__device_scatter s, const csaw_spmm_plan *plan) {
    csaw__device_turned turned;
    csaw_sparse bare = s.a;
    csaw__product p = {};
    if (!s.dy.cols || !s.a.cols) return CSAW_OK;
    bare.weight = nullptr; /* they are read where they stand, or as the plan has them */
    CSAW_TRY(turned.open(where, &bare, nullptr, plan, 1, false, &p));
    s.by_column = turned.transpose().rowptr, s.edge = turned.transpose().edge;
    return csaw__device_gathers_winners(&s.a, &s.dy)
               ? csaw__device_winners(where, &s.a, plan, turned, s.heads, s.arg, &s.dy, &s.dx)
               : scatter_features(where, s, turned);
}

static csaw_status by_arg(const place &where, const csaw__call *call, const csaw_sparse *a, const csaw_dense *x,
                          const csaw_dense *dy, const csaw_dense *dx, float *dweight) {
    csaw__device_scatter s = {};
    s.a = *a, s.dy = with_stride(dy), s.heads = call->options.heads, s.arg = call->options.arg, s.dweight = dweight;
    CSAW_REQUIRE(s.arg || !a->rows || !dy->cols, CSAW_EINVAL,
                 "arg of the backward pass of MAX or MIN is NULL, but takes %llu entries",
                 (unsigned long long)(a->rows * dy->cols));
    if (x) s.x = with_stride(x);
    if (dx) {
        s.dx = with_stride(dx);
        CSAW_TRY(features_by_arg(where, s, call->options.plan));
    }
    if (!dweight || call->work) return CSAW_OK;
    s.width = (uint32_t)(dy->cols / s.heads);
    s.lane_bits = csaw__weight_lane_bits(&s);
    unsigned blocks = 0;
    CSAW_TRY(blocks_for((a->rows * s.heads) << s.lane_bits, CSAW__THREADS, &blocks));
    if (blocks) CSAW_TRY(csaw__device_launch(where.stream, blocks, CSAW__THREADS, csaw__scatter_weights_at(&s), s));
    return CSAW_OK;
}

csaw_status csaw__device_backward(const csaw__call *call, const csaw_sparse *a, const csaw_dense *x,
                                  const csaw_dense *dy, const csaw_dense *dx, float *dweight) {
    const csaw_spmm_plan *const plan = call->options.plan;
    const uint32_t heads = call->options.heads;
    const bool mean = call->options.reduce == CSAW_MEAN;
    place where;
    CSAW_TRY(where.enter(call->ordinal, call->options.stream, csaw__pool_of(plan)));
    where.counted = call->work;
    if (call->extreme) return by_arg(where, call, a, x, dy, dx, dweight);
    if (dx) CSAW_TRY(csaw__device_features(where, call->options.method, a, nullptr, plan, heads, mean, dy, dx));
    if (!dweight || call->work) return CSAW_OK; /* dot products take no work memory */
    return csaw__device_dots(where, a, dy, x, heads, mean, plan, dweight);
}

/* SPDX-License-Identifier: MIT */
/* spmm/device_batched_won.cuh - device code of gradients of MAX and MIN of a batch of graphs that are small and whose
 * entries stand by row. To be compiled without contraction of a * b + c.
 *
 * Method: an element of dy belongs to the one entry that won it, and so is added to one element of dx. A thread takes
 * a column of features of a graph: it goes over the rows in order and adds, in shared memory, to the column of the
 * graph that the winner names. So dy and arg are read once, where spmm/device_batched.cuh reads them for every entry;
 * no two threads share a sum, and none waits for another. Entries of a column of the graph stand by row, so that the
 * order of sums is that of spmm/device_batched.cuh.
 *
 * Limit on an H200: 100,000 graphs of 20 rows, 32 columns, 86% of the throughput of L2; 1,000 of 50 rows, 64 columns,
 * 41% of it and 33% of the issue slots: each instruction waits for the one before it.
 * docs/measured/2026-11-28-gpu-24.md. */
#ifndef CSAW_SPMM_DEVICE_BATCHED_WON_CUH
#define CSAW_SPMM_DEVICE_BATCHED_WON_CUH

#include "spmm/device_address.cuh"
#include "spmm/device_batched.cuh"
#include "spmm/device_shared.cuh"

/* p: csaw__goes_by_won(); a is the batch's by_row, whose entries stand as in the graphs, outputs are graphs, and the
 * layout is not looked at. Shared memory: csaw__won_bytes(). A sum begins as +0 and so is never -0: to add +0 where no
 * entry won, to whatever column, changes nothing. */
template <csaw_dtype X, bool GIVEN>
static __global__ void __launch_bounds__(CSAW__WON_THREADS, CSAW__WON_BLOCKS)
    csaw__batched_won(const __grid_constant__ csaw__batched_product p) {
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2, AT_ONCE = CSAW__WON_AT_ONCE;
    const uint64_t slices = csaw__won_threads(1, p.cols) / 32, warp = csaw__thread_number() / 32, which = warp / slices;
    const uint64_t column = (warp - which * slices) * 32 + threadIdx.x % 32;
    if (which >= p.outputs || column >= p.cols) return;
    const csaw__small *const g = p.graph + which;
    const uint64_t num_begin = g->num_begin, row_begin = g->row_begin, col_begin = g->col_begin;
    const uint32_t rows = g->num_edges ? g->rows : 0, cols = g->cols, graph = (uint32_t)which;
    const uint32_t stride = (uint32_t)p.in.stride * bytes, arg_stride = (uint32_t)p.cols * 4;
    const char *entry = (const char *)(p.a.entry + num_begin);
    const char *given = GIVEN ? (const char *)(p.weight + num_begin) : nullptr;
    const csaw__batched_row *row = p.a.row + row_begin;
    const char *dy = csaw__batched_at(p.in.data, csaw__batched_shift(&p.in, p.graph, graph, false)) +
                     (row_begin * p.in.stride + column) * bytes;
    const char *arg = (const char *)(p.arg + (row_begin * p.cols + column));
    char *const out = csaw__batched_at(p.out.data, csaw__batched_shift(&p.out, p.graph, graph, true));
    const csaw__shared_array<float> sum = csaw__shared_array<float>(csaw__launch_shared<float>()).from(threadIdx.x);
    struct { /* of rows on their way */
        csaw__batched_pack<X, 1> dy[AT_ONCE];
        uint32_t arg[AT_ONCE], count[AT_ONCE]; /* count: 0 where there is no row */
    } next;
    uint32_t left = rows, first = 0; /* rows to be fetched; entries of the graph before the next row */
    const auto fetch_one = [&](uint32_t n) {
        next.dy[n] = *(const csaw__batched_pack<X, 1> *)csaw__address(dy, n, stride);
        next.arg[n] = *(const uint32_t *)csaw__address(arg, n, arg_stride);
        next.count[n] = row[n].count;
    };
    const auto fetch = [&] {
        if (left >= AT_ONCE) {
#pragma unroll
            for (uint32_t n = 0; n < AT_ONCE; n++) fetch_one(n);
            left -= AT_ONCE;
        } else {
#pragma unroll
            for (uint32_t n = 0; n < AT_ONCE; n++) {
                next.count[n] = 0;
                if (n < left) fetch_one(n);
            }
            left = 0;
        }
        row += AT_ONCE, dy += (uint64_t)stride * AT_ONCE, arg += (uint64_t)arg_stride * AT_ONCE;
    };
    csaw__work_out(entry);
    if (GIVEN) csaw__work_out(given);
    csaw__work_out(dy);
    csaw__work_out(arg);
    fetch();
    for (uint32_t j = 0; j < cols; j++) sum.put(j * CSAW__WON_THREADS, 0.0f);
    for (uint32_t i = 0; i < rows; i += AT_ONCE) {
        csaw__batched_pack<X, 1> d[AT_ONCE];
        csaw__batched_entry won[AT_ONCE];
        bool is[AT_ONCE];
#pragma unroll
        for (uint32_t n = 0; n < AT_ONCE; n++) {
            is[n] = next.count[n] && next.arg[n] - first < next.count[n]; /* arg is not set where there is no row */
            const uint32_t e = is[n] ? next.arg[n] : 0;
            d[n] = next.dy[n];
            won[n] = *(const csaw__batched_entry *)csaw__address(entry, e, sizeof(csaw__batched_entry));
            if (GIVEN) won[n].weight = *(const float *)csaw__address(given, e, sizeof(float));
            first += next.count[n];
        }
        fetch();
#pragma unroll
        for (uint32_t n = 0; n < AT_ONCE; n++) {
            const uint32_t to = (won[n].other - (uint32_t)col_begin) * CSAW__WON_THREADS;
            sum.put(to, sum.get(to) + (is[n] ? won[n].weight * csaw__widen<X>(d[n].at[0]) : 0.0f));
        }
    }
    if (p.out.dtype == CSAW_F32) {
        float *const to = (float *)out + (col_begin * p.out.stride + column);
#pragma unroll 8
        for (uint32_t j = 0; j < cols; j++) to[j * p.out.stride] = sum.get(j * CSAW__WON_THREADS);
    } else
        for (uint32_t j = 0; j < cols; j++) {
            const float value = sum.get(j * CSAW__WON_THREADS);
            csaw__batched_store<1>(&p.out, out, col_begin + j, column, &value);
        }
}

typedef void csaw__batched_won_kernel(csaw__batched_product);

template <csaw_dtype X> static csaw__batched_won_kernel *csaw__batched_won_of(const csaw__batched_product *p) {
    return p->weight ? csaw__batched_won<X, true> : csaw__batched_won<X, false>;
}

static csaw__batched_won_kernel *csaw__batched_won_at(const csaw__batched_product *p) {
    if (p->in.dtype == CSAW_F32) return csaw__batched_won_of<CSAW_F32>(p);
    return p->in.dtype == CSAW_F16 ? csaw__batched_won_of<CSAW_F16>(p) : csaw__batched_won_of<CSAW_BF16>(p);
}

#endif

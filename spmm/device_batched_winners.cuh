/* SPDX-License-Identifier: MIT */
/* spmm/device_batched_winners.cuh - device code of a batch's gradients of features of MAX and MIN, of graphs so small
 * that 32 columns of dx fit shared memory, and whose entries stand by row. A warp takes 32 columns of a graph, a lane
 * each: it goes through the rows of dy, which are read once and side by side, and adds each to where arg says. Nothing
 * is looked up before dy and arg are asked for, so that those of the next rows are on their way meanwhile; the entries
 * of a graph stay in the L1 cache. Sums by ascending row, as spmm/device_batched.cuh has them, to the bit. To be
 * compiled without contraction of a * b + c. */
#ifndef CSAW_SPMM_DEVICE_BATCHED_WINNERS_CUH
#define CSAW_SPMM_DEVICE_BATCHED_WINNERS_CUH

#include "spmm/device_batched.cuh"
#include "spmm/device_shared.cuh"

enum {
    CSAW__PICK_THREADS = 128, /* of a block */
    CSAW__PICK_ROWS = 8,      /* of dy and arg that are on their way at once */
    CSAW__PICK_BYTES = 48 << 10
};

/* Bytes of a block's shared memory, where no graph has more rows or columns. */
static inline uint64_t csaw__pick_bytes(uint64_t most) { return most * CSAW__PICK_THREADS * sizeof(float); }
static inline bool csaw__picks(const csaw_batch *batch) {
    return batch->device->in_order && csaw__pick_bytes(batch->most) <= CSAW__PICK_BYTES;
}

/* p: in is dy, out is dx, a by row; blocks of CSAW__PICK_THREADS for 32 lanes a graph and slice of 32 columns. most:
 * columns that shared memory was taken for. */
template <csaw_dtype X>
static __global__ void __launch_bounds__(CSAW__PICK_THREADS, 7)
    csaw__batched_pick(const __grid_constant__ csaw__batched_product p, uint64_t graphs, uint32_t slices,
                       uint32_t most) {
    typedef csaw__batched_pack<X, 1> element;
    constexpr uint32_t ROWS = CSAW__PICK_ROWS;
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint64_t turn = (uint64_t)blockIdx.x * (CSAW__PICK_THREADS / 32) + warp;
    const uint64_t which = slices == 1 ? turn : turn / slices, column = (turn - which * slices) * 32 + lane;
    if (which >= graphs) return;
    const csaw__small *const g = p.graph + which;
    const uint32_t rows = g->rows, cols = g->cols, col_begin = (uint32_t)g->col_begin;
    const uint64_t row_begin = g->row_begin, num_begin = g->num_begin;
    const bool stored = column < p.cols;
    const char *const in = csaw__batched_at(p.in.data, csaw__batched_shift(&p.in, p.graph, (uint32_t)which, false));
    const element *const dy = (const element *)in + (row_begin * p.in.stride + column);
    const uint32_t *const arg = p.arg + (row_begin * p.cols + column);
    const csaw__batched_row *const row = p.a.row + row_begin;
    const csaw__batched_entry *const entry = p.a.entry + num_begin;
    const float *const given = p.weight ? p.weight + num_begin : nullptr;
    float *const sum = csaw__launch_shared<float>() + warp * most * 32 + lane; /* [cols], a warp's width apart */
    uint32_t next[ROWS];
    element next_x[ROWS];
    const auto ask = [&](uint32_t r) {
#pragma unroll
        for (uint32_t n = 0; n < ROWS; n++) {
            next[n] = CSAW_NONE;
            if (!stored || r + n >= rows) continue;
            next[n] = arg[(r + n) * p.cols];
            next_x[n] = dy[(r + n) * p.in.stride];
        }
    };
    ask(0);
    for (uint32_t c = 0; c < cols; c++) sum[c * 32] = 0;
    uint32_t first = 0, count = 0; /* of row r / 32 * 32 + lane: its entries, numbered in the graph */
    for (uint32_t r = 0; r < rows; r += ROWS) {
        if (r % 32 == 0) {
            const csaw__batched_row mine = r + lane < rows ? row[r + lane] : csaw__batched_row{};
            first = (uint32_t)(mine.first - num_begin), count = mine.count;
        }
        csaw__batched_entry won[ROWS];
        element x[ROWS];
        bool there[ROWS];
#pragma unroll
        for (uint32_t n = 0; n < ROWS; n++) {
            const uint32_t of_row = next[n] - __shfl_sync(CSAW__ALL_LANES, first, (int)((r + n) % 32));
            there[n] = of_row < __shfl_sync(CSAW__ALL_LANES, count, (int)((r + n) % 32));
            if (!there[n]) continue;
            won[n] = entry[next[n]];
            if (given) won[n].weight = given[next[n]];
            x[n] = next_x[n];
        }
        ask(r + ROWS);
#pragma unroll
        for (uint32_t n = 0; n < ROWS; n++)
            if (there[n]) sum[(won[n].other - col_begin) * 32] += won[n].weight * csaw__widen<X>(x[n].at[0]);
    }
    if (!stored) return;
    const csaw_dense out = {0, 0, p.out.stride, p.out.dtype,
                            csaw__batched_at(p.out.data, csaw__batched_shift(&p.out, p.graph, (uint32_t)which, true))};
    for (uint32_t c = 0; c < cols; c++) csaw__store<1>(&out, g->col_begin + c, column, sum + c * 32);
}

typedef void csaw__pick_kernel(csaw__batched_product, uint64_t, uint32_t, uint32_t);

static csaw__pick_kernel *csaw__batched_pick_at(const csaw__batched_product *p) {
    if (p->in.dtype == CSAW_F32) return csaw__batched_pick<CSAW_F32>;
    return p->in.dtype == CSAW_F16 ? csaw__batched_pick<CSAW_F16> : csaw__batched_pick<CSAW_BF16>;
}

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/device_won_rows.cuh - rows of the transpose, gathered by who won, some of them and 32 columns a warp. Of 32
 * edges that follow each other, whatever rows they belong to, the lanes turn the words (csaw__turned_bits()), and each
 * loads what its own column won. To be compiled without contraction of a * b + c.
 *
 * Limit on an H100, amazon_cs, 64 and 256 columns: its instructions, 55 and 73% of the issue slots with 35 and 47% of
 * the warps. docs/measured/2026-11-27-gpu-21.md. */
#ifndef CSAW_SPMM_DEVICE_WON_ROWS_CUH
#define CSAW_SPMM_DEVICE_WON_ROWS_CUH

#include "spmm/device_beside.cuh"
#include "spmm/device_won_columns.cuh"
#include "spmm/device_won_edge.cuh"

enum {
    CSAW__WON_ROWS_BLOCKS = 10, /* of a multiprocessor, at least */
    CSAW__WON_ROWS_HELD = 4     /* elements that a lane has on their way at once */
};

/* A warp some rows of the transpose that follow each other, slice and word of it: their edges 32 at a time. */
template <csaw_dtype X>
static __global__ void __launch_bounds__(CSAW__THREADS, CSAW__WON_ROWS_BLOCKS)
    csaw__gather_rows_of_winners(const __grid_constant__ csaw__product p, const __grid_constant__ csaw__won_order order,
                                 uint32_t longest) {
    typedef typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type stored;
    typedef csaw__won_edge<1> won_edge;
    constexpr uint32_t ROWS = CSAW__WON_ROWS, HELD = CSAW__WON_ROWS_HELD;
    const uint32_t lane = threadIdx.x % 32, blocks = (uint32_t)p.blocks, slice_number = blockIdx.x / blocks;
    const uint64_t number = (uint64_t)(blockIdx.x - slice_number * blocks) * (CSAW__THREADS / 32) + threadIdx.x / 32;
    const uint32_t words = order.words, word = (uint32_t)number & (words - 1); /* a power of two */
    const uint64_t first_row = (number >> (__ffs((int)words) - 1)) * ROWS;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const uint32_t column = word * CSAW__WON_COLUMNS + lane;
    const uint64_t row_bytes = p.x.stride * sizeof(stored);
    const char *const dy =
        (const char *)p.x.data + (slice.first + (column < slice.width ? column : 0)) * sizeof(stored);
    const uint32_t *const of_word = order.won + slice_number * p.num_edges * words + word;
    const bool here_is = lane < ROWS && word * CSAW__WON_COLUMNS < slice.width; /* a row, and columns of the word */
    const csaw__unit own = csaw__won_unit_at(p, longest, here_is ? first_row + lane : p.rows);
    const uint32_t stores = __ballot_sync(CSAW__ALL_LANES, own.stored);
    uint32_t until[ROWS], all = 0; /* edges of the rows up to each */
    uint64_t offset[ROWS];         /* from the number of one of these edges to its place */
#pragma unroll
    for (uint32_t i = 0; i < ROWS; i++) {
        offset[i] = __shfl_sync(CSAW__ALL_LANES, own.first, (int)i) - all;
        all += __shfl_sync(CSAW__ALL_LANES, own.count, (int)i);
        until[i] = all;
    }
    const auto place = [&](uint32_t k) {
        uint64_t of = offset[0];
#pragma unroll
        for (uint32_t i = 1; i < ROWS; i++)
            if (k >= until[i - 1]) of = offset[i];
        return k + of;
    };
    const auto read_number = [&](uint32_t k) { return k < all ? csaw__won_number(order, place(k)) : 0; };
    const auto read = [&](uint32_t k, csaw_edge e) {
        return k < all ? csaw__won_edge_at<1>(p, order, of_word, words, slice.head, place(k), e) : won_edge{};
    };
    won_edge next = read(lane, read_number(lane)); /* of the 32 to come, this lane's */
    csaw_edge after = read_number(32 + lane);      /* the number of the one after */
    float sum[ROWS] = {};
#pragma unroll 1
    for (uint32_t begin = 0; begin < all; begin += 32) {
        const won_edge here = next;
        uint32_t mine = csaw__turned_bits(here.won[0]);
        const uint32_t most = __reduce_max_sync(CSAW__ALL_LANES, (uint32_t)__popc(mine));
        next = read(begin + 32 + lane, after);
        after = read_number(begin + 64 + lane);
#pragma unroll 1
        for (uint32_t first = 0; first < most; first += HELD) {
            stored held[HELD];
            float weight[HELD];
            uint32_t edge[HELD]; /* past all: none */
#pragma unroll
            for (uint32_t n = 0; n < HELD; n++, mine &= mine - 1) {
                const int from = (__ffs((int)mine) - 1) & 31;
                edge[n] = mine ? begin + from : all;
                held[n] = *(const stored *)(dy + __shfl_sync(CSAW__ALL_LANES, here.row, from) * row_bytes);
                weight[n] = __shfl_sync(CSAW__ALL_LANES, here.weight, from);
            }
#pragma unroll
            for (uint32_t n = 0; n < HELD; n++) {
                const float product = weight[n] * csaw__widen<X>(held[n]);
#pragma unroll
                for (uint32_t i = 0; i < ROWS; i++)
                    if ((i == 0 || edge[n] >= until[i - 1]) && edge[n] < until[i]) sum[i] += product;
            }
        }
    }
    if (blockIdx.x == gridDim.x - 1) csaw__end_after_last(); /* csaw__gather_hub_winners */
#pragma unroll
    for (uint32_t i = 0; i < ROWS; i++)
        if (stores >> i & 1 && column < slice.width) csaw__store<1>(&p.y, first_row + i, slice.first + column, &sum[i]);
}

#endif

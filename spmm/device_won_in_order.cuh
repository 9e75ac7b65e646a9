/* SPDX-License-Identifier: MIT */
/* spmm/device_won_in_order.cuh - sums of a long row's edges that won, a column each lane, one after the other. An edge
 * that won in none of the columns, as most did, is left out. One warp of a block takes the others in order out of
 * shared memory, while the rest of them ask for those that follow. So a hub waits for an addition an edge that won, not
 * for memory. */
#ifndef CSAW_SPMM_DEVICE_WON_IN_ORDER_CUH
#define CSAW_SPMM_DEVICE_WON_IN_ORDER_CUH

#include "spmm/device_arguments.h"

enum {
    CSAW__WON_LOADERS = 8,                            /* warps of a block, of 32 edges at a time each */
    CSAW__WON_THREADS = 32 * (CSAW__WON_LOADERS + 1), /* of the block: the last warp takes */
    CSAW__WON_BLOCKS = 4,                             /* of a multiprocessor, at least */
    CSAW__WON_HELD = 8,                               /* elements that a lane has on their way at once */
    CSAW__WON_STEP = 4,                               /* products that are taken at once */
    CSAW__WON_ROOM = 128                              /* of a lane that are handed over at a time */
};

/* All threads of a block; the sum is the last warp's. number(k): of edge k < count, what fetch() is given as well;
 * fetch(k, number): its row, weight and word; load(row): the element of a row in the lane's column. */
template <typename EDGE, typename NUMBER, typename FETCH, typename LOAD, typename WIDEN>
static __device__ __forceinline__ float csaw__won_in_order(uint64_t count, NUMBER number, FETCH fetch, LOAD load,
                                                           WIDEN widen) {
    constexpr uint32_t LOADERS = CSAW__WON_LOADERS, TURN = 32 * LOADERS, ROOM = CSAW__WON_ROOM;
    constexpr uint32_t HELD = CSAW__WON_HELD, STEP = CSAW__WON_STEP;
    __shared__ float product[2][ROOM][32];    /* by turns; where a lane has none -0, which changes no sum */
    __shared__ uint32_t products[2][LOADERS]; /* of a warp's edges: a multiple of STEP */
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool loads = warp < LOADERS;
    const auto read_number = [&](uint64_t k) { return loads && k < count ? number(k) : 0; };
    const auto read = [&](uint64_t k, uint64_t of) { return loads && k < count ? fetch(k, of) : EDGE{}; };
    EDGE next = read(threadIdx.x, read_number(threadIdx.x)); /* this lane's edge of the turn to come */
    uint64_t after = read_number(TURN + threadIdx.x);        /* the number of the one after */
    uint32_t parity = 0, turn = 0;
    float sum = 0;
#pragma unroll 1
    for (uint64_t begin = 0; begin < count; begin += TURN, turn ^= 1) {
        const EDGE here = next;
        uint32_t left = 0; /* lanes whose edges won in a column */
        if (loads) {
            left = __ballot_sync(CSAW__ALL_LANES, here.won[0] != 0);
            if (lane == 0) products[turn][warp] = ((uint32_t)__popc(left) + STEP - 1) / STEP * STEP;
            next = read(begin + TURN + threadIdx.x, after);
            after = read_number(begin + 2 * TURN + threadIdx.x);
        }
        __syncthreads(); /* products stand */
        const uint32_t of_lane = lane < LOADERS ? products[turn][lane] : 0;
        const uint32_t all = __reduce_add_sync(CSAW__ALL_LANES, of_lane);
        const uint32_t end = __reduce_add_sync(CSAW__ALL_LANES, lane <= warp ? of_lane : 0);
        uint32_t place = end - __shfl_sync(CSAW__ALL_LANES, of_lane, (int)warp & 31); /* of the warp's next */
#pragma unroll 1
        for (uint32_t first = 0; first < all; first += ROOM, parity ^= 1) {
            const uint32_t until = end < first + ROOM ? end : first + ROOM;
#pragma unroll 1
            while (loads && place < until) {
                const uint32_t here_are = until - place < HELD ? until - place : HELD;
                decltype(load(0)) held[HELD];
                float weight[HELD];
                bool there[HELD];
#pragma unroll
                for (uint32_t n = 0; n < HELD; n++) {
                    if (n >= here_are) break;
                    const int from = (__ffs((int)left) - 1) & 31;
                    const uint32_t won = __shfl_sync(CSAW__ALL_LANES, here.won[0], from);
                    const auto row = __shfl_sync(CSAW__ALL_LANES, here.row, from);
                    weight[n] = __shfl_sync(CSAW__ALL_LANES, here.weight, from);
                    there[n] = left && won >> lane & 1;
                    held[n] = 0;
                    if (there[n]) held[n] = load(row);
                    left &= left - 1;
                }
#pragma unroll
                for (uint32_t n = 0; n < HELD; n++)
                    if (n < here_are)
                        product[parity][place - first + n][lane] = there[n] ? weight[n] * widen(held[n]) : -0.0f;
                place += here_are;
            }
            __syncthreads();
            if (loads) continue;
            const uint32_t handed = all - first < ROOM ? all - first : ROOM;
#pragma unroll 2
            for (uint32_t n = 0; n < handed; n += STEP)
#pragma unroll
                for (uint32_t i = 0; i < STEP; i++) sum += product[parity][n + i][lane];
        }
    }
    return sum;
}

#endif

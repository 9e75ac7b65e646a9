/* SPDX-License-Identifier: MIT */
/* spmm/device_won_in_order.cuh - sums of a long row's edges that won, a column each lane, one after the other. Of 32
 * edges a warp turns the words, so that each lane has, as bits, which of them won in its column. There are few, and it
 * loads these alone: the k-th of each lane side by side. One warp of a block takes them in order out of shared memory,
 * while the others ask for those of the edges that follow. So a hub waits for an addition an edge that won, at most. */
#ifndef CSAW_SPMM_DEVICE_WON_IN_ORDER_CUH
#define CSAW_SPMM_DEVICE_WON_IN_ORDER_CUH

#include "spmm/device_arguments.h"

enum {
    CSAW__WON_LOADERS = 15,                           /* warps of a block, of 32 edges at a time each */
    CSAW__WON_THREADS = 32 * (CSAW__WON_LOADERS + 1), /* of the block: the last warp takes */
    CSAW__WON_BLOCKS = 3,                             /* of a multiprocessor, at least */
    CSAW__WON_HELD = 4,                               /* elements that a lane has on their way at once */
    CSAW__WON_ROOM = 128                              /* products of a lane that are handed over at a time */
};

/* Of 32 words, one a lane: bit e of lane c is bit c of lane e. */
static __device__ __forceinline__ uint32_t csaw__turned_bits(uint32_t word) {
    const uint32_t lane = threadIdx.x % 32;
    uint32_t low = 0x0000ffff;
#pragma unroll
    for (uint32_t apart = 16; apart; apart /= 2, low ^= low << apart) {
        const uint32_t other = __shfl_xor_sync(CSAW__ALL_LANES, word, (int)apart);
        word = lane & apart ? (word & ~low) | (other >> apart & low) : (word & low) | (other & low) << apart;
    }
    return word;
}

/* All threads of a block; the sum is the last warp's. number(k): of edge k < count, what fetch() is given as well;
 * fetch(k, number): its row, weight and word; load(row): the element of a row in the lane's column, also of row 0 where
 * no edge asks. */
template <typename EDGE, typename NUMBER, typename FETCH, typename LOAD, typename WIDEN>
static __device__ __forceinline__ float csaw__won_in_order(uint64_t count, NUMBER number, FETCH fetch, LOAD load,
                                                           WIDEN widen) {
    constexpr uint32_t LOADERS = CSAW__WON_LOADERS, TURN = 32 * LOADERS, HELD = CSAW__WON_HELD, ROOM = CSAW__WON_ROOM;
    __shared__ float product[2][ROOM][32];    /* by turns; where a lane has none -0, which changes no sum */
    __shared__ uint32_t products[2][LOADERS]; /* of a lane, at most: a multiple of HELD */
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
        uint32_t won = 0;
        if (loads) {
            uint32_t most = 0;
            if (begin + 32 * warp < count) {
                won = csaw__turned_bits(here.won[0]);
                most = __reduce_max_sync(CSAW__ALL_LANES, (uint32_t)__popc(won));
            }
            if (lane == 0) products[turn][warp] = (most + HELD - 1) / HELD * HELD;
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
            if (loads) {
                const uint32_t until = end < first + ROOM ? end : first + ROOM;
#pragma unroll 1
                for (; place < until; place += HELD) {
                    decltype(load(0)) held[HELD];
                    float weight[HELD];
                    bool there[HELD];
#pragma unroll
                    for (uint32_t n = 0; n < HELD; n++, won &= won - 1) {
                        const int edge = (__ffs((int)won) - 1) & 31;
                        there[n] = won != 0;
                        held[n] = load(__shfl_sync(CSAW__ALL_LANES, here.row, edge));
                        weight[n] = __shfl_sync(CSAW__ALL_LANES, here.weight, edge);
                    }
#pragma unroll
                    for (uint32_t n = 0; n < HELD; n++)
                        product[parity][place - first + n][lane] = there[n] ? weight[n] * widen(held[n]) : -0.0f;
                }
            }
            __syncthreads();
            if (!loads) {
                const uint32_t handed = all - first < ROOM ? all - first : ROOM;
#pragma unroll 1
                for (uint32_t n = 0; n < handed; n += HELD)
#pragma unroll
                    for (uint32_t i = 0; i < HELD; i++) sum += product[parity][n + i][lane];
            }
        }
    }
    return sum;
}

#endif

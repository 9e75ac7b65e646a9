/* SPDX-License-Identifier: MIT */
/* spmm/device_won_columns.cuh - sums of a long row's edges that won, a column each lane, one after the other. Of 32
 * edges a warp turns the words, so that each lane has, as bits, which of them won in its column. They are few, and it
 * loads these alone, the k-th of each lane side by side. One warp of a block takes them in order out of shared memory,
 * while the others ask for those of the edges that follow. Beside csaw__in_order() it takes half of the instructions,
 * but twice the time of a row: for many rows at once. */
#ifndef CSAW_SPMM_DEVICE_WON_COLUMNS_CUH
#define CSAW_SPMM_DEVICE_WON_COLUMNS_CUH

#include "spmm/device_slice.cuh"

enum {
    CSAW__WON_LOADERS = 4,                            /* warps of a block, of 32 edges at a time each */
    CSAW__WON_THREADS = 32 * (CSAW__WON_LOADERS + 1), /* of the block: the last warp takes */
    CSAW__WON_HELD = 4                                /* elements that a lane has on their way at once */
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
static __device__ __forceinline__ float csaw__won_by_columns(uint64_t count, NUMBER number, FETCH fetch, LOAD load,
                                                             WIDEN widen) {
    constexpr uint32_t LOADERS = CSAW__WON_LOADERS, TURN = 32 * LOADERS, HELD = CSAW__WON_HELD;
    __shared__ float product[2][LOADERS][32][32]; /* a multiple of HELD; where there is none -0, which changes no sum */
    __shared__ uint32_t products[2][LOADERS];     /* of a lane, at most */
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool loads = warp < LOADERS;
    const auto read_number = [&](uint64_t k) { return loads && k < count ? number(k) : 0; };
    const auto read = [&](uint64_t k, uint64_t of) { return loads && k < count ? fetch(k, of) : EDGE{}; };
    EDGE next = read(threadIdx.x, read_number(threadIdx.x)); /* this lane's edge of the turn to come */
    uint64_t after = read_number(TURN + threadIdx.x);        /* the number of the one after */
    uint32_t parity = 0;
    float sum = 0;
    for (uint64_t begin = 0; begin < count + TURN; begin += TURN, parity ^= 1) { /* a turn is taken in the next */
        if (loads) {
            const EDGE here = next;
            uint32_t won = csaw__turned_bits(here.won[0]);
            const uint32_t most = __reduce_max_sync(CSAW__ALL_LANES, (uint32_t)__popc(won));
            next = read(begin + TURN + threadIdx.x, after);
            after = read_number(begin + 2 * TURN + threadIdx.x);
#pragma unroll 1
            for (uint32_t first = 0; first < most; first += HELD) {
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
                    product[parity][warp][first + n][lane] = there[n] ? weight[n] * widen(held[n]) : -0.0f;
            }
            if (lane == 0) products[parity][warp] = most;
        } else if (begin) {
#pragma unroll 1
            for (uint32_t from = 0; from < LOADERS; from++) {
                const uint32_t most = products[parity ^ 1][from];
#pragma unroll 1
                for (uint32_t first = 0; first < most; first += HELD)
#pragma unroll
                    for (uint32_t n = 0; n < HELD; n++) sum += product[parity ^ 1][from][first + n][lane];
            }
        }
        __syncthreads();
    }
    return sum;
}

#endif

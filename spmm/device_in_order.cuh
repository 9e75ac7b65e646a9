/* SPDX-License-Identifier: MIT */
/* spmm/device_in_order.cuh - the edges of a long row one after the other, where no chunks are stated: one warp of a
 * block takes elements of 32 columns in order out of shared memory, while the others bring those of the next edges
 * there, and those after them are on their way. So a hub waits for an addition an edge, not for memory. */
#ifndef CSAW_SPMM_DEVICE_IN_ORDER_CUH
#define CSAW_SPMM_DEVICE_IN_ORDER_CUH

#include "spmm/device_arguments.h"

/* All threads of a block. fetch(k): edge k < count; load(edge): in the lane's column, of EDGE{} anything; value(edge,
 * loaded), a turn later; take(value): in order, in the last warp. */
template <typename EDGE, typename FETCH, typename LOAD, typename VALUE, typename TAKE>
static __device__ __forceinline__ void csaw__in_order(uint64_t count, FETCH fetch, LOAD load, VALUE value, TAKE take) {
    __shared__ float turn[2][CSAW__TURN][32];
    __shared__ EDGE edges[2][CSAW__TURN];
    const uint32_t lane = threadIdx.x % 32, first = threadIdx.x / 32 * CSAW__LOADER_EDGES;
    const bool loads = first < CSAW__TURN, reads = loads && lane < CSAW__LOADER_EDGES;
    const uint64_t turns = (count + CSAW__TURN - 1) / CSAW__TURN;
    EDGE next[2] = {}; /* of the turns to come, this lane's */
    decltype(load(EDGE{})) loaded[CSAW__LOADER_EDGES] = {};
    const auto read = [&](uint64_t k) { return reads && k < count ? fetch(k) : EDGE{}; };
    /* Turn `now` is asked for, the one before goes to shared memory, the one before that is taken. */
    const auto pass = [&](uint64_t now, int parity) {
        if (loads) {
#pragma unroll
            for (uint32_t n = 0; n < CSAW__LOADER_EDGES; n++)
                if (now) turn[parity ^ 1][first + n][lane] = value(edges[parity ^ 1][first + n], loaded[n]);
            if (reads) edges[parity][first + lane] = next[parity];
            __syncwarp();
#pragma unroll
            for (uint32_t n = 0; n < CSAW__LOADER_EDGES; n++) loaded[n] = load(edges[parity][first + n]);
            next[parity] = read((now + 2) * CSAW__TURN + first + lane);
        } else if (now >= 2) {
            const uint64_t begin = (now - 2) * CSAW__TURN, left = begin < count ? count - begin : 0;
            if (left >= CSAW__TURN) {
#pragma unroll 16
                for (uint32_t k = 0; k < CSAW__TURN; k++) take(turn[parity][k][lane]);
            } else {
                for (uint32_t k = 0; k < left; k++) take(turn[parity][k][lane]);
            }
        }
        __syncthreads();
    };
    next[0] = read(first + lane);
    next[1] = read(CSAW__TURN + first + lane);
    for (uint64_t now = 0; now < turns + 2; now += 2) {
        pass(now, 0);
        pass(now + 1, 1);
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/device_in_order.cuh - the edges of a long row one after the other, where no chunks are stated: one warp of a
 * block takes elements of 32 columns in order out of shared memory, while the others bring those of the next edges
 * there. So a hub waits for an addition an edge, not for memory. */
#ifndef CSAW_SPMM_DEVICE_IN_ORDER_CUH
#define CSAW_SPMM_DEVICE_IN_ORDER_CUH

#include "spmm/device_arguments.h"

/* All threads of a block. fetch(k): edge k < count; element(edge): in the lane's column, of EDGE{} anything;
 * take(value): in order, in the last warp. */
template <typename EDGE, typename FETCH, typename ELEMENT, typename TAKE>
static __device__ __forceinline__ void csaw__in_order(uint64_t count, FETCH fetch, ELEMENT element, TAKE take) {
    __shared__ float turn[2][CSAW__TURN][32];
    __shared__ EDGE edges[CSAW__TURN];
    const uint32_t lane = threadIdx.x % 32, first = threadIdx.x / 32 * CSAW__LOADER_EDGES;
    const bool loads = first < CSAW__TURN, reads = loads && lane < CSAW__LOADER_EDGES;
    EDGE next = {};
    const auto read = [&](uint64_t k) { next = reads && k < count ? fetch(k) : EDGE{}; };
    read(first + lane);
    for (uint64_t begin = 0; begin < count + CSAW__TURN; begin += CSAW__TURN) {
        float(*const here)[32] = turn[begin / CSAW__TURN % 2], (*const before)[32] = turn[begin / CSAW__TURN % 2 ^ 1];
        if (loads) {
            float value[CSAW__LOADER_EDGES];
            if (reads) edges[first + lane] = next;
            __syncwarp();
#pragma unroll
            for (uint32_t n = 0; n < CSAW__LOADER_EDGES; n++) value[n] = element(edges[first + n]);
            read(begin + CSAW__TURN + first + lane); /* while elements come */
#pragma unroll
            for (uint32_t n = 0; n < CSAW__LOADER_EDGES; n++) here[first + n][lane] = value[n];
        } else if (begin) {
            const uint64_t left = count - (begin - CSAW__TURN);
            if (left >= CSAW__TURN) {
#pragma unroll 16
                for (uint32_t k = 0; k < CSAW__TURN; k++) take(before[k][lane]);
            } else {
                for (uint32_t k = 0; k < left; k++) take(before[k][lane]);
            }
        }
        __syncthreads();
    }
}

#endif

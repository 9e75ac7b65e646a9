/* SPDX-License-Identifier: MIT */
/* spmm/device_gather.cuh - kernels of device_gather.cu: lanes of a power of two copy a row by words as wide as
 * addresses, strides and length of the rows allow, side by side, so that of the host's memory, too, whole lines are
 * asked for.
 *
 * Limit on an H200 (a batch of 8.7 us): 63% of the throughput of L2. docs/measured/2026-11-24-gpu-11.md. */
#ifndef CSAW_SPMM_DEVICE_GATHER_CUH
#define CSAW_SPMM_DEVICE_GATHER_CUH

#include "spmm/device_gather.h"

struct alignas(16) csaw__word16 {
    uint64_t half[2];
};

static __device__ const char *csaw__gather_row(const csaw__gathering &g, csaw_vertex v) {
    const csaw_vertex place = g.place ? g.place[v] : CSAW_NONE;
    if (place != CSAW_NONE) return g.cache + place * g.bytes;
    if (g.head && v < g.head_rows) return g.head + v * g.x_stride;
    if (g.tail && v >= g.tail_row) return g.tail + (v - g.tail_row) * g.x_stride;
    return g.x + v * g.x_stride;
}

enum { CSAW__GATHER_LANES = 32 /* of a row, at most */ };

template <typename WORD> __global__ void csaw__gather_rows(csaw__gathering g, uint32_t log_lanes) {
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, i = thread >> log_lanes;
    const uint32_t lanes = 1u << log_lanes, lane = (uint32_t)thread & (lanes - 1);
    const uint64_t words = g.bytes / sizeof(WORD);
    if (i >= g.count) return;
    const WORD *__restrict__ from = (const WORD *)csaw__gather_row(g, g.vertex[i]);
    WORD *__restrict__ to = (WORD *)(g.y + i * g.y_stride);
#pragma unroll 4
    for (uint64_t w = lane; w < words; w += lanes) to[w] = from[w];
}

static __global__ void csaw__gather_count(csaw__gathering g) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const bool is_cached = i < g.count && g.place[g.vertex[i]] != CSAW_NONE;
    const uint32_t all = __ballot_sync(0xffffffffu, is_cached);
    if (all && !(threadIdx.x & 31)) atomicAdd(g.cached, (unsigned long long)__popc(all));
}

/* The widest word, in bytes, that rows can be copied by. */
static inline uint64_t csaw__gather_word(const csaw__gathering *g) {
    const uint64_t of_all = (uintptr_t)g->x | (uintptr_t)g->y | (uintptr_t)g->cache | (uintptr_t)g->head |
                            (uintptr_t)g->tail | g->x_stride | g->y_stride | g->bytes;
    return (of_all | 16) & (~(of_all | 16) + 1);
}

#endif

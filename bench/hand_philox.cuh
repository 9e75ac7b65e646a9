/* SPDX-License-Identifier: MIT */
/* bench/hand_philox.cuh - numbers, a graph and arcs for the kernels written by hand. Philox4x32-10: Salmon, Moraes,
 * Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11. */
#ifndef CSAW_BENCH_HAND_PHILOX_CUH
#define CSAW_BENCH_HAND_PHILOX_CUH

#include <stdint.h>

constexpr uint32_t every_lane = 0xffffffffu;

struct hand_graph {
    const uint2 *row;    /* [vertices] first arc, degree: one read of 8 bytes a row */
    const uint32_t *col; /* [arcs] */
    const float *weight; /* [arcs + 4], or NULL; aligned to 16 bytes */
    float scale;         /* a power of two: weight * scale is below 2^26 */
};

/* An arc is written in one go: src, dst, edge low, edge high. */
typedef uint4 hand_arc;

static __device__ __forceinline__ uint4 hand_philox(uint2 key, uint4 at) {
#pragma unroll
    for (int round = 0; round < 10; round++) {
        const uint32_t high0 = __umulhi(0xd2511f53u, at.x), low0 = 0xd2511f53u * at.x;
        const uint32_t high1 = __umulhi(0xcd9e8d57u, at.z), low1 = 0xcd9e8d57u * at.z;
        at = make_uint4(high1 ^ at.y ^ key.x, low1, high0 ^ at.w ^ key.y, low0);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return at;
}

/* Below n > 0, each equally likely (Lemire, "Fast random integer generation in an interval", TOMACS 2019): the first
 * number does but for n in 2^32 cases; then others are drawn at `at`, whose last word counts them. */
static __device__ __forceinline__ uint32_t hand_below(uint32_t number, uint32_t n, uint2 key, uint4 at) {
    uint64_t product = (uint64_t)number * n;
    if ((uint32_t)product < n) {
        const uint32_t least = (0u - n) % n;
        while ((uint32_t)product < least) {
            at.w++;
            product = (uint64_t)hand_philox(key, at).x * n;
        }
    }
    return (uint32_t)(product >> 32);
}

static __device__ __forceinline__ void hand_put(hand_arc *to, uint32_t src, uint32_t dst, uint64_t edge) {
    __stcs(to, make_uint4(src, dst, (uint32_t)edge, (uint32_t)(edge >> 32))); /* read by no one here: leave L2 alone */
}

#endif

/* SPDX-License-Identifier: MIT */
/* bench/hand_pack.cuh - what the kernels by hand left in padded places, brought side by side in the arrays that csaw
 * hands out: offset, src, dst, edge, depth.
 *
 * Method: arcs of each instance counted, counts summed (CUB), then a warp an instance reads its places, 32 at a time
 * with the next 32 asked for, and writes those that hold an arc. */
#ifndef CSAW_BENCH_HAND_PACK_CUH
#define CSAW_BENCH_HAND_PACK_CUH

#include "bench/hand_philox.cuh"

/* K0 places of hop 0 in front, then MOST of hop 1 by row: ROWS of them, 1 or K0. */
struct hand_places {
    const hand_arc *arc;    /* [instances, K0 + MOST] */
    const uint32_t *count0; /* [instances] */
    const uint32_t *count1; /* [instances, ROWS] */
    uint64_t instances;
};

struct hand_packed {
    uint64_t *offset; /* [instances + 1] */
    uint32_t *src, *dst;
    uint64_t *edge;
    uint32_t *depth;
};

/* counts: [instances + 1], the last 0. */
template <uint32_t ROWS> static __global__ void count_places(hand_places p, uint64_t *counts) {
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i > p.instances) return;
    uint64_t sum = i < p.instances ? p.count0[i] : 0;
    for (uint32_t r = 0; r < ROWS && i < p.instances; r++) sum += p.count1[i * ROWS + r];
    counts[i] = sum;
}

template <uint32_t K0, uint32_t MOST, uint32_t ROWS>
static __global__ void __launch_bounds__(256) pack_places(hand_places p, hand_packed out) {
    const uint64_t i = (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) / 32;
    constexpr uint32_t room = K0 + MOST, row_room = MOST / ROWS;
    const uint32_t lane = threadIdx.x % 32;
    if (i >= p.instances) return; /* the whole warp */
    const uint32_t have = p.count0[i];
    const hand_arc *mine = p.arc + i * room;
    uint64_t to = out.offset[i];
    const auto holds = [&](uint32_t place) {
        if (place < K0) return place < have;
        if (place >= room) return false;
        const uint32_t row = (place - K0) / row_room;
        return place - K0 - row * row_room < p.count1[i * ROWS + row];
    };
    bool next_there = holds(lane);
    hand_arc next = next_there ? __ldcs(mine + lane) : make_uint4(0, 0, 0, 0);
    for (uint32_t base = 0; base < room; base += 32) {
        const uint32_t place = base + lane;
        const bool there = next_there;
        const hand_arc arc = next;
        next_there = holds(place + 32);
        if (next_there) next = __ldcs(mine + place + 32);
        const uint32_t set = __ballot_sync(every_lane, there);
        if (there) {
            const uint64_t at = to + (uint32_t)__popc((int)(set & ((1u << lane) - 1)));
            __stcs(out.src + at, arc.x);
            __stcs(out.dst + at, arc.y);
            __stcs((unsigned long long *)out.edge + at, (unsigned long long)arc.w << 32 | arc.z);
            __stcs(out.depth + at, (uint32_t)(place >= K0));
        }
        to += (uint32_t)__popc((int)set);
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/* bench/hand_uniform.cuh - two hops of uniform neighbour sampling in one kernel.
 *
 * An instance is as many lanes of a warp as its first fanout, rounded up to a power of two: half a warp for 15, two
 * lanes for 2. At hop 0 each lane picks one arc of the seed's row; then each lane owns the vertex that it reached, and
 * picks all of its arcs in registers. The k distinct places come from Floyd's algorithm (Bentley, Floyd, CACM 1987),
 * which needs k numbers exactly, so lanes never wait for one that draws again. What was picked goes through shared
 * memory to whichever lane has room, so that all lanes read neighbours, several each before the first one is needed,
 * and a warp's arcs leave in stores that lie side by side. */
#ifndef CSAW_BENCH_HAND_UNIFORM_CUH
#define CSAW_BENCH_HAND_UNIFORM_CUH

#include "bench/hand_philox.cuh"

constexpr uint32_t uniform_warps = 4; /* of a block */

static constexpr __host__ __device__ uint32_t lanes_for(uint32_t fanout) {
    return fanout <= 1 ? 1 : fanout <= 2 ? 2 : fanout <= 4 ? 4 : fanout <= 8 ? 8 : 16;
}

/* arc: [instances, K0 + K0 * K1] hop 0 first, hop 1 from place K0 on; count0, count1: [instances] of each hop. */
template <uint32_t K0, uint32_t K1>
__global__ void __launch_bounds__(32 * uniform_warps)
    uniform_two_hops(hand_graph graph, const uint32_t *__restrict__ seed, uint64_t instances, uint2 key,
                     hand_arc *__restrict__ arc, uint32_t *__restrict__ count0, uint32_t *__restrict__ count1) {
    static_assert(K0 >= 1 && K0 <= 16 && K1 >= 1 && K1 <= 32, "a vertex of hop 1 is a lane's");
    constexpr uint32_t lanes = lanes_for(K0), groups = 32 / lanes, most = K0 * K1, room = K0 + most;
    constexpr uint32_t blocks = (1 + K1 + 3) / 4; /* below 15: counters of numbers drawn again come after */
    constexpr uint32_t rounds = (groups * most + 31) / 32, ahead = rounds < 5 ? rounds : 5;
    __shared__ uint32_t edges[uniform_warps][groups * most];
    __shared__ uint32_t owned[uniform_warps][32];
    __shared__ uint8_t owner[uniform_warps][groups * most];
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / lanes, place = lane % lanes;
    const uint64_t first = ((uint64_t)blockIdx.x * uniform_warps + warp) * groups, instance = first + group;
    if (first >= instances) return; /* the whole warp */
    const bool alive = instance < instances;
    uint32_t word[4 * blocks]; /* word 0: hop 0; 1 .. K1: hop 1 */
    const uint4 at = make_uint4((uint32_t)instance, (uint32_t)(instance >> 32), place, 0);
#pragma unroll
    for (uint32_t b = 0; b < blocks; b++) {
        const uint4 four = hand_philox(key, make_uint4(at.x, at.y, place, b << 24));
        word[4 * b] = four.x;
        word[4 * b + 1] = four.y;
        word[4 * b + 2] = four.z;
        word[4 * b + 3] = four.w;
    }

    /* hop 0 */
    const uint32_t from = alive ? __ldg(seed + instance) : 0;
    const uint2 row = alive ? __ldg(graph.row + from) : make_uint2(0, 0);
    uint32_t picked = place;
    if (row.y > K0) picked = hand_below(word[0], row.y - K0 + place + 1, key, make_uint4(at.x, at.y, place, 15u << 24));
#pragma unroll
    for (uint32_t i = 0; i + 1 < K0; i++) { /* lane i's pick is final by now */
        const uint32_t other = __shfl_sync(every_lane, picked, i, lanes);
        if (place > i && other == picked) picked = row.y - K0 + place;
    }
    const bool picks = place < K0 && place < row.y;
    const uint32_t reached = picks ? __ldg(graph.col + row.x + picked) : 0;
    if (picks) hand_put(arc + instance * room + place, from, reached, row.x + picked);

    /* hop 1: every vertex once */
    const unsigned long long named = picks ? (unsigned long long)group << 32 | reached : ~0ull - lane;
    const uint32_t alike = __match_any_sync(every_lane, named);
    const bool owns = picks && (uint32_t)__ffs((int)alike) - 1 == lane;
    const uint2 mine = owns ? __ldg(graph.row + reached) : make_uint2(0, 0);
    const uint32_t k = mine.y < K1 ? mine.y : K1;
    uint32_t pick[K1];
#pragma unroll
    for (uint32_t j = 0; j < K1; j++) {
        pick[j] = j;
        if (mine.y > K1) {
            bool taken = false;
            const uint32_t bound = mine.y - K1 + j + 1;
            pick[j] = hand_below(word[1 + j], bound, key, make_uint4(at.x, at.y, place, (16 + j) << 24));
#pragma unroll
            for (uint32_t i = 0; i < j; i++) taken |= pick[i] == pick[j];
            if (taken) pick[j] = bound - 1;
        }
    }
    uint32_t upto = k; /* this lane's and those of lanes before it in the group */
#pragma unroll
    for (uint32_t d = 1; d < lanes; d *= 2) {
        const uint32_t before = __shfl_up_sync(every_lane, upto, d, lanes);
        if (place >= d) upto += before;
    }
    const uint32_t total = __shfl_sync(every_lane, upto, lanes - 1, lanes);
    owned[warp][lane] = reached;
#pragma unroll
    for (uint32_t j = 0; j < K1; j++) {
        if (j >= k) continue;
        const uint32_t to = group * most + upto - k + j;
        edges[warp][to] = mine.x + pick[j];
        owner[warp][to] = (uint8_t)lane;
    }
    if (alive && place == 0) {
        count0[instance] = row.y < K0 ? row.y : K0;
        count1[instance] = total;
    }
    __syncwarp();
    for (uint32_t base = 0; base < groups * most; base += 32 * ahead) {
        uint32_t edge[ahead], dst[ahead];
        bool there[ahead];
#pragma unroll
        for (uint32_t a = 0; a < ahead; a++) {
            const uint32_t x = base + 32 * a + lane, whose = x / most;
            const uint32_t have = __shfl_sync(every_lane, total, (int)(whose * lanes % 32));
            there[a] = whose < groups && x % most < have;
            edge[a] = there[a] ? edges[warp][x] : 0;
        }
#pragma unroll
        for (uint32_t a = 0; a < ahead; a++) dst[a] = there[a] ? __ldg(graph.col + edge[a]) : 0;
#pragma unroll
        for (uint32_t a = 0; a < ahead; a++) {
            const uint32_t x = base + 32 * a + lane;
            if (there[a])
                hand_put(arc + (first + x / most) * room + K0 + x % most, owned[warp][owner[warp][x]], dst[a], edge[a]);
        }
    }
}

#endif

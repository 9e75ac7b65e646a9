/* SPDX-License-Identifier: MIT */
/* bench/hand_weighted.cuh - a hop of neighbour sampling by weight, without tables: a warp a row.
 *
 * Weights are summed as whole numbers (times a power of two, so that the largest is below 2^26: exact for weights on
 * [1, 5)), in a pass of 16-byte reads, eight in flight a lane. What a lane has read of a segment is a cell; the sums up
 * to each cell stay in shared memory. A lane then looks for its number among the cells and reads that cell once more:
 * a lane's cell is every 128th four weights of its segment, and no order of the arcs is better than another for inverse
 * transform sampling. Lanes that name a taken arc draw again, the lowest of those that name the same arc takes it: in
 * the order of (round, lane) that is successive sampling. Rows of at most 32 arcs stay in registers, where what is
 * taken is summed away. Each visit to a row reads its weights; that several instances visit a hub is not used. */
#ifndef CSAW_BENCH_HAND_WEIGHTED_CUH
#define CSAW_BENCH_HAND_WEIGHTED_CUH

#include "bench/hand_philox.cuh"

constexpr uint32_t weighted_warps = 8; /* of a block */
constexpr uint32_t most_segments = 8;  /* of a row */
constexpr uint32_t reads = 8, step = 32 * 4,
                   stretch = reads * step; /* a lane's reads at a time; weights of one, of all */
constexpr uint32_t no_place = 0xffffffffu;

/* mass of a positive weight: below 2^26 */
static __device__ __forceinline__ uint32_t mass_of(float weight, float scale) {
    const uint32_t mass = __float2uint_rz(weight * scale);
    return mass ? mass : 1;
}

/* The lane's four masses at `index`, a multiple of 4; 0 for what is not in the row begin .. end - 1. */
static __device__ __forceinline__ uint4 four_masses(const hand_graph &graph, uint64_t index, uint64_t begin,
                                                    uint64_t end) {
    if (index >= end) return make_uint4(0, 0, 0, 0);
    const float4 w = __ldg((const float4 *)(graph.weight + index));
    return make_uint4(index >= begin ? mass_of(w.x, graph.scale) : 0,
                      index + 1 >= begin && index + 1 < end ? mass_of(w.y, graph.scale) : 0,
                      index + 2 >= begin && index + 2 < end ? mass_of(w.z, graph.scale) : 0,
                      index + 3 >= begin && index + 3 < end ? mass_of(w.w, graph.scale) : 0);
}

/* One 64-bit number a lane: half of a block. */
static __device__ __forceinline__ uint64_t number_of(uint2 key, uint64_t task, uint32_t lane, uint32_t draw) {
    const uint4 four = hand_philox(key, make_uint4((uint32_t)task, (uint32_t)(task >> 32), lane, 1u << 31 | draw / 2));
    return draw % 2 ? (uint64_t)four.w << 32 | four.z : (uint64_t)four.y << 32 | four.x;
}

/* At most 32 arcs, more than K: lane j's pick is returned in lane j < K. */
template <uint32_t K>
static __device__ __forceinline__ uint32_t pick_of_few(const hand_graph &graph, uint2 row, uint2 key, uint64_t task,
                                                       uint32_t lane) {
    uint32_t mass = lane < row.y ? mass_of(__ldg(graph.weight + row.x + lane), graph.scale) : 0, place = no_place;
    const uint64_t drawn = number_of(key, task, lane, 0);
#pragma unroll 2
    for (uint32_t j = 0; j < K; j++) {
        uint32_t upto = mass; /* below 2^31 */
#pragma unroll
        for (uint32_t d = 1; d < 32; d *= 2) {
            const uint32_t before = __shfl_up_sync(every_lane, upto, d);
            if (lane >= d) upto += before;
        }
        const uint32_t sum = __shfl_sync(every_lane, upto, 31);
        const uint64_t number = __shfl_sync(every_lane, (unsigned long long)drawn, (int)j);
        const uint32_t x = (uint32_t)__umul64hi(number, sum);
        const uint32_t winner = (uint32_t)__ffs((int)__ballot_sync(every_lane, upto > x)) - 1;
        if (lane == j) place = winner;
        if (lane == winner) mass = 0;
    }
    return place;
}

/* The sums up to every cell of a row, segment by segment, to cell[], and the sum of all. length: of a segment. */
static __device__ __forceinline__ uint64_t sum_cells(const hand_graph &graph, uint64_t begin, uint64_t end,
                                                     uint64_t length, uint32_t segments, uint32_t lane,
                                                     uint64_t *cell) {
    uint64_t below = 0;
    for (uint32_t s = 0; s < segments; s++) {
        const uint64_t from = (begin & ~(uint64_t)3) + s * length;
        uint64_t upto = 0;
        for (uint64_t at = from; at < from + length && at < end; at += stretch) {
            uint4 m[reads];
            uint32_t part = 0; /* of 32 masses: below 2^31 */
#pragma unroll
            for (uint32_t r = 0; r < reads; r++) m[r] = four_masses(graph, at + r * step + lane * 4, begin, end);
#pragma unroll
            for (uint32_t r = 0; r < reads; r++) part += m[r].x + m[r].y + m[r].z + m[r].w;
            upto += part;
        }
#pragma unroll
        for (uint32_t d = 1; d < 32; d *= 2) {
            const uint64_t before = __shfl_up_sync(every_lane, (unsigned long long)upto, d);
            if (lane >= d) upto += before;
        }
        cell[32 * s + lane] = below + upto;
        below += __shfl_sync(every_lane, (unsigned long long)upto, 31);
    }
    __syncwarp();
    return below;
}

/* The place in the row of the arc at x, below the sum of all; by one lane. */
static __device__ __forceinline__ uint32_t find_in_cells(const hand_graph &graph, uint64_t begin, uint64_t end,
                                                         uint64_t length, uint32_t segments, const uint64_t *cell,
                                                         uint64_t x) {
    uint32_t low = 0, high = 32 * segments - 1; /* the first cell whose sum is above x */
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (cell[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    uint64_t left = low ? x - cell[low - 1] : x;
    const uint64_t from = (begin & ~(uint64_t)3) + low / 32 * length;
    for (uint64_t at = from; at < from + length && at < end; at += stretch) {
        uint4 m[reads];
        const uint64_t index = at + low % 32 * 4;
        uint32_t part = 0;
#pragma unroll
        for (uint32_t r = 0; r < reads; r++) m[r] = four_masses(graph, index + r * step, begin, end);
#pragma unroll
        for (uint32_t r = 0; r < reads; r++) part += m[r].x + m[r].y + m[r].z + m[r].w;
        if (left >= part) {
            left -= part;
            continue;
        }
        uint32_t rest = (uint32_t)left, found = no_place;
#pragma unroll
        for (uint32_t r = 0; r < reads; r++) {
            const uint32_t mass[4] = {m[r].x, m[r].y, m[r].z, m[r].w};
#pragma unroll
            for (uint32_t t = 0; t < 4; t++) {
                if (found != no_place) continue;
                if (rest < mass[t])
                    found = (uint32_t)(index + r * step + t - begin);
                else
                    rest -= mass[t];
            }
        }
        return found;
    }
    return no_place; /* not reached: x is below the sum */
}

/* More than 32 arcs, and more than K. */
template <uint32_t K>
static __device__ __forceinline__ uint32_t pick_of_many(const hand_graph &graph, uint2 row, uint2 key, uint64_t task,
                                                        uint32_t lane, uint64_t *cell) {
    const uint64_t begin = row.x, end = begin + row.y, span = end - (begin & ~(uint64_t)3);
    const uint64_t length = (span + stretch * most_segments - 1) / (stretch * most_segments) * stretch;
    const uint32_t segments = (uint32_t)((span + length - 1) / length);
    const uint64_t sum = sum_cells(graph, begin, end, length, segments, lane, cell);
    uint32_t place = no_place;
    bool open = lane < K;
    for (uint32_t round = 0; __any_sync(every_lane, open); round++) {
        if (open)
            place = find_in_cells(graph, begin, end, length, segments, cell,
                                  __umul64hi(number_of(key, task, lane, round), sum));
        __syncwarp();
        const uint32_t done = __ballot_sync(every_lane, lane < K && !open);
        const uint32_t alike = __match_any_sync(every_lane, lane < K ? (unsigned long long)place : ~0ull - lane);
        if (open && !(alike & done) && (uint32_t)__ffs((int)alike) - 1 == lane) open = false;
    }
    return place;
}

/* HOP 0: task t is instance t, its vertex the seed. HOP 1: task t is place t % K0 of instance t / K0, its vertex where
 * that arc of hop 0 led, if no place before it led there. arc: [instances, K0 + K0 * K1], task's arcs side by side;
 * count: [instances, 1 or K0] how many they are. */
template <uint32_t K0, uint32_t K1, uint32_t HOP>
__global__ void __launch_bounds__(32 * weighted_warps)
    weighted_hop(hand_graph graph, const uint32_t *__restrict__ seed, uint64_t instances, uint2 key, hand_arc *arc,
                 const uint32_t *count0, uint32_t *count) {
    static_assert(K0 <= 32 && K1 <= 32, "a pick is a lane's");
    constexpr uint32_t K = HOP ? K1 : K0, rows = HOP ? K0 : 1, room = K0 + K0 * K1;
    __shared__ uint64_t cells[weighted_warps][32 * most_segments];
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint64_t task = (uint64_t)blockIdx.x * weighted_warps + warp, instance = task / rows;
    if (instance >= instances) return; /* the whole warp */
    uint32_t vertex;
    bool absent = false;
    if constexpr (HOP) {
        const uint32_t place = (uint32_t)(task % rows), have = count0[instance];
        const uint32_t reached = lane < have ? arc[instance * room + lane].y : 0;
        vertex = __shfl_sync(every_lane, reached, (int)place);
        absent = place >= have || __ballot_sync(every_lane, lane < place && lane < have && reached == vertex);
    } else {
        vertex = __ldg(seed + instance);
    }
    const uint2 row = absent ? make_uint2(0, 0) : __ldg(graph.row + vertex);
    uint32_t place = lane;
    if (row.y > 32)
        place = pick_of_many<K>(graph, row, key, HOP ? task + instances : task, lane, cells[warp]);
    else if (row.y > K)
        place = pick_of_few<K>(graph, row, key, HOP ? task + instances : task, lane);
    if (lane < K && lane < row.y)
        hand_put(arc + instance * room + (HOP ? K0 + task % rows * K1 : 0) + lane, vertex,
                 __ldg(graph.col + row.x + place), (uint64_t)row.x + place);
    if (lane == 0) count[task] = row.y < K ? row.y : K;
}

#endif

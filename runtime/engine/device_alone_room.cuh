/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_alone_room.cuh - the memory in which a block of the GPU runs an instance by itself
 * (device_alone.cuh), and what its threads do there together whatever the sampler: sums, pools, what was visited.
 *
 * Method: of equal vertices that were reached the first stays: a hash table keeps the least place of each. */
#ifndef CSAW_ENGINE_DEVICE_ALONE_ROOM_CUH
#define CSAW_ENGINE_DEVICE_ALONE_ROOM_CUH

#include "runtime/base/job.h"
#include "samplers/select/team.cuh"

constexpr uint32_t csaw__alone_threads =
    (csaw__hooks.flags & CSAW_LAYER) != 0 ? CSAW__ALONE_LAYER_THREADS : CSAW__ALONE_THREADS;

/* Memory of a block. */
struct csaw__alone_room {
    uint32_t places;
    unsigned long long *first;   /* [CSAW__ALONE_CELLS * places]: vertex << 32 | least place, all ones = free */
    unsigned long long *visited; /* [CSAW__ALONE_VISITED * places]: vertices, all ones = free */
    uint64_t *work;              /* [CSAW__ALONE_WORK * places] */
    uint64_t *room, *need, *offset, *work_offset, *sum; /* [places + 1] */
    csaw_edge *edge;                                    /* [places], as those below */
    csaw_vertex *at[2], *prev[2];                       /* a pool, and the next */
    csaw_vertex *chosen, *chosen_prev;                  /* what goes on from a pool, if not all of it does */
    uint32_t *fanout, *got, *from;
    csaw_vertex *src, *dst, *next;
    uint64_t *candidates; /* [CSAW__ALONE_LAYER * places], of a layer with biases */
};

CSAW_FN csaw__alone_room csaw__alone_room_at(uint64_t *memory, uint32_t places) {
    csaw__alone_room r;
    const auto words = [&](uint64_t count) {
        uint64_t *const here = memory;
        memory += count;
        return here;
    };
    r.places = places;
    const auto sums = [&] { return words((uint64_t)places + 1); };
    r.first = (unsigned long long *)words(CSAW__ALONE_CELLS * (uint64_t)places);
    r.visited = (unsigned long long *)words(CSAW__ALONE_VISITED * (uint64_t)places);
    r.work = words(CSAW__ALONE_WORK * (uint64_t)places);
    r.room = sums();
    r.need = sums();
    r.offset = sums();
    r.work_offset = sums();
    r.sum = sums();
    r.edge = words(places);
    uint32_t *half = (uint32_t *)words(6 * (uint64_t)places);
    r.candidates = memory;
    const auto halves = [&] {
        uint32_t *const here = half;
        half += places;
        return here;
    };
    for (int t = 0; t < 2; t++) {
        r.at[t] = halves();
        r.prev[t] = halves();
    }
    r.chosen = halves();
    r.chosen_prev = halves();
    r.fanout = halves();
    r.got = halves();
    r.from = halves();
    r.src = halves();
    r.dst = halves();
    r.next = halves();
    return r;
}

/* out[i] = in[0] + .. + in[i - 1], i = 0 .. count, by all threads of the block; out may be in. Returns out[count]. */
CSAW_FN uint64_t csaw__alone_sums(const uint64_t *in, uint64_t *out, uint32_t count) {
    __shared__ uint64_t of_warp[csaw__alone_threads / CSAW__TEAM];
    const csaw__team team;
    const uint32_t warp = threadIdx.x / CSAW__TEAM;
    uint64_t before = 0;
    for (uint32_t base = 0; base < count; base += csaw__alone_threads) {
        const uint32_t i = base + threadIdx.x;
        const uint64_t own = i < count ? in[i] : 0, upto = team.prefix(own);
        if (team.lane == CSAW__TEAM - 1) of_warp[warp] = upto;
        __syncthreads();
        uint64_t place = before + upto - own;
        for (uint32_t w = 0; w < csaw__alone_threads / CSAW__TEAM; w++) {
            if (w < warp) place += of_warp[w];
            before += of_warp[w];
        }
        if (i < count) out[i] = place;
        __syncthreads(); /* before of_warp is written again */
    }
    if (threadIdx.x == 0) out[count] = before;
    __syncthreads();
    return before;
}

/* Where a thread of the block puts what it has, if it has something: behind those of the threads before it and of the
 * calls before, which *before counts. By all threads. */
CSAW_FN uint32_t csaw__alone_place(bool has, uint32_t *before) {
    __shared__ uint32_t of_warp[csaw__alone_threads / CSAW__TEAM];
    const csaw__team team;
    const uint32_t warp = threadIdx.x / CSAW__TEAM, of_mine = team.ballot(has);
    if (team.lane == 0) of_warp[warp] = (uint32_t)__popc(of_mine);
    __syncthreads();
    uint32_t place = *before + team.lower(of_mine);
    for (uint32_t w = 0; w < csaw__alone_threads / CSAW__TEAM; w++) {
        if (w < warp) place += of_warp[w];
        *before += of_warp[w];
    }
    __syncthreads(); /* before of_warp is written again */
    return place;
}

/* The next pool, to r.at[to]: the first `kept` of the pool before, then the vertices r.next[0 .. reached - 1],
 * CSAW_NONE = none, all in their order and of equal ones the first. prev: of those that were reached the entries r.from
 * of `frontier`; NULL: they are seeds. kept + reached: places at most. Returns how many they are. */
CSAW_FN uint32_t csaw__alone_enter(const csaw__alone_room &r, uint32_t kept, uint32_t reached,
                                   const csaw_vertex *frontier, uint32_t to) {
    const uint32_t count = kept + reached;
    const auto vertex = [&](uint32_t p) { return p < kept ? r.at[to ^ 1][p] : r.next[p - kept]; };
    uint64_t cells = 64;
    while (cells < 2 * (uint64_t)count) cells *= 2;
    for (uint64_t c = threadIdx.x; c < cells; c += csaw__alone_threads) r.first[c] = ~0ull;
    __syncthreads();
    for (uint32_t p = threadIdx.x; p < count; p += csaw__alone_threads) {
        const csaw_vertex v = vertex(p);
        const unsigned long long mine = (unsigned long long)v << 32 | p;
        if (v == CSAW_NONE) continue;
        for (uint64_t c = csaw__place_of(v) & (cells - 1);; c = (c + 1) & (cells - 1)) {
            const unsigned long long found = atomicCAS(r.first + c, ~0ull, mine);
            if (found != ~0ull && found >> 32 != v) continue;
            if (found != ~0ull) atomicMin(r.first + c, mine);
            break;
        }
    }
    __syncthreads();
    for (uint32_t p = threadIdx.x; p < count; p += csaw__alone_threads) {
        const csaw_vertex v = vertex(p);
        uint64_t c = csaw__place_of(v) & (cells - 1);
        while (v != CSAW_NONE && __ldcg(r.first + c) >> 32 != v) c = (c + 1) & (cells - 1);
        r.sum[p] = v != CSAW_NONE && (uint32_t)__ldcg(r.first + c) == p;
    }
    __syncthreads();
    const uint64_t entering = csaw__alone_sums(r.sum, r.sum, count);
    for (uint32_t p = threadIdx.x; p < count; p += csaw__alone_threads) {
        const uint64_t place = r.sum[p];
        if (place == r.sum[p + 1]) continue;
        r.at[to][place] = vertex(p);
        r.prev[to][place] = p < kept ? r.prev[to ^ 1][p] : frontier ? frontier[r.from[p - kept]] : CSAW_NONE;
    }
    __syncthreads();
    return (uint32_t)entering;
}

/* What a pool holds has been visited. */
CSAW_FN void csaw__alone_visit(const csaw__alone_room &r, const csaw_vertex *at, uint32_t count) {
    const uint64_t mask = CSAW__ALONE_VISITED * (uint64_t)r.places - 1;
    for (uint32_t e = threadIdx.x; e < count; e += csaw__alone_threads)
        for (uint64_t c = csaw__place_of(at[e]) & mask;; c = (c + 1) & mask) {
            const unsigned long long found = atomicCAS(r.visited + c, ~0ull, (unsigned long long)at[e]);
            if (found == ~0ull || found == at[e]) break;
        }
    __syncthreads(); /* hooks of other threads ask next */
}

#endif

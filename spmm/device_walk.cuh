/* SPDX-License-Identifier: MIT */
/* spmm/device_walk.cuh - how a group of lanes goes through the edges of a unit: each lane reads one of the next edges,
 * all lanes of the group find it in shared memory (coalesced row caching, Huang et al., "GE-SpMM", SC'20, section
 * III-B), and what an edge asks for is loaded a batch of edges before it is used. A lane keeps what it loaded as it
 * came, since a conversion would wait for it. */
#ifndef CSAW_SPMM_DEVICE_WALK_CUH
#define CSAW_SPMM_DEVICE_WALK_CUH

#include "spmm/device_slice.cuh"

struct alignas(8) csaw__edge_here {
    csaw_vertex col;
    float weight;
};

/* The edges at hand and the next ones, number k in place k % COUNT. One place more, so that the groups of a warp read
 * from different banks. */
template <typename EDGE, int LANES> struct csaw__ring {
    enum { COUNT = 2 * LANES };
    EDGE edge[COUNT + 1];
};

/* fetch(k): edge k < count; load(edge, &loaded), then take(k, there, edge, loaded), in order, in batches of BATCH
 * edges; there: whether the batch has this one. Edges that are not there are zeros, and load() must find something at
 * them where count > 0. All lanes of a warp call this; TOGETHER: they take equally often, so that they may meet as they
 * take. AT_ONCE: edges that follow each other go to lanes that do, LANES / AT_ONCE for each: a lane gets its own of
 * them. */
template <int LANES, int BATCH, bool TOGETHER, typename LOADED, int AT_ONCE = 1, typename EDGE, typename FETCH,
          typename LOAD, typename TAKE>
static __device__ __forceinline__ void csaw__walk(uint32_t count, csaw__ring<EDGE, LANES> *ring, FETCH fetch, LOAD load,
                                                  TAKE take) {
    constexpr uint32_t COUNT = csaw__ring<EDGE, LANES>::COUNT;
    constexpr uint32_t STEP = BATCH * AT_ONCE; /* edges of a batch */
    static_assert(LANES % (2 * STEP) == 0, "batches begin at the places of the ring that they are to be read from");
    const uint32_t lane = threadIdx.x % LANES, own = lane / (LANES / AT_ONCE);
    EDGE next; /* of the edges after those in the ring, this lane's */
    LOADED loaded[2][BATCH];
    const auto read = [&](uint32_t k) { next = k < count ? fetch(k) : EDGE{}; };
    const auto put = [&](uint32_t k) { ring->edge[k % COUNT] = next; };
    const auto load_batch = [&](uint32_t k, int to) {
        const EDGE *const at = ring->edge + k % COUNT + own;
        if (k >= count) return;
#pragma unroll
        for (uint32_t n = 0; n < BATCH; n++) load(at[n * AT_ONCE], &loaded[to][n]);
    };
    const auto take_batch = [&](uint32_t k, int from) {
        const EDGE *const at = ring->edge + k % COUNT + own;
        const uint32_t first = k + own, left = first < count ? count - first : 0;
        EDGE edge[BATCH];
#pragma unroll
        for (uint32_t n = 0; n < BATCH; n++) edge[n] = at[n * AT_ONCE];
#pragma unroll
        for (uint32_t n = 0; n < BATCH; n++) take(first + n * AT_ONCE, n * AT_ONCE < left, edge[n], loaded[from][n]);
    };
    read(lane);
    put(lane);
    read(LANES + lane);
    __syncwarp();
    load_batch(0, 0);
    for (uint32_t base = 0; LANES == 32 ? base < count : __any_sync(CSAW__ALL_LANES, base < count); base += LANES) {
        __syncwarp(); /* the edges before were read */
        put(base + LANES + lane);
        __syncwarp();
        read(base + 2 * LANES + lane); /* while what was asked for comes */
#pragma unroll 1
        for (uint32_t k = base; k < base + LANES && (TOGETHER ? LANES < 32 || k < count : k < count); k += 2 * STEP) {
            load_batch(k + STEP, 1);
            take_batch(k, 0);
            load_batch(k + 2 * STEP, 0);
            take_batch(k + STEP, 1);
        }
    }
}

#endif

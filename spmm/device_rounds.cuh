/* SPDX-License-Identifier: MIT */
/* spmm/device_rounds.cuh - how a group of lanes goes through the edges of a unit, one for each lane a round: each lane
 * reads one, all lanes of the group find it in shared memory (coalesced row caching, Huang et al., "GE-SpMM", SC'20,
 * section III-B), and what BATCH of them ask for is loaded at once, then taken. Nothing is held of a batch beside what
 * it takes: so a lane needs few registers, and it is other warps that wait for memory meanwhile. spmm/device_walk.cuh
 * asks for a batch before it takes the last one, for kernels that have few warps. */
#ifndef CSAW_SPMM_DEVICE_ROUNDS_CUH
#define CSAW_SPMM_DEVICE_ROUNDS_CUH

#include "spmm/device_walk.cuh"

/* fetch(k): edge k < count; load(edge, &loaded), then take(k, edge, loaded), in order. All lanes of a warp call this. A
 * round writes one half of the ring, so that lanes may still read the other; before the ring is used again, all lanes
 * of the warp meet. */
template <int LANES, int BATCH, typename LOADED, typename EDGE, typename FETCH, typename LOAD, typename TAKE>
static __device__ __forceinline__ void csaw__go_in_rounds(uint32_t count, csaw__ring<EDGE, LANES> *ring, FETCH fetch,
                                                          LOAD load, TAKE take) {
    static_assert(LANES % BATCH == 0 && csaw__ring<EDGE, LANES>::COUNT == 2 * LANES, "rounds are whole batches");
    const uint32_t lane = threadIdx.x % LANES;
    const auto read = [&](uint32_t k) { return k < count ? fetch(k) : EDGE{}; };
    EDGE next = read(lane); /* of the round to come, this lane's */
    uint32_t half = 0;
#pragma unroll 1
    for (uint32_t base = 0; LANES == 32 ? base < count : __any_sync(CSAW__ALL_LANES, base < count);
         base += LANES, half ^= LANES) {
        EDGE *const at = ring->edge + half;
        at[lane] = next;
        __syncwarp();
        next = read(base + LANES + lane); /* while what this round asks for comes */
#pragma unroll 1
        for (uint32_t n = 0; n < LANES && base + n < count; n += BATCH) {
            const uint32_t k = base + n, left = count - k;
            LOADED loaded[BATCH];
            EDGE edge[BATCH];
            if (left >= BATCH) {
#pragma unroll
                for (uint32_t i = 0; i < BATCH; i++) edge[i] = at[n + i];
#pragma unroll
                for (uint32_t i = 0; i < BATCH; i++) load(edge[i], &loaded[i]);
#pragma unroll
                for (uint32_t i = 0; i < BATCH; i++) take(k + i, edge[i], loaded[i]);
            } else {
#pragma unroll
                for (uint32_t i = 0; i + 1 < BATCH; i++)
                    if (i < left) {
                        edge[i] = at[n + i];
                        load(edge[i], &loaded[i]);
                    }
#pragma unroll
                for (uint32_t i = 0; i + 1 < BATCH; i++)
                    if (i < left) take(k + i, edge[i], loaded[i]);
            }
        }
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_wide.cuh - device code of csaw_maxk() for rows that the warps of a block hold together: each has a
 * tile of 2,048 columns (device_maxk_tile.cuh), and they cut the row as the lanes of a warp do
 * (device_maxk_select.cuh), with what each has found exchanged in shared memory. A row is read once.
 *
 * Limit on an H100, 64 of 4,096 columns: L2 at 73 and DRAM at 70% of their throughput, 40% of the issue slots, 33% of
 * the warps at 80 registers a thread. */
#ifndef CSAW_SPMM_DEVICE_MAXK_WIDE_CUH
#define CSAW_SPMM_DEVICE_MAXK_WIDE_CUH

#include "spmm/device_maxk_entries.cuh"
#include "spmm/device_maxk_guess.cuh"
#include "spmm/device_maxk_rest.cuh"

enum { CSAW__MAXK_WIDE_WARPS = 8 /* of a block at most, whose registers let three be on a multiprocessor */ };

/* What a block shares, before its tiles, which are stored 16 bytes at a time, and the places of a row's entries. */
struct alignas(16) csaw__maxk_of_warps {
    uint32_t given[2][CSAW__MAXK_WIDE_WARPS]; /* by turns, so that one barrier an exchange is enough */
    int32_t few[CSAW__MAXK_FEW];              /* keys */
};

/* What csaw__maxk_lanes has of the lanes of a row, of the warps of a block. */
struct csaw__maxk_warps {
    typedef csaw__maxk_lanes<32> lanes;
    csaw__maxk_of_warps *shared;
    mutable uint32_t turn;

    /* x: the same in all lanes of a warp. Lane l has what warp l gave, those beyond the last warp what their own did.
     */
    __device__ __forceinline__ uint32_t exchange(uint32_t x) const {
        const uint32_t lane = threadIdx.x % 32;
        uint32_t *const given = shared->given[turn++ % 2];
        if (lane == 0) given[threadIdx.x / 32] = x;
        __syncthreads();
        return lane < blockDim.x / 32 ? given[lane] : x;
    }
    /* What the first warp has. */
    __device__ __forceinline__ float first(float x) const {
        return __uint_as_float(__shfl_sync(CSAW__ALL_LANES, exchange(__float_as_uint(x)), 0));
    }
    /* Of the warps before `end`. */
    __device__ __forceinline__ uint32_t sum_before(uint32_t x, uint32_t end) const {
        return lanes::sum(threadIdx.x % 32 < end ? x : 0);
    }
    __device__ __forceinline__ uint32_t sum(uint32_t x) const {
        return sum_before(exchange(lanes::sum(x)), blockDim.x / 32);
    }
    __device__ __forceinline__ int32_t most(int32_t x) const {
        return lanes::most((int32_t)exchange((uint32_t)lanes::most(x)));
    }
    __device__ __forceinline__ float most(float x) const { /* x: the same in all lanes */
        return lanes::most(__uint_as_float(exchange(__float_as_uint(x))));
    }
    __device__ __forceinline__ void before(const csaw__maxk_set &set, uint32_t *ranks) const {
        const uint32_t own = lanes::sum((uint32_t)(__popc(set.of[0]) + __popc(set.of[1])));
        const uint32_t left = sum_before(exchange(own), threadIdx.x / 32);
        lanes::before(set, ranks);
        ranks[0] += left, ranks[1] += left;
    }
    /* The same of two sets at once, as csaw__maxk_lanes has it. */
    __device__ __forceinline__ void before(const csaw__maxk_set &set, const csaw__maxk_set &second, uint32_t *ranks,
                                           uint32_t *places, uint32_t *few) const {
        const uint32_t own = (uint32_t)(__popc(set.of[0]) + __popc(set.of[1])) |
                             (uint32_t)(__popc(second.of[0]) + __popc(second.of[1])) << 16;
        const uint32_t given = exchange(lanes::sum(own)), left = sum_before(given, threadIdx.x / 32);
        *few = sum_before(given, blockDim.x / 32) >> 16;
        uint32_t of_warp;
        lanes::before(set, second, ranks, places, &of_warp);
#pragma unroll
        for (int s = 0; s < CSAW__MAXK_STRIPS; s++) ranks[s] += left & 0xffff, places[s] += left >> 16;
    }
};

/* Adds to a set the `need` largest of the rest, at most CSAW__MAXK_FEW elements of the row: every warp compares each
 * with all. ranks: how many of the set, as it is then, stand before each strip. */
template <csaw_dtype T>
static __device__ __forceinline__ void csaw__maxk_add_few(const csaw__maxk_tile<T, 32> &tile,
                                                          const csaw__maxk_set &rest, uint32_t need,
                                                          const csaw__maxk_warps &warps, csaw__maxk_set *set,
                                                          uint32_t *ranks) {
    int32_t *const keys = warps.shared->few;
    uint32_t places[CSAW__MAXK_STRIPS], few, larger = 0;
    warps.before(*set, rest, ranks, places, &few);
#pragma unroll
    for (int s = 0; s < CSAW__MAXK_STRIPS; s++) {
        uint32_t next = places[s];
        rest.each_of(s, [&](uint32_t i) { keys[next++] = tile.key(s, i); });
    }
    __syncthreads();
    const int32_t own = tile.lane < few ? keys[tile.lane] : 0;
    for (uint32_t i = 0; i < few; i++) {
        const int32_t other = __shfl_sync(CSAW__ALL_LANES, own, (int)i);
        larger += other > own || (other == own && i < tile.lane);
    }
    const uint32_t kept = __ballot_sync(CSAW__ALL_LANES, tile.lane < few && larger < need);
#pragma unroll
    for (int s = 0; s < CSAW__MAXK_STRIPS; s++) {
        uint32_t next = places[s];
        rest.each_of(s, [&](uint32_t i) { set->of[s] |= (kept >> next++ & 1) << i; });
        ranks[s] += (uint32_t)__popc(kept & ((1u << places[s]) - 1));
    }
}

/* The k largest of the row, of each warp those of its tile. n: columns of the row; guess, spacing, ranks: as
 * csaw__maxk_largest() has them. */
template <csaw_dtype T>
static __device__ __forceinline__ csaw__maxk_set csaw__maxk_largest_of_row(const csaw__maxk_tile<T, 32> &tile,
                                                                           uint32_t n, uint32_t k,
                                                                           const csaw__maxk_warps &warps, float *guess,
                                                                           float *spacing, uint32_t *ranks) {
    uint32_t words[CSAW__MAXK_WORDS];
    const float asked = (float)k;
    tile.take(words);
    if (*spacing == 0) {
        csaw__maxk_first_guess<T, CSAW__MAXK_WORDS>(words, asked, (float)n, guess, spacing);
        *guess = warps.first(*guess), *spacing = warps.first(*spacing);
    }
    csaw__maxk_cut<T> cut((float)n, asked, *guess, *spacing);
    for (uint32_t step = 0; cut.open; step++) {
        float least, most;
        const uint32_t of_tile = (uint32_t)csaw__maxk_count<T, 32, CSAW__MAXK_WORDS>(words, cut.at);
        const uint32_t count = warps.sum_before(warps.exchange(of_tile), blockDim.x / 32);
        cut.take((float)count - asked, step >= CSAW__MAXK_FAR);
        if (step <= CSAW__MAXK_FAR || step % 2 == 0) continue;
        csaw__maxk_between<T, 32, CSAW__MAXK_WORDS>(words, cut.low, cut.high, &least, &most);
        least = -warps.most(-least);
        most = warps.most(most);
        cut.tighten(least, most);
    }
    const float apart = cut.spacing(*spacing);
    *guess = cut.low + cut.over * apart;
    *spacing = apart;
    csaw__maxk_set set = csaw__maxk_not_below<T, CSAW__MAXK_STRIPS>(words, cut.low);
#pragma unroll
    for (int s = 0; s < CSAW__MAXK_STRIPS; s++) set.of[s] &= tile.exist[s];
    if (cut.over != 0) {
        const csaw__maxk_set above = csaw__maxk_not_below<T, CSAW__MAXK_STRIPS>(words, cut.high);
        const bool beyond = cut.high != cut.high; /* infinity */
        const uint32_t need = (uint32_t)-cut.under;
        csaw__maxk_set rest;
#pragma unroll
        for (int s = 0; s < CSAW__MAXK_STRIPS; s++) {
            rest.of[s] = beyond ? set.of[s] : set.of[s] & ~above.of[s];
            set.of[s] ^= rest.of[s];
        }
        if (cut.over - cut.under <= (float)CSAW__MAXK_FEW) {
            csaw__maxk_add_few(tile, rest, need, warps, &set, ranks);
            return set;
        }
        const csaw__maxk_set kept = csaw__maxk_by_key(tile, rest, need, T != CSAW_F32 && !beyond, warps);
#pragma unroll
        for (int s = 0; s < CSAW__MAXK_STRIPS; s++) set.of[s] |= kept.of[s];
    }
    warps.before(set, ranks);
    return set;
}

/* ---- kernel ---- */

/* A block takes one row after the other. */
template <csaw_dtype T, int VECTOR>
static __global__ void __launch_bounds__(CSAW__MAXK_WIDE_WARPS * 32, 3)
    csaw__maxk_in_warps(const __grid_constant__ csaw__maxk_rows job) {
    typedef csaw__maxk_tile<T, 32> tile_type;
    typedef typename tile_type::raw raw;
    csaw__maxk_of_warps *const shared = csaw__launch_shared<csaw__maxk_of_warps>();
    const uint32_t n = (uint32_t)job.m.cols, k = (uint32_t)job.m.k, lane = threadIdx.x % 32;
    const uint32_t first = threadIdx.x / 32 * CSAW__MAXK_TILE, left = n - first;
    raw *const tiles = (raw *)(shared + 1);
    uint16_t *const places = (uint16_t *)(tiles + blockDim.x / 32 * CSAW__MAXK_TILE); /* [k] */
    const tile_type tile(tiles + first, left < CSAW__MAXK_TILE ? left : (uint32_t)CSAW__MAXK_TILE);
    const csaw__maxk_warps warps = {shared, 0};
    float guess = 0, spacing = 0; /* nothing is known */
    const auto bring = [&](uint64_t r) {
        const raw *const row = (const raw *)job.x.data + r * job.x.stride + first;
        if (r < job.m.rows) tile.template bring<VECTOR>(row + lane * VECTOR, job.x.stride, 1);
    };
    tile.pad();
    bring(blockIdx.x);
    for (uint64_t r = blockIdx.x; r < job.m.rows; r += gridDim.x) {
        uint32_t ranks[CSAW__MAXK_STRIPS];
        csaw__maxk_arrived();
        const csaw__maxk_set set = csaw__maxk_largest_of_row(tile, n, k, warps, &guess, &spacing, ranks);
        csaw__maxk_list(tile, set, k, ranks, places);
        __syncwarp();
        const uint32_t begin = __shfl_sync(CSAW__ALL_LANES, ranks[0], 0);
        const uint32_t end = __shfl_sync(CSAW__ALL_LANES, ranks[1] + (uint32_t)__popc(set.of[1]), 31);
        for (uint32_t e = begin + lane; e < end; e += 32) {
            const uint32_t place = places[e];
            ((raw *)job.m.values)[r * k + e] = tile.element[place];
            ((uint16_t *)job.m.index)[r * k + e] = (uint16_t)(first + tile.columns_of(0, place));
        }
        __syncwarp();
        bring(r + gridDim.x);
    }
}

/* The kernel for rows of more than CSAW__MAXK_IN_WARP columns, NULL where they are too many. most_shared: bytes that a
 * block can have. */
template <csaw_dtype T>
static csaw__maxk_rows_kernel *csaw__maxk_in_warps_of(const csaw__maxk_rows *job, uint64_t most_shared,
                                                      csaw__maxk_blocks *blocks) {
    constexpr int VECTOR = T == CSAW_F32 ? CSAW__VECTOR : CSAW__VECTOR_16; /* 16 bytes */
    const uint64_t n = job->m.cols, warps = (n + CSAW__MAXK_TILE - 1) / CSAW__MAXK_TILE;
    const uint64_t bytes =
        sizeof(csaw__maxk_of_warps) + warps * CSAW__MAXK_TILE * (T == CSAW_F32 ? 4 : 2) + job->m.k * 2;
    const bool vectors = n % VECTOR == 0 && csaw__takes_vectors_of(&job->x, VECTOR);
    if (warps > CSAW__MAXK_WIDE_WARPS || bytes > most_shared) return nullptr;
    *blocks = {(unsigned)warps * 32, 4, bytes, true};
    return vectors ? csaw__maxk_in_warps<T, VECTOR> : csaw__maxk_in_warps<T, 1>;
}

#endif

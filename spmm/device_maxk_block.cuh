/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_block.cuh - device code of csaw_maxk() for rows of more columns than a block's warps hold: a block a
 * row, the k-th key by radix select, 11 bits a pass, then the entries, each warp those of its share of the columns.
 * Source of the select: Alabi et al., "Fast k-selection algorithms for graphics processing units", ACM JEA 17, 2012,
 * section 3.2; 11 bits, since those of a float32 part numbers of one size, which would meet in a few bins of 8.
 *
 * Keys are unsigned, as wide as elements, and order as they do. They stand in shared memory where a row of them fits,
 * so that the row is read once, and of what is kept again; elsewhere each pass makes them from the row.
 *
 * Limit on an H100, rows of many columns: 46% of the issue slots, 49% of the warps; L1 22%: rounds that wait for each
 * other. */
#ifndef CSAW_SPMM_DEVICE_MAXK_BLOCK_CUH
#define CSAW_SPMM_DEVICE_MAXK_BLOCK_CUH

#include "spmm/device_maxk_key.cuh"
#include "spmm/device_maxk_lanes.cuh"

enum {
    CSAW__MAXK_DIGIT = 11, /* bits of a key that a pass looks at */
    CSAW__MAXK_BINS = 1 << CSAW__MAXK_DIGIT,
    CSAW__MAXK_WARPS = 32 /* of a block at most */
};

template <csaw_dtype T> struct csaw__maxk_unsigned {
    typedef uint32_t key;
    typedef float raw;
    static __device__ __forceinline__ key of(raw x) { return (uint32_t)csaw__maxk_key_of(x) + 0x80000000u; }
};
template <csaw_dtype T> struct csaw__maxk_unsigned_16 {
    typedef uint16_t key;
    typedef uint16_t raw;
    static __device__ __forceinline__ key of(raw x) {
        const uint32_t size = x & 0x7fffu, infinity = T == CSAW_F16 ? 0x7c00u : 0x7f80u;
        if (size > infinity) return 0xffff; /* NaN */
        return (key)(x >> 15 ? 0x8000u - size : 0x8000u + size);
    }
};
template <> struct csaw__maxk_unsigned<CSAW_F16> : csaw__maxk_unsigned_16<CSAW_F16> {};
template <> struct csaw__maxk_unsigned<CSAW_BF16> : csaw__maxk_unsigned_16<CSAW_BF16> {};

/* What a block shares, before its keys, which are stored 16 bytes at a time. */
struct alignas(16) csaw__maxk_of_block {
    uint32_t bins[CSAW__MAXK_BINS], sums[CSAW__MAXK_WARPS], more_sums[CSAW__MAXK_WARPS], found[2];
};

/* The sum of x over the warps before this one; x: the same in all lanes. sums: shared, and free again after the next
 * barrier. */
static __device__ __forceinline__ uint32_t csaw__maxk_of_warps_before(uint32_t x, uint32_t *sums) {
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) sums[warp] = x;
    __syncthreads();
    return csaw__maxk_lanes<32>::sum(lane < warp ? sums[lane] : 0);
}

/* Of the keys counted in bins the left-th largest: of its bin, *digit; *left: of that bin the how manyth. Every thread
 * gets the results. A warp has bins side by side, the first the uppermost, 32 of them at a time. */
static __device__ __forceinline__ void csaw__maxk_bin_of(csaw__maxk_of_block *shared, uint32_t *left, uint32_t *digit) {
    const uint32_t of_warp = CSAW__MAXK_BINS / blockDim.x * 32, lane = threadIdx.x % 32;
    const uint32_t top = CSAW__MAXK_BINS - 1 - threadIdx.x / 32 * of_warp - lane;
    uint32_t own = 0;
    __syncthreads();
    for (uint32_t b = 0; b < of_warp; b += 32) own += shared->bins[top - b];
    const uint32_t all = csaw__maxk_lanes<32>::sum(own);
    uint32_t above = csaw__maxk_of_warps_before(all, shared->sums), upto = 0;
    if (above < *left && *left <= above + all)
        for (uint32_t b = 0; upto < *left; b += 32) {
            const uint32_t here = shared->bins[top - b], to_lane = above + csaw__maxk_lanes<32>::sum_upto(here);
            upto = above = __shfl_sync(CSAW__ALL_LANES, to_lane, 31);
            if (to_lane - here >= *left || *left > to_lane) continue;
            shared->found[0] = top - b;
            shared->found[1] = *left - (to_lane - here);
        }
    __syncthreads();
    *digit = shared->found[0];
    *left = shared->found[1];
}

/* VECTOR elements of the row at a time are loaded; STORED: keys are kept in shared memory, behind the struct. A
 * block has a power of two of threads. */
template <csaw_dtype T, int VECTOR, bool STORED>
static __global__ void __launch_bounds__(CSAW__MAXK_WARPS * 32)
    csaw__maxk_in_block(const __grid_constant__ csaw__maxk_rows job) {
    typedef csaw__maxk_unsigned<T> order;
    typedef typename order::key key;
    typedef typename order::raw raw;
    constexpr int BITS = sizeof(key) * 8;
    csaw__maxk_of_block *const shared = csaw__launch_shared<csaw__maxk_of_block>();
    key *const keys = (key *)(shared + 1);
    const uint32_t n = (uint32_t)job.m.cols, k = (uint32_t)job.m.k, lane = threadIdx.x % 32;
    const uint64_t r = blockIdx.x;
    const raw *const row = (const raw *)job.x.data + r * job.x.stride;
    const auto key_at = [&](uint32_t c) { return STORED ? keys[c] : order::of(row[c]); };
    const auto clear = [&] {
        for (uint32_t b = threadIdx.x; b < CSAW__MAXK_BINS; b += blockDim.x) shared->bins[b] = 0;
        __syncthreads();
    };
    uint32_t left = k, digit; /* the k-th is the left-th largest of the keys that begin with kth */
    clear();
    for (uint32_t c = threadIdx.x * VECTOR; c < n; c += blockDim.x * VECTOR) {
        const csaw__pack<raw, VECTOR> x = *(const csaw__pack<raw, VECTOR> *)(row + c);
        csaw__pack<key, VECTOR> made;
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
            made.at[i] = order::of(x.at[i]);
            atomicAdd(&shared->bins[made.at[i] >> (BITS - CSAW__MAXK_DIGIT)], 1u);
        }
        if (STORED) *(csaw__pack<key, VECTOR> *)(keys + c) = made;
    }
    csaw__maxk_bin_of(shared, &left, &digit);
    uint32_t kth = digit;
#pragma unroll
    for (int rest = BITS - CSAW__MAXK_DIGIT; rest > 0; rest -= CSAW__MAXK_DIGIT) { /* bits not looked at */
        const int shift = rest > CSAW__MAXK_DIGIT ? rest - CSAW__MAXK_DIGIT : 0;
        clear();
#pragma unroll 4
        for (uint32_t c = threadIdx.x; c < n; c += blockDim.x) {
            const uint32_t x = key_at(c);
            if (x >> rest == kth) atomicAdd(&shared->bins[x >> shift & ((1u << (rest - shift)) - 1)], 1u);
        }
        csaw__maxk_bin_of(shared, &left, &digit);
        kth = kth << (rest - shift) | digit;
    }

    /* a warp's columns stand side by side: what it keeps follows what the warps before it do */
    const uint32_t share = (n + blockDim.x - 1) / blockDim.x * 32, begin = threadIdx.x / 32 * share;
    const uint32_t end = n - begin < share ? n : begin + share, ties = left;
    uint32_t larger = 0, equal = 0;
    if (begin < n) {
#pragma unroll 4
        for (uint32_t c = begin + lane; c < end; c += 32) {
            const uint32_t x = key_at(c);
            larger += x > kth;
            equal += x == kth;
        }
    }
    larger = csaw__maxk_of_warps_before(csaw__maxk_lanes<32>::sum(larger), shared->sums);
    equal = csaw__maxk_of_warps_before(csaw__maxk_lanes<32>::sum(equal), shared->more_sums);
    if (begin >= n) return;
    const uint32_t before = (1u << lane) - 1;
    uint64_t at = r * k + larger + (equal < ties ? equal : ties);
    for (uint32_t from = begin; from < end; from += 32) {
        const uint32_t c = from + lane, x = c < end ? key_at(c) : 0; /* 0: less than any */
        const uint32_t equals = __ballot_sync(CSAW__ALL_LANES, x == kth);
        const bool is_kept = x > kth || (x == kth && equal + (uint32_t)__popc(equals & before) < ties);
        const uint32_t kept = __ballot_sync(CSAW__ALL_LANES, is_kept);
        if (is_kept) {
            const uint64_t to = at + (uint32_t)__popc(kept & before);
            ((raw *)job.m.values)[to] = row[c];
            ((uint16_t *)job.m.index)[to] = (uint16_t)c;
        }
        equal += (uint32_t)__popc(equals);
        at += (uint32_t)__popc(kept);
    }
}

/* The kernel for rows of more than CSAW__MAXK_IN_WARP columns: those of a thread are few, so that blocks
 * are many, until shared memory limits how many there are. most_shared: bytes that a block can have. */
template <csaw_dtype T>
static csaw__maxk_rows_kernel *csaw__maxk_in_block_of(const csaw__maxk_rows *job, uint64_t most_shared,
                                                      csaw__maxk_blocks *blocks) {
    constexpr int VECTOR = T == CSAW_F32 ? CSAW__VECTOR : CSAW__VECTOR_16; /* 16 bytes */
    const uint64_t n = job->m.cols, bytes = n * sizeof(typename csaw__maxk_unsigned<T>::key);
    const bool stored = sizeof(csaw__maxk_of_block) + bytes <= most_shared;
    const bool vectors = n % VECTOR == 0 && csaw__takes_vectors_of(&job->x, VECTOR);
    const unsigned threads = n <= 8192 ? 256 : n <= 16384 ? 512 : CSAW__MAXK_WARPS * 32;
    *blocks = {threads, 1, sizeof(csaw__maxk_of_block) + (stored ? bytes : 0), false};
    if (stored) return vectors ? csaw__maxk_in_block<T, VECTOR, true> : csaw__maxk_in_block<T, 1, true>;
    return vectors ? csaw__maxk_in_block<T, VECTOR, false> : csaw__maxk_in_block<T, 1, false>;
}

#endif

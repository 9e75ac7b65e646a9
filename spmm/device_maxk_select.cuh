/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_select.cuh - device code of csaw_maxk() for rows that fit the registers of a warp, by the search of
 * device_maxk_key.cuh. It begins where that of the row before ended. Kept entries go through shared memory, so that
 * they are stored side by side. */
#ifndef CSAW_SPMM_DEVICE_MAXK_SELECT_CUH
#define CSAW_SPMM_DEVICE_MAXK_SELECT_CUH

#include "spmm/device_maxk_key.cuh"
#include "spmm/device_shared.cuh"

/* ---- the lanes of a row ---- */

template <int BYTES> struct csaw__maxk_bits; /* of an element */
template <> struct csaw__maxk_bits<4> { typedef uint32_t type; };
template <> struct csaw__maxk_bits<2> { typedef uint16_t type; };

struct alignas(8) csaw__maxk_entry {
    uint32_t bits, column;
};

/* What a lane holds of a row, and how the LANES of a row find its k largest. Elements go to lanes in vectors, lanes
 * side by side: element i of a lane is column_of(i). Rows of a warp are searched together. */
template <csaw_dtype T, int LANES, int KEYS, int VECTOR> struct csaw__maxk_row {
    typedef typename csaw__maxk_bits<T == CSAW_F32 ? 4 : 2>::type raw;
    enum { VECTORS = KEYS / VECTOR, PACKED = (VECTORS + 3) / 4 };
    csaw__pack<raw, VECTOR> next[VECTORS]; /* of the row after, on its way */
    raw bits[KEYS];                        /* as stored */
    int32_t key[KEYS];                     /* less than any beyond the last column */
    uint32_t lane, n, k;
    int32_t guess; /* of the row before */
    float spacing;

    __device__ __forceinline__ uint32_t column_of(int i) const {
        return (uint32_t)(i / VECTOR * LANES * VECTOR + i % VECTOR) + lane * VECTOR;
    }

    static __device__ __forceinline__ float value_of(uint32_t x) { return __uint_as_float(x); }
    static __device__ __forceinline__ float value_of(uint16_t x) { return csaw__widen<T>(x); }

    __device__ __forceinline__ bool has(int v) const { return column_of(v * VECTOR) < n; } /* the whole vector */

    /* row: [n]. Begins to load it, all vectors together; beyond the last column the first ones. */
    __device__ __forceinline__ void fetch(const raw *row) {
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
            next[v] = *(const csaw__pack<raw, VECTOR> *)(row + (has(v) ? column_of(v * VECTOR) : 0));
    }

    /* The row that was fetched. */
    __device__ __forceinline__ void take() {
#pragma unroll
        for (int i = 0; i < KEYS; i++) {
            bits[i] = next[i / VECTOR].at[i % VECTOR];
            key[i] = has(i / VECTOR) ? csaw__maxk_key_of(value_of(bits[i])) : CSAW__MAXK_NO_KEY;
        }
    }

    /* Whether it holds in any row of the warp; lanes of a row agree. */
    static __device__ __forceinline__ bool any(bool x) {
        if constexpr (LANES == 32)
            return x;
        else
            return __any_sync(CSAW__ALL_LANES, x);
    }

    static __device__ __forceinline__ uint32_t sum(uint32_t x) { /* of the lanes of a row */
        if constexpr (LANES == 32) {
            return __reduce_add_sync(CSAW__ALL_LANES, x);
        } else {
#pragma unroll
            for (int d = LANES / 2; d; d /= 2) x += __shfl_xor_sync(CSAW__ALL_LANES, x, d, LANES);
            return x;
        }
    }

    static __device__ __forceinline__ uint32_t smaller(uint32_t x, uint32_t y) { return x < y ? x : y; }

    static __device__ __forceinline__ uint32_t least(uint32_t x) { /* of them */
        if constexpr (LANES == 32) {
            return __reduce_min_sync(CSAW__ALL_LANES, x);
        } else {
#pragma unroll
            for (int d = LANES / 2; d; d /= 2) x = smaller(x, __shfl_xor_sync(CSAW__ALL_LANES, x, d, LANES));
            return x;
        }
    }

    /* The lane's elements above the pivot, bit i for element i. */
    __device__ __forceinline__ uint32_t set_above(int32_t pivot) const {
        uint32_t set = 0;
#pragma unroll
        for (int i = 0; i < KEYS; i++) set |= (uint32_t)(key[i] > pivot) << i;
        return set;
    }

    __device__ __forceinline__ uint32_t above(int32_t pivot) const { /* of the row */
        return sum((uint32_t)__popc(set_above(pivot)));
    }

    /* How far it is from `from` to the next key, upwards to those above it, downwards to those at or below it. As
     * unsigned numbers, keys on the other side are further away than any on this one. */
    __device__ __forceinline__ uint32_t next_key(int32_t from, bool up) const {
        uint32_t way = ~0u;
        if (up) {
#pragma unroll
            for (int i = 0; i < KEYS; i++) way = smaller(way, (uint32_t)key[i] - (uint32_t)from - 1);
        } else {
#pragma unroll
            for (int i = 0; i < KEYS; i++) way = smaller(way, (uint32_t)from - (uint32_t)key[i]);
        }
        return least(way);
    }

    /* Moves the pivot past so many keys, up or down, but not past the other end; the end it comes from to the first. */
    __device__ __forceinline__ void go_along(csaw__maxk_search *s, uint32_t keys) const {
        const bool up = s->off(k) > 0;
        int32_t at = up ? s->low : s->high;
        const int32_t other = up ? s->high : s->low;
        for (uint32_t i = 0; any(i < keys); i++) {
            const uint32_t way = next_key(at, up);
            if (i >= keys || way >= (up ? (uint32_t)other - (uint32_t)at : (uint32_t)at - (uint32_t)other)) continue;
            at = (int32_t)(up ? (uint32_t)at + way + 1 : (uint32_t)at - way - 1);
            if (i == 0 && up) s->low = at - 1;
            if (i == 0 && !up) s->high = at + 1;
        }
        if (keys) s->pivot = at;
    }

    /* Of the lane's set elements: for each vector, how many of the row stand before it. Counts of four vectors are
     * added up at once, a byte each: 128 columns of a warp at most. Returns how many the row has. */
    __device__ __forceinline__ uint32_t rank(uint32_t set, uint32_t before[VECTORS]) const {
        uint32_t base = 0;
#pragma unroll
        for (int p = 0; p < PACKED; p++) {
            uint32_t own = 0, upto;
#pragma unroll
            for (int v = 4 * p; v < VECTORS && v < 4 * p + 4; v++)
                own |= (uint32_t)__popc(set >> (v * VECTOR) & ((1u << VECTOR) - 1)) << (v % 4 * 8);
            upto = own;
#pragma unroll
            for (int d = 1; d < LANES; d *= 2) {
                const uint32_t left = __shfl_up_sync(CSAW__ALL_LANES, upto, d, LANES);
                if (lane >= (uint32_t)d) upto += left;
            }
            const uint32_t total = __shfl_sync(CSAW__ALL_LANES, upto, LANES - 1, LANES);
            upto -= own;
#pragma unroll
            for (int v = 4 * p; v < VECTORS && v < 4 * p + 4; v++) {
                before[v] = base + (upto >> (v % 4 * 8) & 255);
                base += total >> (v % 4 * 8) & 255;
            }
        }
        return base;
    }

    /* Which elements of the lane are among the k largest of the row, ranked. */
    __device__ __forceinline__ uint32_t largest(uint32_t before[VECTORS]) {
        csaw__maxk_search s(k == n ? CSAW__MAXK_NO_KEY : guess);
        uint32_t set = 0, count = above(s.pivot);
        bool ranked = false;
        for (uint32_t step = 0;; step++) {
            s.take(count, k);
            if (!any(!s.done)) break;
            const uint32_t keys = s.keys_along(step, k);
            if (!keys && !s.done) s.guess(step, k, &spacing);
            ranked = any(keys != 0);
            if (ranked) { /* likely the last pivot, so that ranks count what they are wanted for */
                go_along(&s, keys);
                set = set_above(s.pivot);
                count = rank(set, before);
            } else {
                count = above(s.pivot);
            }
        }
        guess = s.pivot;
        const bool tied = any(s.ties != 0);
        if (ranked && !tied) return set;
        set = set_above(s.pivot);
        if (tied) set |= first_equals(s);
        rank(set, before);
        return set;
    }

    __device__ __forceinline__ uint32_t first_equals(const csaw__maxk_search &s) const {
        uint32_t equal = 0, kept = 0, before[VECTORS];
#pragma unroll
        for (int i = 0; i < KEYS; i++) equal |= (uint32_t)(key[i] == s.pivot) << i;
        rank(equal, before);
#pragma unroll
        for (int i = 0; i < KEYS; i++) {
            if (!(equal >> i & 1)) continue;
            if (before[i / VECTOR]++ < s.ties) kept |= 1u << i;
        }
        return kept;
    }

    /* The set elements to the row's entries, in the order of columns. */
    __device__ __forceinline__ void put(uint32_t set, const uint32_t before[VECTORS], csaw__maxk_entry *entry) const {
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            csaw__maxk_entry *to = entry + before[v];
#pragma unroll
            for (int i = v * VECTOR; i < (v + 1) * VECTOR; i++)
                if (set >> i & 1) *to++ = csaw__maxk_entry{bits[i], column_of(i)};
        }
    }
};

/* ---- kernel ---- */

/* Rows whose entries are stored together: those that a warp has at once, and more where there is room. */
template <int LANES, int KEYS, int VECTOR> struct csaw__maxk_group {
    enum { AT_ONCE = 32 / LANES, COLUMNS = LANES * KEYS, ROWS = COLUMNS <= 128 ? 4 : COLUMNS <= 256 ? 2 : 1 };
    enum {
        BLOCKS = KEYS <= 8 && VECTOR > 1 ? 9 : 1
    }; /* on a multiprocessor, at least: 56 registers a thread, without spills */
};

template <csaw_dtype T, typename INDEX, int LANES, int KEYS, int VECTOR>
static __global__ void __launch_bounds__(CSAW__MAXK_THREADS, csaw__maxk_group<LANES, KEYS, VECTOR>::BLOCKS)
    csaw__maxk_in_warp(const __grid_constant__ csaw__maxk_rows job) {
    typedef csaw__maxk_row<T, LANES, KEYS, VECTOR> row_type;
    typedef typename row_type::raw raw;
    typedef csaw__maxk_group<LANES, KEYS, VECTOR> group;
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32, k = (uint32_t)job.m.k;
    csaw__maxk_entry *const entry = csaw__launch_shared<csaw__maxk_entry>() + warp * (group::ROWS * k);
    row_type own;
    own.lane = lane % LANES, own.n = (uint32_t)job.m.cols, own.k = k;
    own.guess = 0, own.spacing = 0;
    const uint64_t warps = gridDim.x * (uint64_t)(blockDim.x / 32);
    const uint64_t most = (job.m.rows + warps * group::ROWS - 1) / (warps * group::ROWS) * group::ROWS;
    uint64_t first = ((uint64_t)blockIdx.x * (blockDim.x / 32) + warp) * most;
    const uint64_t left = first < job.m.rows ? job.m.rows - first : 0, end = first + (left < most ? left : most);
    const raw *const x = (const raw *)job.x.data;
    if (!left) return; /* the whole warp */
    own.fetch(x + (first + lane / LANES < end ? first + lane / LANES : first) * job.x.stride);
    for (; first < end; first += group::ROWS) {
        const uint32_t rows = (uint32_t)(end - first < group::ROWS ? end - first : (uint64_t)group::ROWS);
        for (uint32_t r = 0; r < group::ROWS; r += group::AT_ONCE) {
            const uint64_t after = first + r + group::AT_ONCE + lane / LANES;
            uint32_t before[row_type::VECTORS];
            own.take();
            own.fetch(x + (after < end ? after : first) * job.x.stride);
            const uint32_t set = own.largest(before);
            own.put(set, before, entry + (r + lane / LANES) * k);
        }
        __syncwarp();
        for (uint32_t t = lane; t < rows * k; t += 32) {
            const csaw__maxk_entry from = entry[t];
            ((raw *)job.m.values)[first * k + t] = (raw)from.bits;
            ((INDEX *)job.m.index)[first * k + t] = (INDEX)from.column;
        }
        __syncwarp();
    }
}

typedef void csaw__maxk_rows_kernel(csaw__maxk_rows);

struct csaw__maxk_blocks { /* of a launch */
    unsigned threads;
    uint64_t rows;   /* of a block, at least */
    uint64_t shared; /* bytes, of k entries of each row that it has at once: little, for many blocks to be resident */
    bool resident;   /* no more blocks than there can be at once: each takes its share of all rows */
};

template <csaw_dtype T, typename INDEX, int LANES, int KEYS>
static csaw__maxk_rows_kernel *csaw__maxk_in_warp_by(bool vectors, uint64_t k, csaw__maxk_blocks *blocks) {
    const uint64_t at_once = CSAW__MAXK_THREADS / 32 * csaw__maxk_group<LANES, KEYS, 1>::ROWS;
    *blocks = {CSAW__MAXK_THREADS, at_once, at_once * k * sizeof(csaw__maxk_entry), true};
    return vectors ? csaw__maxk_in_warp<T, INDEX, LANES, KEYS, CSAW__VECTOR>
                   : csaw__maxk_in_warp<T, INDEX, LANES, KEYS, 1>;
}

/* The kernel for rows of up to CSAW__MAXK_IN_WARP columns. */
template <csaw_dtype T>
static csaw__maxk_rows_kernel *csaw__maxk_in_warp_of(const csaw__maxk_rows *job, csaw__maxk_blocks *blocks) {
    const uint64_t k = job->m.k;
    const bool vectors = job->m.cols % CSAW__VECTOR == 0 && csaw__takes_vectors(&job->x);
    if (job->m.cols <= 64) return csaw__maxk_in_warp_by<T, uint8_t, 8, 8>(vectors, k, blocks);
    if (job->m.cols <= 128) return csaw__maxk_in_warp_by<T, uint8_t, 32, 4>(vectors, k, blocks);
    if (job->m.cols <= 256) return csaw__maxk_in_warp_by<T, uint8_t, 32, 8>(vectors, k, blocks);
    if (job->m.cols <= 512) return csaw__maxk_in_warp_by<T, uint16_t, 32, 16>(vectors, k, blocks);
    return csaw__maxk_in_warp_by<T, uint16_t, 32, 32>(vectors, k, blocks);
}

#endif

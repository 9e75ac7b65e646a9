/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_lanes.cuh - what the lanes of a row find together: sums, counts of halves, sets of columns. */
#ifndef CSAW_SPMM_DEVICE_MAXK_LANES_CUH
#define CSAW_SPMM_DEVICE_MAXK_LANES_CUH

#include "spmm/device_maxk_cut.cuh"
#include "spmm/device_maxk_tile.cuh"

static __device__ __forceinline__ uint32_t csaw__maxk_reversed(uint32_t bits) {
#ifdef __CUDA_ARCH__
    return __brev(bits);
#else
    uint32_t all = 0;
    for (int i = 0; i < 32; i++) all |= (bits >> i & 1) << (31 - i);
    return all;
#endif
}

static __device__ __forceinline__ uint32_t csaw__maxk_leading(uint32_t bits) { /* zeros; bits: not 0 */
#ifdef __CUDA_ARCH__
    uint32_t zeros;
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(zeros) : "r"(bits));
    return zeros;
#else
    return (uint32_t)__clz((int)bits);
#endif
}

/* Of a lane's columns some, a bit each; none of strips that it has not. */
struct csaw__maxk_set {
    uint32_t of[CSAW__MAXK_STRIPS];
    template <typename F> __device__ __forceinline__ void each_of(int s, const F &f) const { /* f(i), ascending */
        uint32_t left = csaw__maxk_reversed(of[s]);
        if (!left) return;
        do {
            const uint32_t i = csaw__maxk_leading(left);
            f(i);
            left &= 0x7fffffffu >> i;
        } while (left);
    }
    template <typename F> __device__ __forceinline__ void each(const F &f) const { /* f(strip, i) */
#pragma unroll
        for (int s = 0; s < CSAW__MAXK_STRIPS; s++) each_of(s, [&](uint32_t i) { f(s, i); });
    }
};

template <int LANES> struct csaw__maxk_lanes {
    static __device__ __forceinline__ uint32_t sum(uint32_t x) {
#pragma unroll
        for (int d = LANES / 2; d; d /= 2) x += __shfl_xor_sync(CSAW__ALL_LANES, x, d);
        return x;
    }
    static __device__ __forceinline__ int32_t most(int32_t x) {
#pragma unroll
        for (int d = LANES / 2; d; d /= 2) {
            const int32_t other = __shfl_xor_sync(CSAW__ALL_LANES, x, d);
            x = other > x ? other : x;
        }
        return x;
    }
    static __device__ __forceinline__ float most(float x) {
#pragma unroll
        for (int d = LANES / 2; d; d /= 2) x = fmaxf(x, __shfl_xor_sync(CSAW__ALL_LANES, x, d));
        return x;
    }
    static __device__ __forceinline__ float mean_of_rows(float x) {
#pragma unroll
        for (int d = LANES; d < 32; d *= 2) x += __shfl_xor_sync(CSAW__ALL_LANES, x, d);
        return x * ((float)LANES / 32);
    }

    /* The sum of the lanes of the row up to this one. */
    static __device__ __forceinline__ uint32_t sum_upto(uint32_t x) {
#pragma unroll
        for (int d = 1; d < LANES; d *= 2) {
#ifdef __CUDA_ARCH__
            asm volatile("{\n.reg .pred in;\n.reg .u32 left;\nshfl.sync.up.b32 left|in, %0, %1, %2, 0xffffffff;\n"
                         "@in add.u32 %0, %0, left;\n}"
                         : "+r"(x)
                         : "r"(d), "n"((32 - LANES) << 8));
#else
            const uint32_t left = __shfl_up_sync(CSAW__ALL_LANES, x, (uint32_t)d, LANES);
            if (threadIdx.x % LANES >= (uint32_t)d) x += left;
#endif
        }
        return x;
    }

    /* For each strip of the lane, how many of a set stand in strips of the row before it. */
    static __device__ __forceinline__ void before(const csaw__maxk_set &set, uint32_t *ranks) {
        const uint32_t own = (uint32_t)__popc(set.of[0]) | (uint32_t)__popc(set.of[1]) << 16, upto = sum_upto(own);
        const uint32_t all = __shfl_sync(CSAW__ALL_LANES, upto, LANES - 1, LANES);
        ranks[0] = (upto - own) & 0xffff;
        ranks[1] = (all & 0xffff) + ((upto - own) >> 16);
    }

    /* The same of two sets at once, the second of which has at most 8 elements in a row: *few. */
    static __device__ __forceinline__ void before(const csaw__maxk_set &set, const csaw__maxk_set &second,
                                                  uint32_t *ranks, uint32_t *places, uint32_t *few) {
        const uint32_t own = (uint32_t)__popc(set.of[0]) + ((uint32_t)__popc(set.of[1]) << 11) +
                             ((uint32_t)__popc(second.of[0]) << 22) + ((uint32_t)__popc(second.of[1]) << 26);
        const uint32_t upto = sum_upto(own), left = upto - own;
        const uint32_t all = __shfl_sync(CSAW__ALL_LANES, upto, LANES - 1, LANES);
        ranks[0] = left & 2047, ranks[1] = (all & 2047) + (left >> 11 & 2047);
        places[0] = left >> 22 & 15, places[1] = (all >> 22 & 15) + (left >> 26);
        *few = (all >> 22 & 15) + (all >> 26);
    }
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
template <csaw_dtype T> static __device__ __forceinline__ uint32_t csaw__maxk_one_if_not_less(uint32_t x, uint32_t y) {
    uint32_t one; /* or 0, of each half */
    if constexpr (T == CSAW_F16)
        asm("set.geu.f16x2.f16x2 %0, %1, %2;" : "=r"(one) : "r"(x), "r"(y));
    else
        asm("set.geu.bf16x2.bf16x2 %0, %1, %2;" : "=r"(one) : "r"(x), "r"(y));
    return one;
}
template <csaw_dtype T> static __device__ __forceinline__ uint32_t csaw__maxk_add_halves(uint32_t x, uint32_t y) {
    uint32_t sum;
    if constexpr (T == CSAW_F16)
        asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(x), "r"(y));
    else
        asm("add.rn.bf16x2 %0, %1, %2;" : "=r"(sum) : "r"(x), "r"(y));
    return sum;
}
#endif

/* How many halves of the row are not less than half `at`. Comparisons leave 1 or 0 as halves, which are added as such,
 * up to 8 in one sum: unlike whole numbers, not by the unit that compares. */
template <csaw_dtype T, int LANES, int WORDS>
static __device__ __forceinline__ float csaw__maxk_count(const uint32_t *words, float at) {
    const uint32_t half = csaw__maxk_half<T>::twice(at);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    uint32_t sums[4];
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        const uint32_t one = csaw__maxk_one_if_not_less<T>(words[i], half);
        sums[i % 4] = i < 4 ? one : csaw__maxk_add_halves<T>(sums[i % 4], one);
    }
    const uint32_t sum = csaw__maxk_add_halves<T>(csaw__maxk_add_halves<T>(sums[0], sums[1]),
                                                  csaw__maxk_add_halves<T>(sums[2], sums[3]));
    float count = csaw__maxk_half<T>::value_of(sum & 0xffff) + csaw__maxk_half<T>::value_of(sum >> 16);
#pragma unroll
    for (int d = LANES / 2; d; d /= 2) count += __shfl_xor_sync(CSAW__ALL_LANES, count, d);
    return count;
#else
    uint32_t count = 0;
    for (int i = 0; i < WORDS; i++) count += (uint32_t)__popc(csaw__maxk_not_less<T>(words[i], half) & 0x10001u);
    return (float)csaw__maxk_lanes<LANES>::sum(count);
#endif
}

/* Of each half the larger or the less of two, or the one that is not NaN. */
template <csaw_dtype T, bool LARGER>
static __device__ __forceinline__ uint32_t csaw__maxk_extreme(uint32_t x, uint32_t y) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint32_t z;
    if constexpr (T == CSAW_F16 && LARGER)
        asm("max.f16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));
    else if constexpr (T == CSAW_F16)
        asm("min.f16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));
    else if constexpr (LARGER)
        asm("max.bf16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));
    else
        asm("min.bf16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));
    return z;
#else
    uint32_t both = 0;
    for (int i = 0; i < 32; i += 16) {
        const float a = csaw__maxk_half<T>::value_of(x >> i & 0xffff),
                    b = csaw__maxk_half<T>::value_of(y >> i & 0xffff);
        const bool first = b != b || (LARGER ? a >= b : a <= b);
        both |= ((first ? x : y) >> i & 0xffff) << i;
    }
    return both;
#endif
}

/* Of the row's halves the least that is not less than low, and the most that is less than high (any, if high is beyond
 * infinity); NaN if there is none. */
template <csaw_dtype T, int LANES, int WORDS>
static __device__ __forceinline__ void csaw__maxk_between(const uint32_t *words, float low, float high, float *least,
                                                          float *most) {
    typedef csaw__maxk_half<T> half;
    const uint32_t from = half::twice(low), end = half::twice(high), ends = high == high ? ~0u : 0u;
    uint32_t first = ~0u, last = ~0u; /* NaN */
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        first = csaw__maxk_extreme<T, false>(first, words[i] | ~csaw__maxk_not_less<T>(words[i], from));
        last = csaw__maxk_extreme<T, true>(last, words[i] | (csaw__maxk_not_less<T>(words[i], end) & ends));
    }
    *least = -csaw__maxk_lanes<LANES>::most(fmaxf(-half::value_of(first & 0xffff), -half::value_of(first >> 16)));
    *most = csaw__maxk_lanes<LANES>::most(fmaxf(half::value_of(last & 0xffff), half::value_of(last >> 16)));
}

/* sum + the products of four pairs of bytes, signed */
static __device__ __forceinline__ uint32_t csaw__maxk_add_products(uint32_t x, uint32_t y, uint32_t sum) {
#ifdef __CUDA_ARCH__
    return (uint32_t)__dp4a((int)x, (int)y, (int)sum);
#else
    for (int i = 0; i < 32; i += 8) sum += (uint32_t)((int8_t)(x >> i) * (int8_t)(y >> i));
    return sum;
#endif
}

/* Which of the lane's are not less. The bytes of comparisons are -1 or 0; their products with the bits that stand for
 * the columns, negative, are summed: of four words 8 bits. */
template <csaw_dtype T, int STRIPS>
static __device__ __forceinline__ csaw__maxk_set csaw__maxk_not_below(const uint32_t *words, float at) {
    const uint32_t half = csaw__maxk_half<T>::twice(at);
    csaw__maxk_set set = {};
#pragma unroll
    for (int s = 0; s < STRIPS; s++) {
        uint32_t sum = 0;
#pragma unroll
        for (int i = CSAW__MAXK_OF_STRIP - 1; i >= 0; i--) {
            const uint32_t lower = 256 - (1u << i % 4 * 2), upper = 256 - (2u << i % 4 * 2);
            if (i % 4 == 3) sum *= 256;
            sum = csaw__maxk_add_products(csaw__maxk_not_less<T>(words[s * CSAW__MAXK_OF_STRIP + i], half),
                                          upper << 24 | lower, sum);
        }
        set.of[s] = sum;
    }
    return set;
}

#endif

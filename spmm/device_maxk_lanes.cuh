/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_lanes.cuh - what the lanes of a row find together: sums, counts of halves, sets of columns. */
#ifndef CSAW_SPMM_DEVICE_MAXK_LANES_CUH
#define CSAW_SPMM_DEVICE_MAXK_LANES_CUH

#include "spmm/device_maxk_cut.cuh"
#include "spmm/device_maxk_tile.cuh"

static __device__ __forceinline__ uint32_t csaw__maxk_last(uint32_t bits) { /* the place of the last that is set */
#ifdef __CUDA_ARCH__
    uint32_t place;
    asm("bfind.u32 %0, %1;" : "=r"(place) : "r"(bits));
    return place;
#else
    return 31 - (uint32_t)__clz((int)bits);
#endif
}

/* Of a lane's columns some, a bit each. */
struct csaw__maxk_set {
    uint32_t of[CSAW__MAXK_STRIPS];
    template <typename F>
    __device__ __forceinline__ void each(const F &f) const { /* f(strip, i), the last of a strip first */
#pragma unroll
        for (int s = 0; s < CSAW__MAXK_STRIPS; s++)
            for (uint32_t left = of[s], i; left; left ^= 1u << i) {
                i = csaw__maxk_last(left);
                f(s, i);
            }
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
    static __device__ __forceinline__ float mean_of_rows(float x) {
#pragma unroll
        for (int d = LANES; d < 32; d *= 2) x += __shfl_xor_sync(CSAW__ALL_LANES, x, d);
        return x * ((float)LANES / 32);
    }

    /* For each strip of the lane, how many of the set stand in strips of the row before it. */
    static __device__ __forceinline__ void before(const csaw__maxk_set &set, uint32_t *ranks) {
        const uint32_t own = (uint32_t)__popc(set.of[0]) | (uint32_t)__popc(set.of[1]) << 16;
        uint32_t upto = own;
#pragma unroll
        for (int d = 1; d < LANES; d *= 2) {
            const uint32_t left = __shfl_up_sync(CSAW__ALL_LANES, upto, (uint32_t)d, LANES);
            if (threadIdx.x % LANES >= (uint32_t)d) upto += left;
        }
        const uint32_t all = __shfl_sync(CSAW__ALL_LANES, upto, LANES - 1, LANES);
        ranks[0] = (upto - own) & 0xffff;
        ranks[1] = (all & 0xffff) + ((upto - own) >> 16);
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
template <csaw_dtype T, int LANES>
static __device__ __forceinline__ float csaw__maxk_count(const uint32_t *words, float at) {
    const uint32_t half = csaw__maxk_half<T>::twice(at);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    uint32_t sums[4];
#pragma unroll
    for (int i = 0; i < CSAW__MAXK_WORDS; i++) {
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
    for (int i = 0; i < CSAW__MAXK_WORDS; i++)
        count += (uint32_t)__popc(csaw__maxk_not_less<T>(words[i], half) & 0x10001u);
    return (float)csaw__maxk_lanes<LANES>::sum(count);
#endif
}

static __device__ __forceinline__ uint32_t csaw__maxk_multiply_add(uint32_t x, uint32_t by, uint32_t sum) {
#ifdef __CUDA_ARCH__
    asm("mad.lo.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(x), "r"(by)); /* by no shift */
    return sum;
#else
    return x * by + sum;
#endif
}

/* Which of the lane's are not less. Words of comparisons, times 2^i, are summed as they are, by multiplications, for
 * which the unit that compares is not needed: with lower halves L and upper ones U that is 2^16 (L - U) - L. */
template <csaw_dtype T>
static __device__ __forceinline__ csaw__maxk_set csaw__maxk_not_below(const uint32_t *words, float at) {
    const uint32_t half = csaw__maxk_half<T>::twice(at);
    csaw__maxk_set set;
#pragma unroll
    for (int s = 0; s < CSAW__MAXK_STRIPS; s++) {
        uint32_t sum = 0;
#pragma unroll
        for (int i = 0; i < CSAW__MAXK_OF_STRIP; i++)
            sum =
                csaw__maxk_multiply_add(csaw__maxk_not_less<T>(words[s * CSAW__MAXK_OF_STRIP + i], half), 1u << i, sum);
        const uint32_t lower = (0 - sum) & 0xffff;
        set.of[s] = lower | ((lower << 16) - ((sum + lower) & 0xffff0000u));
    }
    return set;
}

#endif

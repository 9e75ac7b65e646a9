/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_key.cuh - the order of MaxK on a GPU: keys, which order as elements do; halves, 16 bits that order
 * almost as elements do, of which a word holds two that one instruction compares; and the search for the half at which
 * a row is cut, which every lane of the row goes through alike. Of two elements the larger has no smaller half. */
#ifndef CSAW_SPMM_DEVICE_MAXK_KEY_CUH
#define CSAW_SPMM_DEVICE_MAXK_KEY_CUH

#include "spmm/device_element.cuh"
#include "spmm/device_maxk.h"
#include "spmm/device_slice.cuh"

/* Integers that order as elements do: -0 as +0, NaN the largest. None is INT32_MIN. */
static __device__ __forceinline__ int32_t csaw__maxk_key_of(float x) {
#ifdef __CUDA_ARCH__
    const int32_t bits = __float_as_int(x + 0.0f); /* a GPU's sums have one NaN, 0x7fffffff */
#else
    const int32_t bits = x != x ? INT32_MAX : (int32_t)csaw__float_bits(x + 0.0f);
#endif
    return bits ^ (bits >> 31 & 0x7fffffff);
}

/* ---- halves: of float32 its upper 16 bits, which are a bfloat16; else the element as it is stored ---- */

/* Two of float32, rounded towards 0, which leaves NaN NaN: an upper half alone could lose it. */
static __device__ __forceinline__ uint32_t csaw__maxk_halves_of(float lower, float upper) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint32_t both;
    asm("cvt.rz.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(upper), "f"(lower));
    return both;
#else
    const uint32_t low = lower != lower ? 0x7fff : __float_as_uint(lower) >> 16;
    return (upper != upper ? 0x7fff : __float_as_uint(upper) >> 16) << 16 | low;
#endif
}

/* All bits of those halves of x that are not less than those of y, or NaN. */
template <csaw_dtype T> static __device__ __forceinline__ uint32_t csaw__maxk_not_less(uint32_t x, uint32_t y) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    uint32_t set;
    if constexpr (T == CSAW_F16)
        asm("set.geu.u32.f16x2 %0, %1, %2;" : "=r"(set) : "r"(x), "r"(y));
    else
        asm("set.geu.u32.bf16x2 %0, %1, %2;" : "=r"(set) : "r"(x), "r"(y));
    return set;
#else
    constexpr csaw_dtype HALF = T == CSAW_F16 ? CSAW_F16 : CSAW_BF16;
    const bool lower = csaw__widen<HALF>((uint16_t)x) < csaw__widen<HALF>((uint16_t)y);
    const bool upper = csaw__widen<HALF>((uint16_t)(x >> 16)) < csaw__widen<HALF>((uint16_t)(y >> 16));
    return (lower ? 0 : 0xffffu) | (upper ? 0 : 0xffff0000u);
#endif
}

/* ---- the search ---- */

/* Halves by their number, ascending; infinity is the last. Those of -0 and +0 differ, which does no harm: as many are
 * not less than either. */
template <csaw_dtype T> struct csaw__maxk_half {
    enum { LAST = T == CSAW_F16 ? 0x7c00 : 0x7f80, FIRST = -LAST - 1 };
    static __device__ __forceinline__ uint32_t bits_of(int32_t number) {
        return (uint32_t)(number ^ (number >> 31 & 0x7fff)) & 0xffff;
    }
    static __device__ __forceinline__ float value_of(int32_t number) {
        return csaw__widen < T == CSAW_F16 ? CSAW_F16 : CSAW_BF16 > ((uint16_t)bits_of(number));
    }
    static __device__ __forceinline__ int32_t number_of(float x) {
        const uint32_t half = T == CSAW_F16 ? csaw__narrow<CSAW_F16>(x) : __float_as_uint(x) >> 16;
        const int32_t number = (int16_t)half;
        return number ^ (number >> 31 & 0x7fff);
    }
};

static __device__ __forceinline__ float csaw__maxk_about(float x, float by) { /* x / by; by is 1 at least */
#ifdef __CUDA_ARCH__
    float one;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(one) : "f"(by));
    return x * one;
#else
    return x / by;
#endif
}

/* Looks for a half that exactly k elements of a row are not less than, or for the largest that k are not less than: it
 * is `low` when done(). By value, as far away as the spacing of elements asks; halfway where that does not settle. The
 * guess and the spacing that it begins with decide how long it takes, and nothing else. To go on when it is done does
 * no harm: other rows of the warp may not be. */
template <csaw_dtype T> struct csaw__maxk_cut {
    typedef csaw__maxk_half<T> half;
    int32_t low = half::FIRST,
            high = half::LAST + 1; /* k elements or more are not less than low, and fewer than high */
    uint32_t at_low, at_high = 0;  /* how many */
    int32_t at;                    /* to be counted next */

    __device__ __forceinline__ csaw__maxk_cut(uint32_t n, float guess) : at_low(n) { go_to(half::number_of(guess)); }

    __device__ __forceinline__ bool done(uint32_t k) const { return at_low == k || high - low == 1; }

    __device__ __forceinline__ void go_to(int32_t x) { /* never beyond `high`, which may be no half */
        at = x > low ? x : low + 1;
        at = at < high ? at : high - 1;
    }

    /* so many elements are not less than `at` */
    __device__ __forceinline__ void take(uint32_t count, uint32_t k, bool halve, float *spacing) {
        const bool enough = count >= k;
        low = enough ? at : low, at_low = enough ? count : at_low;
        high = enough ? high : at, at_high = enough ? at_high : count;
        const bool bracketed = low != half::FIRST && high != half::LAST + 1;
        const float from = half::value_of(bracketed ? low : at);
        const uint32_t off = (bracketed ? at_low : count) - k;
        *spacing *= 2;
        if (bracketed) *spacing = csaw__maxk_about(half::value_of(high) - from, (float)(int32_t)(at_low - at_high));
        go_to(halve ? low + (high - low) / 2 : half::number_of(from + (float)(int32_t)off * *spacing));
    }
};

#endif

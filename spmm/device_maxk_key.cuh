/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_key.cuh - the order of MaxK on a GPU: keys, which order as elements do; halves, 16 bits that order
 * almost as elements do, of which a word holds two that one instruction compares. Of two elements the larger has no
 * smaller half. */
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

#endif

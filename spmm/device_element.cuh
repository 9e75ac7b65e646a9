/* SPDX-License-Identifier: MIT */
/* spmm/device_element.cuh - elements of dense matrices as the GPU loads and stores them: the numbers of spmm/element.h,
 * by the GPU's own conversions, which CUDA's headers name too, but NVRTC does not find those. NaN stays NaN, its
 * payload may change. */
#ifndef CSAW_SPMM_DEVICE_ELEMENT_CUH
#define CSAW_SPMM_DEVICE_ELEMENT_CUH

#ifdef __CUDACC_RTC__
#include <csaw/matrix.h>
#else
#include "spmm/element.h" /* for a GPU that is emulated */
#endif

template <int BYTES> struct csaw__stored;
template <> struct csaw__stored<4> { typedef float type; };
template <> struct csaw__stored<2> { typedef uint16_t type; };

/* So many elements side by side, loaded and stored at once. */
template <typename T, int COUNT> struct alignas(sizeof(T) * COUNT) csaw__pack { T at[COUNT]; };

/* The most that are stored at once take 16 bytes. */
template <int COUNT, typename T> static __device__ __forceinline__ void csaw__put(T *to, const T *x) {
    constexpr int MOST = 16 / sizeof(T), AT_ONCE = COUNT < MOST ? COUNT : MOST;
#pragma unroll
    for (int i = 0; i < COUNT; i += AT_ONCE) {
        csaw__pack<T, AT_ONCE> pack;
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) pack.at[j] = x[i + j];
        *(csaw__pack<T, AT_ONCE> *)(to + i) = pack;
    }
}

/* Likewise what is loaded. */
template <int COUNT, typename T> static __device__ __forceinline__ void csaw__take(const T *from, T *x) {
    constexpr int MOST = 16 / sizeof(T), AT_ONCE = COUNT < MOST ? COUNT : MOST;
#pragma unroll
    for (int i = 0; i < COUNT; i += AT_ONCE) {
        const csaw__pack<T, AT_ONCE> pack = *(const csaw__pack<T, AT_ONCE> *)(from + i);
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) x[i + j] = pack.at[j];
    }
}

template <csaw_dtype DTYPE> static __device__ __forceinline__ float csaw__widen(uint16_t half) {
    if (DTYPE == CSAW_BF16) return __uint_as_float((uint32_t)half << 16);
#ifdef __CUDA_ARCH__
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
    return x;
#else
    return csaw__from_f16(half);
#endif
}
template <csaw_dtype DTYPE> static __device__ __forceinline__ float csaw__widen(float x) { return x; }

template <csaw_dtype DTYPE> static __device__ __forceinline__ uint16_t csaw__narrow(float x) {
#ifdef __CUDA_ARCH__
    uint16_t half;
    if constexpr (DTYPE == CSAW_F16) {
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
    } else {
#if __CUDA_ARCH__ >= 800
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half) : "f"(x));
#else
        const uint32_t bits = __float_as_uint(x);
        half = (uint16_t)(x != x ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
    }
    return half;
#else
    return DTYPE == CSAW_F16 ? csaw__to_f16(x) : csaw__to_bf16(x);
#endif
}

/* Two that stand in one word. Of bfloat16 the upper half is a float already; of float16 the conversion takes either
 * half of a register, but the compiler moves halves apart first unless it is shown the word. */
template <csaw_dtype DTYPE> static __device__ __forceinline__ void csaw__widen_two(uint32_t two, float *out) {
    if constexpr (DTYPE == CSAW_BF16) {
        out[0] = __uint_as_float(two << 16);
        out[1] = __uint_as_float(two & 0xffff0000u);
    } else {
#ifdef __CUDA_ARCH__
        asm("{.reg .b16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high;}"
            : "=f"(out[0]), "=f"(out[1])
            : "r"(two));
#else
        out[0] = csaw__widen<DTYPE>((uint16_t)two);
        out[1] = csaw__widen<DTYPE>((uint16_t)(two >> 16));
#endif
    }
}

/* All of a pack. */
template <csaw_dtype DTYPE, typename T, int COUNT>
static __device__ __forceinline__ void csaw__widen_pack(const csaw__pack<T, COUNT> &pack, float *out) {
    if constexpr (DTYPE != CSAW_F32 && COUNT % 2 == 0) {
#pragma unroll
        for (int i = 0; i < COUNT; i += 2) {
            uint32_t two;
            memcpy(&two, &pack.at[i], sizeof two);
            csaw__widen_two<DTYPE>(two, out + i);
        }
    } else {
#pragma unroll
        for (int i = 0; i < COUNT; i++) out[i] = csaw__widen<DTYPE>(pack.at[i]);
    }
}

/* COUNT elements from a place that is aligned to as many. */
template <csaw_dtype DTYPE, int COUNT> static __device__ __forceinline__ void csaw__load(const void *from, float *out) {
    typedef typename csaw__stored<DTYPE == CSAW_F32 ? 4 : 2>::type T;
    const csaw__pack<T, COUNT> pack = *(const csaw__pack<T, COUNT> *)from; /* at once */
    csaw__widen_pack<DTYPE>(pack, out);
}

template <csaw_dtype DTYPE, int COUNT>
static __device__ __forceinline__ void csaw__narrow_to(void *to, const float *x) {
    uint16_t half[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; i++) half[i] = csaw__narrow<DTYPE>(x[i]);
    csaw__put<COUNT>((uint16_t *)to, half);
}

/* COUNT elements to row `row`, from column `column` on, which is aligned to as many, or to 16 bytes. */
template <int COUNT>
static __device__ __forceinline__ void csaw__store(const csaw_dense *m, uint64_t row, uint64_t column, const float *x) {
    const uint64_t at = row * m->stride + column;
    if (m->dtype == CSAW_F32)
        csaw__put<COUNT>((float *)m->data + at, x);
    else if (m->dtype == CSAW_F16)
        csaw__narrow_to<CSAW_F16, COUNT>((uint16_t *)m->data + at, x);
    else
        csaw__narrow_to<CSAW_BF16, COUNT>((uint16_t *)m->data + at, x);
}

/* One element of any storage. */
static __device__ __forceinline__ float csaw__element(const csaw_dense *m, uint64_t row, uint64_t column) {
    const uint64_t at = row * m->stride + column;
    if (m->dtype == CSAW_F32) return ((const float *)m->data)[at];
    const uint16_t half = ((const uint16_t *)m->data)[at];
    return m->dtype == CSAW_F16 ? csaw__widen<CSAW_F16>(half) : csaw__widen<CSAW_BF16>(half);
}

#endif

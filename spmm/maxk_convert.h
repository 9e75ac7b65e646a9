/* SPDX-License-Identifier: MIT */
/* spmm/maxk_convert.h - runs of elements to and from float32: the bits of spmm/element.h, without branches, so that the
 * compiler makes vector code of the loops. */
#ifndef CSAW_SPMM_MAXK_CONVERT_H
#define CSAW_SPMM_MAXK_CONVERT_H

#include "spmm/element.h"

static inline float csaw__widen_f16(uint16_t x) {
    const uint32_t size = x & 0x7fffu, sign = (uint32_t)(x & 0x8000u) << 16;
    const uint32_t normal = (size << 13) + (size >= 0x7c00u ? 0x70000000u : 0x38000000u); /* exponent + 112, or 255 */
    const uint32_t small = csaw__float_bits((float)(int32_t)size * 0x1p-24f);             /* exact */
    return csaw__float_of_bits((size < 0x400u ? small : normal) | sign);
}

static inline uint16_t csaw__narrow_f16(float x) {
    const uint32_t bits = csaw__float_bits(x), size = bits & 0x7fffffffu;
    const uint32_t normal = (size - 0x38000000u + 0xfffu + (size >> 13 & 1)) >> 13;
    /* Adding 0.5, whose last bit is worth 2^-24, rounds to a multiple of that, as an f16 below 2^-14 is. */
    const uint32_t small = csaw__float_bits(csaw__float_of_bits(size) + 0.5f) - 0x3f000000u;
    const uint32_t nan = 0x7e00u | (size >> 13 & 0x1ffu);
    uint32_t half = size < 0x38800000u ? small : normal;
    half = size >= 0x477ff000u ? 0x7c00u : half;
    half = size > 0x7f800000u ? nan : half;
    return (uint16_t)(half | (bits >> 16 & 0x8000u));
}

static inline uint16_t csaw__narrow_bf16(float x) {
    const uint32_t bits = csaw__float_bits(x), nan = bits >> 16 | 0x40u;
    const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

/* `count` 16-bit elements; dtype is not CSAW_F32. */
static inline void csaw__widen(csaw_dtype dtype, const uint16_t *__restrict from, uint64_t count,
                               float *__restrict to) {
    if (dtype == CSAW_F16)
        for (uint64_t c = 0; c < count; c++) to[c] = csaw__widen_f16(from[c]);
    else
        for (uint64_t c = 0; c < count; c++) to[c] = csaw__from_bf16(from[c]);
}

/* Elements at .. at + count - 1 of data as float32: where they stand, or in buffer [count]. */
static inline const float *csaw__as_float(csaw_dtype dtype, const void *data, uint64_t at, uint64_t count,
                                          float *buffer) {
    if (dtype == CSAW_F32) return (const float *)data + at;
    csaw__widen(dtype, (const uint16_t *)data + at, count, buffer);
    return buffer;
}

/* Stores from [count] as elements at .. at + count - 1 of data. */
static inline void csaw__narrow(csaw_dtype dtype, const float *__restrict from, uint64_t count, void *data,
                                uint64_t at) {
    uint16_t *const __restrict half = (uint16_t *)data + at;
    if (dtype == CSAW_F32)
        memcpy((float *)data + at, from, count * sizeof(float));
    else if (dtype == CSAW_F16)
        for (uint64_t c = 0; c < count; c++) half[c] = csaw__narrow_f16(from[c]);
    else
        for (uint64_t c = 0; c < count; c++) half[c] = csaw__narrow_bf16(from[c]);
}

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/element.h - elements of dense matrices: float32 to and from the 16-bit formats, by bits, to nearest and of ties
 * to even (IEEE 754), the same on every machine. NaN stays NaN. No branches, so that loops over them become vector
 * instructions. */
#ifndef CSAW_SPMM_ELEMENT_H
#define CSAW_SPMM_ELEMENT_H

#include <csaw/spmm.h>
#include <string.h>

static inline uint32_t csaw__float_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float csaw__float_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float csaw__from_bf16(uint16_t x) { return csaw__float_of_bits((uint32_t)x << 16); }

static inline uint16_t csaw__to_bf16(float x) {
    const uint32_t bits = csaw__float_bits(x);
    const uint32_t nan = bits >> 16 | 0x40, number = (bits + 0x7fff + (bits >> 16 & 1)) >> 16; /* nan: made quiet */
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? nan : number);
}

/* yes where the condition holds, else no. By masks: compilers turn ?: into branches, and those end vectorisation. */
static inline uint32_t csaw__either(bool condition, uint32_t yes, uint32_t no) {
    const uint32_t mask = (uint32_t)0 - (uint32_t)condition;
    return (yes & mask) | (no & ~mask);
}

static inline float csaw__from_f16(uint16_t x) {
    const uint32_t sign = (uint32_t)(x & 0x8000) << 16, rest = (uint32_t)(x & 0x7fff) << 13;
    const uint32_t rebias = 112u << 23; /* twice for infinity and NaN: exponent 31 becomes 255 */
    const uint32_t normal = rest + rebias + csaw__either(rest >= 31u << 23, rebias, 0);
    const float small = (float)(int32_t)(x & 0x3ff) * 0x1p-24f; /* exact */
    return csaw__float_of_bits(sign | csaw__either(rest < 1u << 23, csaw__float_bits(small), normal));
}

static inline uint16_t csaw__to_f16(float x) {
    const uint32_t bits = csaw__float_bits(x), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffffu;
    /* Normal: the exponent less 112, the fraction rounded at bit 13. Small: the unit of x + 0.5 is 2^-24, as of a
     * subnormal half, so that the sum is rounded as it should be. */
    const uint32_t normal = (size - (112u << 23) + 0xfff + (size >> 13 & 1)) >> 13;
    const uint32_t small = csaw__float_bits(csaw__float_of_bits(size) + 0.5f) - csaw__float_bits(0.5f);
    const uint32_t finite = csaw__either(size < 0x38800000u, small, normal);   /* 2^-14 */
    const uint32_t number = csaw__either(size >= 0x477ff000u, 0x7c00, finite); /* 65520 and above: infinite */
    const uint32_t nan = 0x7e00 | (size >> 13 & 0x1ff);                        /* made quiet */
    return (uint16_t)(sign | csaw__either(size > 0x7f800000u, nan, number));
}

/* To float32 so that rounding the result to a 16-bit format is rounding x once: toward 0 and, if that lost anything, to
 * an odd last bit (Boldo, Melquiond, "Emulation of a FMA and correctly rounded sums", IEEE Trans. Comput. 57, 2008). */
static inline float csaw__to_odd(double x) {
    const float near = (float)x;
    if ((double)near == x || x != x) return near;
    uint32_t bits = csaw__float_bits(near);
    const double size = x < 0 ? -x : x, near_size = (double)csaw__float_of_bits(bits & 0x7fffffffu);
    if (near_size > size) bits--;
    return csaw__float_of_bits(bits | 1);
}

static inline size_t csaw__dtype_bytes(csaw_dtype dtype) { return dtype == CSAW_F32 ? 4 : 2; }

static inline uint64_t csaw__stride(const csaw_dense *m) { return m->stride ? m->stride : m->cols; }

#endif

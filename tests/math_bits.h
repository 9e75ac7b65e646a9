/* SPDX-License-Identifier: MIT */
/* tests/math_bits.h - csaw/math.h at chosen arguments. math_bits.c is compiled with several compilers and levels of
 * optimisation, and by nvcc for the device; all must give the same bits. */
#ifndef CSAW_TESTS_MATH_BITS_H
#define CSAW_TESTS_MATH_BITS_H

#include <csaw/math.h>
#include <csaw/philox.h>

typedef struct math_bits {
    uint64_t exp, log, log1p, pow, sqrt; /* bits of exp(y), log(x), log1p(x or x - 3/2), x^y, sqrt(x) */
} math_bits;

/* Arguments number i: x is any double at all (also negative, infinite, not a number) or, for odd i, one of [1/2, 2);
 * y has a magnitude of [2^-12, 2^10). */
CSAW_FN math_bits math_bits_at(uint64_t i) {
    csaw_block block = csaw_draw(2026, i, 0, 0, 0, 0);
    uint64_t a = csaw_half(&block, 0), b = csaw_half(&block, 1);
    const uint64_t mantissa = 0xfffffffffffffu;
    double x = csaw__from_bits(i & 1 ? (a & mantissa) | (uint64_t)(1022 + (a >> 63)) << 52 : a);
    double y = csaw__from_bits((b & (mantissa | (uint64_t)1 << 63)) | (1011 + (b >> 52) % 22) << 52);
    math_bits bits;
    bits.exp = csaw__bits(csaw_exp(y));
    bits.log = csaw__bits(csaw_log(x));
    bits.log1p = csaw__bits(csaw_log1p(i & 1 ? x - 1.5 : x)); /* of [-1, 1/2) for odd i */
    bits.pow = csaw__bits(csaw_pow(x, y));
    bits.sqrt = csaw__bits(csaw_sqrt(x));
    return bits;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Results of arguments first .. first + count - 1 to out. */
void math_bits_unoptimised(uint64_t first, uint64_t count, math_bits *out);
void math_bits_optimised(uint64_t first, uint64_t count, math_bits *out);
void math_bits_other_compiler(uint64_t first, uint64_t count, math_bits *out); /* where there is one */

#ifdef __cplusplus
}
#endif
#endif

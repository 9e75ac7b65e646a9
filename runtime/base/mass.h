/* SPDX-License-Identifier: MIT */
/* runtime/base/mass.h - biases as integers, so that sums do not depend on their order.
 *
 * Float prefix sums give hubs a wrong law (at a running sum of 10^6 a float32 step is 0.06) and different bits per
 * backend. For n candidates with largest bias b > 0, mass = floor(bias * 2^e) with e = 61 - ceil(log2 n) - ilogb(b), at
 * least 1 where bias > 0: the sum of n masses is at most 2^62, and 64-bit sums are associative. docs/stream.md. */
#ifndef CSAW_BASE_MASS_H
#define CSAW_BASE_MASS_H

#include <csaw/math.h>

CSAW_FN uint32_t csaw__ceil_log2(uint64_t n) {
#if defined(__CUDACC__)
    return n <= 1 ? 0 : 64 - (uint32_t)__clzll((long long)(n - 1));
#else
    return n <= 1 ? 0 : 64 - (uint32_t)__builtin_clzll(n - 1);
#endif
}

/* The exponent e. A bias is a product of two floats, so a positive one is a normal double and e is within -227 .. 361.
 */
CSAW_FN int csaw__mass_exponent(uint64_t n, double largest) {
    return 61 - (int)csaw__ceil_log2(n) - ((int)(csaw__bits(largest) >> 52 & 2047) - 1023);
}

/* scale = csaw__power_of_two(e) */
CSAW_FN uint64_t csaw__mass(double bias, double scale) {
    uint64_t mass = (uint64_t)(bias * scale);
    return mass == 0 && bias > 0 ? 1 : mass;
}

#endif

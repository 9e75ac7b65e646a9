/* SPDX-License-Identifier: MIT */
/* runtime/base/float_text.h - a float as printf's %.9g writes it in the C locale, several times as fast. A float is
 * m 2^e with m < 2^24, so from 1e-4 to 1e9, where %g writes no exponent, the nine digits are m 10^k 2^e with k at most
 * 12: a product that 64 bits hold, shifted and rounded exactly. All else is printf's own. */
#ifndef CSAW_BASE_FLOAT_TEXT_H
#define CSAW_BASE_FLOAT_TEXT_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/number_text.h"

/* x / 2^shift, to the nearest, of two that are as near the even one; shift: 1 .. 63. */
static inline uint64_t csaw__shift_rounded(uint64_t x, int shift) {
    const uint64_t whole = x >> shift, rest = x & (((uint64_t)1 << shift) - 1), half = (uint64_t)1 << (shift - 1);
    return whole + (rest > half || (rest == half && whole % 2));
}

/* Where 32 bytes are free; without a final zero byte; returns where the text ends. */
static inline char *csaw__put_float(char *to, float x) {
    static const double least[] = {1e8, 1e7, 1e6,  1e5,  1e4,  1e3, 1e2,
                                   1e1, 1,   1e-1, 1e-2, 1e-3, 0}; /* with k decimals */
    static const uint64_t power[] = {1,        10,        100,        1000,        10000,        100000,       1000000,
                                     10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000};
    const double size = fabs((double)x);
    if (!(size > (double)1e-4f && size < 1e9))
        return to + snprintf(to, 32, "%.9g", (double)x); /* 1e-4f is less than 1e-4 */
    int exponent, decimals = 0;
    const uint64_t mantissa = (uint64_t)(frexp(size, &exponent) * 0x1p24);
    exponent -= 24;
    while (size < least[decimals]) decimals++;
    uint64_t digits = mantissa * power[decimals];
    digits = exponent < 0 ? csaw__shift_rounded(digits, -exponent) : digits << exponent;
    for (; decimals > 0 && digits % 10 == 0; decimals--) digits /= 10;
    if (x < 0) *to++ = '-';
    to = csaw__put_wide(to, digits / power[decimals]);
    if (decimals == 0) return to;
    *to++ = '.';
    uint64_t rest = digits % power[decimals];
    for (char *at = to + decimals; at > to; rest /= 10) *--at = (char)('0' + rest % 10);
    return to + decimals;
}

#endif

/* SPDX-License-Identifier: MIT */
/* csaw/math.h - csaw_exp, csaw_log, csaw_log1p, csaw_pow, csaw_sqrt: the same bits from every compiler, on CPU and GPU.
 *
 * libm and the CUDA library round differently, so a bias that used them would break "same seed, same samples". These
 * functions use + - * /, comparisons and integer operations on the bits, each of which IEEE 754 fixes, in one written
 * order: no fused multiply-add, no table, no libm. Compile with -ffp-contract=off (nvcc, NVRTC: --fmad=false), as
 * csaw_add_sampler() and csaw_sampler_compile() do.
 *
 * Method: exp by reduction with a two-part ln 2 (Cody, Waite, "Software manual for the elementary functions", 1980) and
 * Taylor's series; log(2^k m) = k ln 2 + 2 artanh((m - 1) / (m + 1)); pow = exp(y log x) with log x and the product in
 * double-double (Dekker, "A floating-point technique for extending the available precision", Numer. Math. 18, 1971).
 * Errors are below 1 unit in the last place, for pow too. Special cases as C11 Annex F; every NaN that comes out is the
 * one of csaw__nan(), since the hardware's own differ. */
#ifndef CSAW_MATH_H
#define CSAW_MATH_H

#include "types.h"

#ifdef __FAST_MATH__
#error "csaw needs IEEE arithmetic; compile sampler files without -ffast-math"
#endif

CSAW_FN uint64_t csaw__bits(double x) {
#if defined(__CUDACC__)
    return (uint64_t)__double_as_longlong(x);
#else
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
#endif
}

CSAW_FN double csaw__from_bits(uint64_t bits) {
#if defined(__CUDACC__)
    return __longlong_as_double((long long)bits);
#else
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

CSAW_FN double csaw__nan(void) { return csaw__from_bits(0x7ff8000000000000u); }
CSAW_FN double csaw__infinity(void) { return csaw__from_bits(0x7ff0000000000000u); }
CSAW_FN double csaw__magnitude(double x) { return csaw__from_bits(csaw__bits(x) & 0x7fffffffffffffffu); }
CSAW_FN double csaw__power_of_two(int k) { return csaw__from_bits((uint64_t)(k + 1023) << 52); } /* -1022 .. 1023 */

/* ln 2 = HI + LO; HI has 42 bits, so k * HI is exact for |k| < 2^11 */
#define CSAW__LN2_HI 0x1.62e42fefa38p-1
#define CSAW__LN2_LO 0x1.ef35793c7673p-45
#define CSAW__INVERSE_LN2 0x1.71547652b82fep+0

/* ---- double-double: the unrounded sum hi + lo, |lo| at most half a unit in the last place of hi ---------- */

typedef struct csaw__pair {
    double hi, lo;
} csaw__pair;

CSAW_FN csaw__pair csaw__two_sum(double a, double b) { /* exact (Knuth) */
    csaw__pair sum;
    double c;
    sum.hi = a + b;
    c = sum.hi - a;
    sum.lo = (a - (sum.hi - c)) + (b - c);
    return sum;
}

CSAW_FN csaw__pair csaw__two_product(double a, double b) { /* exact (Dekker, Veltkamp's split) */
    csaw__pair product;
    double c = 134217729.0 * a, a1 = c - (c - a), a2 = a - a1;
    double d = 134217729.0 * b, b1 = d - (d - b), b2 = b - b1;
    product.hi = a * b;
    product.lo = ((a1 * b1 - product.hi) + a1 * b2 + a2 * b1) + a2 * b2;
    return product;
}

CSAW_FN csaw__pair csaw__pair_sum(csaw__pair a, csaw__pair b) {
    csaw__pair sum = csaw__two_sum(a.hi, b.hi);
    return csaw__two_sum(sum.hi, sum.lo + (a.lo + b.lo));
}

CSAW_FN csaw__pair csaw__pair_product(csaw__pair a, csaw__pair b) {
    csaw__pair product = csaw__two_product(a.hi, b.hi);
    return csaw__two_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* ---- exp ------------------------------------------------------------------ */

/* exp(hi + lo), |hi| < 750 */
CSAW_FN double csaw__exp_pair(double hi, double lo) {
    int k = (int)(hi * CSAW__INVERSE_LN2 + (hi < 0 ? -0.5 : 0.5));
    csaw__pair r = csaw__two_sum(hi - k * CSAW__LN2_HI, lo - k * CSAW__LN2_LO); /* |r| < 0.35 */
    double x = r.hi, one_x = 1 + x, p, y;
    p = 1.0 / 87178291200.0; /* 1/14! */
    p = 1.0 / 6227020800.0 + x * p;
    p = 1.0 / 479001600.0 + x * p;
    p = 1.0 / 39916800.0 + x * p;
    p = 1.0 / 3628800.0 + x * p;
    p = 1.0 / 362880.0 + x * p;
    p = 1.0 / 40320.0 + x * p;
    p = 1.0 / 5040.0 + x * p;
    p = 1.0 / 720.0 + x * p;
    p = 1.0 / 120.0 + x * p;
    p = 1.0 / 24.0 + x * p;
    p = 1.0 / 6.0 + x * p;
    p = 0.5 + x * p;
    y = one_x + ((x - (one_x - 1)) + (x * x * p + (r.lo + r.lo * x))); /* 1 + x without its rounding, and the rest */
    if (k > 1000) return y * csaw__power_of_two(k - 100) * csaw__power_of_two(100);
    if (k < -1000) return y * csaw__power_of_two(k + 100) * csaw__power_of_two(-100);
    return y * csaw__power_of_two(k);
}

CSAW_FN double csaw_exp(double x) {
    if (x != x) return csaw__nan();
    if (x > 710) return csaw__infinity();
    if (x < -746) return 0;
    return csaw__exp_pair(x, 0);
}

/* ---- log ------------------------------------------------------------------ */

typedef struct csaw__reduced {
    int k;
    csaw__pair s; /* x = 2^k m, sqrt(1/2) <= m < sqrt(2); s = (m - 1) / (m + 1) */
} csaw__reduced;

CSAW_FN csaw__reduced csaw__log_reduce(double x) { /* x positive and finite */
    csaw__reduced r;
    int subnormal = x < 0x1p-1022;
    uint64_t bits = csaw__bits(subnormal ? x * 0x1p54 : x);
    int k = (int)((bits + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu)) >> 52) - 1023; /* - bits of sqrt(1/2) */
    double m = csaw__from_bits(bits - ((uint64_t)(int64_t)k << 52));
    csaw__pair below = csaw__two_sum(m, 1), product;
    r.k = subnormal ? k - 54 : k;
    r.s.hi = (m - 1) / below.hi;
    product = csaw__two_product(r.s.hi, below.hi);
    r.s.lo = (((m - 1) - product.hi) - product.lo - r.s.hi * below.lo) / below.hi;
    return r;
}

/* 1/7 + z/9 + ... + z^10/27, the end of the series artanh(s)/s = 1 + z/3 + z^2/5 + ..., z = s^2 < 0.0295 */
CSAW_FN double csaw__artanh_end(double z) {
    double p = 1.0 / 27.0;
    p = 1.0 / 25.0 + z * p;
    p = 1.0 / 23.0 + z * p;
    p = 1.0 / 21.0 + z * p;
    p = 1.0 / 19.0 + z * p;
    p = 1.0 / 17.0 + z * p;
    p = 1.0 / 15.0 + z * p;
    p = 1.0 / 13.0 + z * p;
    p = 1.0 / 11.0 + z * p;
    p = 1.0 / 9.0 + z * p;
    return 1.0 / 7.0 + z * p;
}

CSAW_FN double csaw_log(double x) {
    if (!(x > 0)) return x == 0 ? -csaw__infinity() : csaw__nan();
    if (x == csaw__infinity()) return x;
    csaw__reduced r = csaw__log_reduce(x);
    double z = r.s.hi * r.s.hi;
    double rest = r.s.hi * (z * (1.0 / 3.0 + z * (1.0 / 5.0 + z * csaw__artanh_end(z))));
    csaw__pair sum = csaw__two_sum(r.k * CSAW__LN2_HI, 2 * r.s.hi);
    return sum.hi + (sum.lo + (r.k * CSAW__LN2_LO + 2 * (r.s.lo + rest)));
}

/* log(1 + x), accurate where x is small: the logarithm of the rounded sum, and the first term of what rounding left
 * off. */
CSAW_FN double csaw_log1p(double x) {
    if (!(x > -1)) return x == -1 ? -csaw__infinity() : csaw__nan();
    if (x == csaw__infinity() || x == 0) return x;
    csaw__pair sum = csaw__two_sum(1, x);
    return csaw_log(sum.hi) + sum.lo / sum.hi;
}

/* log x to about 2^-68 of its value; x positive and finite */
CSAW_FN csaw__pair csaw__log_pair(double x) {
    const csaw__pair third = {0x1.5555555555555p-2, 0x1.5555555555555p-56};
    const csaw__pair fifth = {0x1.999999999999ap-3, -0x1.999999999999ap-57};
    csaw__reduced r = csaw__log_reduce(x);
    csaw__pair z = csaw__pair_product(r.s, r.s), rest, sum, low;
    csaw__pair end = {z.hi * csaw__artanh_end(z.hi), 0};
    rest = csaw__pair_product(z, csaw__pair_sum(fifth, end));
    rest = csaw__pair_product(z, csaw__pair_sum(third, rest));
    rest = csaw__pair_product(r.s, rest);
    sum = csaw__two_sum(r.k * CSAW__LN2_HI, 2 * r.s.hi);
    low = csaw__two_sum(sum.hi, 2 * rest.hi);
    return csaw__two_sum(low.hi, low.lo + (sum.lo + (r.k * CSAW__LN2_LO + 2 * (r.s.lo + rest.lo))));
}

/* ---- pow ------------------------------------------------------------------ */

/* x^y where x is positive and finite, y finite and not 0 */
CSAW_FN double csaw__pow_positive(double x, double y) {
    double magnitude = csaw__magnitude(y);
    csaw__pair log_x, exponent;
    if (x == 1) return 1;
    if (magnitude > 0x1p64) return (x > 1) == (y > 0) ? csaw__infinity() : 0; /* |log x| > 2^-54 */
    if (magnitude < 0x1p-70) return 1;                                        /* |log x| < 746 */
    log_x = csaw__log_pair(x);
    exponent = csaw__two_product(log_x.hi, y);
    exponent.lo += log_x.lo * y;
    if (exponent.hi > 710) return csaw__infinity();
    if (exponent.hi < -746) return 0;
    return csaw__exp_pair(exponent.hi, exponent.lo);
}

CSAW_FN double csaw_pow(double x, double y) {
    double base = csaw__magnitude(x), exponent = csaw__magnitude(y), power;
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return csaw__nan();
    if (exponent == csaw__infinity()) {
        if (base == 1) return 1;
        return (base > 1) == (y > 0) ? csaw__infinity() : 0;
    }
    int integer = exponent >= 0x1p53 || (double)(int64_t)exponent == exponent;
    int odd = exponent < 0x1p53 && integer && ((int64_t)exponent & 1);
    if (base == 0 || base == csaw__infinity())
        power = (base == 0) == (y < 0) ? csaw__infinity() : 0;
    else if (x < 0 && !integer)
        return csaw__nan();
    else
        power = csaw__pow_positive(base, y);
    return odd && csaw__bits(x) >> 63 ? -power : power;
}

/* ---- sqrt ----------------------------------------------------------------- */

CSAW_FN double csaw_sqrt(double x) { /* correctly rounded, by the hardware */
    if (!(x >= 0)) return csaw__nan();
#if defined(__CUDACC__)
    return __dsqrt_rn(x);
#else
    return __builtin_sqrt(x);
#endif
}

#endif

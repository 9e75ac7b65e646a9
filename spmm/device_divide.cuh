/* SPDX-License-Identifier: MIT */
/* spmm/device_divide.cuh - x / n, rounded to nearest, for many x of one n, a number of things. The compiler's division
 * asks the special function unit twice for each, and calls a function for numbers that are rare, which takes registers.
 *
 * Method: the quotient by 1 / n, and what is left put right by a fused multiply-add (Markstein, "Computation of
 * elementary functions on the IBM RISC System/6000 processor", 1990). His proof asks for a quotient that is nearer than
 * x * (1 / n) may be; that this one is right was found by trying every n with every x that comes close to the middle of
 * two numbers, and by chance a thousand million others, normal and not. */
#ifndef CSAW_SPMM_DEVICE_DIVIDE_CUH
#define CSAW_SPMM_DEVICE_DIVIDE_CUH

#include <math.h>

/* inverse: 1 / n, rounded to nearest, without which some last bits are wrong. */
static __device__ __forceinline__ float csaw__quotient(float x, float n, float inverse) {
    const float about = x * inverse;
    return fmaf(fmaf(-n, about, x), inverse, about);
}

/* Whether csaw__quotient() is x / n: of what is left no bit was lost, and it is a number. */
static __device__ __forceinline__ bool csaw__is_quotient(float q) { return fabsf(q) >= 0x1p-100f; }

/* x / n of any x; n: 1 to 2^32; inverse: as above. A quotient with fewer bits than others, below 2^-126, is found 2^64
 * times as large; if that lies halfway between two such numbers, what is left says on which side of it x / n is. */
static __device__ __forceinline__ float csaw__over(float x, float n, float inverse) {
    const float quotient = csaw__quotient(x, n, inverse);
    if (csaw__is_quotient(quotient)) return quotient;
    if (x == 0 || !(fabsf(x) < INFINITY)) return x;
    const float larger = x * 0x1p64f, q = csaw__quotient(larger, n, inverse);
    const float again = q * 0x1p-64f * 0x1p64f, off = q - again, left = fmaf(-n, q, larger);
    const bool halfway = fabsf(off) == 0x1p-86f && left != 0;
    return (!halfway ? q : (left > 0) == (off > 0) ? q + off : again) * 0x1p-64f;
}

#endif

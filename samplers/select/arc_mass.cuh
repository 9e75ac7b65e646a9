/* SPDX-License-Identifier: MIT */
/* samplers/select/arc_mass.cuh - biases and masses of arcs on the GPU.
 *
 * Method: where the sampler has one bias hook, a bias stays a float: conversions to double and back are slow on a GPU,
 * and are for products of two hooks alone. A bias is handed about as its bits, which have its order. */
#ifndef CSAW_SELECT_ARC_MASS_CUH
#define CSAW_SELECT_ARC_MASS_CUH

#include "samplers/select/bias.h"

template <typename HOOK> __host__ __device__ constexpr bool csaw__given(HOOK hook) { return hook != nullptr; }

/* What biases are multiplied by to become masses, 2^exponent, and the bits that biases are. */
template <bool ONE_HOOK> struct csaw__scale_of;

template <> struct csaw__scale_of<true> {
    typedef uint32_t bits;
    static constexpr bits most = 0x7f7fffffu; /* FLT_MAX; above: a hook broke its rules */
    float half, rest;                         /* of the exponent, which may be beyond a float's */
    csaw__scale_of() = default;
    __device__ explicit csaw__scale_of(int exponent) {
        half = __uint_as_float((uint32_t)(127 + (exponent >> 1)) << 23);
        rest = __uint_as_float((uint32_t)(127 + exponent - (exponent >> 1)) << 23);
    }
    static __device__ double value(bits bias) { return __uint_as_float(bias); }
    static __device__ bits checked(bits bias) { return __float_as_uint(__uint_as_float(bias) + 0.0f); }
    __device__ uint64_t mass(bits bias) const { /* exact where it counts: what underflows is below 1 */
        const float scaled = __uint_as_float(bias) * half * rest;
        return __float2ull_rz(bias ? fmaxf(scaled, 1.0f) : 0.0f);
    }
};

template <> struct csaw__scale_of<false> {
    typedef unsigned long long bits;
    static constexpr bits most = 0x7fefffffffffffffull;
    double scale;
    csaw__scale_of() = default;
    __device__ explicit csaw__scale_of(int exponent) { scale = csaw__power_of_two(exponent); }
    static __device__ double value(bits bias) { return __longlong_as_double((long long)bias); }
    static __device__ bits checked(bits bias) { return (bits)__double_as_longlong(value(bias) + 0.0); }
    __device__ uint64_t mass(bits bias) const { return csaw__mass(value(bias), scale); }
};

typedef csaw__scale_of<!csaw__given(csaw__hooks.static_bias) || !csaw__given(csaw__hooks.edge_bias)> csaw__scale;
typedef csaw__scale::bits csaw__bias_bits;

/* Of the arc at a place of the row, as the hook gave it: a loop loads several before it looks at the first. */
CSAW_FN csaw__bias_bits csaw__raw_bits(const csaw_site *site, uint64_t rank) {
    if constexpr (sizeof(csaw__bias_bits) == sizeof(float)) {
        const csaw_arc arc = csaw__arc_at(site, rank);
        if constexpr (csaw__given(csaw__hooks.edge_bias)) return __float_as_uint(csaw__hooks.edge_bias(site, &arc));
        return __float_as_uint(csaw__static_bias(site, &arc));
    } else {
        return (csaw__bias_bits)__double_as_longlong(csaw__bias_of(site, (uint32_t)rank)); /* -1: its sign bit is set */
    }
}

/* The same with -0 as 0; above csaw__scale::most if a hook broke its rules, which is not told. */
CSAW_FN csaw__bias_bits csaw__bits_at(const csaw_site *site, uint32_t rank) {
    return csaw__scale::checked(csaw__raw_bits(site, rank));
}

/* e of docs/stream.md, "Masses"; 0 where every bias is 0. */
CSAW_FN int csaw__exponent_of(uint64_t n, csaw__bias_bits largest) {
    return largest ? csaw__mass_exponent(n, csaw__scale::value(largest)) : 0;
}

#endif

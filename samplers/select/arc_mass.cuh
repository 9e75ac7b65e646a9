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
    float first, rest;                        /* of the exponent, which may be beyond a float's */
    csaw__scale_of() = default;
    __device__ explicit csaw__scale_of(int exponent) {
        const int most_at_once = 127, at_once = exponent < most_at_once ? exponent : most_at_once;
        first = __uint_as_float((uint32_t)(127 + at_once) << 23);
        rest = __uint_as_float((uint32_t)(127 + exponent - at_once) << 23);
    }
    __device__ bool is_one_step() const { return rest == 1.0f; } /* as it is but for very small biases */
    static __device__ double value(bits bias) { return __uint_as_float(bias); }
    static __device__ bits checked(bits bias) { return __float_as_uint(__uint_as_float(bias) + 0.0f); }
    template <bool ONE_STEP = false>
    __device__ uint64_t mass(bits bias) const { /* exact where it counts: what underflows is below 1 */
        const float value = __uint_as_float(bias), scaled = value * first;
        return __float2ull_rz(fmaxf(ONE_STEP ? scaled : scaled * rest, one_if_positive(value)));
    }
    static __device__ float one_if_positive(float x) {
#ifdef __CUDA_ARCH__
        float one; /* by one instruction, where a choice takes two */
        asm("set.gt.f32.f32 %0, %1, 0f00000000;" : "=f"(one) : "f"(x));
        return one;
#else
        return x > 0 ? 1.0f : 0.0f;
#endif
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
    __device__ bool is_one_step() const { return true; }
    template <bool ONE_STEP = true> __device__ uint64_t mass(bits bias) const { return csaw__mass(value(bias), scale); }
};

typedef csaw__scale_of<!csaw__given(csaw__hooks.static_bias) || !csaw__given(csaw__hooks.edge_bias)> csaw__scale;
typedef csaw__scale::bits csaw__bias_bits;

/* As the hooks gave it, so that a loop loads several before it looks at the first; above csaw__scale::most if one broke
 * its rules, which is not told. */
CSAW_FN csaw__bias_bits csaw__bits_of(const csaw_site *site, const csaw_arc *arc) {
    if constexpr (sizeof(csaw__bias_bits) == sizeof(float)) {
        if constexpr (csaw__given(csaw__hooks.edge_bias)) return __float_as_uint(csaw__hooks.edge_bias(site, arc));
        return __float_as_uint(csaw__static_bias(site, arc));
    } else {
        return (csaw__bias_bits)__double_as_longlong(csaw__bias_of_arc(site, arc)); /* -1: its sign bit is set */
    }
}

/* Of the arc at a place of the row. */
CSAW_FN csaw__bias_bits csaw__raw_bits(const csaw_site *site, uint64_t rank) {
    const csaw_arc arc = csaw__arc_at(site, rank);
    return csaw__bits_of(site, &arc);
}

/* The same with -0 as 0. */
CSAW_FN csaw__bias_bits csaw__bits_at(const csaw_site *site, uint32_t rank) {
    return csaw__scale::checked(csaw__raw_bits(site, rank));
}

/* e of docs/stream.md, "Masses"; 0 where every bias is 0. */
CSAW_FN int csaw__exponent_of(uint64_t n, csaw__bias_bits largest) {
    return largest ? csaw__mass_exponent(n, csaw__scale::value(largest)) : 0;
}

#endif

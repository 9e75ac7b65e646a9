/* SPDX-License-Identifier: MIT */
/* samplers/select/arc_mass.cuh - the mass of an arc on the GPU. Where the sampler has one bias hook the bias is a
 * float, and its mass comes from the bits: conversions to double and back, which are slow on a GPU,
 * are for products of two hooks alone. */
#ifndef CSAW_SELECT_ARC_MASS_CUH
#define CSAW_SELECT_ARC_MASS_CUH

#include "samplers/select/bias.h"

template <typename HOOK> __host__ __device__ constexpr bool csaw__given(HOOK hook) { return hook != nullptr; }

/* Whether a bias is one float, not a product of two. */
constexpr bool csaw__one_factor = !csaw__given(csaw__hooks.static_bias) || !csaw__given(csaw__hooks.edge_bias);

/* Of a bias that is one float: its bits, which have its order; above those of FLT_MAX if a hook broke its rules. */
CSAW_FN uint32_t csaw__bias_bits(const csaw_site *site, uint64_t i) {
    const csaw_arc arc = csaw__arc_at(site, (uint32_t)i);
    float bias = csaw__static_bias(site, &arc);
    if constexpr (csaw__given(csaw__hooks.edge_bias)) bias = csaw__hooks.edge_bias(site, &arc);
    return __float_as_uint(bias + 0.0f); /* -0 is 0 */
}

CSAW_FN uint64_t csaw__arc_mass(const csaw_site *site, uint64_t i, int exponent) {
    if constexpr (csaw__one_factor) return csaw__float_mass(csaw__bias_bits(site, i), exponent);
    return csaw__mass(csaw__bias_of(site, (uint32_t)i), csaw__power_of_two(exponent));
}

CSAW_FN uint64_t csaw__mass_at(const csaw_site *site, uint64_t i, int exponent) { /* 0 beyond the row */
    return i < site->degree ? csaw__arc_mass(site, i, exponent) : 0;
}

#endif

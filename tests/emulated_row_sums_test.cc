/* SPDX-License-Identifier: MIT */
/* tests/emulated_row_sums_test.cc - tests/emulated_row_sums.h of a sampler with one bias hook, whose biases are floats.
 */
#include <gtest/gtest.h>

#include "tests/emulated_gpu.h"

static float odd_weight(const csaw_site *,
                        const csaw_arc *arc) { // spread over many exponents; of every 7th arc 0, or -0
    if (arc->rank % 7 == 3) return arc->rank % 2 ? -0.0f : 0.0f;
    return arc->weight * std::ldexp(1.0f, static_cast<int>(arc->rank * 37 % 150) - 75);
}
CSAW_SAMPLER(one_hook, csaw_no_params, .edge_bias = odd_weight);

static double BiasOf(const csaw_site *site, const csaw_arc *arc) { return odd_weight(site, arc); }

#define SUITE EmulatedRowSums
#include "tests/emulated_row_sums.h"

/* SPDX-License-Identifier: MIT */
/* tests/emulated_mass_test.cc - masses of biases as the GPU has them (samplers/select/arc_mass.cuh): a float's is that
 * by way of a double; and sums of rows (row_sums.cuh), here of a sampler with two bias hooks, whose biases are doubles.
 */
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "tests/emulated_gpu.h"

static float odd(const csaw_site *, const csaw_arc *arc) { // spread over many exponents; of every 7th arc 0, or -0
    if (arc->rank % 7 == 3) return arc->rank % 2 ? -0.0f : 0.0f;
    return std::ldexp(1.0f + static_cast<float>(arc->rank % 5), static_cast<int>(arc->rank * 37 % 50) - 25);
}
CSAW_SAMPLER(two_hooks, csaw_no_params, .static_bias = csaw_weight, .edge_bias = odd);

static double BiasOf(const csaw_site *site, const csaw_arc *arc) {
    return static_cast<double>(arc->weight) * odd(site, arc);
}

#define SUITE EmulatedMass
#include "tests/emulated_row_sums.h"

namespace {

float FloatOf(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// Of a bias among n, of which `largest` is the largest.
void ExpectEqual(uint64_t n, float largest, float bias) {
    const int exponent = csaw__mass_exponent(n, largest);
    EXPECT_EQ(csaw__scale_of<true>(exponent).mass(__float_as_uint(bias)),
              csaw__mass(bias, csaw__power_of_two(exponent)))
        << bias << " of " << n << " up to " << largest;
}

TEST(EmulatedMass, OfAFloatIsThatOfADouble) {
    std::mt19937 random(5);
    for (uint64_t n : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1000}, uint64_t{1} << 32})
        for (int i = 0; i < 20000; i++) {
            const float a = FloatOf(random() % 0x7f800000u), b = FloatOf(random() % 0x7f800000u); // any exponent
            if (std::fmax(a, b) == 0) continue;
            ExpectEqual(n, std::fmax(a, b), std::fmin(a, b));
            ExpectEqual(n, std::fmax(a, b), std::fmax(a, b));
            if (a > 0) ExpectEqual(n, a, std::ldexp(a, -static_cast<int>(random() % 70))); // about where masses end
        }
    const float least = FloatOf(1), most = FloatOf(0x7f7fffff);
    for (float bias : {0.0f, least, FloatOf(0x007fffff), FloatOf(0x00800000), 1.0f, most}) ExpectEqual(7, most, bias);
    ExpectEqual(uint64_t{1} << 32, least, least);
    EXPECT_EQ(csaw__scale_of<true>(100).mass(0), 0u);
    EXPECT_EQ(csaw__scale_of<true>(-98).mass(1), 1u); // never 0
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* tests/mass_test.cc - masses of biases (runtime/base/mass.h): a float's from its bits is that by way of a double. */
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

extern "C" {
#include "runtime/base/mass.h"
}

namespace {

uint32_t BitsOf(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

float FloatOf(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// Of every bias at most `largest`, among n.
void ExpectEqual(uint64_t n, float largest, float bias) {
    const int exponent = csaw__mass_exponent(n, largest);
    EXPECT_EQ(csaw__float_mass(BitsOf(bias), exponent), csaw__mass(bias, csaw__power_of_two(exponent)))
        << bias << " of " << n << " up to " << largest;
}

TEST(Mass, OfAFloatFromItsBits) {
    std::mt19937 random(5);
    for (uint64_t n : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1000}, uint64_t{1} << 32})
        for (int i = 0; i < 20000; i++) {
            const float a = FloatOf(random() % 0x7f800000u), b = FloatOf(random() % 0x7f800000u); // any exponent
            ExpectEqual(n, std::fmax(a, b), a);
            ExpectEqual(n, std::fmax(a, b), b);
            const float near = std::ldexp(a, -static_cast<int>(random() % 70)); // about where masses end
            ExpectEqual(n, a, near);
        }
    const float least = FloatOf(1), most = FloatOf(0x7f7fffff);
    for (float bias : {0.0f, least, FloatOf(0x007fffff), FloatOf(0x00800000), 1.0f, most}) ExpectEqual(7, most, bias);
    ExpectEqual(uint64_t{1} << 40, least, least);
    EXPECT_EQ(csaw__float_mass(0, 100), 0u);
    EXPECT_EQ(csaw__float_mass(1, -227), 1u); // never 0
}

} // namespace

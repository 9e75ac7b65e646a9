// SPDX-License-Identifier: MIT
// tests/float_text_test.cc - floats as text are printf's %.9g, byte for byte: over all exponents, about every power of
// ten, where the last digit is rounded up to one more, and where two decimals are as near.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>

#include "runtime/base/float_text.h"

namespace {

std::string put(float x) {
    char text[32];
    std::memset(text, '#', sizeof text);
    return std::string(text, csaw__put_float(text, x));
}

std::string printed(float x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(x));
    return text;
}

float of_bits(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

void expect_printed(float x) { ASSERT_EQ(put(x), printed(x)) << std::hexfloat << x; }

} // namespace

TEST(FloatText, IsPrintfsOverAllExponentsAndSigns) {
    for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 9973)
        expect_printed(of_bits(static_cast<uint32_t>(bits)));
}

TEST(FloatText, IsPrintfsAboutPowersOfTen) {
    for (int power = -12; power <= 12; power++) {
        float below = static_cast<float>(std::pow(10.0, power)), above = below;
        for (int i = 0; i < 50; i++) {
            expect_printed(below);
            expect_printed(-above);
            below = std::nextafter(below, 0.0f);
            above = std::nextafter(above, std::numeric_limits<float>::infinity());
        }
    }
}

// m / 2^s has s decimals, the last of them 5: where nine digits end just before it, both neighbours are as near.
TEST(FloatText, OfTwoDecimalsAsNearTheEvenOneIsTaken) {
    int ties = 0;
    for (int s = 1; s <= 37; s++)
        for (uint32_t m = (1u << 23) + 1; m < (1u << 24); m += 4095) {
            const float x = std::ldexp(static_cast<float>(m), -s);
            char exact[80];
            std::snprintf(exact, sizeof exact, "%.60f", static_cast<double>(x));
            const char *first = exact + std::strspn(exact, "0.");
            std::string digits;
            for (const char *c = first; *c; c++)
                if (*c != '.') digits += *c;
            ties += digits.size() > 9 && digits[9] == '5' && digits.find_first_not_of('0', 10) == std::string::npos;
            expect_printed(x);
        }
    EXPECT_GT(ties, 100);
}

TEST(FloatText, WhatHasNoDigitsIsPrintfs) {
    for (const float x : {0.0f, -0.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()})
        expect_printed(x);
}

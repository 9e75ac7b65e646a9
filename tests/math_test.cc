/* SPDX-License-Identifier: MIT */
/* tests/math_test.cc - csaw/math.h: errors against long double libm, special cases of C11 Annex F, equal bits from
 * several compilers.
 *
 * Thresholds, from the analysis of the method and set before measuring: exp, log and pow err by less than 1 unit in the
 * last place (half of one is the rounding of the result, and a subnormal result is rounded twice). log1p errs by less
 * than 2: next to 1 its correction halves the logarithm that it is added to, and so doubles that one's error in units.
 */
#include "math_bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLimit = 1; // units in the last place

class Numbers { // seeded, from Philox
  public:
    explicit Numbers(uint64_t seed) : seed_(seed) {}
    uint64_t bits() {
        csaw_block block = csaw_draw(seed_, count_++, 0, 0, 0, 0);
        return csaw_half(&block, 0);
    }
    double unit() { return csaw_unit(bits()); }
    double mantissa() { return 1 + unit(); } // [1, 2)
    double sign() { return bits() & 1 ? 1 : -1; }

  private:
    uint64_t seed_, count_ = 0;
};

/* Distance of result from exact, in units in the last place of exact. */
double Error(double result, long double exact) {
    if (exact == 0) return result == 0 ? 0 : kInfinity;
    int exponent = std::max(std::ilogb(exact), -1022);
    if (exponent > 1023) return std::isinf(result) && (result > 0) == (exact > 0) ? 0 : kInfinity;
    long double unit = std::ldexp(1.0L, exponent - 52);
    return static_cast<double>(std::fabs(result - exact) / unit);
}

struct Worst {
    double error = 0, x = 0, y = 0;
    void add(double e, double at_x, double at_y = 0) {
        if (!(e <= error)) error = e, x = at_x, y = at_y; // also where e is not a number
    }
};

#define EXPECT_ACCURATE(WORST) EXPECT_LT((WORST).error, kLimit) << "x = " << (WORST).x << ", y = " << (WORST).y

TEST(Math, ExpInEveryBinade) {
    Numbers numbers(1);
    Worst worst;
    for (int exponent = -1074; exponent <= 9; exponent++)
        for (int i = 0; i < (exponent < -60 ? 20 : 20000); i++) {
            double x = numbers.sign() * std::ldexp(numbers.mantissa(), exponent);
            worst.add(Error(csaw_exp(x), expl(x)), x);
        }
    EXPECT_ACCURATE(worst);
}

TEST(Math, ExpBelowTheSmallestNormal) {
    Numbers numbers(2);
    Worst worst;
    for (int i = 0; i < 200000; i++) {
        double x = -708 - 38 * numbers.unit();
        worst.add(Error(csaw_exp(x), expl(x)), x);
    }
    EXPECT_ACCURATE(worst);
}

TEST(Math, LogInEveryBinade) {
    Numbers numbers(3);
    Worst worst;
    for (int exponent = -1074; exponent <= 1023; exponent++)
        for (int i = 0; i < 500; i++) {
            double x = std::ldexp(numbers.mantissa(), exponent);
            worst.add(Error(csaw_log(x), logl(x)), x);
        }
    EXPECT_ACCURATE(worst);
}

TEST(Math, LogNearOne) {
    Numbers numbers(4);
    Worst worst;
    for (int exponent = -53; exponent <= -1; exponent++)
        for (int i = 0; i < 10000; i++) {
            double x = 1 + numbers.sign() * std::ldexp(numbers.mantissa(), exponent - 1);
            worst.add(Error(csaw_log(x), logl(x)), x);
        }
    EXPECT_ACCURATE(worst);
}

TEST(Math, Log1pInEveryBinade) {
    Numbers numbers(9);
    Worst worst;
    for (int exponent = -1074; exponent <= 1023; exponent++)
        for (int i = 0; i < (exponent < -70 || exponent > 10 ? 100 : 20000); i++)
            for (double sign : {1.0, -1.0}) {
                double x = sign * std::ldexp(numbers.mantissa(), exponent);
                if (x > -1) worst.add(Error(csaw_log1p(x), log1pl(x)), x);
            }
    for (int i = 0; i < 200000; i++) { // RACE's: -u of 64 bits
        double x = -std::ldexp(static_cast<double>(numbers.bits() >> numbers.bits() % 64), -64);
        if (x > -1) worst.add(Error(csaw_log1p(x), log1pl(x)), x);
    }
    EXPECT_LT(worst.error, 2) << "x = " << worst.x;
}

/* Exponents for which x^y is spread over all doubles and a little beyond, subnormal ones included. */
double ExponentFor(Numbers *numbers, double x) { return (2 * numbers->unit() - 1) * 750 / std::log(x); }

TEST(Math, PowInEveryBinade) {
    Numbers numbers(5);
    Worst worst;
    for (int exponent = -1074; exponent <= 1023; exponent++)
        for (int i = 0; i < 400; i++) {
            double x = std::ldexp(numbers.mantissa(), exponent);
            if (x == 1) continue;
            double y = ExponentFor(&numbers, x);
            worst.add(Error(csaw_pow(x, y), powl(x, y)), x, y);
        }
    EXPECT_ACCURATE(worst);
}

TEST(Math, PowOfBasesNearOne) {
    Numbers numbers(6);
    Worst worst;
    for (int exponent = -53; exponent <= -1; exponent++)
        for (int i = 0; i < 4000; i++) {
            double x = 1 + numbers.sign() * std::ldexp(numbers.mantissa(), exponent - 1);
            if (x == 1) continue;
            double y = ExponentFor(&numbers, x);
            worst.add(Error(csaw_pow(x, y), powl(x, y)), x, y);
        }
    EXPECT_ACCURATE(worst);
}

TEST(Math, PowOfExponentsInEveryBinade) {
    Numbers numbers(7);
    Worst worst;
    for (int exponent = -1074; exponent <= 1023; exponent++)
        for (int i = 0; i < 100; i++) {
            double x = std::ldexp(numbers.mantissa(), static_cast<int>(numbers.bits() % 9) - 4);
            double y = numbers.sign() * std::ldexp(numbers.mantissa(), exponent);
            worst.add(Error(csaw_pow(x, y), powl(x, y)), x, y);
        }
    EXPECT_ACCURATE(worst);
}

TEST(Math, PowOfSmallIntegersIsExact) {
    for (int x = -9; x <= 9; x++) {
        double exact = 1; // below 2^53
        for (int y = 0; y <= 9; y++, exact *= x) EXPECT_EQ(csaw_pow(x, y), exact) << x << "^" << y;
    }
    for (int k = -1074; k <= 1023; k++) EXPECT_EQ(csaw_pow(2, k), std::ldexp(1.0, k));
}

/* In integers: x = m 2^e with e even and m of [2^52, 2^54); the root is n 2^(e/2 - 26), n of [2^52, 2^53], and rounded
 * correctly if (n - 1/2)^2 < m 2^52 < (n + 1/2)^2. */
TEST(Math, SqrtIsCorrectlyRounded) {
    __extension__ typedef unsigned __int128 uint128;
    Numbers numbers(8);
    for (int i = 0; i < 100000; i++) {
        double x = csaw__from_bits(numbers.bits() >> 1);
        if (!(x < kInfinity) || x == 0) continue;
        int e;
        auto m = static_cast<uint64_t>(std::ldexp(std::frexp(x, &e), 53));
        e -= 53;
        if (e & 1) m *= 2, e--;
        auto n = static_cast<uint64_t>(std::ldexp(csaw_sqrt(x), 26 - e / 2));
        uint128 square = static_cast<uint128>(m) << 54, low = 2 * n - 1, high = 2 * n + 1;
        ASSERT_TRUE(low * low < square && square < high * high) << x;
    }
}

/* ---- special cases ---- */

struct Case {
    double x, y, result;
};

/* Same bits, any NaN being the one of csaw__nan(). */
void ExpectBits(double result, double expected, const char *call, double x, double y) {
    uint64_t bits = std::isnan(expected) ? uint64_t{0x7ff8000000000000} : csaw__bits(expected);
    EXPECT_EQ(csaw__bits(result), bits) << call << " of " << x << ", " << y << " is " << result << ", not " << expected;
}

TEST(Math, SpecialCasesOfExp) {
    const Case cases[] = {{0, 0, 1},
                          {-0.0, 0, 1},
                          {kInfinity, 0, kInfinity},
                          {-kInfinity, 0, 0},
                          {kNan, 0, kNan},
                          {-kNan, 0, kNan},
                          {1e300, 0, kInfinity},
                          {-1e300, 0, 0},
                          {709.79, 0, kInfinity},
                          {-745.14, 0, 0},
                          {-745.13, 0, 0x1p-1074},
                          {0x1p-60, 0, 1}};
    for (const Case &c : cases) ExpectBits(csaw_exp(c.x), c.result, "exp", c.x, 0);
    EXPECT_LT(csaw_exp(709.78), kInfinity);
}

TEST(Math, SpecialCasesOfLogLog1pAndSqrt) {
    const Case logs[] = {{0, 0, -kInfinity}, {-0.0, 0, -kInfinity}, {1, 0, 0},       {kInfinity, 0, kInfinity},
                         {-1, 0, kNan},      {-kInfinity, 0, kNan}, {kNan, 0, kNan}, {-kNan, 0, kNan}};
    for (const Case &c : logs) ExpectBits(csaw_log(c.x), c.result, "log", c.x, 0);
    const Case shifted[] = {{-1, 0, -kInfinity},       {-2, 0, kNan},    {-kInfinity, 0, kNan},
                            {kInfinity, 0, kInfinity}, {0, 0, 0},        {-0.0, 0, -0.0},
                            {kNan, 0, kNan},           {-kNan, 0, kNan}, {0x1p-60, 0, 0x1p-60},
                            {-0x1p-64, 0, -0x1p-64}};
    for (const Case &c : shifted) ExpectBits(csaw_log1p(c.x), c.result, "log1p", c.x, 0);
    const Case roots[] = {{0, 0, 0},     {-0.0, 0, -0.0},       {4, 0, 2},       {kInfinity, 0, kInfinity},
                          {-1, 0, kNan}, {-kInfinity, 0, kNan}, {kNan, 0, kNan}, {-0x1p-1074, 0, kNan}};
    for (const Case &c : roots) ExpectBits(csaw_sqrt(c.x), c.result, "sqrt", c.x, 0);
}

/* C11 F.10.4.4, sentence by sentence. */
TEST(Math, SpecialCasesOfPow) {
    const double tiny = 0x1p-1074, huge = DBL_MAX, odd = 0x1.fffffffffffffp52; // 2^53 - 1
    const Case cases[] = {// pow(+-0, y), y an odd integer < 0; y < 0 and not so; y > 0
                          {0, -1, kInfinity},
                          {-0.0, -1, -kInfinity},
                          {-0.0, -odd, -kInfinity},
                          {0, -2, kInfinity},
                          {-0.0, -2, kInfinity},
                          {-0.0, -0.5, kInfinity},
                          {0, -kInfinity, kInfinity},
                          {-0.0, -kInfinity, kInfinity},
                          {0, 3, 0},
                          {-0.0, 3, -0.0},
                          {-0.0, odd, -0.0},
                          {0, 2, 0},
                          {-0.0, 2, 0},
                          {-0.0, 0.5, 0},
                          {-0.0, kInfinity, 0},
                          {-0.0, 0x1p53, 0},
                          // pow(-1, +-inf); pow(+1, y); pow(x, +-0)
                          {-1, kInfinity, 1},
                          {-1, -kInfinity, 1},
                          {1, kNan, 1},
                          {1, kInfinity, 1},
                          {1, -huge, 1},
                          {kNan, 0, 1},
                          {kNan, -0.0, 1},
                          {-kInfinity, 0, 1},
                          {0, 0, 1},
                          {-0.0, -0.0, 1},
                          // x < 0 finite, y finite and not an integer
                          {-2, 0.5, kNan},
                          {-1, -1.5, kNan},
                          {-tiny, tiny, kNan},
                          {-huge, 0x1.8p51 + 0.5, kNan},
                          // y infinite
                          {0.5, -kInfinity, kInfinity},
                          {-0.5, -kInfinity, kInfinity},
                          {2, -kInfinity, 0},
                          {-2, -kInfinity, 0},
                          {0.5, kInfinity, 0},
                          {-0.5, kInfinity, 0},
                          {2, kInfinity, kInfinity},
                          {-2, kInfinity, kInfinity},
                          {kInfinity, kInfinity, kInfinity},
                          {-kInfinity, -kInfinity, 0},
                          // x infinite
                          {-kInfinity, -3, -0.0},
                          {-kInfinity, -2, 0},
                          {-kInfinity, -0.5, 0},
                          {-kInfinity, 3, -kInfinity},
                          {-kInfinity, 2, kInfinity},
                          {-kInfinity, 0.5, kInfinity},
                          {kInfinity, -3, 0},
                          {kInfinity, 0.5, kInfinity},
                          // not a number
                          {kNan, 1, kNan},
                          {2, kNan, kNan},
                          {-kNan, kNan, kNan},
                          {0, kNan, kNan},
                          {kInfinity, kNan, kNan},
                          // negative bases, integer exponents; over- and underflow with the right sign
                          {-2, 3, -8},
                          {-2, 2, 4},
                          {-2, -1, -0.5},
                          {-1, odd, -1},
                          {-1, 0x1p53, 1},
                          {-1, -odd, -1},
                          {-1, huge, 1},
                          {-2, 1025, -kInfinity},
                          {-2, 1026, kInfinity},
                          {-2, -1077, -0.0},
                          {-2, -1078, 0},
                          {-2, -1073, -2 * tiny},
                          {huge, huge, kInfinity},
                          {huge, -huge, 0},
                          {tiny, huge, 0},
                          {tiny, -huge, kInfinity},
                          {-huge, odd, -kInfinity},
                          {huge, tiny, 1},
                          {tiny, tiny, 1},
                          {tiny, 1, tiny},
                          {-tiny, 1, -tiny},
                          {huge, 1, huge},
                          {huge, -1, 1 / huge}};
    for (const Case &c : cases) {
        ExpectBits(csaw_pow(c.x, c.y), c.result, "pow", c.x, c.y);
        ASSERT_TRUE(std::isnan(c.result) || std::pow(c.x, c.y) == c.result)
            << "the table is wrong at " << c.x << ", " << c.y;
    }
}

/* ---- the same bits from every compiler ---- */

TEST(Math, EveryCompilerGivesTheSameBits) {
    const uint64_t count = 1 << 18;
    std::vector<math_bits> a(count), b(count);
    math_bits_unoptimised(0, count, a.data());
    auto expect_equal = [&](const char *which) {
        for (uint64_t i = 0; i < count; i++) {
            ASSERT_EQ(a[i].exp, b[i].exp) << which << ", argument " << i;
            ASSERT_EQ(a[i].log, b[i].log) << which << ", argument " << i;
            ASSERT_EQ(a[i].log1p, b[i].log1p) << which << ", argument " << i;
            ASSERT_EQ(a[i].pow, b[i].pow) << which << ", argument " << i;
            ASSERT_EQ(a[i].sqrt, b[i].sqrt) << which << ", argument " << i;
        }
    };
    math_bits_optimised(0, count, b.data());
    expect_equal("optimised");
    for (uint64_t i = 0; i < count; i++) b[i] = math_bits_at(i);
    expect_equal("C++");
#ifdef MATH_BITS_OTHER_COMPILER
    math_bits_other_compiler(0, count, b.data());
    expect_equal(MATH_BITS_OTHER_COMPILER);
#endif
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* tests/shuffle_test.cc - UNIFORM's parts (samplers/select/shuffle.h): numbers below n are uniform also where n is not
 * small beside 2^32, and places swapped without an array are those swapped in one. */
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

extern "C" {
#include "samplers/select/shuffle.h"
}

namespace {

const csaw__choice kChoice = {42, 7, 3, 5, 0, 0, nullptr, nullptr, nullptr, 0};

uint32_t WordOf(uint32_t slot) { return csaw__choice_block(&kChoice, slot & ~3u, 0).x[slot & 3]; }

// In three classes: value mod 3. By a single product of 32 bits, at n = 3 * 2^30, some values have two words and the
// others one, in steps of three: classes of 1/2, 1/4, 1/4.
double ChiSquareOfClasses(bool exact, uint64_t n, uint32_t draws, uint32_t *second) {
    uint64_t count[3] = {0, 0, 0};
    for (uint32_t slot = 0; slot < draws; slot++) {
        const uint64_t product = WordOf(slot) * n >> 32;
        const uint64_t value = exact ? csaw__short(&kChoice, slot, WordOf(slot), n) : product;
        EXPECT_LT(value, n);
        *second += value != product;
        count[value % 3]++;
    }
    double chi = 0;
    for (uint64_t c : count) chi += std::pow(static_cast<double>(c) - draws / 3.0, 2) / (draws / 3.0);
    return chi;
}

TEST(Short, NumbersAreUniformWhereManyWordsAreRefused) {
    const uint32_t draws = 30000;
    const uint64_t n = uint64_t{3} << 30;
    uint32_t second = 0;
    EXPECT_LT(ChiSquareOfClasses(true, n, draws, &second), 18.4);      // 2 degrees of freedom: p = 1e-4
    EXPECT_NEAR(second, draws / 4.0, 6 * std::sqrt(draws * 3 / 16.0)); // 2^32 mod n is a quarter of the words
    EXPECT_GT(ChiSquareOfClasses(false, n, draws, &second), 1000);
}

TEST(Short, NoWordIsRefusedThatNeedNotBe) {
    for (uint64_t n : {uint64_t{1}, uint64_t{2}, uint64_t{1} << 20, uint64_t{1} << 31})
        for (uint32_t slot = 0; slot < 2000; slot++)
            EXPECT_EQ(csaw__short(&kChoice, slot, WordOf(slot), n), WordOf(slot) * n >> 32);
    // of three: the least word alone
    EXPECT_EQ(csaw__short(&kChoice, 0, 1, 3), 0u);
    EXPECT_EQ(csaw__short(&kChoice, 0, 0xffffffff, 3), 2u);
    const csaw_block block = csaw__choice_block(&kChoice, 0, 1);
    EXPECT_EQ(csaw__short(&kChoice, 0, 0, 3), csaw_below(csaw_half(&block, 0), 3));
}

TEST(Short, MoreThan32BitsAreDrawnAtOnce) {
    const uint64_t n = (uint64_t{1} << 32) + 5;
    for (uint32_t slot = 0; slot < 100; slot++) {
        const csaw_block block = csaw__choice_block(&kChoice, slot, 1);
        EXPECT_EQ(csaw__short(&kChoice, slot, WordOf(slot), n), csaw_below(csaw_half(&block, 0), n));
    }
}

std::vector<uint64_t> InAnArray(uint64_t n, const std::vector<uint64_t> &place) {
    std::vector<uint64_t> list(n);
    std::iota(list.begin(), list.end(), 0);
    for (size_t s = 0; s < place.size(); s++) std::swap(list[s], list[place[s]]);
    list.resize(place.size());
    return list;
}

// Every choice of places of 5 slots among 6.
TEST(Shuffle, OfFewSlotsIsThatOfAnArray) {
    const uint32_t n = 6, k = 5;
    std::vector<uint64_t> place(k);
    uint32_t seen = 0;
    for (place[0] = 0; place[0] < n; place[0]++)
        for (place[1] = 1; place[1] < n; place[1]++)
            for (place[2] = 2; place[2] < n; place[2]++)
                for (place[3] = 3; place[3] < n; place[3]++)
                    for (place[4] = 4; place[4] < n; place[4]++) {
                        uint32_t in[k], left[k], pick[k];
                        std::copy(place.begin(), place.end(), in);
                        csaw__shuffle_few(k, in, left, pick);
                        EXPECT_EQ(std::vector<uint64_t>(pick, pick + k), InAnArray(n, place));
                        seen++;
                    }
    EXPECT_EQ(seen, 720u);
}

TEST(Shuffle, IsThatOfAnArray) {
    for (uint32_t k : {1u, 2u, 31u, 33u, 100u, 1000u})
        for (uint64_t n : {uint64_t{k} + 1, uint64_t{k} * 2, uint64_t{100000}}) {
            csaw__choice choice = kChoice;
            choice.n = n;
            std::vector<uint64_t> taken(4 * k + 8, ~uint64_t{0}), pick(k), place(k);
            std::vector<uint32_t> open(k);
            csaw__scratch scratch = {};
            scratch.taken = taken.data();
            scratch.pick = pick.data();
            scratch.open = open.data();
            csaw__shuffle_places(&choice, k, place.data());
            ASSERT_EQ(csaw__pick_uniform(&choice, &scratch, k, false), k);
            EXPECT_EQ(pick, InAnArray(n, place)) << k << " of " << n;
        }
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* tests/philox_test.cc - the stream's generator against Random123's known answers, and the two copies of the counter
 * layout against each other. */
#include "tests/reference/philox.h"

#include <csaw/philox.h>

#include <gtest/gtest.h>

#include <vector>

#include "runtime/base/numbers.h"

namespace {

struct KnownAnswer {
    reference::Block counter;
    std::array<uint32_t, 2> key;
    reference::Block out;
};

// Random123, examples/kat_vectors, philox4x32 10
const KnownAnswer known_answers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

TEST(Philox, GivesTheKnownAnswers) {
    for (const KnownAnswer &known : known_answers) {
        const reference::Block &c = known.counter;
        EXPECT_EQ(reference::philox(c, known.key), known.out);
        const csaw_block block = csaw_philox(c[0], c[1], c[2], c[3], known.key[0], known.key[1]);
        for (size_t i = 0; i < 4; i++) EXPECT_EQ(block.x[i], known.out[i]);
    }
}

// Counts up to 70 meet every width of vector and every rest. What stands behind the last is left alone.
TEST(Philox, ManyAtOnceAreTheSameBlocks) {
    constexpr uint32_t most = 70;
    const uint64_t seed = 0x0123456789abcdef, untouched = 0x5555555555555555;
    std::vector<uint32_t> word[4];
    for (uint32_t i = 0; i < most; i++)
        for (uint32_t w = 0; w < 4; w++) word[w].push_back((w + 1) * 0x9e3779b9u * (i + 1) ^ (i % 5 ? 0 : 0xffffffff));
    const uint32_t *const words[4] = {word[0].data(), word[1].data(), word[2].data(), word[3].data()};
    for (uint32_t count = 0; count <= most; count++) {
        std::vector<uint64_t> even(most + 1, untouched), odd(most + 1, untouched);
        csaw__numbers(seed, words, count, even.data(), odd.data());
        for (uint32_t i = 0; i < count; i++) {
            const csaw_block block = csaw_philox(word[0][i], word[1][i], word[2][i], word[3][i],
                                                 static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
            ASSERT_EQ(even[i], csaw_half(&block, 0)) << i << " of " << count;
            ASSERT_EQ(odd[i], csaw_half(&block, 1)) << i << " of " << count;
        }
        ASSERT_TRUE(even[count] == untouched && odd[count] == untouched) << count;
    }
}

void expect_same_draws(uint64_t seed, uint64_t instance, uint32_t depth, uint32_t vertex) {
    for (uint32_t purpose = 0; purpose < 16; purpose++) {
        const uint32_t number = (1u << 28) - 1 - purpose;
        const csaw_block block = csaw_draw(seed, instance, depth, vertex, purpose, number);
        const reference::Block again = reference::draw(seed, instance, depth, vertex, purpose, number);
        for (size_t i = 0; i < 4; i++) ASSERT_EQ(block.x[i], again[i]);
        for (unsigned i = 0; i < 2; i++) ASSERT_EQ(csaw_half(&block, i), reference::half(again, i));
    }
}

TEST(Philox, CountersAreThoseOfTheStream) {
    const uint64_t seeds[] = {0, 7, 0x0123456789abcdef};
    const uint64_t instances[] = {0, 0xffffffff, 0x100000000, CSAW_MAX_INSTANCES - 1};
    const uint32_t depths[] = {0, 79, CSAW_MAX_DEPTH - 1}, vertices[] = {0, 0xfffffffe};
    for (uint64_t seed : seeds)
        for (uint64_t instance : instances)
            for (uint32_t depth : depths)
                for (uint32_t vertex : vertices) expect_same_draws(seed, instance, depth, vertex);
    const reference::Block spelled_out =
        reference::philox({0x89abcdef, 0x42123456, 99, 0x50000007}, {0x11111111, 0x22222222});
    EXPECT_EQ(reference::draw(0x2222222211111111, 0x4289abcdef, 0x123456, 99, 5, 7), spelled_out);
    EXPECT_EQ(reference::half({1, 2, 3, 4}, 0), 0x0000000200000001u);
    EXPECT_EQ(reference::half({1, 2, 3, 4}, 1), 0x0000000400000003u);
}

TEST(Philox, NumbersFillTheirRange) {
    EXPECT_EQ(csaw_below(UINT64_MAX, 10), 9u);
    EXPECT_EQ(csaw_below(0, 10), 0u);
    EXPECT_EQ(csaw_below(uint64_t{1} << 63, 10), 5u);
    EXPECT_EQ(csaw_unit(0), 0.0);
    EXPECT_EQ(csaw_unit(uint64_t{1} << 63), 0.5);
    EXPECT_LT(csaw_unit(UINT64_MAX), 1.0);
    const uint64_t numbers[] = {1, 0x8000000000000000, 0x9e3779b97f4a7c15, UINT64_MAX};
    for (uint64_t number : numbers) {
        for (uint64_t n : {uint64_t{1}, uint64_t{3}, uint64_t{1} << 62, UINT64_MAX})
            EXPECT_EQ(csaw_below(number, n), reference::below(number, n));
        EXPECT_EQ(csaw_unit(number), reference::unit(number));
    }
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* tests/alias_split_test.cc - every entry of an alias table by itself, as a GPU builds them (alias_split.h), against
 * the sweep of alias_table.c, which tests/equality_tables_test.cc holds to the reference. */
#include "samplers/select/alias_split.h"
#include "tests/bias_rows.h"

extern "C" {
#include "runtime/base/mass.h"
#include "samplers/select/alias_table.h"
}

#include <gtest/gtest.h>

#include <algorithm>

namespace {

struct Entry {
    uint32_t threshold, other;
    bool operator==(const Entry &o) const { return threshold == o.threshold && other == o.other; }
};

std::vector<Entry> swept(const std::vector<float> &bias) {
    const auto n = static_cast<uint32_t>(bias.size());
    std::vector<csaw_vertex> col(n);
    std::vector<csaw__alias> table(n);
    csaw__row_bias row;
    csaw__alias_row(bias.data(), col.data(), n, table.data(), &row);
    std::vector<Entry> out;
    for (const csaw__alias &entry : table) out.push_back({entry.threshold, entry.other_rank});
    return out;
}

struct Sums {
    std::vector<uint64_t> upto;
    std::vector<csaw__heavies> heavy;
    csaw__split row() const { return {upto.data(), heavy.data(), static_cast<uint32_t>(upto.size()), upto.back()}; }
};

Sums sums_of(const std::vector<uint64_t> &mass) {
    Sums sums;
    uint64_t sum = 0;
    for (uint64_t m : mass) sums.upto.push_back(sum += m);
    csaw__heavies heavy = {0, 0};
    for (uint64_t m : mass) {
        if (m * mass.size() > sum) heavy = {heavy.mass + m, heavy.count + 1};
        sums.heavy.push_back(heavy);
    }
    return sums;
}

Sums sums_of(const std::vector<float> &bias) {
    const float largest = *std::max_element(bias.begin(), bias.end());
    const double scale = csaw__power_of_two(csaw__mass_exponent(bias.size(), largest));
    std::vector<uint64_t> mass;
    for (float b : bias) mass.push_back(csaw__mass(b, scale));
    return sums_of(mass);
}

std::vector<Entry> split(const std::vector<float> &bias) {
    const Sums sums = sums_of(bias);
    const csaw__split row = sums.row();
    std::vector<Entry> out(bias.size());
    for (uint32_t i = 0; i < row.n; i++) csaw__split_entry(&row, i, &out[i].threshold, &out[i].other);
    return out;
}

void expect_same(const std::vector<float> &bias, const char *what) {
    const std::vector<Entry> expected = swept(bias), found = split(bias);
    for (size_t i = 0; i < bias.size(); i++) {
        ASSERT_EQ(expected[i].threshold, found[i].threshold) << what << ", entry " << i << " of " << bias.size();
        ASSERT_EQ(expected[i].other, found[i].other) << what << ", entry " << i << " of " << bias.size();
    }
}

TEST(AliasSplit, IsTheSweepEntryByEntry) {
    std::mt19937_64 random(12);
    for (size_t n : {1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 257, 1000})
        for (int again = 0; again < (n < 20 ? 400 : 10); again++)
            for (const auto &[what, bias] : bias_rows::of(n, random)) expect_same(bias, what);
    for (size_t n : {65536, 65537, 1000000})
        for (const auto &[what, bias] : bias_rows::of(n, random)) expect_same(bias, what);
}

// All rows of up to six biases 0 .. 3: every tie between sums of excesses and of deficits.
TEST(AliasSplit, IsTheSweepOnAllSmallRows) {
    for (size_t n = 1; n <= 6; n++)
        for (uint32_t code = 1; code < 1u << 2 * n; code++) {
            std::vector<float> bias;
            for (size_t i = 0; i < n; i++) bias.push_back(static_cast<float>(code >> 2 * i & 3));
            expect_same(bias, "small");
        }
}

// The comparison is strict: a light entry whose deficits before it are just the excess of a heavy one takes the next.
TEST(AliasSplit, SumsThatMeet) {
    const Sums sums = sums_of(std::vector<uint64_t>{2, 0, 2, 0}); // M = 4, n = 4: excess 4, deficit 4, and again
    const csaw__split row = sums.row();
    const uint32_t expected[4][2] = {{0xffffffffu, 2}, {0, 0}, {0xffffffffu, 2}, {0, 2}};
    for (uint32_t i = 0; i < 4; i++) {
        Entry entry;
        csaw__split_entry(&row, i, &entry.threshold, &entry.other);
        EXPECT_EQ(expected[i][0], entry.threshold) << i;
        EXPECT_EQ(expected[i][1], entry.other) << i;
    }
}

// A sum of excesses above 64 bits: half of 2^20 masses are as large as masses get, half are nothing.
TEST(AliasSplit, SumsAboveSixtyFourBits) {
    std::vector<float> bias(1 << 20, 0.0f);
    for (size_t i = 0; i < bias.size(); i += 2) bias[i] = 1.5f;
    const Sums sums = sums_of(bias);
    const csaw__split row = sums.row();
    EXPECT_LT(1u, static_cast<uint64_t>(csaw__excess_upto(&row, row.n - 1) >> 64));
    expect_same(bias, "halves");
}

} // namespace

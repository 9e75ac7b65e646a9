/* SPDX-License-Identifier: MIT */
/* tests/equality_tables_test.cc - alias tables entry by entry against those of tests/reference. A threshold that is
 * rounded the wrong way moves one draw in 2^32, which no comparison of walks would ever see. */
#include "tests/reference/table.h"

extern "C" {
#include "samplers/select/alias_table.h"
}

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace {

void expect_same_table(const std::vector<float> &bias) {
    const auto n = static_cast<uint32_t>(bias.size());
    std::vector<csaw_vertex> col;
    for (uint32_t i = 0; i < n; i++) col.push_back(3 * i + 1);
    std::vector<csaw__alias> table(n);
    csaw__row_bias row;
    csaw__alias_row(bias.data(), col.data(), n, table.data(), &row);
    const reference::Masses masses = reference::masses_of(std::vector<double>(bias.begin(), bias.end()));
    EXPECT_EQ(row.top, *std::max_element(bias.begin(), bias.end()));
    EXPECT_EQ(row.total, std::ldexp(static_cast<double>(masses.sum), -masses.exponent));
    if (masses.sum == 0) {
        for (const csaw__alias &entry : table) EXPECT_TRUE(entry.own == CSAW_NONE && entry.other == CSAW_NONE);
        return;
    }
    const reference::AliasTable expected = reference::alias_table_of(masses);
    for (uint32_t i = 0; i < n; i++) {
        ASSERT_EQ(table[i].threshold, expected.threshold[i]) << "entry " << i << " of " << n;
        ASSERT_EQ(table[i].other_rank, expected.alias[i]) << "entry " << i << " of " << n;
        ASSERT_EQ(table[i].own, col[i]);
        ASSERT_EQ(table[i].other, col[expected.alias[i]]);
    }
}

TEST(AliasTable, IsTheReferencesEntryByEntry) {
    std::mt19937_64 random(6);
    const auto unit = [&] { return std::ldexp(static_cast<double>(random() >> 11), -53); };
    for (size_t n : {1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 100, 1000, 65537}) {
        std::vector<float> equal(n, 3.25f), spread(n), wide(n), few(n), steps(n), one(n, 0.0f);
        for (size_t i = 0; i < n; i++) {
            spread[i] = static_cast<float>(1 + 4 * unit());
            wide[i] = static_cast<float>(std::pow(10, 83 * unit() - 44.8));
            few[i] = random() % 4 ? 0.0f : spread[i];
            steps[i] = static_cast<float>(random() % 3); // many entries of exactly the mean
        }
        one[n / 2] = 1e-45f;
        for (const auto &bias : {equal, spread, wide, few, steps, one}) expect_same_table(bias);
        std::sort(wide.begin(), wide.end());
        expect_same_table(wide);
        std::reverse(wide.begin(), wide.end());
        expect_same_table(wide);
    }
    expect_same_table(std::vector<float>(9, 0.0f));
}

// What the table draws is what the masses say, to within the rounding of n thresholds.
TEST(AliasTable, DrawsItsMasses) {
    const std::vector<double> bias = {3, 6, 2, 2, 2, 0, 1e-3, 40};
    const reference::Masses masses = reference::masses_of(bias);
    const reference::AliasTable table = reference::alias_table_of(masses);
    std::vector<double> drawn(bias.size(), 0);
    for (size_t i = 0; i < bias.size(); i++) {
        const double own = std::ldexp(table.threshold[i], -32);
        drawn[i] += own / 8;
        drawn[table.alias[i]] += (1 - own) / 8;
    }
    for (size_t i = 0; i < bias.size(); i++) EXPECT_NEAR(drawn[i], bias[i] / 55.001, 8 * std::ldexp(1, -32));
}

} // namespace

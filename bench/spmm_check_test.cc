/* SPDX-License-Identifier: MIT */
/* bench/spmm_check_test.cc - what judges aggregation before it is timed: nothing is wrong with csaw's results, and one
 * number that is a little off is found. */
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

extern "C" {
#include "bench/spmm_check.h"
}

namespace {

// 40 rows of 0 to 9 edges and one of 300, 12 columns of features.
class SpmmCheck : public testing::Test {
  protected:
    SpmmCheck() {
        std::mt19937 random(1);
        std::uniform_real_distribution<float> number(-2, 2);
        for (uint64_t r = 0; r < ROWS; r++) {
            const uint64_t length = r == 7 ? 300 : r % 10;
            for (uint64_t k = 0; k < length; k++) {
                col.push_back(static_cast<csaw_vertex>(random() % ROWS));
                weight.push_back(number(random));
                score.push_back(number(random));
            }
            rowptr.push_back(col.size());
        }
        for (float &v : x_data) v = number(random);
        a = {ROWS, ROWS, col.size(), rowptr.data(), col.data(), weight.data()};
        dweight.resize(col.size());
        options.size = sizeof options;
    }
    enum { ROWS = 40, COLS = 12, ALL = 1000 /* rows that are checked */ };
    std::vector<uint64_t> rowptr = {0};
    std::vector<csaw_vertex> col;
    std::vector<float> weight, score, dweight;
    std::vector<float> x_data = std::vector<float>(ROWS * COLS), y_data = std::vector<float>(ROWS * COLS);
    csaw_sparse a;
    csaw_dense x = {ROWS, COLS, 0, CSAW_F32, x_data.data()}, y = {ROWS, COLS, 0, CSAW_F32, y_data.data()};
    csaw_spmm_options options = {};
};

TEST_F(SpmmCheck, GradientsOfMeansAreThoseOfDividedWeights) {
    options.reduce = CSAW_MEAN;
    ASSERT_EQ(csaw_spmm(&a, &x, &options, &y), CSAW_OK);
    EXPECT_EQ(wrong_products(&a, &x, &y, true, ALL), 0u);
    EXPECT_GT(wrong_products(&a, &x, &y, false, ALL), 0u);
    ASSERT_EQ(csaw_spmm_backward(&a, &x, &x, &options, &y, nullptr), CSAW_OK);
    std::vector<float> divided = weight;
    for (uint64_t r = 0; r < ROWS; r++)
        for (uint64_t e = rowptr[r]; e < rowptr[r + 1]; e++)
            divided[e] /= static_cast<float>(rowptr[r + 1] - rowptr[r]);
    csaw_sparse means = a;
    means.weight = divided.data();
    EXPECT_EQ(wrong_transposed(&means, &x, &y, nullptr, ALL), 0u);
    EXPECT_GT(wrong_transposed(&a, &x, &y, nullptr, ALL), 0u);
    y_data[100] += 1e-3f;
    EXPECT_EQ(wrong_transposed(&means, &x, &y, nullptr, ALL), 1u);
}

// Where long rows are put together, faults can be of them alone: as many are looked at as of all rows.
TEST_F(SpmmCheck, LongRowsAreLookedAt) {
    std::vector<uint64_t> ends = {0};
    for (uint64_t r = 0; r < ROWS; r++) ends.push_back(ends.back() + (r == 17 || r == 31 ? 260 : r == 5 ? 270 : 1));
    std::vector<csaw_vertex> of(ends.back());
    for (size_t e = 0; e < of.size(); e++) of[e] = static_cast<csaw_vertex>(e * 7 % ROWS);
    const csaw_sparse long_rows = {ROWS, ROWS, of.size(), ends.data(), of.data(), nullptr};
    ASSERT_EQ(csaw_spmm(&long_rows, &x, &options, &y), CSAW_OK);
    EXPECT_EQ(wrong_products(&long_rows, &x, &y, false, 3), 0u);
    y_data[17 * COLS] += 1;
    y_data[31 * COLS + 1] += 1;
    EXPECT_EQ(wrong_products(&long_rows, &x, &y, false, 3), 2u);
}

TEST_F(SpmmCheck, GradientsOfAMaximumsWeights) {
    std::vector<csaw_edge> arg(ROWS * COLS);
    options.reduce = CSAW_MAX;
    options.arg = arg.data();
    ASSERT_EQ(csaw_spmm(&a, &x, &options, &y), CSAW_OK);
    EXPECT_EQ(wrong_largest(&a, &x, &y, arg.data(), ALL), 0u);
    ASSERT_EQ(csaw_spmm_backward(&a, &x, &x, &options, nullptr, dweight.data()), CSAW_OK);
    EXPECT_EQ(wrong_picked_dots(&a, &x, arg.data(), dweight.data(), ALL), 0u);
    EXPECT_GT(wrong_dots(&a, &x, dweight.data(), ALL), 0u); // those of sums
    dweight[arg[9 * COLS + 5]] += 1e-3f;
    EXPECT_EQ(wrong_picked_dots(&a, &x, arg.data(), dweight.data(), ALL), 1u);
}

TEST_F(SpmmCheck, GradientsOfSoftmax) {
    std::vector<float> out(col.size());
    ASSERT_EQ(csaw_edge_softmax(&a, score.data(), nullptr, out.data()), CSAW_OK);
    EXPECT_EQ(wrong_softmax(&a, score.data(), out.data(), ALL), 0u);
    ASSERT_EQ(csaw_edge_softmax_backward(&a, out.data(), weight.data(), nullptr, dweight.data()), CSAW_OK);
    EXPECT_EQ(wrong_softmax_gradient(&a, out.data(), weight.data(), dweight.data(), ALL), 0u);
    EXPECT_GT(wrong_softmax_gradient(&a, out.data(), score.data(), dweight.data(), ALL), 0u);
    dweight[rowptr[9]] += 1e-3f;
    EXPECT_EQ(wrong_softmax_gradient(&a, out.data(), weight.data(), dweight.data(), ALL), 1u);
}

} // namespace

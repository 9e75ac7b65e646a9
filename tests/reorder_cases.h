// SPDX-License-Identifier: MIT
// tests/reorder_cases.h - a matrix whose rows are of communities that were shuffled, and whether an order of its rows
// brings them together again.
#ifndef CSAW_TESTS_REORDER_CASES_H
#define CSAW_TESTS_REORDER_CASES_H

#include "tests/spmm_cases.h"

#include <algorithm>
#include <numeric>

namespace reorder_cases {

using namespace spmm_cases;

constexpr uint64_t kCommunities = 40, kOfEach = 25;

// Rows of 12 edges within their community and 3 anywhere, in an order that is shuffled, and so are columns; some more
// rows, empty and long ones, have columns of their own. heads: of the weights; 0 = none.
inline Sparse Planted(std::vector<uint32_t> *community, uint32_t heads = 0) {
    const uint64_t rows = kCommunities * kOfEach;
    std::mt19937_64 random(1);
    std::vector<uint32_t> row(rows), column(rows);
    std::iota(row.begin(), row.end(), 0);
    column = row;
    std::shuffle(row.begin(), row.end(), random);
    std::shuffle(column.begin(), column.end(), random);
    std::vector<uint64_t> lengths(rows, 15);
    lengths.insert(lengths.end(), {0, 257, 0, 700, 3000, 1, 512, 0});
    Sparse a = random_sparse("communities", lengths, rows, false);
    a.cols = rows + 50;
    community->resize(lengths.size());
    for (uint64_t r = rows; r < lengths.size(); r++) (*community)[r] = static_cast<uint32_t>(r);
    for (uint64_t e = a.rowptr[rows]; e < a.col.size(); e++) a.col[e] = static_cast<csaw_vertex>(rows + random() % 50);
    for (uint64_t r = 0; r < rows; r++) {
        (*community)[r] = row[r] / kOfEach;
        for (uint64_t k = 0; k < 12; k++) a.col[r * 15 + k] = column[(*community)[r] * kOfEach + random() % kOfEach];
    }
    if (heads) give_weights(&a, heads, 5);
    return a;
}

// Of rows that follow each other, how many are of one community: of a thousand rows 999 have one before them, 960 of
// their own community if each stands together; shuffled, 24.
constexpr double kTogether = 0.9, kShuffled = 0.1;
inline double TogetherIn(const std::vector<uint32_t> &order, const std::vector<uint32_t> &community) {
    uint64_t together = 0;
    for (size_t i = 1; i < order.size(); i++) together += community[order[i]] == community[order[i - 1]];
    return static_cast<double>(together) / static_cast<double>(order.size() - 1);
}

} // namespace reorder_cases

#endif

/* SPDX-License-Identifier: MIT */
/* tests/emulated_reorder_test.cc - rows brought near to those that name the same columns (spmm/device_reorder.cuh):
 * labels against their definition, communities found again that were planted and shuffled, and nothing lost of the
 * matrix. */
#include "tests/reorder_cases.h"

#include "tests/emulated_reorder.h"

#include <map>
#include <set>
#include <tuple>

namespace {

using namespace reorder_cases;
using emulated_reorder::Different;
using emulated_reorder::Labels;
using emulated_reorder::ReorderedRows;

// By definition: the most common label of the columns asked, the least of those.
uint32_t LabelOf(const csaw_sparse &a, uint64_t row, const std::vector<uint32_t> &of_columns) {
    std::map<uint32_t, int> count;
    const uint64_t begin = a.rowptr[row], length = a.rowptr[row + 1] - begin;
    for (uint64_t i = 0; i < 32 && i < length; i++)
        count[of_columns[a.col[begin + (length > 32 ? i * length / 32 : i)]]]++;
    uint32_t label = ~0u;
    int most = 0;
    for (const auto &[of, n] : count)
        if (n > most) label = of, most = n;
    return label;
}

TEST(EmulatedReorder, LabelsAreTheMostCommonOnes) {
    const Sparse a = random_sparse("lengths", {0, 1, 2, 31, 32, 33, 64, 1000, 0, 5, 300, 7}, 12, false);
    const csaw_sparse view = a.view();
    const emulated_reorder::Transpose t(view);
    csaw_sparse turned = {};
    turned.rows = view.cols, turned.cols = view.rows, turned.num_edges = view.num_edges;
    turned.rowptr = t.rowptr.data(), turned.col = t.row.data();
    std::vector<uint32_t> columns(a.cols);
    std::iota(columns.begin(), columns.end(), 0);
    for (int round = 1; round <= 3; round++) {
        std::vector<uint32_t> rows(a.rows);
        for (uint64_t r = 0; r < a.rows; r++) rows[r] = LabelOf(view, r, columns);
        EXPECT_EQ(Labels(view, round), rows) << round;
        EXPECT_EQ(rows[0], ~0u) << "an empty row";
        for (uint64_t c = 0; c < a.cols; c++) columns[c] = LabelOf(turned, c, rows);
    }
}

TEST(EmulatedReorder, NothingIsLost) {
    for (const Sparse &a : sparse_list()) {
        const csaw_sparse view = a.view();
        const ReorderedRows reordered(view);
        std::vector<float> place(view.num_edges * 3); // a weight says whose it is
        std::iota(place.begin(), place.end(), 0.0f);
        const std::vector<float> weight = reordered.Weights(place.data(), 3);
        std::set<uint32_t> rows;
        ASSERT_EQ(reordered.rowptr[a.rows], view.num_edges) << a.name;
        for (uint64_t i = 0; i < a.rows; i++) {
            const csaw__reordered_row &from = reordered.moved[i];
            const uint64_t begin = reordered.rowptr[i], length = reordered.rowptr[i + 1] - begin;
            rows.insert(from.row);
            ASSERT_EQ(from.edge, view.rowptr[from.row]) << a.name;
            ASSERT_EQ(length, view.rowptr[from.row + 1] - from.edge) << a.name;
            for (uint64_t k = 0; k < length; k++) {
                ASSERT_EQ(reordered.col[begin + k], view.col[from.edge + k]) << a.name << ", row " << from.row;
                for (uint64_t h = 0; h < 3; h++)
                    ASSERT_EQ(weight[(begin + k) * 3 + h], static_cast<float>((from.edge + k) * 3 + h)) << a.name;
            }
        }
        EXPECT_EQ(rows.size(), a.rows) << a.name;
    }
}

TEST(EmulatedReorder, CommunitiesAreFound) {
    std::vector<uint32_t> community;
    const Sparse a = Planted(&community);
    const ReorderedRows reordered(a.view());
    std::vector<uint32_t> as_it_was(a.rows);
    std::iota(as_it_was.begin(), as_it_was.end(), 0);
    EXPECT_GT(TogetherIn(reordered.order, community), kTogether);
    EXPECT_LT(TogetherIn(as_it_was, community), kShuffled) << "what brings nothing near is seen";
    EXPECT_TRUE(csaw__reorder_serves(Different(a.col), Different(reordered.col)));
}

// By their last labels, then by their first ones, then as they stood.
TEST(EmulatedReorder, RowsAreSortedByBothLabels) {
    std::vector<uint32_t> community;
    const Sparse a = Planted(&community);
    const std::vector<uint32_t> first = Labels(a.view(), 1), last = Labels(a.view(), CSAW__REORDER_ROUNDS);
    const ReorderedRows reordered(a.view());
    uint64_t by_first = 0;
    for (size_t i = 1; i < reordered.order.size(); i++) {
        const uint32_t before = reordered.order[i - 1], after = reordered.order[i];
        EXPECT_LT(std::make_tuple(last[before], first[before], before),
                  std::make_tuple(last[after], first[after], after));
        by_first += last[before] == last[after] && first[before] != first[after] && before > after;
    }
    EXPECT_GT(by_first, 100u) << "first labels decide little";
}

// Rows that name the columns beside them stay where they are, but for a few.
TEST(EmulatedReorder, ALocalOrderStaysLocal) {
    const uint64_t rows = 2000;
    Sparse a = random_sparse("band", std::vector<uint64_t>(rows, 9), rows, false);
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t k = 0; k < 9; k++) a.col[r * 9 + k] = static_cast<csaw_vertex>(std::min(r + k, rows - 1));
    const ReorderedRows reordered(a.view());
    uint64_t close = 0;
    for (uint64_t i = 1; i < rows; i++) {
        const int64_t step = static_cast<int64_t>(reordered.order[i]) - reordered.order[i - 1];
        close += step >= -32 && step <= 32;
    }
    EXPECT_GT(close, rows * 95 / 100);
    EXPECT_FALSE(csaw__reorder_serves(Different(a.col), Different(reordered.col)));
}

// In windows, the last of them short: hashes that are the same may hide a few.
TEST(EmulatedReorder, DifferentColumnsAreCounted) {
    std::mt19937_64 random(3);
    std::vector<csaw_vertex> col(5 * CSAW__REORDER_WINDOW + 100);
    for (uint64_t most : {uint64_t{1}, uint64_t{40}, uint64_t{3000}, uint64_t{1} << 32}) {
        uint64_t different = 0;
        for (csaw_vertex &c : col) c = static_cast<csaw_vertex>(random() % most);
        for (size_t i = 0; i < col.size(); i += CSAW__REORDER_WINDOW)
            different +=
                std::set<csaw_vertex>(col.begin() + static_cast<long>(i),
                                      col.begin() + static_cast<long>(std::min(i + CSAW__REORDER_WINDOW, col.size())))
                    .size();
        EXPECT_LE(Different(col), different) << most;
        EXPECT_GE(Different(col), different * 95 / 100) << most;
    }
    EXPECT_TRUE(csaw__reorder_serves(800, 700));
    EXPECT_FALSE(csaw__reorder_serves(800, 701));
    for (uint64_t as_it_was : {0, 1, 7}) EXPECT_EQ(csaw__reorder_serves(as_it_was, as_it_was), as_it_was == 0);
    EXPECT_EQ(Different({}), 0u);
}

// Each block does a part of its own, those of a multiprocessor parts beside each other, those that run at once parts
// before those of later ones.
TEST(EmulatedReorder, BlocksOfAMultiprocessorStandBesideEachOther) {
    for (uint32_t multiprocessors : {1u, 2u, 7u, 132u})
        for (uint32_t of_each : {1u, 4u, 8u})
            for (uint32_t blocks : {1u, 2u, 6u, 7u, 8u, 131u, 132u, 133u, 987u}) {
                SCOPED_TRACE(std::to_string(blocks) + " blocks of " + std::to_string(multiprocessors) + " by " +
                             std::to_string(of_each));
                const uint32_t at_once = multiprocessors * of_each;
                std::vector<bool> done(blocks, false);
                for (uint32_t b = 0; b < blocks; b++) {
                    const uint32_t part = csaw__stretch_part_of(b, blocks, multiprocessors, of_each);
                    const uint32_t next = b + multiprocessors;
                    ASSERT_LT(part, blocks);
                    EXPECT_FALSE(done[part]) << b;
                    EXPECT_EQ(part / at_once, b / at_once) << b;
                    done[part] = true;
                    if (next < blocks && next / at_once == b / at_once)
                        EXPECT_EQ(csaw__stretch_part_of(next, blocks, multiprocessors, of_each), part + 1) << b;
                }
            }
}

} // namespace

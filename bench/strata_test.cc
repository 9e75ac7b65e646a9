/* SPDX-License-Identifier: MIT */
/* bench/strata_test.cc - the random graph of largest_bench: rows ascend, strata_has_arc() knows its arcs and no others,
 * and destinations are uniform. */
#include "bench/strata.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace {

const strata graph = {60, 5, 7};

TEST(Strata, RowsAscendAndHoldOneOfEachStratum) {
    for (uint64_t row = 0; row < graph.rows; row++)
        for (uint64_t place = 0; place < graph.degree; place++) {
            const csaw_vertex to = strata_neighbor(&graph, row, place);
            EXPECT_GE(to, place * 12) << row;
            EXPECT_LT(to, (place + 1) * 12) << row;
        }
}

TEST(Strata, ItsArcsAndNoOthersAreKnown) {
    for (uint64_t row = 0; row < graph.rows; row++) {
        std::set<csaw_vertex> arcs;
        for (uint64_t place = 0; place < graph.degree; place++) arcs.insert(strata_neighbor(&graph, row, place));
        for (csaw_vertex to = 0; to < graph.rows + 12; to++)
            EXPECT_EQ(strata_has_arc(&graph, (csaw_vertex)row, to), arcs.count(to) == 1) << row << " to " << to;
    }
    EXPECT_FALSE(strata_has_arc(&graph, (csaw_vertex)graph.rows, 0));
    EXPECT_FALSE(strata_has_arc(&graph, 0, CSAW_NONE)); /* no row is without arcs */
}

TEST(Strata, IsInMemoryWhatTheRuleSays) {
    const csaw_csr csr = strata_make(&graph);
    ASSERT_EQ(csr.num_vertices, 60u);
    ASSERT_EQ(csr.num_edges, 300u);
    for (uint64_t row = 0; row < 60; row++) {
        ASSERT_EQ(csr.rowptr[row], 5 * row);
        for (uint64_t place = 0; place < 5; place++)
            EXPECT_EQ(csr.col[5 * row + place], strata_neighbor(&graph, row, place));
    }
    EXPECT_EQ(csr.rowptr[60], 300u);
    strata_free(&csr);
}

/* Chi-square of 12 places in a stratum over 12,000 rows and 4 strata, 44 degrees of freedom in all: below 95.9 but once
 * in 10^5; a seed of its own gives another graph. */
TEST(Strata, DestinationsAreUniform) {
    const strata wide = {12000, 1000, 1}, other = {12000, 1000, 2};
    double chi = 0;
    uint64_t alike = 0;
    for (uint64_t place = 0; place < 4; place++) {
        std::vector<double> seen(12);
        for (uint64_t row = 0; row < wide.rows; row++) {
            seen[strata_neighbor(&wide, row, place) - place * 12]++;
            alike += strata_neighbor(&wide, row, place) == strata_neighbor(&other, row, place);
        }
        for (const double count : seen) chi += (count - 1000) * (count - 1000) / 1000;
    }
    EXPECT_LT(chi, 95.9);
    EXPECT_NEAR((double)alike, 4000, 300); /* of 48,000, a twelfth by chance; deviation 61 */
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* bench/selection_lists_test.cc - what applications pick from, on graphs that say it: a star of five leaves, of which
 * only the hub has more arcs than are picked; and five vertices that are all neighbours. */
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

extern "C" {
#include "bench/selection_lists.h"
}

namespace {

struct Graph {
    std::vector<uint64_t> rowptr = {0};
    std::vector<csaw_vertex> col;
    explicit Graph(const std::vector<std::vector<csaw_vertex>> &rows) {
        for (const auto &row : rows) {
            col.insert(col.end(), row.begin(), row.end());
            rowptr.push_back(col.size());
        }
    }
    csaw_csr csr() const {
        csaw_csr out = {};
        out.num_vertices = rowptr.size() - 1;
        out.num_edges = col.size();
        out.rowptr = rowptr.data();
        out.col = col.data();
        return out;
    }
};
const Graph star({{1, 2, 3, 4, 5}, {0}, {0}, {0}, {0}, {0}});
const Graph complete({{1, 2, 3, 4}, {0, 2, 3, 4}, {0, 1, 3, 4}, {0, 1, 2, 4}, {0, 1, 2, 3}});

selection_lists lists_of(int which, const Graph &graph, const std::vector<csaw_vertex> &drawn, uint64_t instances) {
    const csaw_csr csr = graph.csr();
    return lists_of_application(&applications[which], &csr, "cpu", drawn.data(), drawn.size(), instances);
}

TEST(SelectionLists, OfAStarAreItsHubs) {
    for (int which : {0, 2, 3}) { /* neighbour sampling and layers: 2 of 5, at depth 0 or, from a leaf, at depth 1 */
        selection_lists lists = lists_of(which, star, {0, 3}, 101);
        EXPECT_EQ(lists.count, 101u) << which;
        for (uint64_t l = 0; l < lists.count; l++) {
            EXPECT_EQ(lists.begin[l + 1], l + 1);
            EXPECT_EQ(lists.vertex[l], 0u);
            EXPECT_EQ(lists.pick[l + 1], 2 * (l + 1));
        }
        lists_free(&lists);
    }
}

TEST(SelectionLists, OfLayersAreTogether) {
    const csaw_csr csr = complete.csr();
    selection_lists lists = lists_of(2, complete, {0, 1, 2, 3, 4}, 50);
    ASSERT_EQ(lists.count, 100u);
    EXPECT_EQ(longest_list(&csr, &lists), 8u);
    for (uint64_t l = 0; l < lists.count; l++) {
        const std::set<csaw_vertex> pool(lists.vertex + lists.begin[l], lists.vertex + lists.begin[l + 1]);
        EXPECT_EQ(pool.size(), 1 + l % 2); /* the seed, then where its two arcs lead */
        EXPECT_EQ(list_length(&csr, &lists, l), 4 * pool.size());
        EXPECT_EQ(pool.count(static_cast<csaw_vertex>(l / 2 % 5)), 1 - l % 2);
    }
    lists_free(&lists);
}

/* P(x = j) = .3 * .7^j: none of x = 0, and of 5 and more, which are all. Bounds: five standard deviations. */
TEST(SelectionLists, OfForestFireHaveItsNumbers) {
    const uint64_t instances = 20000;
    selection_lists lists = lists_of(1, star, {0}, instances);
    std::map<uint64_t, double> seen;
    for (uint64_t l = 0; l < lists.count; l++) seen[lists.pick[l + 1] - lists.pick[l]]++;
    ASSERT_EQ(seen.size(), 4u);
    double p = .3;
    for (uint64_t k = 1; k <= 4; k++) {
        p *= .7;
        EXPECT_NEAR(seen[k], instances * p, 5 * std::sqrt(instances * p * (1 - p))) << k;
    }
    lists_free(&lists);
}

TEST(SelectionLists, OfVerticesHaveSomeToSpare) {
    const csaw_csr csr = star.csr();
    const std::vector<csaw_vertex> drawn = {0, 1, 0, 2};
    for (const auto &[k, spare, count] : {std::array<uint32_t, 3>{4, 1, 2}, {4, 2, 0}, {5, 0, 0}, {1, 0, 2}}) {
        selection_lists lists = lists_of_vertices(&csr, drawn.data(), drawn.size(), k, spare);
        EXPECT_EQ(lists.count, count) << k << " and " << spare;
        EXPECT_EQ(lists.pick[lists.count], uint64_t{k} * count);
        lists_free(&lists);
    }
}

} // namespace

// SPDX-License-Identifier: MIT
// tests/hot_test.cc - the vertices that most arcs lead to, against a sort of all of them.
#include "runtime/engine/hot.h"
#include "tests/reference/graphs.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

void compare(const csaw_csr &csr) {
    const csaw_vertex n = static_cast<csaw_vertex>(csr.num_vertices);
    std::vector<uint64_t> arcs(n);
    std::vector<csaw_vertex> order(n);
    for (uint64_t e = 0; e < csr.num_edges; e++) arcs[csr.col[e]]++;
    for (csaw_vertex v = 0; v < n; v++) order[v] = v;
    std::stable_sort(order.begin(), order.end(), [&](csaw_vertex a, csaw_vertex b) { return arcs[a] > arcs[b]; });
    for (csaw_vertex count = 0; count <= n; count++) {
        std::vector<csaw_vertex> expected(order.begin(), order.begin() + count), hot(count), place(n);
        std::sort(expected.begin(), expected.end());
        ASSERT_EQ(csaw__hot_vertices(&csr, count, hot.data(), place.data()), CSAW_OK);
        EXPECT_EQ(hot, expected) << count;
        for (csaw_vertex v = 0; v < n; v++) {
            const auto at = std::find(hot.begin(), hot.end(), v);
            EXPECT_EQ(place[v], at == hot.end() ? CSAW_NONE : static_cast<csaw_vertex>(at - hot.begin()));
        }
    }
}

TEST(Hot, VerticesOfMostArcs) {
    const reference::Graph karate = reference::small_graph("karate");
    compare(karate.csr());
    const csaw_edge to_one[] = {0, 2, 3, 4, 5, 6}, none[] = {0, 0, 0, 0};
    const csaw_vertex three[] = {3, 3, 3, 3, 1, 3}; // a directed star: where arcs leave does not count
    compare({5, 6, to_one, three, nullptr, nullptr, nullptr});
    compare({3, 0, none, nullptr, nullptr, nullptr, nullptr});
    compare({0, 0, none, nullptr, nullptr, nullptr, nullptr});
}

} // namespace

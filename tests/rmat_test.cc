// SPDX-License-Identifier: MIT
// rmat_test.cc - R-MAT graphs: the structure csaw.h promises, the same graph on any number of threads, and the law of
// the quadrants.
#include <csaw/csaw.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "runtime/base/graph.h"
#include "runtime/base/memory.h"
void omp_set_num_threads(int) __attribute__((weak)); // absent in a build without OpenMP
}

namespace {

using Graph = std::unique_ptr<csaw_graph, decltype(&csaw_graph_free)>;

Graph make(csaw_rmat_options options) {
    options.size = sizeof options;
    csaw_graph *graph = nullptr;
    EXPECT_EQ(csaw_graph_rmat(&options, &graph), CSAW_OK) << csaw_last_error();
    return Graph(graph, csaw_graph_free);
}

csaw_rmat_options options_of(uint32_t scale, uint32_t edge_factor, uint64_t seed) {
    csaw_rmat_options options = {};
    options.scale = scale;
    options.edge_factor = edge_factor;
    options.seed = seed;
    return options;
}

bool equal(const csaw_graph *a, const csaw_graph *b) {
    csaw_csr x = csaw_graph_csr(a), y = csaw_graph_csr(b);
    if (x.num_vertices != y.num_vertices || x.num_edges != y.num_edges || !x.weight != !y.weight) return false;
    return std::equal(x.rowptr, x.rowptr + x.num_vertices + 1, y.rowptr) &&
           std::equal(x.col, x.col + x.num_edges, y.col) &&
           (!x.weight || std::equal(x.weight, x.weight + x.num_edges, y.weight));
}

// The place of arc u -> v, or num_edges.
csaw_edge find(const csaw_csr &csr, uint64_t u, csaw_vertex v) {
    const csaw_vertex *end = csr.col + csr.rowptr[u + 1], *at = std::lower_bound(csr.col + csr.rowptr[u], end, v);
    return at != end && *at == v ? static_cast<csaw_edge>(at - csr.col) : csr.num_edges;
}

TEST(Rmat, StructureOfTheDefault) {
    for (uint32_t scale : {1u, 2u, 5u, 14u}) {
        csaw_rmat_options options = options_of(scale, 16, 7);
        options.weighted = true;
        Graph graph = make(options);
        csaw_csr csr = csaw_graph_csr(graph.get());
        ASSERT_LE(csr.num_vertices, uint64_t{1} << scale);
        ASSERT_LE(csr.num_edges, uint64_t{32} << scale);
        ASSERT_GT(csr.num_edges, 0u);
        EXPECT_FALSE(graph->parallel_arcs);
        float least = 9, most = 0;
        for (uint64_t u = 0; u < csr.num_vertices; u++) {
            ASSERT_LT(csr.rowptr[u], csr.rowptr[u + 1]) << "isolated " << u;
            for (csaw_edge e = csr.rowptr[u]; e < csr.rowptr[u + 1]; e++) {
                ASSERT_NE(csr.col[e], u) << "loop";
                ASSERT_TRUE(e == csr.rowptr[u] || csr.col[e - 1] < csr.col[e]) << "order or duplicate";
                csaw_edge back = find(csr, csr.col[e], static_cast<csaw_vertex>(u));
                ASSERT_LT(back, csr.num_edges) << "no arc back";
                ASSERT_EQ(csr.weight[back], csr.weight[e]);
                least = std::min(least, csr.weight[e]);
                most = std::max(most, csr.weight[e]);
            }
        }
        EXPECT_GE(least, 1.0f);
        EXPECT_LT(most, 5.0f);
    }
}

TEST(Rmat, TheSameGraphOnAnyNumberOfThreads) {
    for (bool directed : {false, true}) {
        csaw_rmat_options options = options_of(13, 16, 3);
        options.weighted = true;
        options.directed = directed;
        Graph first = make(options);
        for (int threads : {1, 2, 7}) {
            if (omp_set_num_threads) omp_set_num_threads(threads);
            EXPECT_TRUE(equal(first.get(), make(options).get())) << threads;
        }
        options.seed = 4;
        EXPECT_FALSE(equal(first.get(), make(options).get()));
    }
    if (omp_set_num_threads) omp_set_num_threads(2);
}

TEST(Rmat, DirectedIsolatedAndWeightOptions) {
    csaw_rmat_options options = options_of(12, 2, 5);
    options.directed = true;
    Graph closed = make(options);
    csaw_csr csr = csaw_graph_csr(closed.get());
    std::vector<bool> touched(csr.num_vertices);
    uint64_t one_way = 0;
    for (uint64_t u = 0; u < csr.num_vertices; u++)
        for (csaw_edge e = csr.rowptr[u]; e < csr.rowptr[u + 1]; e++) {
            touched[u] = touched[csr.col[e]] = true;
            one_way += find(csr, csr.col[e], static_cast<csaw_vertex>(u)) == csr.num_edges;
        }
    EXPECT_EQ(std::count(touched.begin(), touched.end(), false), 0);
    EXPECT_GT(one_way, csr.num_edges / 2);
    EXPECT_EQ(csr.weight, nullptr);

    options.keep_isolated = true;
    Graph open = make(options);
    csaw_csr all = csaw_graph_csr(open.get());
    EXPECT_EQ(all.num_vertices, 4096u);
    EXPECT_LT(csr.num_vertices, 4096u);
    EXPECT_EQ(all.num_edges, csr.num_edges);

    options.directed = false; // the same edges, made symmetric
    Graph symmetric = make(options);
    csaw_csr both = csaw_graph_csr(symmetric.get());
    for (uint64_t u = 0; u < all.num_vertices; u++)
        for (csaw_edge e = all.rowptr[u]; e < all.rowptr[u + 1]; e++) {
            ASSERT_LT(find(both, u, all.col[e]), both.num_edges);
            ASSERT_LT(find(both, all.col[e], static_cast<csaw_vertex>(u)), both.num_edges);
        }
    EXPECT_EQ(both.num_edges, all.num_edges + one_way);
}

// Weights are uniform on [1, 5): mean 3, variance 4/3; over m pairs the mean is off by 5 standard errors with
// probability below 1e-6. The same for each quarter of the range.
TEST(Rmat, WeightsAreUniform) {
    csaw_rmat_options options = options_of(14, 8, 21);
    options.weighted = true;
    Graph graph = make(options);
    csaw_csr csr = csaw_graph_csr(graph.get());
    double sum = 0, count = 0, quarter[4] = {};
    for (uint64_t u = 0; u < csr.num_vertices; u++)
        for (csaw_edge e = csr.rowptr[u]; e < csr.rowptr[u + 1]; e++)
            if (csr.col[e] > u) sum += csr.weight[e], count++, quarter[static_cast<int>(csr.weight[e]) - 1]++;
    EXPECT_NEAR(sum / count, 3, 5 * std::sqrt(4.0 / 3 / count));
    for (double part : quarter) EXPECT_NEAR(part / count, 0.25, 5 * std::sqrt(0.1875 / count));
}

// What the recursion means, seen where it leaves no room: b = 1 sends every edge from id 0...0 to id 1...1; a + b = 1
// gives every edge the source 0...0; a + d = 1 makes loops alone.
TEST(Rmat, QuadrantsDecideTheIds) {
    csaw_rmat_options options = options_of(10, 4, 1);
    options.directed = true;
    options.b = 1;
    Graph graph = make(options);
    EXPECT_EQ(csaw_graph_csr(graph.get()).num_vertices, 2u);
    EXPECT_EQ(csaw_graph_csr(graph.get()).num_edges, 1u);
    options.a = options.b = 0.5;
    graph = make(options);
    EXPECT_EQ(graph->max_degree, csaw_graph_csr(graph.get()).num_edges);
    EXPECT_GT(graph->max_degree, 900u); // 4096 draws of 1023 targets: 1004 expected
    options.a = 0.5, options.b = 0;
    graph = make(options);
    EXPECT_EQ(csaw_graph_csr(graph.get()).num_vertices, 0u);
}

// P(an edge is a loop) = (a + d)^scale, P(the source is id 0...0) = (a + b)^scale: from the arcs that are left at a
// scale where few coincide. The source 0...0 is the vertex of the highest out-degree. 5 standard deviations.
TEST(Rmat, HubFollowsTheQuadrantLaw) {
    csaw_rmat_options options = options_of(16, 4, 12);
    options.directed = true;
    options.a = 0.4, options.b = 0.3, options.c = 0.2;
    Graph graph = make(options);
    const double edges = 4.0 * 65536, hub = std::pow(0.7, 16), loop = std::pow(0.5, 16);
    // Distinct targets of the hub: target t with k one bits has P(t | hub) = (3/7)^k (4/7)^(16-k); t = 0 is a loop.
    double expected = 0, variance = 0, choose = 16;
    for (int k = 1; k <= 16; k++) {
        double one = hub * std::pow(3.0 / 7, k) * std::pow(4.0 / 7, 16 - k), seen = 1 - std::pow(1 - one, edges);
        expected += choose * seen;
        variance += choose * seen * (1 - seen);
        choose = choose * (16 - k) / (k + 1);
    }
    EXPECT_NEAR(graph->max_degree, expected, 5 * std::sqrt(variance));
    EXPECT_LT(csaw_graph_csr(graph.get()).num_edges, edges * (1 - loop));
}

TEST(Rmat, RefusesImpossibleOptions) {
    csaw_graph *graph = nullptr;
    csaw_rmat_options options = options_of(32, 1, 0);
    options.size = sizeof options;
    EXPECT_EQ(csaw_graph_rmat(&options, &graph), CSAW_EINVAL);
    EXPECT_NE(std::string(csaw_last_error()).find("scale is 32"), std::string::npos);
    options = options_of(31, 1u << 20, 0);
    options.size = sizeof options;
    EXPECT_EQ(csaw_graph_rmat(&options, &graph), CSAW_EINVAL);
    EXPECT_NE(std::string(csaw_last_error()).find("2^40"), std::string::npos);
    for (auto [a, b, c] : {std::array<double, 3>{.6, .3, .2}, {-.1, .5, .5}, {NAN, .1, .1}}) {
        options = options_of(4, 4, 0);
        options.size = sizeof options;
        options.a = a, options.b = b, options.c = c;
        EXPECT_EQ(csaw_graph_rmat(&options, &graph), CSAW_EINVAL);
        EXPECT_NE(std::string(csaw_last_error()).find("sum to at most 1"), std::string::npos);
    }
    EXPECT_EQ(graph, nullptr);
}

TEST(Rmat, EveryAllocationFailsInTurn) {
    csaw_rmat_options options = options_of(6, 4, 0);
    options.size = sizeof options;
    options.weighted = true;
    csaw__fail_allocations_from(0);
    make(options);
    uint64_t count = csaw__allocations_counted();
    for (uint64_t n = 1; n <= count; n++) {
        csaw_graph *graph = nullptr;
        csaw__fail_allocations_from(n);
        EXPECT_EQ(csaw_graph_rmat(&options, &graph), CSAW_ENOMEM) << n << " of " << count;
        EXPECT_EQ(graph, nullptr);
    }
    csaw__fail_allocations_from(0);
}

} // namespace

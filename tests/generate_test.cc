// SPDX-License-Identifier: MIT
// generate_test.cc - Erdos-Renyi and configuration graphs: exact counts and degrees, the laws by chi-square, the same
// graph on any number of threads, refused options. Thresholds: chi-square at 1e-6, by Wilson and Hilferty.
#include <csaw/csaw.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
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

csaw_random_graph_options edges_of(uint64_t vertices, uint64_t edges, uint64_t seed) {
    csaw_random_graph_options options = {};
    options.size = sizeof options;
    options.num_vertices = vertices;
    options.num_edges = edges;
    options.seed = seed;
    return options;
}

csaw_random_graph_options degrees_of(const std::vector<uint32_t> &degrees, uint64_t seed) {
    csaw_random_graph_options options = {};
    options.size = sizeof options;
    options.degree = degrees.data();
    options.num_degrees = degrees.size();
    options.seed = seed;
    return options;
}

Graph make(csaw_status (*generate)(const csaw_random_graph_options *, csaw_graph **),
           const csaw_random_graph_options &options) {
    csaw_graph *graph = nullptr;
    EXPECT_EQ(generate(&options, &graph), CSAW_OK) << csaw_last_error();
    return Graph(graph, csaw_graph_free);
}

bool equal(const csaw_graph *a, const csaw_graph *b) {
    csaw_csr x = csaw_graph_csr(a), y = csaw_graph_csr(b);
    return x.num_vertices == y.num_vertices && x.num_edges == y.num_edges && !x.weight == !y.weight &&
           std::equal(x.rowptr, x.rowptr + x.num_vertices + 1, y.rowptr) &&
           std::equal(x.col, x.col + x.num_edges, y.col) &&
           (!x.weight || std::equal(x.weight, x.weight + x.num_edges, y.weight));
}

// The value that chi-square with k degrees of freedom exceeds with probability 1e-6.
double limit(double k) { return k * std::pow(1 - 2 / (9 * k) + 4.7534 * std::sqrt(2 / (9 * k)), 3); }

// No loops, no parallel arcs, every arc both ways with one weight.
void expect_simple(const csaw_graph *graph) {
    csaw_csr csr = csaw_graph_csr(graph);
    std::map<std::pair<uint64_t, uint64_t>, float> arcs;
    for (uint64_t u = 0; u < csr.num_vertices; u++)
        for (csaw_edge e = csr.rowptr[u]; e < csr.rowptr[u + 1]; e++) {
            ASSERT_NE(csr.col[e], u);
            ASSERT_TRUE(arcs.insert({{u, csr.col[e]}, csr.weight ? csr.weight[e] : 0}).second);
        }
    for (const auto &[arc, weight] : arcs) {
        auto back = arcs.find({arc.second, arc.first});
        ASSERT_TRUE(back != arcs.end() && back->second == weight);
    }
}

TEST(Generate, ErdosRenyiHasExactlySoManyEdges) {
    struct Case {
        uint64_t vertices, edges;
    };
    for (Case test : {Case{0, 0}, Case{1, 0}, Case{2, 1}, Case{5, 10}, Case{5, 9}, Case{5, 6}, Case{100, 0},
                      Case{100, 2400}, Case{100, 2600}, Case{100, 4950}, Case{3000, 100000}}) {
        csaw_random_graph_options options = edges_of(test.vertices, test.edges, 3);
        options.weighted = true;
        Graph graph = make(csaw_graph_erdos_renyi, options);
        EXPECT_EQ(csaw_graph_csr(graph.get()).num_vertices, test.vertices);
        EXPECT_EQ(csaw_graph_csr(graph.get()).num_edges, 2 * test.edges);
        expect_simple(graph.get());
        options.directed = true;
        options.num_edges *= 2;
        graph = make(csaw_graph_erdos_renyi, options);
        EXPECT_EQ(csaw_graph_csr(graph.get()).num_edges, options.num_edges);
        EXPECT_FALSE(graph->parallel_arcs);
    }
}

// Every set of m of the six pairs of four vertices is equally likely: m = 2 and m = 4 (the inverted case) have 15 sets.
TEST(Generate, ErdosRenyiSetsAreEquallyLikely) {
    if (omp_set_num_threads) omp_set_num_threads(1); // small graphs: starting threads would take most of the time
    for (uint64_t edges : {2u, 4u}) {
        std::map<std::vector<unsigned>, int> seen;
        const int rounds = 15000;
        for (int seed = 0; seed < rounds; seed++) {
            Graph graph = make(csaw_graph_erdos_renyi, edges_of(4, edges, static_cast<uint64_t>(seed)));
            csaw_csr csr = csaw_graph_csr(graph.get());
            std::vector<unsigned> key;
            for (unsigned u = 0; u < 4; u++)
                for (csaw_edge e = csr.rowptr[u]; e < csr.rowptr[u + 1]; e++) key.push_back(4 * u + csr.col[e]);
            seen[key]++;
        }
        double chi = 0, expected = rounds / 15.0;
        EXPECT_EQ(seen.size(), 15u);
        for (const auto &[key, count] : seen) chi += (count - expected) * (count - expected) / expected;
        EXPECT_LT(chi, limit(14)) << edges;
    }
}

// The degree of a vertex is hypergeometric: n - 1 of the n (n - 1) / 2 pairs are its own. Degrees of different vertices
// hang together by their sum alone, which makes chi-square smaller if anything.
TEST(Generate, ErdosRenyiDegrees) {
    const double n = 20000, m = 100000, pairs = n * (n - 1) / 2;
    Graph graph = make(csaw_graph_erdos_renyi, edges_of(20000, 100000, 17));
    csaw_csr csr = csaw_graph_csr(graph.get());
    std::vector<double> seen(22), expected(22);
    auto choose = [](double a, double b) { return std::lgamma(a + 1) - std::lgamma(b + 1) - std::lgamma(a - b + 1); };
    for (uint64_t v = 0; v < csr.num_vertices; v++) seen[std::min<uint64_t>(csr.rowptr[v + 1] - csr.rowptr[v], 21)]++;
    double rest = n;
    for (int k = 0; k < 21; k++) {
        expected[static_cast<size_t>(k)] =
            n * std::exp(choose(n - 1, k) + choose(pairs - (n - 1), m - k) - choose(pairs, m));
        rest -= expected[static_cast<size_t>(k)];
    }
    expected[21] = rest;
    double chi = 0;
    int cells = 0;
    for (size_t k = 0; k < 22; k++)
        if (expected[k] > 5) chi += std::pow(seen[k] - expected[k], 2) / expected[k], cells++;
    EXPECT_GT(cells, 15);
    EXPECT_LT(chi, limit(cells - 1));
}

// Three vertices of degree 2, 1, 1: of the 3 pairings of 4 stubs, one joins the first vertex to itself and the others
// to each other; two give the path. So the path comes with probability 2/3. Then three vertices of degree 2: of 15
// pairings, 8 are the triangle.
TEST(Generate, ConfigurationPairsStubsUniformly) {
    if (omp_set_num_threads) omp_set_num_threads(1);
    struct Case {
        std::vector<uint32_t> degrees;
        uint64_t arcs;
        double probability;
    };
    for (const Case &test : {Case{{2, 1, 1}, 4, 2.0 / 3}, Case{{2, 2, 2}, 6, 8.0 / 15}}) {
        const int rounds = 10000;
        int seen = 0;
        for (int seed = 0; seed < rounds; seed++) {
            Graph graph = make(csaw_graph_configuration, degrees_of(test.degrees, static_cast<uint64_t>(seed)));
            seen += csaw_graph_csr(graph.get()).num_edges == test.arcs;
        }
        const double p = test.probability;
        EXPECT_NEAR(seen, rounds * p, 5 * std::sqrt(rounds * p * (1 - p)));
    }
}

// In a sparse graph next to nothing is dropped, and where nothing is, degrees are as asked for.
TEST(Generate, ConfigurationKeepsDegrees) {
    std::vector<uint32_t> degrees;
    uint64_t sum = 0, short_of = 0;
    for (uint32_t v = 0; v < 100000; v++)
        degrees.push_back(v % 7 == 0 ? 0 : 1 + v * 2654435761u % 6), sum += degrees[v];
    if (sum % 2) degrees[1]++, sum++;
    csaw_random_graph_options options = degrees_of(degrees, 5);
    options.weighted = true;
    Graph graph = make(csaw_graph_configuration, options);
    csaw_csr csr = csaw_graph_csr(graph.get());
    ASSERT_EQ(csr.num_vertices, degrees.size());
    for (uint64_t v = 0; v < csr.num_vertices; v++) {
        ASSERT_LE(csr.rowptr[v + 1] - csr.rowptr[v], degrees[v]);
        short_of += degrees[v] - (csr.rowptr[v + 1] - csr.rowptr[v]);
    }
    EXPECT_LT(short_of, 100u); // about E[d^2]/E[d] loops and double edges are expected, fewer than 15
    expect_simple(graph.get());
}

TEST(Generate, TheSameGraphOnAnyNumberOfThreads) {
    std::vector<uint32_t> degrees(50000, 6);
    csaw_random_graph_options random = edges_of(30000, 200000, 9), pairing = degrees_of(degrees, 9);
    random.weighted = pairing.weighted = true;
    for (auto [generate, options] :
         {std::make_pair(csaw_graph_erdos_renyi, random), std::make_pair(csaw_graph_configuration, pairing)}) {
        Graph first = make(generate, options);
        for (int threads : {1, 2, 7}) {
            if (omp_set_num_threads) omp_set_num_threads(threads);
            EXPECT_TRUE(equal(first.get(), make(generate, options).get())) << threads;
        }
        options.seed = 10;
        EXPECT_FALSE(equal(first.get(), make(generate, options).get()));
        if (omp_set_num_threads) omp_set_num_threads(2);
    }
}

TEST(Generate, RefusesImpossibleOptions) {
    csaw_graph *graph = nullptr;
    auto refused = [&](auto generate, const csaw_random_graph_options &options, const char *part) {
        EXPECT_EQ(generate(&options, &graph), CSAW_EINVAL);
        EXPECT_NE(std::string(csaw_last_error()).find(part), std::string::npos) << csaw_last_error();
    };
    std::vector<uint32_t> degrees = {1, 1, 1};
    refused(csaw_graph_erdos_renyi, edges_of(4, 7, 0), "6 pairs");
    refused(csaw_graph_erdos_renyi, edges_of(uint64_t{1} << 32, 1, 0), "4294967294");
    refused(csaw_graph_erdos_renyi, degrees_of(degrees, 0), "csaw_graph_configuration");
    refused(csaw_graph_configuration, degrees_of(degrees, 0), "even");
    refused(csaw_graph_configuration, edges_of(4, 1, 0), "leave them 0");
    degrees.pop_back();
    csaw_random_graph_options options = degrees_of(degrees, 0);
    options.directed = true;
    refused(csaw_graph_configuration, options, "undirected");
    options.directed = false;
    options.degree = nullptr;
    refused(csaw_graph_configuration, options, "NULL");
    EXPECT_EQ(graph, nullptr);
}

TEST(Generate, EveryAllocationFailsInTurn) {
    std::vector<uint32_t> degrees(10, 2);
    for (auto [generate, options] : {std::make_pair(csaw_graph_erdos_renyi, edges_of(20, 30, 1)),
                                     std::make_pair(csaw_graph_configuration, degrees_of(degrees, 1))}) {
        options.weighted = true;
        csaw__fail_allocations_from(0);
        make(generate, options);
        const uint64_t count = csaw__allocations_counted();
        for (uint64_t n = 1; n <= count; n++) {
            csaw_graph *graph = nullptr;
            csaw__fail_allocations_from(n);
            EXPECT_EQ(generate(&options, &graph), CSAW_ENOMEM) << n << " of " << count;
            EXPECT_EQ(graph, nullptr);
        }
        csaw__fail_allocations_from(0);
    }
}

} // namespace

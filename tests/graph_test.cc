// SPDX-License-Identifier: MIT
// graph_test.cc - CSR graphs: what is checked, what is copied, and edge lists in memory against a plain reference.
#include <csaw/csaw.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "graph_cases.h"

extern "C" {
#include "runtime/base/graph.h"
#include "runtime/base/memory.h"
void omp_set_num_threads(int) __attribute__((weak)); // absent in a build without OpenMP
}

namespace {

using Graph = std::unique_ptr<csaw_graph, decltype(&csaw_graph_free)>;
using Arc = std::tuple<csaw_vertex, csaw_vertex, float>;

void use_threads(int count) {
    if (omp_set_num_threads) omp_set_num_threads(count);
}

bool message_has(const std::vector<std::string> &parts) {
    std::string message = csaw_last_error();
    for (const auto &part : parts)
        if (message.find(part) == std::string::npos) {
            ADD_FAILURE() << "no '" << part << "' in: " << message;
            return false;
        }
    return true;
}

std::vector<Arc> arcs_of(const csaw_graph *graph) {
    csaw_csr csr = csaw_graph_csr(graph);
    std::vector<Arc> arcs;
    for (uint64_t v = 0; v < csr.num_vertices; v++)
        for (csaw_edge e = csr.rowptr[v]; e < csr.rowptr[v + 1]; e++)
            arcs.emplace_back(static_cast<csaw_vertex>(v), csr.col[e], csr.weight ? csr.weight[e] : 1.0f);
    return arcs;
}

// The definition in csaw.h, as plainly as possible.
std::vector<Arc> reference(const std::vector<Arc> &edges, bool weighted, const csaw_load_options &options) {
    std::vector<Arc> arcs;
    for (auto [u, v, w] : edges) {
        if (u == v && !options.keep_loops) continue;
        arcs.emplace_back(u, v, w);
        if (options.undirected && u != v) arcs.emplace_back(v, u, w);
    }
    auto ends = [](const Arc &arc) { return std::make_pair(std::get<0>(arc), std::get<1>(arc)); };
    std::stable_sort(arcs.begin(), arcs.end(), [&](const Arc &a, const Arc &b) { return ends(a) < ends(b); });
    if (options.keep_duplicates) return arcs;
    std::vector<Arc> merged;
    for (size_t i = 0; i < arcs.size();) {
        double sum = 0;
        size_t next = i;
        for (; next < arcs.size() && ends(arcs[next]) == ends(arcs[i]); next++) sum += std::get<2>(arcs[next]);
        merged.emplace_back(std::get<0>(arcs[i]), std::get<1>(arcs[i]), weighted ? static_cast<float>(sum) : 1.0f);
        i = next;
    }
    return merged;
}

struct List {
    std::vector<csaw_vertex> src, dst;
    std::vector<float> weight;
    csaw_edges view(uint64_t num_vertices = 0) const {
        return {num_vertices, src.size(), src.data(), dst.data(), weight.empty() ? nullptr : weight.data(),
                nullptr,      nullptr};
    }
    std::vector<Arc> arcs() const {
        std::vector<Arc> all;
        for (size_t i = 0; i < src.size(); i++) all.emplace_back(src[i], dst[i], weight.empty() ? 1.0f : weight[i]);
        return all;
    }
};

Graph from_edges(const csaw_edges &edges, csaw_load_options options = {}) {
    options.size = sizeof options;
    csaw_graph *graph = nullptr;
    EXPECT_EQ(csaw_graph_from_edges(&edges, &options, &graph), CSAW_OK) << csaw_last_error();
    return Graph(graph, csaw_graph_free);
}

List random_list(uint64_t seed, size_t count, csaw_vertex num_vertices, bool weighted) {
    std::mt19937_64 random(seed);
    List list;
    for (size_t i = 0; i < count; i++) {
        // Squaring crowds the low ids: hubs, loops, parallel edges.
        auto id = [&] {
            double unit = std::uniform_real_distribution<>(0, 1)(random);
            return static_cast<csaw_vertex>(unit * unit * unit * num_vertices);
        };
        list.src.push_back(id());
        list.dst.push_back(id());
        if (weighted) list.weight.push_back(std::uniform_real_distribution<float>(0, 1)(random));
    }
    return list;
}

TEST(FromEdges, EqualsTheReferenceForEveryOptionAndThreadCount) {
    for (csaw_vertex num_vertices : {1u, 7u, 600u, 100000u})
        for (bool weighted : {false, true}) {
            List list = random_list(num_vertices, 70000, num_vertices, weighted);
            for (int mask = 0; mask < 8; mask++) {
                csaw_load_options options = {};
                options.undirected = mask & 1;
                options.keep_loops = mask & 2;
                options.keep_duplicates = mask & 4;
                auto expected = reference(list.arcs(), weighted, options);
                for (int threads : {1, 2, 7}) {
                    use_threads(threads);
                    Graph graph = from_edges(list.view(num_vertices), options);
                    csaw_csr csr = csaw_graph_csr(graph.get());
                    ASSERT_EQ(csr.num_vertices, num_vertices);
                    ASSERT_EQ(csr.num_edges, expected.size());
                    ASSERT_EQ(csr.weight != nullptr, weighted);
                    ASSERT_TRUE(arcs_of(graph.get()) == expected) << num_vertices << " mask " << mask;
                    bool parallel = false;
                    uint64_t longest = 0;
                    for (size_t i = 1; i < expected.size(); i++)
                        parallel |= std::get<0>(expected[i]) == std::get<0>(expected[i - 1]) &&
                                    std::get<1>(expected[i]) == std::get<1>(expected[i - 1]);
                    for (csaw_vertex v = 0; v < num_vertices; v++)
                        longest = std::max<uint64_t>(longest, csr.rowptr[v + 1] - csr.rowptr[v]);
                    ASSERT_EQ(graph->parallel_arcs, parallel);
                    ASSERT_EQ(graph->max_degree, longest);
                }
            }
        }
    use_threads(2);
}

TEST(FromEdges, ParallelArcsKeepInputOrderAndSumInDouble) {
    List list{{0, 1, 0, 0}, {1, 0, 1, 1}, {1e8f, 2, 1, -1e8f}};
    csaw_load_options options = {};
    options.undirected = options.keep_duplicates = true;
    Graph graph = from_edges(list.view(), options);
    EXPECT_EQ(
        arcs_of(graph.get()),
        (std::vector<Arc>{
            {0, 1, 1e8f}, {0, 1, 2}, {0, 1, 1}, {0, 1, -1e8f}, {1, 0, 1e8f}, {1, 0, 2}, {1, 0, 1}, {1, 0, -1e8f}}));
    EXPECT_TRUE(graph->parallel_arcs);
    options.keep_duplicates = false;
    graph = from_edges(list.view(), options);
    EXPECT_EQ(arcs_of(graph.get()), (std::vector<Arc>{{0, 1, 3}, {1, 0, 3}})); // 0 if summed in float
    EXPECT_FALSE(graph->parallel_arcs);
}

// With types and without; the least of several vertices is named. What is infinite as it comes is a bias's to refuse.
TEST(FromEdges, WeightsThatAddUpToMoreThanAFloatAreRefused) {
    List list{{9, 5, 5, 7, 7, 0}, {1, 2, 2, 3, 3, 1}, {1, 3e38f, 3e38f, -3e38f, -3e38f, 3e38f}};
    const std::vector<uint32_t> types(6, 4);
    for (const uint32_t *type : {static_cast<const uint32_t *>(nullptr), types.data()}) {
        csaw_edges edges = list.view();
        csaw_graph *graph = nullptr;
        csaw_load_options options = {};
        options.size = sizeof options;
        edges.type = type;
        EXPECT_EQ(csaw_graph_from_edges(&edges, &options, &graph), CSAW_EINVAL);
        EXPECT_STREQ(csaw_last_error(),
                     "the weights of parallel edges of vertex 5 add up to more than 3.40282e+38, the "
                     "largest weight; scale the weights, or keep parallel edges apart (keep_duplicates)");
        EXPECT_EQ(graph, nullptr);
        options.keep_duplicates = true;
        ASSERT_EQ(csaw_graph_from_edges(&edges, &options, &graph), CSAW_OK);
        csaw_graph_free(graph);
        List infinite{{0, 0}, {1, 1}, {INFINITY, 1}};
        edges = infinite.view();
        edges.type = type;
        graph = nullptr;
        ASSERT_EQ(csaw_graph_from_edges(&edges, nullptr, &graph), CSAW_OK);
        EXPECT_EQ(arcs_of(graph), (std::vector<Arc>{{0, 1, INFINITY}}));
        csaw_graph_free(graph);
    }
}

TEST(FromEdges, EmptyIsolatedLoopsAndGaps) {
    Graph none = from_edges({0, 0, nullptr, nullptr, nullptr, nullptr, nullptr});
    csaw_csr csr = csaw_graph_csr(none.get());
    EXPECT_EQ(csr.num_vertices, 0u);
    EXPECT_EQ(csr.num_edges, 0u);
    EXPECT_EQ(csr.rowptr[0], 0u);
    Graph isolated = from_edges({5, 0, nullptr, nullptr, nullptr, nullptr, nullptr});
    EXPECT_EQ(csaw_graph_csr(isolated.get()).num_vertices, 5u);
    EXPECT_EQ(csaw_graph_csr(isolated.get()).rowptr[5], 0u);
    EXPECT_EQ(isolated->max_degree, 0u);

    List loop{{9}, {9}, {}}; // a dropped loop still says that vertex 9 exists
    EXPECT_EQ(csaw_graph_csr(from_edges(loop.view()).get()).num_vertices, 10u);
    csaw_load_options keep = {};
    keep.keep_loops = keep.undirected = true;
    EXPECT_EQ(arcs_of(from_edges(loop.view(), keep).get()), (std::vector<Arc>{{9, 9, 1}})); // once, not twice
    List gaps{{3, 1000000}, {1000000, 3}, {}};
    EXPECT_EQ(arcs_of(from_edges(gaps.view()).get()), (std::vector<Arc>{{3, 1000000, 1}, {1000000, 3, 1}}));
}

TEST(FromEdges, HubOfAMillionNeighbours) {
    const csaw_vertex n = 1000000;
    List list;
    for (csaw_vertex i = 0; i < n; i++) { // 7919 is coprime to n: every neighbour once, far from sorted
        list.src.push_back(0);
        list.dst.push_back(1 + static_cast<csaw_vertex>(static_cast<uint64_t>(i) * 7919 % n));
    }
    csaw_load_options options = {};
    options.undirected = true;
    Graph graph = from_edges(list.view(), options);
    csaw_csr csr = csaw_graph_csr(graph.get());
    ASSERT_EQ(csr.num_edges, 2u * n);
    EXPECT_EQ(graph->max_degree, n);
    for (csaw_vertex i = 0; i < n; i++) ASSERT_EQ(csr.col[i], i + 1);
    for (csaw_vertex i = 0; i < n; i++) ASSERT_EQ(csr.col[n + i], 0u);
}

TEST(FromEdges, RefusesWhatItCannotHold) {
    csaw_graph *graph = nullptr;
    csaw_vertex src[] = {0, 1, 2}, dst[] = {1, 7, 9};
    csaw_edges edges = {7, 3, src, dst, nullptr, nullptr, nullptr};
    EXPECT_EQ(csaw_graph_from_edges(&edges, nullptr, &graph), CSAW_EINVAL);
    message_has({"edge 1", "1 -> 7", "end at 6", "num_vertices"});
    csaw_vertex large[] = {0, 0xfffffffe, 0};
    edges = {0, 3, src, large, nullptr, nullptr, nullptr};
    EXPECT_EQ(csaw_graph_from_edges(&edges, nullptr, &graph), CSAW_EINVAL);
    message_has({"edge 1", "4294967294", "4294967293", "renumber"});
    edges = {uint64_t{1} << 32, 0, nullptr, nullptr, nullptr, nullptr, nullptr};
    EXPECT_EQ(csaw_graph_from_edges(&edges, nullptr, &graph), CSAW_EINVAL);
    message_has({"4294967296", "4294967294"});
    edges = {0, 3, src, nullptr, nullptr, nullptr, nullptr};
    EXPECT_EQ(csaw_graph_from_edges(&edges, nullptr, &graph), CSAW_EINVAL);
    EXPECT_EQ(csaw_graph_from_edges(nullptr, nullptr, &graph), CSAW_EINVAL);
    csaw_load_options wrong = {};
    wrong.size = sizeof wrong + 1;
    edges = {0, 3, src, dst, nullptr, nullptr, nullptr};
    EXPECT_EQ(csaw_graph_from_edges(&edges, &wrong, &graph), CSAW_EINVAL);
    message_has({"csaw_load_options", "sizeof"});
    EXPECT_EQ(graph, nullptr);
}

// The definition in csaw.h once more, with types and times: alike in src, dst, type and time become one, at the place
// of the first of them. Edges enough for several threads.
TEST(FromEdges, TypesAndTimesEqualTheReference) {
    using Full = std::tuple<csaw_vertex, csaw_vertex, uint32_t, int64_t, float>;
    namespace cases = graph_cases;
    for (csaw_vertex num_vertices : {1u, 3u, 60u, 20000u})
        for (int columns = 2; columns < 8; columns++) // every set with types or times
            for (int mask = 0; mask < 8; mask++) {
                csaw_load_options options = {};
                options.undirected = mask & 1;
                options.keep_loops = mask & 2;
                options.keep_duplicates = mask & 4;
                cases::Edges edges = cases::random_edges(num_vertices, columns, num_vertices, 9000);
                std::map<std::pair<csaw_vertex, csaw_vertex>, std::vector<std::tuple<uint32_t, int64_t, double>>> rows;
                auto add = [&](size_t i, csaw_vertex u, csaw_vertex v) {
                    uint32_t type = columns & cases::TYPE ? edges.type[i] : 0;
                    int64_t time = columns & cases::TIME ? edges.time[i] : 0;
                    double weight = columns & cases::WEIGHT ? static_cast<double>(edges.weight[i]) : 1;
                    auto &arcs = rows[{u, v}];
                    if (!options.keep_duplicates)
                        for (auto &[t, s, w] : arcs)
                            if (t == type && s == time) {
                                if (columns & cases::WEIGHT) w += weight;
                                return;
                            }
                    arcs.emplace_back(type, time, weight);
                };
                for (size_t i = 0; i < edges.src.size(); i++) {
                    csaw_vertex u = edges.src[i], v = edges.dst[i];
                    if (u == v && !options.keep_loops) continue;
                    add(i, u, v);
                    if (options.undirected && u != v) add(i, v, u);
                }
                std::vector<Full> expected, found;
                for (auto &[ends, arcs] : rows)
                    for (auto &[type, time, weight] : arcs)
                        expected.emplace_back(ends.first, ends.second, type, time, static_cast<float>(weight));
                for (int threads : {1, 3}) {
                    use_threads(threads);
                    cases::Graph graph = cases::build(edges, options);
                    csaw_csr csr = csaw_graph_csr(graph.get());
                    ASSERT_EQ(csr.type != nullptr, (columns & cases::TYPE) != 0);
                    ASSERT_EQ(csr.time != nullptr, (columns & cases::TIME) != 0);
                    found.clear();
                    for (uint64_t v = 0; v < csr.num_vertices; v++)
                        for (csaw_edge e = csr.rowptr[v]; e < csr.rowptr[v + 1]; e++)
                            found.emplace_back(static_cast<csaw_vertex>(v), csr.col[e], csr.type ? csr.type[e] : 0,
                                               csr.time ? csr.time[e] : 0, csr.weight ? csr.weight[e] : 1);
                    ASSERT_TRUE(found == expected) << num_vertices << " columns " << columns << " mask " << mask;
                }
            }
    use_threads(2);
}

TEST(FromEdges, HubWithAMillionTimes) { // two vertices: merging is not quadratic
    graph_cases::Edges edges;
    const size_t n = 1000000;
    for (size_t i = 0; i < 2 * n; i++) { // 7919 is coprime to n: every time twice, far from sorted
        edges.src.push_back(0);
        edges.dst.push_back(1);
        edges.time.push_back(static_cast<int64_t>(i * 7919 % n));
        edges.weight.push_back(i < n ? 1.0f : 0.5f);
    }
    graph_cases::Graph graph = graph_cases::build(edges, {});
    csaw_csr csr = csaw_graph_csr(graph.get());
    ASSERT_EQ(csr.num_edges, n);
    for (size_t i = 0; i < n; i++) {
        ASSERT_EQ(csr.time[i], static_cast<int64_t>(i * 7919 % n));
        ASSERT_EQ(csr.weight[i], 1.5f);
    }
}

struct Csr {
    std::vector<csaw_edge> rowptr{0, 2, 2, 4};
    std::vector<csaw_vertex> col{1, 1, 0, 2};
    std::vector<float> weight{};
    std::vector<uint32_t> type{};
    std::vector<int64_t> time{};
    uint64_t num_vertices = 3, num_edges = 4;
    csaw_csr view() const {
        return {num_vertices,
                num_edges,
                rowptr.data(),
                col.data(),
                weight.empty() ? nullptr : weight.data(),
                type.empty() ? nullptr : type.data(),
                time.empty() ? nullptr : time.data()};
    }
};

TEST(FromCsr, CopiesAndBorrows) {
    Csr csr;
    csr.weight = {NAN, -1, INFINITY, 0}; // weights are the sampler's business
    csr.type = {0, 4294967295, 7, 1};
    csr.time = {INT64_MIN, 0, -1, INT64_MAX};
    csaw_graph *copied = nullptr, *borrowed = nullptr;
    csaw_csr given = csr.view();
    ASSERT_EQ(csaw_graph_from_csr(&given, &copied), CSAW_OK) << csaw_last_error();
    ASSERT_EQ(csaw_graph_borrow_csr(&given, &borrowed), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(csaw_graph_csr(borrowed).col, csr.col.data());
    EXPECT_EQ(csaw_graph_csr(borrowed).weight, csr.weight.data());
    EXPECT_EQ(csaw_graph_csr(borrowed).type, csr.type.data());
    EXPECT_EQ(csaw_graph_csr(borrowed).time, csr.time.data());
    csr.col[0] = csr.type[0] = 77;
    csr.time[3] = 77;
    EXPECT_EQ(csaw_graph_csr(copied).col[0], 1u);
    EXPECT_EQ(csaw_graph_csr(copied).type[0], 0u);
    EXPECT_EQ(csaw_graph_csr(copied).type[1], 4294967295u);
    EXPECT_EQ(csaw_graph_csr(copied).time[0], INT64_MIN);
    EXPECT_EQ(csaw_graph_csr(copied).time[3], INT64_MAX);
    EXPECT_TRUE(std::isnan(csaw_graph_csr(copied).weight[0]));
    EXPECT_EQ(csaw_graph_csr(copied).weight[2], INFINITY);
    EXPECT_TRUE(copied->parallel_arcs);
    EXPECT_EQ(copied->max_degree, 2u);
    csaw_graph_free(copied);
    csaw_graph_free(borrowed);
    csaw_graph_free(nullptr);
}

TEST(FromCsr, NamesRowValueAndRemedy) {
    struct Case {
        const char *what;
        void (*spoil)(Csr *);
        std::vector<std::string> parts;
    };
    const Case cases[] = {
        {"start", [](Csr *c) { c->rowptr[0] = 1; }, {"rowptr[0] is 1", "must be 0"}},
        {"end", [](Csr *c) { c->num_edges = 3; }, {"rowptr[3] is 4", "num_edges is 3"}},
        {"falls", [](Csr *c) { c->rowptr[1] = 3; }, {"rowptr[2] is 2", "rowptr[1] = 3", "csaw_graph_from_edges"}},
        {"beyond",
         [](Csr *c) {
             c->rowptr[1] = 5;
             c->rowptr[2] = 5;
         },
         {"rowptr[3] is 4", "rowptr[2] = 5"}},
        {"column", [](Csr *c) { c->col[3] = 3; }, {"row 2", "col[3] = 3", "num_vertices is 3"}},
        {"order", [](Csr *c) { c->col[0] = 2; }, {"row 0", "col[1] = 1", "after 2", "csaw_graph_from_edges"}},
        {"vertices", [](Csr *c) { c->num_vertices = 0xffffffff; }, {"4294967295", "4294967294"}},
        {"long row",
         [](Csr *c) { c->rowptr[3] = c->num_edges = (uint64_t{1} << 32) + 2; },
         {"row 2", "4294967296", "4294967280"}},
    };
    for (const Case &test : cases) {
        SCOPED_TRACE(test.what);
        Csr csr;
        test.spoil(&csr);
        csaw_csr given = csr.view();
        csaw_graph *graph = nullptr;
        EXPECT_EQ(csaw_graph_from_csr(&given, &graph), CSAW_EINVAL);
        message_has(test.parts);
        EXPECT_EQ(csaw_graph_borrow_csr(&given, &graph), CSAW_EINVAL);
        message_has(test.parts);
        EXPECT_EQ(graph, nullptr);
    }
    csaw_graph *graph = nullptr;
    csaw_csr given = {3, 0, nullptr, nullptr, nullptr, nullptr, nullptr};
    EXPECT_EQ(csaw_graph_from_csr(&given, &graph), CSAW_EINVAL);
    EXPECT_EQ(csaw_graph_from_csr(nullptr, &graph), CSAW_EINVAL);
}

TEST(Memory, EveryAllocationFailsInTurn) {
    Csr csr;
    csr.weight = {1, 2, 3, 4};
    csr.type = {1, 2, 3, 4};
    csr.time = {1, 2, 3, 4};
    csaw_csr given = csr.view();
    List list = random_list(5, 1000, 50, true);
    csaw_edges edges = list.view();
    std::vector<uint32_t> type(list.src.size(), 3);
    std::vector<int64_t> time(list.src.size(), -3);
    edges.type = type.data();
    edges.time = time.data();
    csaw_load_options options = {};
    options.size = sizeof options;
    options.undirected = true;
    for (int which = 0; which < 3; which++) {
        auto make = [&](csaw_graph **out) {
            return which == 0   ? csaw_graph_from_csr(&given, out)
                   : which == 1 ? csaw_graph_borrow_csr(&given, out)
                                : csaw_graph_from_edges(&edges, &options, out);
        };
        csaw_graph *graph = nullptr;
        csaw__fail_allocations_from(0);
        ASSERT_EQ(make(&graph), CSAW_OK);
        csaw_graph_free(graph);
        uint64_t count = csaw__allocations_counted();
        ASSERT_GT(count, 0u);
        for (uint64_t n = 1; n <= count; n++) {
            graph = nullptr;
            csaw__fail_allocations_from(n);
            EXPECT_EQ(make(&graph), CSAW_ENOMEM) << which << " request " << n;
            EXPECT_EQ(graph, nullptr);
            message_has({"no memory"});
        }
        csaw__fail_allocations_from(0);
    }
}

} // namespace

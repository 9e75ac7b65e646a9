// SPDX-License-Identifier: MIT
// tests/graph_cases.h - small graphs with any columns and names, and what makes two graphs equal.
#ifndef CSAW_TESTS_GRAPH_CASES_H
#define CSAW_TESTS_GRAPH_CASES_H

#include <csaw/csaw.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

extern "C" {
#include "runtime/base/memory.h"
#include "runtime/base/names.h"
void omp_set_num_threads(int) __attribute__((weak)); // absent in a build without OpenMP
}

namespace graph_cases {

using Graph = std::unique_ptr<csaw_graph, decltype(&csaw_graph_free)>;

enum { WEIGHT = 1, TYPE = 2, TIME = 4 };
enum Names { NONE, NUMBERS, WORDS };

inline void use_threads(int count) {
    if (omp_set_num_threads) omp_set_num_threads(count);
}

struct Edges {
    uint64_t num_vertices = 0;
    std::vector<csaw_vertex> src, dst;
    std::vector<float> weight;
    std::vector<uint32_t> type;
    std::vector<int64_t> time;
    csaw_edges view() const {
        return {num_vertices,
                src.size(),
                src.data(),
                dst.data(),
                weight.empty() ? nullptr : weight.data(),
                type.empty() ? nullptr : type.data(),
                time.empty() ? nullptr : time.data()};
    }
};

// Low ids are crowded: hubs, loops, parallel arcs. Few types and times, so that some parallel arcs are alike.
inline Edges random_edges(uint64_t seed, int columns, csaw_vertex num_vertices, size_t count) {
    std::mt19937_64 random(seed);
    auto id = [&] {
        double unit = std::uniform_real_distribution<>(0, 1)(random);
        return static_cast<csaw_vertex>(unit * unit * unit * num_vertices);
    };
    Edges edges;
    edges.num_vertices = num_vertices;
    for (size_t i = 0; i < count; i++) {
        edges.src.push_back(id());
        edges.dst.push_back(id());
        if (columns & WEIGHT) edges.weight.push_back(std::uniform_real_distribution<float>(0, 1)(random));
        if (columns & TYPE) edges.type.push_back(static_cast<uint32_t>(random() % 3) * 0x7fffffffu);
        if (columns & TIME) edges.time.push_back((static_cast<int64_t>(random() % 3) - 1) * 5000000000);
    }
    return edges;
}

inline Graph build(const Edges &edges, csaw_load_options options) {
    csaw_graph *graph = nullptr;
    options.size = sizeof options;
    csaw_edges view = edges.view();
    EXPECT_EQ(csaw_graph_from_edges(&view, &options, &graph), CSAW_OK) << csaw_last_error();
    return Graph(graph, csaw_graph_free);
}

inline std::string word_of(csaw_vertex v) { // ascends with v, lengths differ
    return std::string(1 + v / 20, 'z') + static_cast<char>('a' + v % 20);
}

inline void add_names(csaw_graph *graph, Names kind) {
    const uint64_t n = graph->csr.num_vertices;
    csaw_names names = {};
    if (kind == NUMBERS) {
        int64_t *number = nullptr;
        ASSERT_EQ(csaw__alloc(&number, n, "names"), CSAW_OK);
        for (uint64_t v = 0; v < n; v++) number[v] = static_cast<int64_t>(v * v) - 10;
        names.number = number;
    } else {
        std::string all;
        uint64_t *offset = nullptr;
        char *text = nullptr;
        ASSERT_EQ(csaw__alloc(&offset, n + 1, "names"), CSAW_OK);
        for (uint64_t v = 0; v < n; v++) {
            offset[v] = all.size();
            all += word_of(static_cast<csaw_vertex>(v));
        }
        offset[n] = all.size();
        ASSERT_EQ(csaw__alloc(&text, all.size(), "names"), CSAW_OK);
        memcpy(text, all.data(), all.size());
        names.text = text;
        names.offset = offset;
    }
    csaw__graph_adopt_names(graph, &names, nullptr);
}

inline Graph make(int columns, Names names, csaw_vertex num_vertices = 50, size_t count = 400) {
    csaw_load_options options = {};
    options.keep_loops = options.keep_duplicates = true;
    Graph graph =
        build(random_edges(static_cast<uint64_t>(columns) + 8 * names + 1, columns, num_vertices, count), options);
    if (names != NONE) add_names(graph.get(), names);
    return graph;
}

inline std::string name_of(const csaw_graph *graph, uint64_t v) {
    csaw_names names = csaw_graph_names(graph);
    if (names.offset) return std::string(names.text + names.offset[v], names.offset[v + 1] - names.offset[v]);
    return names.number ? std::to_string(names.number[v]) : std::to_string(v);
}

using Arc = std::tuple<std::string, std::string, float, uint32_t, int64_t>; // by name

inline std::vector<Arc> arcs_by_name(const csaw_graph *graph, bool reversed = false) {
    csaw_csr csr = csaw_graph_csr(graph);
    std::vector<Arc> arcs;
    for (uint64_t v = 0; v < csr.num_vertices; v++)
        for (csaw_edge e = csr.rowptr[v]; e < csr.rowptr[v + 1]; e++) {
            std::string from = name_of(graph, v), to = name_of(graph, csr.col[e]);
            if (reversed) std::swap(from, to);
            arcs.emplace_back(from, to, csr.weight ? csr.weight[e] : 1, csr.type ? csr.type[e] : 0,
                              csr.time ? csr.time[e] : 0);
        }
    return arcs;
}

// Ascending by ends, parallel arcs in the order they have: so equal lists mean that this order is the same too.
inline std::vector<Arc> in_order_of_names(std::vector<Arc> arcs) {
    auto ends = [](const Arc &arc) { return std::tie(std::get<0>(arc), std::get<1>(arc)); };
    std::stable_sort(arcs.begin(), arcs.end(), [&](const Arc &a, const Arc &b) { return ends(a) < ends(b); });
    return arcs;
}

template <typename T> bool same_array(const T *a, const T *b, uint64_t count) {
    return (a != nullptr) == (b != nullptr) && (!a || count == 0 || memcmp(a, b, count * sizeof *a) == 0);
}

inline bool equal(const csaw_graph *a, const csaw_graph *b) {
    csaw_csr x = csaw_graph_csr(a), y = csaw_graph_csr(b);
    csaw_names p = csaw_graph_names(a), q = csaw_graph_names(b);
    const uint64_t n = x.num_vertices, m = x.num_edges;
    return n == y.num_vertices && m == y.num_edges && same_array(x.rowptr, y.rowptr, n + 1) &&
           same_array(x.col, y.col, m) && same_array(x.weight, y.weight, m) && same_array(x.type, y.type, m) &&
           same_array(x.time, y.time, m) && same_array(p.number, q.number, n) &&
           same_array(p.offset, q.offset, n + 1) && same_array(p.text, q.text, p.offset ? p.offset[n] : 0) &&
           same_array(a->name_order, b->name_order, n) && a->max_degree == b->max_degree &&
           a->parallel_arcs == b->parallel_arcs;
}

inline bool message_has(const std::vector<std::string> &parts) {
    std::string message = csaw_last_error();
    for (const auto &part : parts)
        if (message.find(part) == std::string::npos) {
            ADD_FAILURE() << "no '" << part << "' in: " << message;
            return false;
        }
    return true;
}

} // namespace graph_cases

#endif

/* SPDX-License-Identifier: MIT */
/* tests/reference/graphs.cc - see graphs.h. Random ones come from std::mt19937_64, whose numbers the C++ standard
 * fixes. Source of karate: Zachary, "An information flow model for conflict and fission in small groups", Journal of
 * Anthropological Research 33, 1977, figure 1. */
#include "tests/reference/graphs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

namespace reference {

csaw_csr Graph::csr() const {
    csaw_csr out = {};
    out.num_vertices = rowptr.size() - 1;
    out.num_edges = col.size();
    out.rowptr = rowptr.data();
    out.col = col.data();
    out.weight = weight.empty() ? nullptr : weight.data();
    out.type = type.empty() ? nullptr : type.data();
    out.time = time.empty() ? nullptr : time.data();
    return out;
}

std::vector<csaw_vertex> Graph::vertices() const {
    std::vector<csaw_vertex> out(rowptr.size() - 1);
    std::iota(out.begin(), out.end(), 0);
    return out;
}

Graph graph_of(std::string name, csaw_vertex vertices, std::vector<WeightedArc> arcs, bool weighted) {
    std::stable_sort(arcs.begin(), arcs.end(), [](const WeightedArc &a, const WeightedArc &b) {
        return a.src != b.src ? a.src < b.src : a.dst < b.dst;
    });
    Graph out;
    out.name = std::move(name);
    out.rowptr.assign(vertices + size_t{1}, 0);
    const bool typed = std::any_of(arcs.begin(), arcs.end(), [](const WeightedArc &arc) { return arc.type != 0; });
    const bool timed = std::any_of(arcs.begin(), arcs.end(), [](const WeightedArc &arc) { return arc.time != 0; });
    for (const WeightedArc &arc : arcs) {
        out.rowptr[arc.src + size_t{1}]++;
        out.col.push_back(arc.dst);
        if (weighted) out.weight.push_back(arc.weight);
        if (typed) out.type.push_back(arc.type);
        if (timed) out.time.push_back(arc.time);
    }
    std::partial_sum(out.rowptr.begin(), out.rowptr.end(), out.rowptr.begin());
    return out;
}

namespace {

double uniform_of(std::mt19937_64 &random) { return std::ldexp(static_cast<double>(random() >> 11), -53); }

// Loops twice, so a graph with loops has parallel arcs.
std::vector<WeightedArc> both_ways(const std::vector<WeightedArc> &edges) {
    std::vector<WeightedArc> out = edges;
    for (const WeightedArc &edge : edges) out.push_back({edge.dst, edge.src, edge.weight});
    return out;
}

Graph karate() {
    // a member (1 .. 34), then those of smaller number whom he met outside the club
    const std::vector<std::vector<csaw_vertex>> met = {
        {2, 1},
        {3, 1, 2},
        {4, 1, 2, 3},
        {5, 1},
        {6, 1},
        {7, 1, 5, 6},
        {8, 1, 2, 3, 4},
        {9, 1, 3},
        {10, 3},
        {11, 1, 5, 6},
        {12, 1},
        {13, 1, 4},
        {14, 1, 2, 3, 4},
        {17, 6, 7},
        {18, 1, 2},
        {20, 1, 2},
        {22, 1, 2},
        {26, 24, 25},
        {28, 3, 24, 25},
        {29, 3},
        {30, 24, 27},
        {31, 2, 9},
        {32, 1, 25, 26, 29},
        {33, 3, 9, 15, 16, 19, 21, 23, 24, 30, 31, 32},
        {34, 9, 10, 14, 15, 16, 19, 20, 21, 23, 24, 27, 28, 29, 30, 31, 32, 33}};
    std::vector<WeightedArc> edges;
    for (const auto &row : met)
        for (size_t i = 1; i < row.size(); i++) edges.push_back({row[0] - 1, row[i] - 1, 1});
    return graph_of("karate", 34, both_ways(edges), false);
}

Graph random_weighted(const std::string &name, bool extreme) {
    std::mt19937_64 random(1);
    std::vector<WeightedArc> edges;
    for (csaw_vertex a = 0; a < 30; a++) {
        for (csaw_vertex b = 0; b < a; b++) {
            if (uniform_of(random) >= .25) continue;
            const double u = uniform_of(random);
            edges.push_back({a, b, static_cast<float>(extreme ? std::pow(10, 83 * u - 44.8) : .1 + 5 * u)});
        }
    }
    return graph_of(name, 30, both_ways(edges), true);
}

Graph random_directed(const std::string &name, bool weighted) {
    std::mt19937_64 random(2);
    std::vector<WeightedArc> arcs;
    for (csaw_vertex a = 0; a < 21; a++) // 21 .. 23 are sinks
        for (csaw_vertex b = 0; b < 24; b++)
            if (a != b && uniform_of(random) < .25)
                arcs.push_back({a, b, static_cast<float>(1 + 4 * uniform_of(random))});
    return graph_of(name, 24, arcs, weighted);
}

Graph random_multi(const std::string &name, bool weighted) {
    std::mt19937_64 random(3);
    std::vector<WeightedArc> edges;
    for (csaw_vertex a = 0; a < 10; a++)
        for (csaw_vertex b = 0; b <= a; b++) // b = a is a loop
            for (int copies = static_cast<int>(random() % 6) - 2; copies > 0; copies--)
                edges.push_back({a, b, static_cast<float>(.5 + 4 * uniform_of(random))});
    return graph_of(name, 10, both_ways(edges), weighted);
}

Graph zero_rows() {
    Graph out = random_weighted("zero_rows", false);
    for (csaw_vertex v = 0; v < 30; v++)
        for (csaw_edge e = out.rowptr[v]; e < out.rowptr[v + size_t{1}]; e++)
            if (v % 5 == 0 || (v + e) % 3 == 0) out.weight[e] = 0;
    return out;
}

} // namespace

const std::vector<std::string> &small_graph_names() {
    static const std::vector<std::string> names = {
        "path",    "star",     "complete",          "karate", "isolated",       "weighted",
        "extreme", "directed", "directed_weighted", "multi",  "multi_weighted", "zero_rows"};
    return names;
}

Graph small_graph(const std::string &name) {
    std::vector<WeightedArc> edges;
    if (name == "path") {
        for (csaw_vertex v = 0; v < 4; v++) edges.push_back({v, v + 1, 1});
        return graph_of(name, 5, both_ways(edges), false);
    }
    if (name == "star") {
        for (csaw_vertex leaf = 1; leaf <= 8; leaf++) edges.push_back({0, leaf, 1});
        return graph_of(name, 9, both_ways(edges), false);
    }
    if (name == "complete") {
        for (csaw_vertex a = 0; a < 6; a++)
            for (csaw_vertex b = 0; b < a; b++) edges.push_back({a, b, 1});
        return graph_of(name, 6, both_ways(edges), false);
    }
    if (name == "isolated") // a triangle among vertices without arcs
        return graph_of(name, 9, both_ways({{1, 4, 1}, {4, 5, 1}, {5, 1, 1}}), false);
    if (name == "karate") return karate();
    if (name == "weighted") return random_weighted(name, false);
    if (name == "extreme") return random_weighted(name, true);
    if (name == "directed") return random_directed(name, false);
    if (name == "directed_weighted") return random_directed(name, true);
    if (name == "multi") return random_multi(name, false);
    if (name == "multi_weighted") return random_multi(name, true);
    if (name == "zero_rows") return zero_rows();
    throw std::invalid_argument("no graph is called " + name);
}

Graph event_graph(bool weighted) {
    std::mt19937_64 random(5);
    std::vector<WeightedArc> arcs;
    for (int i = 0; i < 160; i++) {
        const auto src = static_cast<csaw_vertex>(random() % 14), dst = static_cast<csaw_vertex>(random() % 16);
        const auto type = static_cast<uint32_t>(random() % 3);
        const auto time = static_cast<int64_t>(random() % 13) - 4;
        arcs.push_back({src, dst, static_cast<float>(.5 + 4 * uniform_of(random)), type, time});
    }
    return graph_of(weighted ? "weighted events" : "events", 16, arcs, weighted);
}

Graph epoch_graph() {
    const int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
    std::vector<WeightedArc> arcs;
    for (csaw_vertex v = 0; v < 4; v++)
        for (int64_t time : {low, low + 1, int64_t{-1}, int64_t{0}, int64_t{1}, high - 1, high})
            arcs.push_back({v, (v + 1) % 4, 1, 0, time});
    return graph_of("epochs", 4, arcs, false);
}

Graph hub_graph() {
    const csaw_vertex leaves = 1000000;
    std::mt19937_64 random(4);
    Graph out;
    out.name = "hub";
    out.rowptr = {0, leaves};
    for (csaw_vertex leaf = 1; leaf <= leaves; leaf++) {
        out.col.push_back(leaf);
        out.weight.push_back(static_cast<float>(std::pow(10, 12 * uniform_of(random) - 6)));
    }
    for (csaw_vertex leaf = 1; leaf <= leaves; leaf++) {
        out.col.push_back(0);
        out.weight.push_back(out.weight[leaf - size_t{1}]);
        out.rowptr.push_back(out.col.size());
    }
    return out;
}

} // namespace reference

/* SPDX-License-Identifier: MIT */
/* tests/negatives_cases.h - negative samples for tests: rules, graphs, the law by its formula, and how far draws are
 * from it. */
#ifndef CSAW_TESTS_NEGATIVES_CASES_H
#define CSAW_TESTS_NEGATIVES_CASES_H

#include "tests/graph_cases.h"
#include "tests/law.h"

#include <csaw/training.h>

namespace negatives_cases {

using law::Graph;
using Vertices = std::vector<csaw_vertex>;

struct Rule {
    double power = 0;
    bool any = false;
    int threads = 0;
    const char *device = nullptr;
    void *stream = nullptr;
    csaw_negative_options given() const { return {sizeof(csaw_negative_options), power, any, threads, device, stream}; }
};

using Negatives = std::unique_ptr<csaw_negatives, decltype(&csaw_negatives_free)>;

inline Negatives create(const csaw_graph *graph, const Rule &rule) {
    const csaw_negative_options given = rule.given();
    csaw_negatives *out = nullptr;
    reference::require(csaw_negatives_create(graph, &given, &out));
    return Negatives(out, csaw_negatives_free);
}

inline bool allowed(const csaw_csr &csr, csaw_vertex u, csaw_vertex x) {
    return x != u && !std::count(csr.col + csr.rowptr[u], csr.col + csr.rowptr[u + uint64_t{1}], x);
}

inline std::vector<long double> law_of(const csaw_csr &csr, const Rule &rule, csaw_vertex u) {
    std::vector<long double> p(csr.num_vertices);
    long double sum = 0;
    for (csaw_vertex x = 0; x < csr.num_vertices; x++) {
        const auto degree = static_cast<long double>(csr.rowptr[x + 1] - csr.rowptr[x]);
        if (rule.any || allowed(csr, u, x))
            p[x] = rule.power == 0 ? 1 : degree > 0 ? std::pow(degree, static_cast<long double>(rule.power)) : 0;
        sum += p[x];
    }
    if (sum == 0) return {};
    for (long double &q : p) q /= sum;
    return p;
}

// Vertex 0 has arcs to all but three of 64, of unequal degrees, one of them twice; the others to the next few.
inline Graph nearly_complete() {
    std::vector<reference::WeightedArc> arcs = {{0, 7, 1}};
    for (csaw_vertex v = 0; v < 64; v++) {
        if (v != 5 && v != 40 && v != 63) arcs.push_back({0, v, 1});
        for (csaw_vertex k = 1; v > 0 && k <= v % 5; k++) arcs.push_back({v, (v + k) % 64, 1});
    }
    return reference::graph_of("nearly complete", 64, arcs, false);
}

inline std::vector<Graph> graphs() {
    std::vector<Graph> out = {nearly_complete()};
    for (const char *name : {"path", "star", "karate", "isolated", "multi_weighted", "directed", "zero_rows"})
        out.push_back(reference::small_graph(name));
    return out;
}

inline const std::vector<Rule> rules = {{0, false}, {0, true},    {.75, false}, {.75, true},
                                        {1, false}, {2.5, false}, {4, true},    {1e-3, false}};

// [src.size(), each] of negatives, wherever they are drawn.
using Draw =
    std::function<Vertices(csaw_negatives *, uint64_t seed, uint64_t first, const Vertices &src, uint32_t each)>;

// Of every vertex that has a law 10 draws by each of so many sources: z against the law of `claimed`.
inline double z_of(const Graph &graph, const Rule &rule, const Rule &claimed, uint64_t seed, size_t sources,
                   const Draw &draw) {
    const csaw_csr csr = graph.csr();
    const auto borrowed = reference::borrow(csr);
    const Negatives negatives = create(borrowed.get(), rule);
    law::ChiSquare fit;
    for (csaw_vertex u = 0; u < csr.num_vertices; u++) {
        const std::vector<long double> p = law_of(csr, claimed, u);
        if (p.empty() || law_of(csr, rule, u).empty()) continue;
        std::vector<uint64_t> seen(csr.num_vertices);
        for (csaw_vertex x : draw(negatives.get(), seed, u * uint64_t{100000}, Vertices(sources, u), 10)) seen.at(x)++;
        fit.add(seen, p);
    }
    return fit.z();
}

} // namespace negatives_cases

#endif

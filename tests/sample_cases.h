/* SPDX-License-Identifier: MIT */
/* tests/sample_cases.h - the built-in samplers of samples, each as the library has it, as tests/reference has it and by
 * its law, with fanouts and parameters that show every branch; and the graphs to sample from. */
#ifndef CSAW_SAMPLE_CASES_H
#define CSAW_SAMPLE_CASES_H

#include "tests/reference/built_in_samples.h"
#include "tests/reference/samplers.h"
#include "tests/samples_law.h"

#include <limits>

namespace sample_cases {

using namespace samples_law;

struct Case {
    std::string name;
    const csaw_sampler *sampler;
    std::vector<char> params; // its struct's bytes; empty = it has none
    reference::Sampler reference;
    Law law;
    std::vector<uint32_t> fanout; // of the run; where the sampler has a fanout hook its length is the depth
    std::vector<uint32_t> whole;  // the same where whole samples are counted
    bool replace = false;
    bool chance = true; // else all samples of a pool are the same, and few are enough
};

template <typename Params> std::vector<char> bytes_of(const Params &params) {
    const char *bytes = reinterpret_cast<const char *>(&params);
    return {bytes, bytes + sizeof(params)};
}

// ---- laws, from the comments of samplers/ and examples/ --------------------------

inline long double alike(const csaw_csr &, const State &, csaw_edge) { return 1; }

inline long double by_weight(const csaw_csr &csr, const State &, csaw_edge e) {
    return csr.weight ? csr.weight[e] : 1.0L;
}

inline long double if_unvisited(const csaw_csr &csr, const State &state, csaw_edge e) {
    return state.visited.count(csr.col[e]) ? 0 : 1;
}

inline long double squared_entry(const csaw_csr &csr, const State &, csaw_edge e) {
    const uint64_t there = degree_of(csr, csr.col[e]);
    return 1.0L / static_cast<long double>(degree_of(csr, src_of(csr, e)) * std::max(uint64_t{1}, there));
}

inline long double inverse_degree(const csaw_csr &csr, csaw_vertex v) {
    return 1.0L / static_cast<long double>(std::max(uint64_t{1}, degree_of(csr, v)));
}

inline long double saint_node(const csaw_csr &csr, const State &, csaw_edge e) {
    const long double of_src = inverse_degree(csr, src_of(csr, e));
    return of_src * of_src;
}

inline long double saint_edge(const csaw_csr &csr, const State &, csaw_edge e) {
    return inverse_degree(csr, src_of(csr, e)) + inverse_degree(csr, csr.col[e]);
}

inline std::function<long double(uint32_t)> geometric(long double p) {
    return [=](uint32_t j) { return (1 - p) * std::pow(p, static_cast<long double>(j)); };
}

inline Law law_of(std::function<long double(const csaw_csr &, const State &, csaw_edge)> bias,
                  Next next = Next::reached) {
    Law out;
    out.bias = std::move(bias);
    out.next = next;
    return out;
}

inline Law together(Law law) {
    law.together = true;
    return law;
}

inline Law with_replacement(Law law) {
    law.replace = true;
    return law;
}

inline Law forest_fire(long double p) {
    Law out = law_of(if_unvisited);
    out.sees_visited = true;
    out.sizes = geometric(p);
    return out;
}

inline Law forest_fire_all(long double p) {
    Law out = law_of(alike, Next::unvisited);
    out.sizes = geometric(p);
    return out;
}

inline Law temporal_neighbor(int64_t since, int64_t until) {
    return law_of([=](const csaw_csr &csr, const State &state, csaw_edge e) {
        const int64_t time = csr.time ? csr.time[e] : 0;
        return time < since || time > until ? 0 : by_weight(csr, state, e);
    });
}

inline Law metapath(const std::vector<uint32_t> &types) {
    Law out = law_of([=](const csaw_csr &csr, const State &state, csaw_edge e) {
        return (csr.type ? csr.type[e] : 0) == types[state.depth % types.size()] ? by_weight(csr, state, e) : 0;
    });
    out.sees_depth = true;
    return out;
}

inline Law layer_of_vertices() {
    Law out = together(law_of(squared_entry));
    out.distinct = true;
    return out;
}

// ---- cases ------------------------------------------------------------------

inline std::vector<Case> cases() {
    namespace r = reference;
    const int64_t any = std::numeric_limits<int64_t>::min(), ever = std::numeric_limits<int64_t>::max();
    const std::vector<uint32_t> two = {2, 2}, three = {3, 1, 2};
    const Law uniform = law_of(alike), weighted = law_of(by_weight);
    return {
        {"neighbor", &csaw_neighbor, {}, r::neighbor(), uniform, three, two},
        {"neighbor_replace", &csaw_neighbor, {}, r::neighbor(), with_replacement(uniform), three, {2, 1}, true},
        {"neighbor_biased", &csaw_neighbor_biased, {}, r::neighbor_biased(), weighted, three, two},
        {"neighbor_biased_replace",
         &csaw_neighbor_biased,
         {},
         r::neighbor_biased(),
         with_replacement(weighted),
         three,
         {2, 1},
         true},
        {"neighbor_once", &csaw_neighbor_once, {}, r::neighbor_once(), law_of(by_weight, Next::unvisited), three, two},
        {"neighbor_again", &csaw_neighbor_again, {}, r::neighbor_again(), law_of(by_weight, Next::keep), three, {1, 2}},
        {"temporal_neighbor", &csaw_temporal_neighbor, bytes_of(csaw_temporal_neighbor_params{-2, 3}),
         r::temporal_neighbor(-2, 3), temporal_neighbor(-2, 3), three, two},
        {"temporal_neighbor_any",
         &csaw_temporal_neighbor,
         {},
         r::temporal_neighbor(any, ever),
         temporal_neighbor(any, ever),
         three,
         two},
        {"metapath", &csaw_metapath, bytes_of(csaw_metapath_params{2, 0, 1, 0, 0, 0, 0, 0, 0}), r::metapath({0, 1}),
         metapath({0, 1}), three, two},
        {"forest_fire",
         &csaw_forest_fire,
         bytes_of(csaw_forest_fire_params{.6f}),
         r::forest_fire(.6f),
         forest_fire(.6f),
         {0, 0, 0},
         {0, 0}},
        {"forest_fire_all",
         &csaw_forest_fire_all,
         bytes_of(csaw_forest_fire_all_params{.45f}),
         r::forest_fire_all(.45f),
         forest_fire_all(.45f),
         {0, 0, 0},
         {0, 0}},
        {"snowball",
         &csaw_snowball,
         {},
         r::snowball(),
         law_of(alike, Next::unvisited),
         {CSAW_ALL, CSAW_ALL, CSAW_ALL},
         {CSAW_ALL, CSAW_ALL},
         false,
         false},
        {"layer", &csaw_layer, {}, r::layer(), together(weighted), three, {3, 1}},
        {"layer_replace", &csaw_layer, {}, r::layer(), with_replacement(together(weighted)), {2, 3}, {2, 1}, true},
        {"multidimensional",
         &csaw_multidimensional,
         {},
         r::multidimensional(),
         together(law_of(alike, Next::list)),
         {1, 1, 1},
         {1, 1, 1}},
        {"random_edge", &csaw_random_edge, {}, r::random_edge(), together(law_of(alike, Next::nothing)), {3}, {2}},
        {"saint_node",
         &csaw_saint_node,
         {},
         r::saint_node(),
         with_replacement(together(law_of(saint_node, Next::nothing))),
         {3},
         {2}},
        {"saint_edge",
         &csaw_saint_edge,
         {},
         r::saint_edge(),
         with_replacement(together(law_of(saint_edge, Next::nothing))),
         {3},
         {2}},
        {"saint_walk", &csaw_saint_walk, {}, r::saint_walk(), law_of(alike, Next::walkers), {1, 1, 1}, {1, 1}},
        {"shadow", &csaw_shadow, {}, r::shadow(), law_of(alike, Next::unvisited), three, two},
    };
}

// Methods that the library allows.
inline std::vector<Method> methods_of(const reference::Sampler &sampler, bool replace, const csaw_csr &csr) {
    const bool constant = !sampler.static_bias || (sampler.static_is_weight && !csr.weight);
    std::vector<Method> out = {Method::automatic, Method::its};
    if (!sampler.edge_bias && constant && !sampler.distinct) out.push_back(Method::uniform);
    if (sampler.layer) return out;
    if (!sampler.edge_bias) out.push_back(Method::alias);
    if (sampler.has_bounds) out.push_back(Method::reject);
    if (!replace) out.push_back(Method::race);
    return out;
}

// Of a fit: as small as chance makes it, both ways.
inline void expect_small(const ChiSquare &fit, const std::string &what) {
    EXPECT_LT(std::fabs(fit.z()), law::threshold) << what << ": z = " << fit.z() << " on " << fit.freedom();
}

// The pool whose whole samples are counted: of layers two vertices, of walkers two on one vertex.
inline Vertices whole_pool(const Law &law) {
    return law.together ? Vertices{2, 0} : law.next == Next::walkers ? Vertices{0, 0} : Vertices{0};
}

// ---- random nodes: the first frontier is all of a sample ------------------------

using Frontiers = std::map<Sequence, uint64_t>; // how often each was seen

// Against successive draws from the pool, all alike.
inline ChiSquare frontier_fit(Frontiers seen, const Vertices &pool, uint32_t size) {
    Counted all;
    for (const auto &[picks, p] : selection(std::vector<long double>(pool.size(), 1), size, false)) {
        Sequence vertices;
        for (csaw_edge i : picks) vertices.push_back(pool[i]);
        all.probability[vertices] += p;
    }
    all.seen = std::move(seen);
    ChiSquare fit;
    all.add_to(&fit);
    return fit;
}

// ---- graphs -----------------------------------------------------------------

// Rows of at most 4 arcs: parallel ones, loops, weights of 0, a sink (4) and a row without any chance by weight (6).
inline Graph crumb(bool weighted) {
    return reference::graph_of(weighted ? "weighted crumb" : "crumb", 7,
                               {{0, 1, 1, 0, 1},
                                {0, 2, 2.5f, 1, 3},
                                {0, 2, .5f, 0, -2},
                                {0, 3, 4, 0, 4},
                                {1, 0, 1, 1, 0},
                                {1, 1, 2, 0, -3},
                                {1, 4, 0, 1, 2},
                                {2, 3, 3, 0, 1},
                                {2, 0, .25f, 1, 3},
                                {2, 4, 1, 1, -2},
                                {3, 4, 2, 1, 2},
                                {3, 5, 1, 1, 4},
                                {5, 0, 1, 0, 0},
                                {5, 2, 3, 1, 1},
                                {6, 0, 0, 1, 1},
                                {6, 5, 0, 0, 2}},
                               weighted);
}

// Every law can be written down on these; on the larger ones where the number of picks is given and small.
inline std::vector<Graph> tiny_graphs() {
    return {crumb(true), crumb(false), reference::small_graph("path"), reference::small_graph("isolated"),
            reference::small_graph("complete")};
}

inline std::vector<Graph> graphs_of(const Case &each) {
    std::vector<Graph> out = tiny_graphs();
    if (each.law.sizes || each.law.together) return out;
    for (const char *name : {"karate", "directed_weighted", "multi_weighted", "zero_rows"})
        out.push_back(reference::small_graph(name));
    out.push_back(reference::event_graph(true));
    out.push_back(reference::epoch_graph()); // times at both ends of int64_t
    return out;
}

} // namespace sample_cases

#endif

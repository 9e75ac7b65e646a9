/* SPDX-License-Identifier: MIT */
/* tests/sampled_cases.h - runs that make samples of all kinds, and the plain list of vertices by first visit. */
#ifndef CSAW_TESTS_SAMPLED_CASES_H
#define CSAW_TESTS_SAMPLED_CASES_H

#include <csaw/samplers.h>

#include <set>

#include "graph_cases.h"

namespace sampled_cases {

using namespace graph_cases;
using Plan = std::unique_ptr<csaw_plan, decltype(&csaw_plan_free)>;
using Samples = std::unique_ptr<csaw_samples, decltype(&csaw_samples_free)>;

struct Request {
    const csaw_sampler *sampler = &csaw_neighbor;
    std::vector<uint32_t> fanout = {}; // empty: none, a walk where the sampler is one
    uint32_t depth = 0;                // without a fanout
    std::vector<csaw_vertex> seeds = {};
    std::vector<uint64_t> pools = {}; // offsets; empty = one seed each
    uint32_t each = 1;
    bool replace = false, edges = true;
};

// of: the plan's options, NULL = defaults
inline Samples sample(const csaw_graph *graph, const Request &run, const csaw_plan_options *of = nullptr,
                      csaw_select select = CSAW_SELECT_AUTO) {
    csaw_plan *p = nullptr;
    EXPECT_EQ(csaw_plan_create(graph, of, &p), CSAW_OK) << csaw_last_error();
    Plan plan(p, csaw_plan_free);
    csaw_run_options options = {};
    options.size = sizeof options;
    options.seed = 11;
    options.walks_per_seed = run.each;
    options.depth = run.fanout.empty() ? run.depth : static_cast<uint32_t>(run.fanout.size());
    options.fanout = run.fanout.empty() ? nullptr : run.fanout.data();
    options.replace = run.replace;
    options.edges = run.edges;
    options.select = select;
    const csaw_seeds seeds = {run.seeds.data(), run.pools.empty() ? run.seeds.size() : run.pools.size() - 1,
                              run.pools.empty() ? nullptr : run.pools.data()};
    csaw_samples *out = nullptr;
    EXPECT_EQ(csaw_sample(plan.get(), run.sampler, nullptr, run.seeds.empty() ? nullptr : &seeds, &options, &out),
              CSAW_OK)
        << csaw_last_error();
    return Samples(out, csaw_samples_free);
}

inline csaw_arcs arcs_of(csaw_samples *samples) {
    csaw_arcs arcs = {};
    EXPECT_EQ(csaw_samples_arcs(samples, CSAW_HOST, &arcs), CSAW_OK) << csaw_last_error();
    return arcs;
}

// ---- the plain construction: a list of vertices and a set of edge ids --------------

struct Plain {
    std::vector<csaw_vertex> vertex;
    std::set<csaw_edge> edges;
    void visit(csaw_vertex v) {
        if (std::find(vertex.begin(), vertex.end(), v) == vertex.end()) vertex.push_back(v);
    }
    csaw_vertex number(csaw_vertex v) const {
        return static_cast<csaw_vertex>(std::find(vertex.begin(), vertex.end(), v) - vertex.begin());
    }
};

inline const std::vector<Request> runs = {
    {&csaw_neighbor, {3, 2}, 0, {5, 0, 5, 17}, {}, 2},
    {&csaw_neighbor, {3, 2}, 0, {5, 0, 9, 17, 1}, {0, 3, 3, 5}, 1},
    {&csaw_neighbor, {4, 4}, 0, {3, 0}, {}, 1, true},
    {&csaw_neighbor, {CSAW_ALL}, 0, {}, {}, 1},
    {&csaw_neighbor_once, {2, 2, 2}, 0, {0, 1, 30}, {0, 2, 3}, 2},
    {&csaw_neighbor_again, {2, 2, 2}, 0, {0, 1, 30}, {0, 2, 3}, 2},
    {&csaw_snowball, {}, 2, {4}, {}, 1},
    {&csaw_layer, {6, 6}, 0, {0, 1, 2}, {0, 3}, 2},
    {&csaw_multidimensional, {}, 9, {0, 1, 0}, {0, 3}, 1},
    {&csaw_uniform, {}, 7, {0, 1, 49}, {}, 2},
    {&csaw_jump, {}, 7, {0, 1, 49}, {}, 2},
};

} // namespace sampled_cases

#endif

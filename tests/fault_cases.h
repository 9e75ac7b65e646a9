/* SPDX-License-Identifier: MIT */
/* tests/fault_cases.h - a small graph with every column, what to ask of it, and plans on it, for runs that are cut
 * short: allocations_gpu_test.cc, stopped_gpu_test.cc. */
#ifndef CSAW_FAULT_CASES_H
#define CSAW_FAULT_CASES_H

#include "tests/gpu_cases.h"

namespace fault_cases {

using namespace gpu_cases;
using reference::Graph;

// A hub of 100 weighted arcs, so that rows are longer than the largest fanout below; types and times are there too.
inline Graph starlet() {
    std::vector<reference::WeightedArc> arcs;
    for (csaw_vertex leaf = 1; leaf <= 100; leaf++) {
        const auto weight = static_cast<float>(leaf % 7 + 1);
        arcs.push_back({0, leaf, weight, leaf % 3, leaf % 5});
        arcs.push_back({leaf, 0, weight, leaf % 2, leaf % 5 + 1});
        arcs.push_back({leaf, leaf % 10 + 1, 1, 0, leaf % 9});
    }
    return reference::graph_of("starlet", 101, arcs, true);
}

inline Ask ask_on_starlet(const Case &each) {
    if (each.walk) return ask_of(each, {{0}, {1}, {55}}, 5, {});
    if (each.reference.fanout) return ask_of(each, {{0}, {7, 0, 9}}, 0, {0, 0});
    if (each.reference.replace_pool) return ask_of(each, {{0}, {7, 0, 9}}, 0, {1, 1});
    return ask_of(each, {{0}, {7, 0, 9}}, 0, {40, 2}); // 40: picked outside of shared memory
}

inline ::testing::AssertionResult equal_bits(csaw_samples *a, csaw_samples *b, bool walk) {
    uint64_t items = 0;
    return walk ? same_walks(a, b, &items) : same_arcs(a, b, &items);
}

struct Plans {
    csaw_csr csr;
    std::unique_ptr<csaw_graph, reference::Free> graph = reference::borrow(csr);
    std::unique_ptr<csaw_plan, reference::Free> on(const char *device) const {
        const csaw_plan_options options = reference::plan_on(device, 0, 0);
        csaw_plan *plan = nullptr;
        reference::require(csaw_plan_create(graph.get(), &options, &plan));
        return std::unique_ptr<csaw_plan, reference::Free>(plan);
    }
};

} // namespace fault_cases

#endif

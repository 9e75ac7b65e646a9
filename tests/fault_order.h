/* SPDX-License-Identifier: MIT */
/* tests/fault_order.h - runs in which hooks break rules at several places, and which of them every plan must name: that
 * of the lowest instance, of its faults that at the lowest depth, and there that on the lowest edge. The program that
 * includes it has tests/samplers/faulty.c. */
#ifndef CSAW_FAULT_ORDER_H
#define CSAW_FAULT_ORDER_H

#include "tests/reference/graphs.h"
#include "tests/reference/public_api.h"

#include <gtest/gtest.h>

#include <algorithm>

CSAW_DECLARE_SAMPLER(faulty);

namespace fault_order {

struct FaultyParams { // as in tests/samplers/faulty.c
    uint32_t rule, vertex, depth;
};

struct Run {
    std::string name;
    FaultyParams params;
    std::vector<std::vector<csaw_vertex>> pools;
    const char *where; // what the message says
};

// Vertex 9 is the wrong one: instance 5 is there at depth 0 and instance 7 as well, instance 2 at depth 1. A dead end
// is wrong at vertex 6.
inline reference::Graph graph() {
    return reference::graph_of(
        "faults", 10, {{0, 1, 1}, {1, 0, 1}, {2, 3, 1}, {3, 9, 1}, {4, 9, 1}, {5, 9, 1}, {7, 6, 1}, {9, 0, 1}}, false);
}

inline std::vector<Run> runs() {
    const std::vector<std::vector<csaw_vertex>> alone = {{0}, {1}, {2}, {0}, {1}, {4}, {0}, {5}};
    return {
        {"edge_bias", {1, 9, 0}, alone, "instance 2, depth 1, edge 3 (3 -> 9)"},
        {"update", {6, 9, 0}, alone, "instance 2, depth 1, edge 3 (3 -> 9)"},
        {"dead_end", {7, 6, 0}, {{0}, {1}, {7}, {0}, {1}, {6}}, "instance 2, depth 1, at vertex 6"},
        {"lower edge, later", {1, 9, 0}, {{0}, {1}, {2, 5}, {0}, {1}, {4}}, "instance 2, depth 0, edge 5 (5 -> 9)"},
        {"lower edge, later place", {1, 9, 0}, {{0}, {1}, {5, 4}, {4}}, "instance 2, depth 0, edge 4 (4 -> 9)"},
    };
}

// batch_bytes: 0 = all instances in a batch, 1 = one.
inline std::string said_of(csaw_plan *plan, const Run &run, csaw_select select, const uint32_t *fanout,
                           uint64_t batch_bytes) {
    const reference::Seeds seeds(run.pools);
    const csaw_seeds view = seeds.view();
    csaw_run_options options = {};
    options.size = sizeof options;
    options.depth = 3;
    options.fanout = fanout;
    options.select = select;
    options.batch_bytes = batch_bytes;
    const auto nothing = [](void *, csaw_samples *) { return CSAW_OK; };
    const csaw_status status = csaw_sample_each(plan, &faulty, &run.params, &view, &options, nothing, nullptr);
    return status == CSAW_EBIAS ? csaw_last_error() : csaw_status_text(status);
}

// Walks; samples of few arcs, and, by CSAW_ALL, of any number: a GPU runs these otherwise.
inline void expect_lowest(const csaw_plan_options &options) {
    static const uint32_t few[] = {2, 2, 2}, any[] = {CSAW_ALL, 2, 2};
    const reference::Graph given = graph();
    const auto graph = reference::borrow(given.csr());
    csaw_plan *made = nullptr;
    reference::require(csaw_plan_create(graph.get(), &options, &made));
    const std::unique_ptr<csaw_plan, reference::Free> plan(made);
    for (const Run &run : runs())
        for (csaw_select select : {CSAW_SELECT_ITS, CSAW_SELECT_REJECT, CSAW_SELECT_RACE})
            for (const uint32_t *fanout : {(const uint32_t *)nullptr, few, any})
                for (uint64_t batch_bytes : {0, 1}) {
                    if (!fanout && run.params.rule == 1 && select == CSAW_SELECT_REJECT)
                        continue; // a proposal below the lower bound is taken without a look at its bias
                    const std::string said = said_of(plan.get(), run, select, fanout, batch_bytes);
                    EXPECT_NE(std::string::npos, said.find("sampler 'faulty', " + std::string(run.where)))
                        << run.name << ", " << csaw_select_name(select) << ", "
                        << (fanout == few   ? "few"
                            : fanout == any ? "any"
                                            : "walks")
                        << ", batches of " << batch_bytes << ": " << said;
                }
}

} // namespace fault_order

#endif

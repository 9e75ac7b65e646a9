/* SPDX-License-Identifier: MIT */
/* tests/layer_gpu_test.cc - layers on a GPU beyond tests/sample_equality_gpu_test.cc: more candidates than are handled
 * at a time, a hub, faults of hooks, memory that runs out. The CPU engine says what is right. */
#include "tests/failing_allocations.h"
#include "tests/gpu_cases.h"

#include <cmath>

using namespace gpu_cases;

CSAW_DECLARE_SAMPLER(faulty_layer);
CSAW_DECLARE_SAMPLER(faulty_distinct);

namespace {

struct FaultyLayerParams { // as in tests/samplers/faulty_layer.h
    uint32_t rule, vertex, depth;
};

Case case_of(const csaw_sampler *sampler) { return {csaw_sampler_name(sampler), sampler, {}, {}, false}; }

Ask ask_for(Pools pools, uint32_t each, std::vector<uint32_t> fanout, bool replace) {
    return {5, std::move(pools), each, static_cast<uint32_t>(fanout.size()), std::move(fanout), replace};
}

void expect_equal(Pair *pair, const csaw_sampler *sampler, const Ask &ask, uint64_t more_than) {
    const uint64_t before = pair->items;
    EXPECT_TRUE(pair->same(case_of(sampler), Method::automatic, ask)) << csaw_sampler_name(sampler);
    EXPECT_EQ(CSAW_OK, pair->last_status) << pair->last_message;
    EXPECT_LT(more_than, pair->items - before) << csaw_sampler_name(sampler);
}

using OwnedGraph = std::unique_ptr<csaw_graph, reference::Free>;

OwnedGraph rmat(uint32_t scale) {
    csaw_rmat_options options = {};
    options.size = sizeof options;
    options.scale = scale;
    options.weighted = true;
    csaw_graph *graph = nullptr;
    reference::require(csaw_graph_rmat(&options, &graph));
    return OwnedGraph(graph);
}

// One pool of all vertices, so often that its arcs are more than 2^25, which is more than are handled at a time.
TEST(LayerGpu, MoreCandidatesThanAtATime) {
    SKIP_WITHOUT_GPU();
    const OwnedGraph graph = rmat(16);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    Pair pair(csr);
    Pools whole(1);
    for (uint64_t v = 0; v < csr.num_vertices; v++) whole[0].push_back(static_cast<csaw_vertex>(v));
    const auto each = static_cast<uint32_t>(reference::share_of(uint64_t{1} << 25) / csr.num_edges + 2);
    const uint64_t more_than = each * uint64_t{900}; // an instance takes a thousand arcs, then 20
    Ask ask = ask_for(whole, each, {1000, 20}, false);
    for (const csaw_sampler *sampler : {&csaw_layer, &csaw_random_edge, &faulty_layer, &faulty_distinct})
        expect_equal(&pair, sampler, ask, more_than);
    ask.replace = true;
    for (const csaw_sampler *sampler : {&csaw_layer, &faulty_distinct}) expect_equal(&pair, sampler, ask, more_than);
}

// 2^20 leaves around vertex 0, some of them joined twice; weights over six powers of ten, some of them 0.
TEST(LayerGpu, OnAHub) {
    SKIP_WITHOUT_GPU();
    const csaw_vertex leaves = 1 << 20, twice = leaves / 8;
    std::vector<uint64_t> rowptr = {0, uint64_t{leaves} + twice};
    std::vector<csaw_vertex> col;
    std::vector<float> weight;
    for (csaw_vertex leaf = 1; leaf <= leaves; leaf++) {
        for (uint32_t j = 0; j < (leaf % 8 == 0 ? 2u : 1u); j++) {
            col.push_back(leaf);
            weight.push_back(leaf % 5 == 0 ? 0.0f : std::pow(10.0f, static_cast<float>(leaf % 7) - 3));
        }
    }
    for (csaw_vertex leaf = 1; leaf <= leaves; leaf++) {
        col.push_back(0);
        weight.push_back(1);
        rowptr.push_back(rowptr.back() + 1);
    }
    csaw_csr csr = {};
    csr.num_vertices = uint64_t{leaves} + 1;
    csr.num_edges = col.size();
    csr.rowptr = rowptr.data();
    csr.col = col.data();
    csr.weight = weight.data();
    Pair pair(csr);
    for (const std::vector<uint32_t> &fanout :
         {std::vector<uint32_t>{1, 5}, {32, 32}, {1000, 33}, {CSAW_ALL, 40}, {1, CSAW_ALL}})
        for (bool replace : {false, true})
            for (const csaw_sampler *sampler : {&csaw_layer, &csaw_random_edge, &faulty_layer, &faulty_distinct})
                if (reference::takes_case())
                    expect_equal(&pair, sampler, ask_for({{0}, {}, {7, 0, 9}, {3}}, 3, fanout, replace), 1);
}

TEST(LayerGpu, FaultsAreNamedAsOnTheCpu) {
    SKIP_WITHOUT_GPU();
    const OwnedGraph graph = rmat(10);
    Pair pair(csaw_graph_csr(graph.get()));
    Pools pools;
    for (csaw_vertex j = 0; j < 100; j++) pools.push_back({3 * j + 1, 3 * j + 2, 3 * j + 3});
    for (const csaw_sampler *sampler : {&faulty_layer, &faulty_distinct})
        for (uint32_t rule : {1u, 2u, 3u, 4u, 5u, 6u})
            for (uint32_t depth : {0u, 1u}) {
                if (!reference::takes_case()) continue;
                const bool replace = rule == 6; // without replacement it would be all
                SCOPED_TRACE(csaw_sampler_name(sampler) + std::string(", rule ") + std::to_string(rule));
                const Ask ask = ask_for(pools, 1, {20, 20, 6}, replace);
                Case wrong = case_of(sampler);
                wrong.params = sample_cases::bytes_of(FaultyLayerParams{rule, 0, depth});
                EXPECT_TRUE(pair.same(wrong, Method::automatic, ask));
                EXPECT_NE(CSAW_OK, pair.last_status);
                expect_equal(&pair, sampler, ask, 220); // the plan draws on
            }
}

TEST(LayerGpu, EveryAllocationFails) {
    SKIP_WITHOUT_GPU();
    const OwnedGraph graph = rmat(8);
    Pair pair(csaw_graph_csr(graph.get()));
    Pools pools = {{3, 5, 3}, {0, 1}, {}}; // of the last one more arcs than an instance that runs alone has room for
    for (csaw_vertex v = 0; v < csaw_graph_csr(graph.get()).num_vertices; v++) pools[2].push_back(v);
    const Ask ask = ask_for(pools, 1, {1500, 3}, false);
    for (const csaw_sampler *sampler : {&csaw_random_edge, &faulty_layer, &faulty_distinct}) {
        const auto run = [&] { return draw(pair.gpu_plan(), case_of(sampler), Method::automatic, ask).status; };
        EXPECT_LT(30u, fail_every_allocation(run)) << csaw_sampler_name(sampler);
        expect_equal(&pair, sampler, ask, 1024);
    }
}

} // namespace

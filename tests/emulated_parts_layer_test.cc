/* SPDX-License-Identifier: MIT */
/* tests/emulated_parts_layer_test.cc - tests/emulated_parts_samples.h: layers, which are exchanged between the
 * partitions that come; its picks are read in place. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>

#include "tests/failing_allocations.h"
#include "tests/sample_equality.h"

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_parts_samples.h"

#include "runtime/engine/run.h"

using namespace emulated_parts;

namespace {

// The seeds of the last instance are all vertices.
SampleRequest over_all(const csaw_csr &csr, std::vector<uint32_t> fanout, bool replace) {
    SampleRequest out = one_seed_each(csr, 5, std::move(fanout));
    out.replace = replace;
    out.pools.emplace_back();
    for (csaw_vertex v = 0; v < csr.num_vertices; v++) out.pools.back().push_back(v);
    return out;
}

// A hub, its leaves, some of which lead back, and vertices without arcs; weights far apart, and 0 in all of some rows.
reference::Graph hubs() {
    std::vector<reference::WeightedArc> arcs;
    for (csaw_vertex leaf = 1; leaf <= 70; leaf++) {
        arcs.push_back({0, leaf, leaf % 4 ? std::ldexp(1.0f, static_cast<int>(leaf % 40)) : 0, 0, 0});
        if (leaf % 3 == 0) arcs.push_back({leaf, 0, leaf % 2 ? 1.0f : 0.0f, 0, 0});
    }
    arcs.push_back({75, 0, 1, 0, 0});
    return reference::graph_of("hubs", 77, arcs, true);
}

class EmulatedPartsLayer : public ::testing::Test {
  protected:
    void SetUp() override { fake_cuda::Reset(); }
    void TearDown() override {
        EXPECT_TRUE(fake_cuda::AllGivenBack());
        fake_cuda::Reset();
    }
    const csaw_sampler *const built_in = csaw_sampler_find("layer");
    const Sampler sampler{*built_in};
};

TEST_F(EmulatedPartsLayer, SamplesAreTheCpus) {
    for (const reference::Graph &graph : {hubs(), reference::small_graph("weighted")}) {
        const csaw_csr csr = graph.csr();
        const Library cpu(csr, reference::plan_on("cpu", 1, 0));
        for (const csaw_plan_options &plan :
             {on_gpu(2, 1), on_gpu(4, 1), on_gpu(4, 2), on_gpu(17, 1), on_gpu(17, 2), on_gpu(4, 0)}) {
            fake_cuda::Reset();
            fake_cuda::Seed(static_cast<uint64_t>(plan.partitions));
            const Library gpu(csr, plan);
            for (const SampleRequest &request :
                 {over_all(csr, {7, 3}, false), over_all(csr, {45, 2, 40}, false), over_all(csr, {5, 0, 50}, true),
                  over_all(csr, {CSAW_ALL, 2}, false)}) {
                SCOPED_TRACE(graph.name + ", " + equality::name_of(plan) + ", " + sample_equality::name_of(request));
                EXPECT_TRUE(sample_equality::same(cpu.samples(built_in, nullptr, Method::its, request),
                                                  gpu.samples(sampler.get(), nullptr, Method::its, request)));
            }
            EXPECT_GE(inside(gpu)->use.copies, static_cast<uint64_t>(plan.partitions) / 2) << "nothing was brought";
        }
    }
}

// Of 6 partitions 2 stay from pass to pass: 6 transfers for the largest bias, 4 for sums, 4 for draws, if all are hit.
// A frontier in one partition brings that one alone, once. By UNIFORM, and where the graph stays, none comes.
TEST_F(EmulatedPartsLayer, WhatIsNeededIsBrought) {
    const equality::OwnedGraph graph = rmat(8, true);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    SampleRequest all = over_all(csr, {200}, true), one = all;
    all.pools.erase(all.pools.begin(), all.pools.end() - 1);
    one.pools = {{0, 1}};
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    for (const SampleRequest &request : {all, one})
        for (const csaw__parts_way way : {CSAW__PARTS_CHOOSE, CSAW__PARTS_STAY}) {
            fake_cuda::Reset();
            const Library gpu(csr, on_gpu(6, 2));
            gpu.get()->parts->way = way;
            EXPECT_TRUE(sample_equality::same(cpu.samples(built_in, nullptr, Method::its, request),
                                              gpu.samples(sampler.get(), nullptr, Method::its, request)));
            const uint64_t some = request.pools[0].size() == 2 ? 1 : 14;
            EXPECT_EQ(inside(gpu)->use.copies, way == CSAW__PARTS_STAY ? 0 : some);
            const char *const said = strstr(csaw_plan_explain(gpu.get()), "\nlayers      6 partitions, 2 resident: ");
            EXPECT_TRUE(said && strstr(said, ": about 14 transfers = ")) << csaw_plan_explain(gpu.get());
        }
}

// Vertices that lead to so many each, one after the other, by weights of which whole stretches are 0, and some at the
// ends of 1,024 arcs far larger than all others.
reference::Graph long_rows(const std::vector<uint32_t> &degrees, csaw_vertex vertices) {
    std::vector<reference::WeightedArc> arcs;
    for (csaw_vertex v = 0; v < degrees.size(); v++)
        for (uint32_t i = 0; i < degrees[v]; i++) {
            const bool ends = i % 1024 == 0 || i % 1024 == 1023;
            const float weight = i / 1024 % 4 == 1 ? 0 : ends ? 4096 : static_cast<float>(1 + (i * 37 + v) % 11);
            arcs.push_back({v, (v + 1 + i) % vertices, weight, 0, 0});
        }
    return reference::graph_of("long rows", vertices, arcs, true);
}

// Rows are looked at in pieces of 1,024 arcs: of rows that fill one, or several, or hardly one more, the picks are the
// CPU's, with whatever lies beside.
TEST_F(EmulatedPartsLayer, RowsInPiecesHaveTheCpusBits) {
    const reference::Graph graph = long_rows({1023, 5121, 0, 1024, 3, 1025, 0, 2048, 4096, 0}, 6000);
    const csaw_csr csr = graph.csr();
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    for (const csaw_plan_options &plan : {on_gpu(2, 1), on_gpu(5, 2)}) {
        fake_cuda::Reset();
        const Library gpu(csr, plan);
        for (const bool replace : {false, true})
            for (const uint32_t k : {1, 40, 400}) {
                SampleRequest request = over_all(csr, {k, 5}, replace);
                request.pools = {{0}, {1}, {2}, {3}, {5}, {8, 7, 6, 5, 4, 3, 2, 1, 0}, {9, 1, 2}};
                SCOPED_TRACE(equality::name_of(plan) + ", " + sample_equality::name_of(request));
                EXPECT_TRUE(sample_equality::same(cpu.samples(built_in, nullptr, Method::its, request),
                                                  gpu.samples(sampler.get(), nullptr, Method::its, request)));
            }
    }
}

// A hub's row is for as many warps as it has pieces: no warp of a launch waits longer than for a row of one piece.
TEST_F(EmulatedPartsLayer, AHubIsForManyWarps) {
    const reference::Graph graph = long_rows({1024, 20000}, 20002);
    const csaw_csr csr = graph.csr();
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    uint64_t met[2];
    for (csaw_vertex v = 0; v < 2; v++) {
        fake_cuda::Reset();
        emulated_kernels::met.clear();
        const Library gpu(csr, on_gpu(2, 1));
        SampleRequest request = over_all(csr, {40}, true);
        request.pools = {{v}};
        EXPECT_TRUE(sample_equality::same(cpu.samples(built_in, nullptr, Method::its, request),
                                          gpu.samples(sampler.get(), nullptr, Method::its, request)));
        met[v] = emulated_kernels::met[CSAW__KERNEL_LAYER_FAR];
    }
    EXPECT_GT(met[0], 1024u / 32);
    EXPECT_LE(met[1], met[0]);
}

// Of 2,000 vertices one has all arcs. Others of its layer stand at partitions that nobody needs, and so do those that
// the next layer is of.
TEST_F(EmulatedPartsLayer, VerticesWithoutArcsBringNothing) {
    const reference::Graph graph = long_rows({1000}, 2000);
    const csaw_csr csr = graph.csr();
    const Library cpu(csr, reference::plan_on("cpu", 1, 0)), gpu(csr, on_gpu(3, 1));
    for (const std::vector<csaw_vertex> &pool : {std::vector<csaw_vertex>{1999, 700, 0, 1, 1200}, {1999, 700, 1}}) {
        const uint64_t before = inside(gpu)->use.copies;
        SampleRequest request = over_all(csr, {40, 20}, true);
        request.pools = {pool};
        EXPECT_TRUE(sample_equality::same(cpu.samples(built_in, nullptr, Method::its, request),
                                          gpu.samples(sampler.get(), nullptr, Method::its, request)));
        EXPECT_EQ(inside(gpu)->use.copies - before, pool.size() == 5);
    }
}

// Depths of layers on a plan that is told no more than its memory, or how partitions come, and whether any came.
class EmulatedPartsLayerWay : public EmulatedPartsLayer {
  protected:
    // An instance with a pool each.
    SampleRequest of(std::vector<std::vector<csaw_vertex>> pools) const {
        SampleRequest out = over_all(csr, {3}, true);
        out.pools = std::move(pools);
        return out;
    }
    uint64_t degree(csaw_vertex v) const { return csr.rowptr[v + 1] - csr.rowptr[v]; }
    // Vertices from the last one down, as long as they have no more arcs together; without hubs, and without those that
    // have too few.
    std::vector<csaw_vertex> with_arcs(uint64_t arcs) const {
        std::vector<csaw_vertex> out;
        for (csaw_vertex v = csr.num_vertices; v-- > 0;) {
            if (degree(v) < 4 || degree(v) > 60 || degree(v) > arcs) continue;
            arcs -= degree(v);
            out.push_back(v);
        }
        return out;
    }
    // Samples are the CPU's; returns the transfers that they took.
    uint64_t Transfers(const SampleRequest &request, const csaw_plan_options &options,
                       csaw__parts_way way = CSAW__PARTS_CHOOSE) {
        fake_cuda::Reset();
        const Library cpu(csr, reference::plan_on("cpu", 1, 0)), gpu(csr, options);
        gpu.get()->parts->way = way;
        EXPECT_TRUE(sample_equality::same(cpu.samples(built_in, nullptr, Method::its, request),
                                          gpu.samples(sampler.get(), nullptr, Method::its, request)));
        EXPECT_LE(fake_cuda::peak, options.gpu_memory);
        return inside(gpu)->use.copies;
    }
    void Expect(bool comes, const SampleRequest &request, const csaw_plan_options &options,
                csaw__parts_way way = CSAW__PARTS_CHOOSE) {
        EXPECT_EQ(Transfers(request, options, way) > 0, comes);
    }
    // Layers of a vertex each, of so many arcs at least, that have no more candidates together, and hardly fewer.
    std::vector<std::vector<csaw_vertex>> layers_of(uint64_t least, uint64_t candidates) const {
        std::vector<std::vector<csaw_vertex>> out;
        for (csaw_vertex v = 0; candidates >= 2 * least; v = (v + 1) % csr.num_vertices) {
            if (degree(v) < least || degree(v) > 10 * least || degree(v) > candidates) continue;
            candidates -= degree(v);
            out.push_back({v});
        }
        return out;
    }
    // Three passes bring N + 2 (N - R) of N partitions of which R are resident, of which so many come anyway; kernels
    // read an arc's 8 bytes, 2.3 times, in the time in which these come, 1.5 times.
    static uint64_t candidates_in_place(const csaw__fit &fit, uint32_t come_anyway) {
        const double saved = fit.parts + 2.0 * (fit.parts - fit.resident) - come_anyway;
        return static_cast<uint64_t>(saved * static_cast<double>(fit.graph) / fit.parts * 1.5 / (8 * 2.3));
    }
    // At which these vertices stand, as a run of samples divides the graph.
    std::set<uint32_t> parts_of(const csaw_plan_options &options, const std::vector<csaw_vertex> &vertices) const {
        fake_cuda::Reset();
        const Library gpu(csr, options);
        gpu.samples(sampler.get(), nullptr, Method::its, of({{with_arcs(100)[0]}}));
        std::set<uint32_t> out;
        for (const csaw_vertex v : vertices) out.insert(csaw__range_of(&gpu.get()->parts->ranges, v));
        return out;
    }
    // As a run of samples divides the memory.
    csaw__fit fit_of(const csaw_plan_options &options) const {
        fake_cuda::Reset();
        const Library gpu(csr, options);
        gpu.samples(sampler.get(), nullptr, Method::its, of({{with_arcs(100)[0]}}));
        return gpu.get()->parts->fit;
    }
    void SetUp() override {
        EmulatedPartsLayer::SetUp();
        memory.gpu_memory = csr.num_edges * 8 * 3 / 4;
    }
    const equality::OwnedGraph graph = rmat(13, true);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    csaw_plan_options memory = on_gpu(0, 0);
};

// Three passes bring N + 2 (N - R) of N partitions of which R are resident; kernels read an arc's 8 bytes in the time
// in which a copy moves 32. Candidates that take no more are read in place, a few layers at a time: together they need
// many times the memory there is.
TEST_F(EmulatedPartsLayerWay, CandidatesThatCostLessThanTransfersAreReadInPlace) {
    const csaw__fit fit = fit_of(memory);
    const uint64_t most = candidates_in_place(fit, 0);
    std::vector<std::vector<csaw_vertex>> pools;
    uint64_t candidates = 0;
    for (csaw_vertex v = 0; candidates + degree(v) <= most; v = (v + 1) % csr.num_vertices) {
        if (degree(v) < 60 || degree(v) > 600) continue;
        pools.push_back({v});
        candidates += degree(v);
    }
    ASSERT_GT(candidates * 32, 2 * memory.gpu_memory);
    Expect(false, of(pools), memory);
    Expect(true, of(pools), memory, CSAW__PARTS_BRING);
    csaw_vertex more = 0;
    while (degree(more) <= most - candidates) more++;
    pools.push_back({more});
    Expect(true, of(pools), memory);
    Expect(true, of({{pools[0]}}), [&] { // it is said how partitions come
        csaw_plan_options asked = on_gpu(6, 2);
        asked.gpu_memory = memory.gpu_memory;
        return asked;
    }());
}

// Of a launch, which takes a quarter of the instances' memory, a layer's candidates take 32 bytes each.
TEST_F(EmulatedPartsLayerWay, ALayerThatNoLaunchHasRoomForIsExchanged) {
    const csaw__fit fit = fit_of(memory);
    const uint64_t most = (fit.instances + fit.queues + fit.spills) / 4 / 32;
    Expect(false, of({with_arcs(most * 15 / 16)}), memory);
    Expect(true, of({with_arcs(most * 17 / 16)}), memory);
}

// A layer that no launch has room for brings the partitions at which it stands, once. The others of its depth are read
// in place, as long as that takes less than the transfers that they save: those of three passes over all partitions,
// but for what comes anyway.
TEST_F(EmulatedPartsLayerWay, ALayerThatIsTooLargeIsExchangedAlone) {
    const csaw__fit fit = fit_of(memory);
    const std::vector<csaw_vertex> large = with_arcs((fit.instances + fit.queues + fit.spills) / 4 / 32 * 17 / 16);
    const auto at = static_cast<uint32_t>(parts_of(memory, large).size());
    ASSERT_LE(at, fit.resident); // so that none comes twice
    const uint64_t beside = candidates_in_place(fit, at), alone = candidates_in_place(fit, 0);
    std::vector<std::vector<csaw_vertex>> pools = layers_of(60, beside);
    ASSERT_GT(pools.size(), 100u);
    pools.insert(pools.begin() + 50, large);
    EXPECT_EQ(Transfers(of(pools), memory), at);
    EXPECT_GT(Transfers(of(pools), memory, CSAW__PARTS_BRING), fit.parts);
    pools = layers_of(60, (beside + alone) / 2);
    EXPECT_EQ(Transfers(of(pools), memory), 0u);
    pools.push_back(large);
    EXPECT_GT(Transfers(of(pools), memory), fit.parts);
}

// What is taken whole is read in place whatever else a depth has, and is no reason to bring anything.
TEST_F(EmulatedPartsLayerWay, LayersThatAreTakenWholeBringNothing) {
    std::vector<std::vector<csaw_vertex>> pools = layers_of(100, candidates_in_place(fit_of(memory), 0));
    SampleRequest request = of(pools);
    request.fanout = {2};
    request.replace = false;
    EXPECT_EQ(Transfers(request, memory), 0u);
    for (csaw_vertex v = 0; request.pools.size() < pools.size() + 150; v++)
        if (degree(v) == 2) request.pools.push_back({v}); // together more than room is left for
    EXPECT_EQ(Transfers(request, memory), 0u);
    request.fanout = {1};
    EXPECT_GT(Transfers(request, memory), 0u);
}

// Each depth has a way of its own: of two, the first, or the second, or none, or both bring partitions.
TEST_F(EmulatedPartsLayerWay, EachDepthGoesItsWay) {
    const csaw__fit fit = fit_of(memory);
    const uint64_t launch = (fit.instances + fit.queues + fit.spills) / 4 / 32;
    SampleRequest request = of({with_arcs(launch * 17 / 16)});
    request.depth = 2;
    request.fanout = {3, 2};
    const uint64_t first = Transfers(request, memory);
    request.depth = 1;
    request.fanout = {3};
    EXPECT_EQ(first, Transfers(request, memory)) << "the second depth is in place";
    EXPECT_GT(first, 0u);
}

// Vertices of a ring whose arcs lead to so many that follow.
reference::Graph ring_of(csaw_vertex vertices, csaw_vertex degree) {
    std::vector<reference::WeightedArc> arcs;
    for (csaw_vertex v = 0; v < vertices; v++)
        for (csaw_vertex i = 1; i <= degree; i++) arcs.push_back({v, (v + i) % vertices, static_cast<float>(i), 0, 0});
    return reference::graph_of("ring", vertices, arcs, true);
}

// What the plan says of both depths of layers of 32 and 32 arcs is what such layers do.
TEST_F(EmulatedPartsLayer, ThePlanSaysWhichWayADepthGoes) {
    for (const csaw_vertex degree : {4, 299}) {
        const reference::Graph graph = ring_of(degree == 4 ? 20000 : 300, degree);
        const csaw_csr csr = graph.csr();
        csaw_plan_options plan = on_gpu(0, 0);
        plan.gpu_memory = csr.num_edges * 8 * 3 / 4;
        fake_cuda::Reset();
        const Library cpu(csr, reference::plan_on("cpu", 1, 0)), gpu(csr, plan);
        SampleRequest request = one_seed_each(csr, 20, {32, 32});
        EXPECT_TRUE(sample_equality::same(cpu.samples(built_in, nullptr, Method::its, request),
                                          gpu.samples(sampler.get(), nullptr, Method::its, request)));
        const std::string said = csaw_plan_explain(gpu.get());
        EXPECT_EQ(said.find("a layer: exchanged, since ") != std::string::npos, degree == 299) << said;
        EXPECT_EQ(inside(gpu)->use.copies > 0, degree == 299) << said;
    }
}

// Where the graph's pages are refused the CPU draws, and the plan says nothing of a GPU's layers.
TEST_F(EmulatedPartsLayer, ThePlanSaysNoWayWherePagesAreRefused) {
    const reference::Graph graph = ring_of(300, 299);
    const csaw_csr csr = graph.csr();
    csaw_plan_options plan = on_gpu(0, 0);
    plan.gpu_memory = csr.num_edges * 8 * 3 / 4;
    fake_cuda::refuse_pages = true;
    const Library gpu(csr, plan);
    const std::string said = csaw_plan_explain(gpu.get());
    EXPECT_EQ(said.find("\nlayers      "), std::string::npos) << said;
    EXPECT_NE(said.find("layers, second-order walks and samples, and pools that are lists are drawn by the cpu\n"),
              std::string::npos)
        << said;
}

// ---- limits --------------------------------------------------------------------------

csaw_status draw(const csaw_csr &csr, const csaw_sampler *sampler, const csaw_plan_options &options) {
    csaw_graph *graph = nullptr;
    csaw_plan *plan = nullptr;
    csaw_samples *samples = nullptr;
    csaw_arcs arcs;
    const uint32_t fanout[] = {4, CSAW_ALL, 3};
    csaw_run_options run = {};
    run.size = sizeof run;
    run.depth = 3;
    run.fanout = fanout;
    run.select = CSAW_SELECT_ITS;
    csaw_status status = csaw_graph_borrow_csr(&csr, &graph);
    if (status == CSAW_OK) status = csaw_plan_create(graph, &options, &plan);
    if (status == CSAW_OK) status = csaw_sample(plan, sampler, nullptr, nullptr, &run, &samples);
    if (status == CSAW_OK) status = csaw_samples_arcs(samples, CSAW_HOST, &arcs);
    csaw_samples_free(samples);
    csaw_plan_free(plan);
    csaw_graph_free(graph);
    EXPECT_TRUE(fake_cuda::AllGivenBack());
    return status;
}

TEST_F(EmulatedPartsLayer, EveryAllocationFailsInTurn) {
    const reference::Graph graph = hubs();
    const csaw_csr csr = graph.csr();
    EXPECT_GT(fail_every_allocation([&] {
                  fake_cuda::Reset();
                  return draw(csr, sampler.get(), on_gpu(3, 1));
              }),
              100u);
}

TEST_F(EmulatedPartsLayer, EveryCopyAndEveryLaunchFailsInTurn) {
    const reference::Graph graph = hubs();
    const csaw_csr csr = graph.csr();
    const auto fail_each = [&](uint64_t *which, const uint64_t *count) {
        for (uint64_t n = 1;; n += reference::step_of_share()) {
            fake_cuda::Reset();
            *which = n;
            const csaw_status status = draw(csr, sampler.get(), on_gpu(3, 1));
            if (*count < n) {
                EXPECT_EQ(CSAW_OK, status) << csaw_last_error();
                return n - 1;
            }
            EXPECT_EQ(CSAW_ECUDA, status) << n;
        }
    };
    EXPECT_GT(fail_each(&fake_cuda::fail_copy, &fake_cuda::copies), 40u);
    EXPECT_GT(fail_each(&fake_cuda::fail_launch, &fake_cuda::launches), 40u);
}

// A run of layers by bias from each vertex of a graph.
csaw__run layers_of(csaw_plan *plan, const csaw_csr &csr, const uint32_t *fanout, bool replace) {
    csaw__run run = {};
    run.plan = plan;
    run.sampler = csaw_sampler_find("layer");
    run.is_sample = true;
    run.job.length = 2;
    run.job.fanout = fanout;
    run.job.replace = replace;
    run.job.num_roots = csr.num_vertices;
    run.job.kernel = CSAW__KERNEL_ITS;
    return run;
}

// Of the host's memory layers of a batch take half of the graph's bytes and 64 MiB at most: of each piece of a row 56
// bytes, of each pick 144, and some of the layer. A row is reckoned as one piece, and one for each 1,024 arcs. A layer
// that has no more candidates than are asked for is taken whole: nothing is picked, and all of it is what the next one
// is drawn from.
TEST_F(EmulatedPartsLayer, ABatchIsBoundedByTheHostsMemory) {
    const reference::Graph graph = ring_of(1000, 200);
    const csaw_csr csr = graph.csr();
    const Library gpu(csr, on_gpu(4, 1));
    csaw__fit fit = {};
    fit.instances = UINT64_C(1) << 40;
    fit.graph = 64 << 20;
    const uint64_t bytes = (32 + 64) << 20;
    const struct {
        uint32_t fanout[2];
        bool replace;
        uint64_t vertices, picks; // of the layer that takes most
    } cases[] = {{{100, 32}, false, 1, 100},  {{32, 32}, false, 32, 32}, {{CSAW_ALL, 32}, false, 200, 32},
                 {{500, 32}, false, 200, 32}, {{500, 32}, true, 1, 500}, {{CSAW_ALL, CSAW_ALL}, true, 200, 0}};
    for (const auto &each : cases) {
        const csaw__run run = layers_of(gpu.get(), csr, each.fanout, each.replace);
        const uint64_t count = csaw__samples_in_batch(&run, &fit, 0, 1 << 30);
        const uint64_t of_one = (each.vertices + each.vertices * 200 / 1024) * 56 + each.picks * 144;
        EXPECT_LE(count * of_one, bytes) << of_one;
        EXPECT_GT((count + 1) * (of_one + 200), bytes) << of_one;
    }
    fit.instances = 1 << 20; // of the device: less, and a quarter of it is left to read candidates in place
    const uint32_t fanout[] = {100, 32};
    const csaw__run run = layers_of(gpu.get(), csr, fanout, false);
    EXPECT_LE(csaw__samples_in_batch(&run, &fit, 0, 1 << 30) * 4 * 24 * 132, UINT64_C(3) << 18);
    EXPECT_GT(csaw__samples_in_batch(&run, &fit, 0, 1 << 30) * 4 * 24 * 134, UINT64_C(7) << 16);
}

// Biases of 90,000 candidates alone are eight times the budget.
TEST_F(EmulatedPartsLayer, TheBudgetIsNeverExceeded) {
    std::vector<reference::WeightedArc> arcs;
    const csaw_vertex n = 300;
    for (csaw_vertex v = 0; v < n; v++)
        for (csaw_vertex u = 0; u < n; u++)
            if (u != v) arcs.push_back({v, u, static_cast<float>(1 + (u ^ v) % 7), 0, 0});
    const reference::Graph graph = reference::graph_of("complete", n, arcs, true);
    const csaw_csr csr = graph.csr();
    SampleRequest request = over_all(csr, {50}, false);
    request.pools.erase(request.pools.begin(), request.pools.end() - 1);
    csaw_plan_options plan = on_gpu(32, 1);
    plan.gpu_memory = 96 << 10;
    {
        const Library cpu(csr, reference::plan_on("cpu", 1, 0)), gpu(csr, plan);
        EXPECT_TRUE(sample_equality::same(cpu.samples(built_in, nullptr, Method::its, request),
                                          gpu.samples(sampler.get(), nullptr, Method::its, request)));
    }
    EXPECT_LE(fake_cuda::peak, plan.gpu_memory);
}

} // namespace

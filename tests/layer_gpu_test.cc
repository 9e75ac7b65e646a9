/* SPDX-License-Identifier: MIT */
/* tests/layer_gpu_test.cc - layers on a GPU beyond tests/sample_equality_gpu_test.cc: more candidates than are handled
 * at a time, a hub, faults of hooks, memory that runs out. The CPU engine says what is right. */
#include "tests/reference/graphs.h"
#include "tests/reference/public_api.h"

#include <csaw/samplers.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

extern "C" {
#include "runtime/base/memory.h"
CSAW_DECLARE_SAMPLER(faulty_layer);
CSAW_DECLARE_SAMPLER(faulty_distinct);
}

namespace {

struct FaultyLayerParams { // as in tests/samplers/faulty_layer.h
    uint32_t rule, vertex, depth;
};

using Samples = std::unique_ptr<csaw_samples, decltype(&csaw_samples_free)>;

class LayerGpu : public ::testing::Test {
  protected:
    void SetUp() override {
        run.size = sizeof run;
        run.seed = 5;
        run.edges = true;
    }
    void TearDown() override {
        csaw_plan_free(cpu);
        csaw_plan_free(gpu);
        csaw_graph_free(graph);
    }
    void OpenRmat(uint32_t scale) {
        csaw_rmat_options rmat = {};
        rmat.size = sizeof rmat;
        rmat.scale = scale;
        rmat.weighted = true;
        ASSERT_EQ(CSAW_OK, csaw_graph_rmat(&rmat, &graph)) << csaw_last_error();
        Open(graph);
    }
    void Open(const csaw_graph *on) {
        const csaw_plan_options host = reference::plan_on("cpu", 0, 0), device = reference::plan_on("cuda:0", 0, 0);
        ASSERT_EQ(CSAW_OK, csaw_plan_create(on, &host, &cpu)) << csaw_last_error();
        if (csaw_plan_create(on, &device, &gpu) != CSAW_OK) GTEST_SKIP() << "no GPU: " << csaw_last_error();
    }
    void Fanout(std::vector<uint32_t> given) {
        fanout = std::move(given);
        run.fanout = fanout.data();
        run.depth = static_cast<uint32_t>(fanout.size());
    }
    std::vector<uint64_t> Flat(csaw_plan *plan, const csaw_sampler *sampler, const void *params) {
        csaw_samples *made = nullptr;
        csaw_arcs arcs = {};
        std::vector<uint64_t> out;
        EXPECT_EQ(CSAW_OK, csaw_sample(plan, sampler, params, &seeds, &run, &made)) << csaw_last_error();
        const Samples samples(made, csaw_samples_free);
        if (!made) return out;
        EXPECT_EQ(CSAW_OK, csaw_samples_arcs(made, CSAW_HOST, &arcs)) << csaw_last_error();
        out.assign(arcs.offset, arcs.offset + arcs.num_instances + 1);
        for (uint64_t a = 0; a < arcs.offset[arcs.num_instances]; a++)
            out.insert(out.end(), {arcs.src[a], arcs.dst[a], arcs.edge[a], arcs.depth[a]});
        return out;
    }
    void ExpectEqual(const csaw_sampler *sampler, const void *params, size_t at_least) {
        const std::vector<uint64_t> want = Flat(cpu, sampler, params);
        EXPECT_LT(at_least, want.size());
        EXPECT_TRUE(want == Flat(gpu, sampler, params)) << csaw_sampler_name(sampler);
    }

    csaw_graph *graph = nullptr;
    csaw_plan *gpu = nullptr, *cpu = nullptr;
    csaw_run_options run = {};
    std::vector<uint32_t> fanout;
    csaw_seeds seeds = {};
    const FaultyLayerParams none = {0, 0, 0};
};

// One pool of all vertices, so often that its arcs are more than 2^25, which is more than are handled at a time.
TEST_F(LayerGpu, MoreCandidatesThanAtATime) {
    OpenRmat(16);
    if (!gpu) return;
    const csaw_csr csr = csaw_graph_csr(graph);
    const uint64_t whole[] = {0, csr.num_vertices};
    seeds.count = 1;
    seeds.offset = whole;
    run.walks_per_seed = static_cast<uint32_t>((uint64_t{1} << 25) / csr.num_edges + 2);
    Fanout({1000, 20});
    ExpectEqual(&csaw_layer, nullptr, 50000);
    ExpectEqual(&csaw_random_edge, nullptr, 50000);
    ExpectEqual(&faulty_layer, &none, 50000);
    ExpectEqual(&faulty_distinct, &none, 50000);
    run.replace = true;
    ExpectEqual(&csaw_layer, nullptr, 50000);
    ExpectEqual(&faulty_distinct, &none, 50000);
}

// 2^20 leaves around vertex 0, some of them joined twice; weights over six powers of ten, some of them 0.
TEST_F(LayerGpu, OnAHub) {
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
    const std::unique_ptr<csaw_graph, reference::Free> hub = reference::borrow(csr);
    Open(hub.get());
    if (!gpu) return;
    const csaw_vertex vertex[] = {0, 7, 0, 9, 3};
    const uint64_t pool[] = {0, 1, 1, 4, 5};
    seeds = {vertex, 4, pool};
    run.walks_per_seed = 3;
    for (const std::vector<uint32_t> &given :
         {std::vector<uint32_t>{1, 5}, {32, 32}, {1000, 33}, {CSAW_ALL, 40}, {1, CSAW_ALL}}) {
        Fanout(given);
        for (bool replace : {false, true}) {
            run.replace = replace;
            ExpectEqual(&csaw_layer, nullptr, 20);
            ExpectEqual(&csaw_random_edge, nullptr, 20);
            ExpectEqual(&faulty_layer, &none, 20);
            ExpectEqual(&faulty_distinct, &none, 20);
        }
    }
}

TEST_F(LayerGpu, FaultsAreNamedAsOnTheCpu) {
    OpenRmat(10);
    if (!gpu) return;
    std::vector<csaw_vertex> vertex(300);
    std::iota(vertex.begin(), vertex.end(), 1);
    std::vector<uint64_t> pools(101);
    for (uint64_t j = 0; j <= 100; j++) pools[j] = 3 * j;
    seeds = {vertex.data(), 100, pools.data()};
    Fanout({20, 20, 6});
    for (const csaw_sampler *sampler : {&faulty_layer, &faulty_distinct})
        for (uint32_t rule : {1u, 2u, 3u, 4u, 5u, 6u})
            for (uint32_t depth : {0u, 1u}) {
                const FaultyLayerParams params = {rule, 0, depth};
                csaw_samples *out = nullptr;
                run.replace = rule == 6; // without replacement it would be all
                SCOPED_TRACE(csaw_sampler_name(sampler) + std::string(", rule ") + std::to_string(rule));
                const csaw_status status = csaw_sample(cpu, sampler, &params, &seeds, &run, &out);
                const std::string want = csaw_last_error();
                EXPECT_NE(CSAW_OK, status);
                EXPECT_EQ(status, csaw_sample(gpu, sampler, &params, &seeds, &run, &out));
                EXPECT_EQ(want, csaw_last_error());
                EXPECT_EQ(nullptr, out);
                ExpectEqual(sampler, &none, 1000); // the plan draws on
            }
}

TEST_F(LayerGpu, EveryAllocationFails) {
    OpenRmat(8);
    if (!gpu) return;
    const csaw_vertex vertex[] = {3, 5, 3, 0, 1};
    const uint64_t pool[] = {0, 3, 5};
    seeds = {vertex, 2, pool};
    Fanout({40, 3});
    for (const csaw_sampler *sampler : {&csaw_random_edge, &faulty_layer, &faulty_distinct}) {
        const void *params = sampler == &csaw_random_edge ? nullptr : &none;
        const std::vector<uint64_t> want = Flat(cpu, sampler, params);
        for (uint64_t n = 1;; n++) {
            csaw_samples *made = nullptr;
            csaw__fail_allocations_from(n);
            const csaw_status status = csaw_sample(gpu, sampler, params, &seeds, &run, &made);
            const uint64_t asked = csaw__allocations_counted();
            csaw__fail_allocations_from(0);
            csaw_samples_free(made);
            if (status == CSAW_OK) {
                EXPECT_LT(asked, n);
                EXPECT_LT(30u, asked);
                break;
            }
            ASSERT_TRUE(status == CSAW_ENOMEM || status == CSAW_EDEVMEM) << csaw_last_error();
            ASSERT_LT(n, 1000u);
        }
        EXPECT_EQ(want, Flat(gpu, sampler, params));
    }
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* tests/emulated_parts_faulty_test.cc - tests/emulated_parts_samples.h with a hook that breaks its rules, while batches
 * are under way together: it is told when its batch is asked for, not before, and the batches before are delivered. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "tests/sample_equality.h"

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_parts_samples.h"

CSAW_DECLARE_SAMPLER(faulty);

using namespace emulated_parts;

namespace {

struct Told {
    std::string why;
    int batches = 0;
};

Told draw(csaw_plan *plan, const csaw_sampler *sampler, const faulty_params &params, const SampleRequest &request) {
    const reference::Seeds seeds(request.pools);
    const csaw_seeds view = seeds.view();
    csaw_run_options run = two_at_a_time(request);
    run.select = CSAW_SELECT_ITS;
    Told out;
    const auto count = [](void *user, csaw_samples *) {
        static_cast<Told *>(user)->batches++;
        return CSAW_OK;
    };
    if (csaw_sample_each(plan, sampler, &params, &view, &run, count, &out) != CSAW_OK) out.why = csaw_last_error();
    return out;
}

TEST(EmulatedPartsFaulty, AFaultIsToldInItsPlace) {
    const reference::Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const SampleRequest request = one_seed_each(csr, 12, {2, 2});
    const Sampler sampler(faulty);
    fake_cuda::Reset();
    {
        const Library cpu(csr, reference::plan_on("cpu", 1, 0)), gpu(csr, on_gpu(4, 1));
        std::set<int> delivered;
        for (uint32_t depth : {0, 1})
            for (csaw_vertex v = 0; v < csr.num_vertices; v += 2) {
                const faulty_params params = {1, v, depth};
                const Told expected = draw(cpu.get(), &faulty, params, request),
                           told = draw(gpu.get(), sampler.get(), params, request);
                EXPECT_EQ(expected.why, told.why) << v << " at " << depth;
                EXPECT_EQ(expected.batches, told.batches) << v << " at " << depth;
                EXPECT_EQ(inside(gpu)->batches, 0u);
                delivered.insert(told.batches);
            }
        EXPECT_GT(delivered.size(), 2u) << "faults of several batches are to be seen";
    }
    EXPECT_TRUE(fake_cuda::AllGivenBack());
}

// Its hook for dead ends says what comes of them.
TEST(EmulatedPartsFaulty, VerticesWithoutArcsBringNothing) { ExpectNoSamplesWithoutArcs(faulty); }

// A fault there is told, too, while partitions are, or are not, brought for others.
TEST(EmulatedPartsFaulty, AFaultWithoutArcsIsToldInItsPlace) {
    const reference::Graph graph = equality::one_row(300, 100);
    const csaw_csr csr = graph.csr();
    SampleRequest request = one_seed_each(csr, 1, {2, 2});
    request.pools = {{250}, {0}, {299}, {70}, {0}, {2}, {0}};
    const Sampler sampler(faulty);
    for (const bool refuse : {false, true}) {
        fake_cuda::Reset();
        fake_cuda::refuse_pages = refuse;
        const Library cpu(csr, reference::plan_on("cpu", 1, 0)), gpu(csr, on_gpu(4, 1));
        int faults = 0;
        for (uint32_t depth : {0, 1})
            for (csaw_vertex v = 0; v < csr.num_vertices; v++) {
                const faulty_params params = {7, v, depth};
                const Told expected = draw(cpu.get(), &faulty, params, request),
                           told = draw(gpu.get(), sampler.get(), params, request);
                EXPECT_EQ(expected.why, told.why) << v << " at " << depth;
                EXPECT_EQ(expected.batches, told.batches) << v << " at " << depth;
                faults += !told.why.empty();
            }
        EXPECT_GT(faults, 6);
        EXPECT_LT(faults, 60);
    }
}

// A walk that is wrong at a vertex without arcs, at its root or after a step, whoever makes the step from there.
TEST(EmulatedPartsFaulty, AWalksFaultWithoutArcsIsTold) {
    const reference::Graph graph = equality::one_row(300, 100);
    const csaw_csr csr = graph.csr();
    const Sampler sampler(faulty);
    const std::vector<csaw_vertex> roots = {250, 0, 299, 70, 0, 2, 0};
    const csaw_seeds seeds = {roots.data(), roots.size(), nullptr};
    csaw_run_options run = {};
    run.size = sizeof run;
    run.depth = 3;
    run.walks_per_seed = 3;
    run.select = CSAW_SELECT_ITS;
    fake_cuda::Reset();
    const Library cpu(csr, reference::plan_on("cpu", 1, 0)), gpu(csr, on_gpu(4, 1));
    std::set<std::string> told;
    for (uint32_t depth : {0, 1})
        for (csaw_vertex v = 0; v < csr.num_vertices; v += v < 100 ? 1 : 50) {
            const faulty_params params = {7, v, depth};
            std::string why[2];
            for (int on_gpu : {0, 1}) {
                csaw_samples *samples = nullptr;
                if (csaw_sample(on_gpu ? gpu.get() : cpu.get(), on_gpu ? sampler.get() : &faulty, &params, &seeds, &run,
                                &samples) != CSAW_OK)
                    why[on_gpu] = csaw_last_error();
                csaw_samples_free(samples);
            }
            EXPECT_EQ(why[0], why[1]) << v << " at " << depth;
            if (!why[0].empty()) told.insert(why[0].substr(0, why[0].find(", at vertex")));
        }
    EXPECT_GT(told.size(), 5u) << "of several walks, at two depths";
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* tests/emulated_spread_node2vec_test.cc - tests/emulated_spread.h, of walks of second order: questions that travel
 * with walkers, and steps that the host makes, since a row as a whole is asked about. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "tests/equality.h"

#include "tests/emulated_gpu.h"
#define csaw_node2vec_params emulated_node2vec_params // samplers.h has it, too
#include SAMPLER_FILE
#undef csaw_node2vec_params
#include "tests/emulated_spread.h"
#include "tests/share.h"
#include "tests/spread_spoiled.h"

using namespace emulated_spread;

// At p = q = 1000 most attempts fail, so that REJECT ends by ITS.
TEST(EmulatedSpread, Node2vecIsTheCpus) {
    for (const char *name : {"karate", "directed_weighted", "star"})
        for (const csaw_node2vec_params params : {csaw_node2vec_params{.25f, 4}, csaw_node2vec_params{1e3f, 1e3f}}) {
            if (!reference::takes_case()) continue;
            const reference::Graph graph = reference::small_graph(name);
            SCOPED_TRACE(name);
            ExpectTheCpus(graph.csr(), *csaw_sampler_find("node2vec"), &params,
                          {Method::reject, Method::its, Method::race}, few(graph.csr(), 6));
        }
}

// Walks, and samples between them: the tables of one run are not those of the next, whose bits one plan draws alike.
TEST(EmulatedSpread, WalksAndSamplesOfOnePlanFollowOneAnother) {
    static const uint32_t fanout[] = {3, 2};
    const reference::Graph graph = reference::small_graph("directed_weighted");
    Request request = few(graph.csr(), 6);
    request.roots.resize(19); // ranks have unequal shares
    const Library cpu(graph.csr(), reference::plan_on("cpu", 1, 0));
    const csaw_sampler *const node2vec = csaw_sampler_find("node2vec"), *const sample = &csaw_neighbor_biased;
    csaw_sampler hubs = *node2vec; // whose attempts are proposed by other tables
    hubs.tabulate = csaw_sampler_find("biased_by_degree")->tabulate;
    const Sampler node2vec_on_gpu(*node2vec), hubs_on_gpu(hubs);
    struct Ask {
        const csaw_sampler *alone, *on_ranks;
        Method method;
        csaw_node2vec_params params;
        std::unique_ptr<csaw_samples, reference::Free> expected;
    };
    std::vector<Ask> asks;
    asks.push_back({node2vec, node2vec_on_gpu.get(), Method::reject, {.25f, 1}, nullptr});
    asks.push_back({&hubs, hubs_on_gpu.get(), Method::reject, {.25f, 1}, nullptr});
    asks.push_back({sample, sample, Method::alias, {}, nullptr});
    asks.push_back({&hubs, hubs_on_gpu.get(), Method::reject, {4, 1}, nullptr});
    asks.push_back({node2vec, node2vec_on_gpu.get(), Method::reject, {.25f, 1}, nullptr});
    asks.push_back({sample, sample, Method::its, {}, nullptr});
    asks.push_back({node2vec, node2vec_on_gpu.get(), Method::its, {.25f, 1}, nullptr});
    const auto draw = [&](csaw_plan *plan, const Ask &ask, const csaw_sampler *sampler, csaw_samples **out) {
        const bool is_sample = sampler == sample;
        csaw_run_options options = spread::options_of({nullptr, nullptr, ask.method}, request);
        if (is_sample) {
            options.fanout = fanout;
            options.depth = 2;
            options.edges = false;
        }
        const csaw_seeds seeds = {request.roots.data(), request.roots.size(), nullptr};
        return csaw_sample(plan, sampler, is_sample ? nullptr : &ask.params, &seeds, &options, out);
    };
    for (Ask &ask : asks) {
        csaw_samples *whole = nullptr;
        reference::require(draw(cpu.get(), ask, ask.alone, &whole));
        ask.expected.reset(whole);
    }
    fake_cuda::Reset();
    fake_cuda::devices = 8;
    const auto launches = [] {
        const std::lock_guard<std::recursive_mutex> guard(fake_cuda::lock);
        return fake_cuda::launches;
    };
    std::atomic<uint64_t> compared{0}, without_gpu{0};
    const auto outcomes = spread::on_ranks(graph.csr(), splits()[2], [&](uint32_t, csaw_plan *plan) {
        for (const Ask &ask : asks) {
            csaw_samples *mine = nullptr;
            const uint64_t before = launches();
            CSAW_TRY(draw(plan, ask, ask.on_ranks, &mine));
            without_gpu += ask.alone != sample && launches() == before;
            compared += spread::instances_as_in(mine, ask.expected.get());
            csaw_samples_free(mine);
        }
        return CSAW_OK;
    });
    for (const spread::Outcome &outcome : outcomes) EXPECT_EQ(outcome.status, CSAW_OK) << outcome.message;
    EXPECT_EQ(asks.size() * request.roots.size(), compared);
    EXPECT_EQ(0u, without_gpu);
    EXPECT_TRUE(fake_cuda::AllGivenBack());
}

// As SpreadFaults.AMessageThatIsSpoiledIsRefused, of walkers that take their questions along.
TEST(EmulatedSpread, AMessageThatIsSpoiledIsRefused) {
    const reference::Graph graph = reference::small_graph("karate");
    const Request request = equality::one_walk_each(graph.csr(), 6);
    const csaw_sampler *const of = csaw_sampler_find("node2vec");
    const csaw_node2vec_params params = {.25f, 4};
    const Library cpu(graph.csr(), reference::plan_on("cpu", 1, 0));
    const Sampler sampler(*of);
    std::vector<spread::Spoil> spoils = spread::of_walkers_and_records();
    spoils.insert(spoils.end(), {{"walk 34, ", CSAW__ASKING, 0, 0, 34},
                                 {"at vertex 34 after", CSAW__ASKING, 2, 0, 34},
                                 {"depth 6, at", CSAW__ASKING, 5, 0, 6},
                                 {"in state 7; ", CSAW__ASKING, 6, 0, 7},
                                 {"a question of 9 vertices", CSAW__ASKING, 15, ~0xffu, 9},
                                 spread::bytes_are("a walker with a question of 56 bytes", CSAW__ASKING, 56)});
    fake_cuda::Reset();
    fake_cuda::devices = 8;
    Split split = {2};
    split.gpus = 8;
    spread::ExpectRefused(graph.csr(), split, {sampler.get(), &params, Method::reject}, request,
                          cpu.walks(of, &params, Method::reject, request), spoils);
    EXPECT_TRUE(fake_cuda::AllGivenBack());
}

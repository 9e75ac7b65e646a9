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

using namespace emulated_spread;

// At p = q = 1000 most attempts fail, so that REJECT ends by ITS.
TEST(EmulatedSpread, Node2vecIsTheCpus) {
    for (const char *name : {"karate", "directed_weighted", "star"})
        for (const csaw_node2vec_params params : {csaw_node2vec_params{.25f, 4}, csaw_node2vec_params{1e3f, 1e3f}}) {
            const reference::Graph graph = reference::small_graph(name);
            SCOPED_TRACE(name);
            ExpectTheCpus(graph.csr(), *csaw_sampler_find("node2vec"), &params,
                          {Method::reject, Method::its, Method::race}, few(graph.csr(), 6));
        }
}

// Tables of one run are not those of the next.
TEST(EmulatedSpread, RunsOfOnePlanFollowOneAnother) {
    const reference::Graph graph = reference::small_graph("directed_weighted");
    const Request request = few(graph.csr(), 6);
    const Library cpu(graph.csr(), reference::plan_on("cpu", 1, 0));
    const csaw_sampler *const of = csaw_sampler_find("node2vec");
    const Sampler sampler(*of);
    fake_cuda::Reset();
    fake_cuda::devices = 8;
    struct Ask {
        csaw_node2vec_params params;
        Method method;
        reference::Walks expected;
    };
    std::vector<Ask> asks;
    for (float p : {.25f, 4.f, .25f})
        for (Method method : {Method::reject, Method::its}) {
            const csaw_node2vec_params params = {p, 1};
            asks.push_back({params, method, cpu.walks(of, &params, method, request)});
        }
    std::atomic<uint64_t> wrong{0}, compared{0};
    const auto outcomes = spread::on_ranks(graph.csr(), splits()[2], [&](uint32_t, csaw_plan *plan) {
        for (const Ask &ask : asks) {
            const csaw_run_options options = spread::options_of({nullptr, nullptr, ask.method}, request);
            const csaw_seeds seeds = {request.roots.data(), request.roots.size(), nullptr};
            csaw_samples *samples = nullptr;
            csaw_walks got;
            CSAW_TRY(csaw_sample(plan, sampler.get(), &ask.params, &seeds, &options, &samples));
            CSAW_TRY(csaw_samples_walks(samples, CSAW_HOST, &got));
            const uint64_t places = got.length + uint64_t{1};
            wrong += !std::equal(got.path, got.path + got.num_walks * places, &ask.expected.path[got.first * places]);
            compared += got.num_walks;
            csaw_samples_free(samples);
        }
        return CSAW_OK;
    });
    for (const spread::Outcome &outcome : outcomes) EXPECT_EQ(outcome.status, CSAW_OK) << outcome.message;
    EXPECT_EQ(0u, wrong);
    EXPECT_EQ(6 * request.roots.size(), compared);
}

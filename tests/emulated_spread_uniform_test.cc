/* SPDX-License-Identifier: MIT */
/* tests/emulated_spread_uniform_test.cc - tests/emulated_spread.h, of walks without biases. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "tests/equality.h"

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_spread.h"

using namespace emulated_spread;

TEST(EmulatedSpread, UniformIsTheCpus) {
    for (const char *name : {"karate", "directed", "isolated", "path"}) {
        const reference::Graph graph = reference::small_graph(name);
        SCOPED_TRACE(name);
        ExpectTheCpus(graph.csr(), *csaw_sampler_find("uniform"), nullptr, {Method::uniform, Method::its},
                      few(graph.csr(), 9));
    }
}

// One walk; or none, which takes no memory.
TEST(EmulatedSpread, LittleToDo) {
    const reference::Graph graph = reference::small_graph("karate");
    fake_cuda::Reset();
    fake_cuda::devices = 8;
    spread::on_ranks(graph.csr(), splits()[3], [](uint32_t, csaw_plan *) { return CSAW_OK; });
    const size_t of_plans = fake_cuda::peak;
    for (size_t roots : {0u, 1u}) {
        Request request = few(graph.csr(), 3);
        request.roots.resize(roots);
        const Library cpu(graph.csr(), reference::plan_on("cpu", 1, 0));
        const Sampler sampler(*csaw_sampler_find("uniform"));
        fake_cuda::Reset();
        fake_cuda::devices = 8;
        EXPECT_TRUE(equality::same(
            cpu.walks(csaw_sampler_find("uniform"), nullptr, Method::uniform, request),
            spread::walks(graph.csr(), splits()[3], {sampler.get(), nullptr, Method::uniform}, request)));
        EXPECT_EQ(roots > 0, fake_cuda::peak > of_plans);
    }
}

// Each of the first copies and launches fails in turn: every rank says which rank's, and gives back all. If it was a
// run that failed, the next one on the same plans is right.
TEST(EmulatedSpread, WhatAGpuFailsAtIsToldOnAllRanks) {
    const reference::Graph graph = reference::small_graph("karate");
    const Request request = few(graph.csr(), 4);
    const csaw_sampler *const uniform = csaw_sampler_find("uniform");
    const Sampler sampler(*uniform);
    const Library cpu(graph.csr(), reference::plan_on("cpu", 1, 0));
    const csaw_run_options options = spread::options_of({nullptr, nullptr, Method::uniform}, request);
    const csaw_seeds seeds = {request.roots.data(), request.roots.size(), nullptr};
    csaw_samples *whole = nullptr;
    reference::require(csaw_sample(cpu.get(), uniform, nullptr, &seeds, &options, &whole));
    const auto expect_told = [](const std::vector<spread::Outcome> &by) {
        for (const spread::Outcome &outcome : by) {
            EXPECT_EQ(CSAW_ECUDA, outcome.status) << outcome.message;
            EXPECT_EQ(by[0].message, outcome.message);
            EXPECT_EQ(0u, outcome.message.find("rank ")) << outcome.message;
        }
    };
    uint64_t plans = 0, runs = 0;
    for (uint64_t *which : {&fake_cuda::fail_copy, &fake_cuda::fail_launch})
        for (uint64_t nth = 1; nth < 60; nth++) {
            std::vector<spread::Outcome> first(2);
            std::atomic<uint64_t> walks{0};
            fake_cuda::Reset();
            fake_cuda::devices = 8;
            *which = nth;
            const auto outcomes = spread::on_ranks(graph.csr(), splits()[1], [&](uint32_t rank, csaw_plan *plan) {
                csaw_samples *samples = nullptr;
                first[rank].status = csaw_sample(plan, sampler.get(), nullptr, &seeds, &options, &samples);
                if (first[rank].status != CSAW_OK) first[rank].message = csaw_last_error();
                csaw_samples_free(samples);
                {
                    const std::lock_guard<std::recursive_mutex> guard(fake_cuda::lock);
                    *which = 0;
                }
                CSAW_TRY(csaw_sample(plan, sampler.get(), nullptr, &seeds, &options, &samples));
                walks += spread::instances_as_in(samples, whole);
                csaw_samples_free(samples);
                return CSAW_OK;
            });
            const bool no_plan = outcomes[0].status != CSAW_OK, no_run = first[0].status != CSAW_OK;
            if (no_plan) expect_told(outcomes);
            if (no_run) expect_told(first);
            EXPECT_EQ(no_plan ? 0 : request.roots.size(), walks);
            plans += no_plan;
            runs += no_run;
            EXPECT_TRUE(fake_cuda::AllGivenBack());
        }
    EXPECT_GT(plans, 5u);
    EXPECT_GT(runs, 25u) << plans << " plans";
    csaw_samples_free(whole);
    fake_cuda::Reset();
}

// A part that does not fit its GPU.
TEST(EmulatedSpread, MemoryThatIsNotThereIsNamed) {
    const reference::Graph graph = reference::small_graph("karate");
    const Request request = few(graph.csr(), 4);
    const Sampler sampler(*csaw_sampler_find("uniform"));
    for (size_t bytes : {100u, 1000u, 2500u}) {
        std::vector<spread::Outcome> outcomes;
        fake_cuda::Reset();
        fake_cuda::devices = 8;
        fake_cuda::total = bytes;
        spread::walks(graph.csr(), splits()[1], {sampler.get(), nullptr, Method::uniform}, request, &outcomes);
        for (const spread::Outcome &outcome : outcomes) {
            EXPECT_EQ(CSAW_EDEVMEM, outcome.status);
            EXPECT_NE(std::string::npos, outcome.message.find("start more ranks")) << outcome.message;
        }
        EXPECT_TRUE(fake_cuda::AllGivenBack());
    }
    fake_cuda::Reset();
}

TEST(EmulatedSpread, UniformSendsNoneWithoutArcs) {
    ExpectNoneSentWithoutArcs(*csaw_sampler_find("uniform"), {Method::uniform, Method::its});
}

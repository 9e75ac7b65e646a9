/* SPDX-License-Identifier: MIT */
/* tests/emulated_spread_uniform_test.cc - tests/emulated_spread.h, of walks without biases. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
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

TEST(EmulatedSpread, LittleToDo) {
    const reference::Graph graph = reference::small_graph("karate");
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
    }
}

// Each of the first copies and launches fails in turn: every rank says which rank's, and gives back all; a run of
// another plan is right then.
TEST(EmulatedSpread, WhatAGpuFailsAtIsToldOnAllRanks) {
    const reference::Graph graph = reference::small_graph("karate");
    const Request request = few(graph.csr(), 4);
    const Sampler sampler(*csaw_sampler_find("uniform"));
    const Split split = splits()[1];
    uint64_t failed = 0;
    for (uint64_t *which : {&fake_cuda::fail_copy, &fake_cuda::fail_launch})
        for (uint64_t nth = 1; nth < 60; nth++) {
            std::vector<spread::Outcome> outcomes;
            fake_cuda::Reset();
            fake_cuda::devices = 8;
            *which = nth;
            spread::walks(graph.csr(), split, {sampler.get(), nullptr, Method::uniform}, request, &outcomes);
            EXPECT_EQ(outcomes[0].status, outcomes[1].status);
            EXPECT_EQ(outcomes[0].message, outcomes[1].message);
            if (outcomes[0].status != CSAW_OK) {
                failed++;
                EXPECT_EQ(CSAW_ECUDA, outcomes[0].status);
                EXPECT_EQ(0u, outcomes[0].message.find("rank ")) << outcomes[0].message;
            }
            EXPECT_TRUE(fake_cuda::AllGivenBack());
        }
    EXPECT_GT(failed, 45u);
    fake_cuda::Reset();
    fake_cuda::devices = 8;
    const Library cpu(graph.csr(), reference::plan_on("cpu", 1, 0));
    EXPECT_TRUE(equality::same(cpu.walks(csaw_sampler_find("uniform"), nullptr, Method::uniform, request),
                               spread::walks(graph.csr(), split, {sampler.get(), nullptr, Method::uniform}, request)));
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

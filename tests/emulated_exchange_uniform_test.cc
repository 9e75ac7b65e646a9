/* SPDX-License-Identifier: MIT */
/* tests/emulated_exchange_uniform_test.cc - tests/emulated_exchange.h, of walks without biases. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/equality.h"

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_exchange.h"

using namespace emulated_exchange;

TEST(EmulatedExchange, UniformIsTheCpus) {
    for (const char *name : {"karate", "directed", "isolated", "path", "star"}) {
        const reference::Graph graph = reference::small_graph(name);
        SCOPED_TRACE(name);
        ExpectTheCpus(graph.csr(), *csaw_sampler_find("uniform"), nullptr, {Method::uniform, Method::its},
                      few(graph.csr(), 9), Others::poisoned);
    }
}

// No walk, one, two; one step, some, a window's.
TEST(EmulatedExchange, LittleToDo) {
    const reference::Graph graph = reference::small_graph("karate");
    const csaw_sampler *const uniform = csaw_sampler_find("uniform");
    const Library cpu(graph.csr(), reference::plan_on("cpu", 1, 0));
    const Sampler sampler(*uniform);
    for (size_t roots : {0u, 1u, 2u, 5u})
        for (uint32_t depth : {1u, 3u, 4u}) {
            Request request = few(graph.csr(), depth);
            request.roots.resize(roots);
            fake_cuda::Reset();
            const Outcome got =
                walk(graph.csr(), {0, 0, 0}, {sampler.get(), nullptr, Method::uniform, request}, Others::poisoned);
            ASSERT_EQ(CSAW_OK, got.status) << got.message;
            EXPECT_TRUE(equality::same(cpu.walks(uniform, nullptr, Method::uniform, request), got.walks));
            EXPECT_TRUE(fake_cuda::AllGivenBack());
        }
}

// Walkers that cross the border between two GPUs, counted in their paths: so many are copied, and no more.
TEST(EmulatedExchange, WhatIsCopiedIsWhatLeaves) {
    const reference::Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const Sampler sampler(*csaw_sampler_find("uniform"));
    Request request = few(csr, 12);
    csaw__ranges ranges = {};
    require(csaw__ranges_create(&csr, 2, 0, 1, &ranges));
    const csaw_vertex border = ranges.first[1];
    csaw__ranges_clear(&ranges);
    fake_cuda::Reset();
    const Outcome got = walk(csr, {0, 0}, {sampler.get(), nullptr, Method::uniform, request}, Others::poisoned);
    ASSERT_EQ(CSAW_OK, got.status) << got.message;
    uint64_t crossings = 0;
    for (uint64_t w = 0; w < got.walks.count; w++)
        for (uint32_t d = 0; d + 1 < got.walks.length; d++) { /* from its last vertex a walker goes nowhere */
            const csaw_vertex *const at = &got.walks.path[w * (got.walks.length + 1) + d];
            if (at[1] != CSAW_NONE) crossings += (at[0] < border) != (at[1] < border);
        }
    EXPECT_GT(crossings, 50u);
    EXPECT_EQ(crossings, got.counts.walkers);
    EXPECT_EQ(32 * crossings, got.counts.bytes);
    EXPECT_EQ(0u, got.counts.questions);
}

// Each copy and each launch fails in turn, and what a kernel does: it is told, nothing is under way after it, and all
// is given back.
TEST(EmulatedExchange, WhatFailsIsTold) {
    const reference::Graph graph = reference::small_graph("karate");
    const Sampler sampler(*csaw_sampler_find("uniform"));
    const Asked run = {sampler.get(), nullptr, Method::uniform, few(graph.csr(), 5)};
    for (uint64_t *which : {&fake_cuda::fail_copy, &fake_cuda::fail_launch, &fake_cuda::fault_at}) {
        bool met = true;
        uint64_t nth = 0;
        while (met) {
            fake_cuda::Reset();
            fake_cuda::devices = 2;
            *which = ++nth;
            const Outcome got = walk(graph.csr(), {0, 1}, run, Others::poisoned);
            met = (which == &fake_cuda::fail_copy ? fake_cuda::copies : fake_cuda::launches) >= nth;
            EXPECT_EQ(met ? CSAW_ECUDA : CSAW_OK, got.status) << nth << ": " << got.message;
            EXPECT_EQ(met, got.message.rfind("cuda:", 0) == 0) << got.message;
            fake_cuda::Reset();
            EXPECT_TRUE(fake_cuda::AllGivenBack());
        }
        EXPECT_GT(nth, 20u);
    }
}

TEST(EmulatedExchange, MemoryThatIsNotThereIsNamed) {
    const reference::Graph graph = reference::small_graph("karate");
    const Sampler sampler(*csaw_sampler_find("uniform"));
    const Asked run = {sampler.get(), nullptr, Method::uniform, few(graph.csr(), 5)};
    for (size_t bytes : {100u, 20000u}) {
        fake_cuda::Reset();
        fake_cuda::total = bytes;
        const Outcome got = walk(graph.csr(), {0, 0}, run, Others::poisoned);
        EXPECT_EQ(CSAW_EDEVMEM, got.status) << bytes;
        EXPECT_NE(std::string::npos, got.message.find("leave exchange out")) << got.message;
        EXPECT_TRUE(fake_cuda::AllGivenBack());
    }
    fake_cuda::Reset();
}

TEST(EmulatedExchange, UniformMovesNoneWithoutArcs) {
    ExpectNoneMovesWithoutArcs(*csaw_sampler_find("uniform"), {Method::uniform, Method::its});
}

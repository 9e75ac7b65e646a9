/* SPDX-License-Identifier: MIT */
/* tests/emulated_parts_uniform_test.cc - tests/emulated_parts.h, of a walk without biases. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/equality.h"

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_parts.h"

using namespace emulated_parts;
using reference::Method;

TEST(EmulatedParts, UniformIsTheCpus) {
    for (const char *name : {"karate", "directed", "isolated"}) {
        const reference::Graph graph = reference::small_graph(name);
        const csaw_csr csr = graph.csr();
        SCOPED_TRACE(name);
        ExpectTheCpus(csr, *csaw_sampler_find("uniform"), nullptr, {Method::uniform, Method::its, Method::race},
                      few(csr, 9));
    }
}

TEST(EmulatedParts, UniformBringsNothingWithoutArcs) {
    ExpectNothingWithoutArcs(*csaw_sampler_find("uniform"), {Method::uniform, Method::its, Method::race});
}

TEST(EmulatedParts, UniformReadsInPlace) {
    ExpectReadInPlace(*csaw_sampler_find("uniform"), nullptr, {Method::uniform});
}

// A kernel of the fake GPU takes a millisecond, and one that runs beside others as much as all of them.
TEST(EmulatedParts, LaunchesAreTimed) {
    const reference::Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const Sampler sampler(*csaw_sampler_find("uniform"));
    for (int streams : {1, 2}) {
        fake_cuda::Reset();
        csaw_plan_options plan = on_gpu(4, 2);
        plan.streams = streams;
        const Library gpu(csr, plan);
        gpu.walks(sampler.get(), nullptr, Method::uniform, few(csr, 9));
        const csaw__parts_use use = gpu.get()->parts->kind->use(gpu.get()->parts);
        const double launches = static_cast<double>(gpu.get()->parts->schedule.launches);
        ASSERT_GE(launches, 4) << "each partition has a walk";
        EXPECT_GE(use.launch_seconds, launches * (1e-3 - 1e-12));
        EXPECT_GE(use.launch_squares * launches, use.launch_seconds * use.launch_seconds * (1 - 1e-12)) << "variance";
        if (streams > 1) continue;
        EXPECT_NEAR(use.launch_seconds, launches * 1e-3, 1e-12);
        EXPECT_NEAR(use.launch_squares, launches * 1e-6, 1e-15);
    }
}

// 2,000 walks wait at one partition for one block, 250 for each of its warps, which finds up to 128 at a time.
TEST(EmulatedParts, AWarpTakesUpWalksAgainAndAgain) {
    const reference::Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    Request request = few(csr, 3);
    request.roots = {0};
    request.walks_per_seed = 2000;
    csaw_plan_options plan = on_gpu(17, 16);
    plan.streams = 16;
    fake_cuda::Reset();
    {
        const Sampler sampler(*csaw_sampler_find("uniform"));
        const Library cpu(csr, reference::plan_on("cpu", 1, 0)), gpu(csr, plan);
        inside(gpu)->parts->schedule.equal_shares = true;
        EXPECT_TRUE(equality::same(cpu.walks(csaw_sampler_find("uniform"), nullptr, Method::uniform, request),
                                   gpu.walks(sampler.get(), nullptr, Method::uniform, request)));
        EXPECT_EQ(gpu.get()->parts->on.blocks, gpu.get()->parts->schedule.streams) << "one for each stream";
    }
    EXPECT_TRUE(fake_cuda::AllGivenBack());
}

TEST(EmulatedParts, UniformStandsApart) {
    const reference::Graph graph = reference::small_graph("karate");
    ExpectTheCpusApart(graph.csr(), *csaw_sampler_find("uniform"), nullptr,
                       {Method::its, Method::race, Method::uniform});
}

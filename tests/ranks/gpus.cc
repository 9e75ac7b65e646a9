// SPDX-License-Identifier: MIT
// tests/ranks/gpus.cc - ranks whose plans are on GPUs: one each in turn, several with the graph on each of them,
// several that hold it together. The GPUs are tests/host_gpu.h; a graph that is split over ranks with GPUs:
// split_gpus.cc.
#include "tests/host_gpu.h"

#include "ranks.h"

namespace {

using namespace ranks;

class OnGpus : public testing::Test {
  protected:
    OnGpus() { host_gpu::gpus = 3; }
    ~OnGpus() override {
        host_gpu::gpus = 1;
        EXPECT_EQ(0u, host_gpu::used) << "device memory is left";
        host_gpu::forget();
    }
    const std::vector<csaw_select> methods = {CSAW_SELECT_AUTO};
    const Graph graph = rmat(1, true);
};

TEST_F(OnGpus, OneEachInTurn) {
    if (size_of() < 2) GTEST_SKIP() << "one rank has them all";
    compare(plan_alone(graph), plan_on_gpus(graph, "all", false), methods);
    for (int gpu = 0; gpu < 3; gpu++) EXPECT_EQ(gpu == rank_of() % 3, host_gpu::drawn[gpu] > 0) << gpu;
}

TEST_F(OnGpus, SeveralOfEachRank) {
    if (size_of() > 3) GTEST_SKIP() << "many ranks need not do all that few have done";
    compare(plan_alone(graph), plan_on_gpus(graph, "cuda:0,cuda:2", false), methods);
    EXPECT_GT(host_gpu::drawn[2], 0u);
}

TEST_F(OnGpus, SeveralOfEachRankHoldTheGraphTogether) {
    if (size_of() > 3) GTEST_SKIP() << "many ranks need not do all that few have done";
    {
        const Plan all = plan_on_gpus(graph, "cuda:0,cuda:2", true);
        EXPECT_EQ(1u, host_gpu::joints);
        compare(plan_alone(graph), all, methods);
    }
    EXPECT_EQ(0u, host_gpu::joints);
}

TEST_F(OnGpus, WhatDoesNotGoTogetherIsRefusedOnAllRanks) {
    if (size_of() < 2) GTEST_SKIP() << "one rank has no other to split a graph with";
    const MPI_Comm world = MPI_COMM_WORLD;
    csaw_plan_options options = {};
    options.size = sizeof options;
    options.device = "cuda";
    options.split = true;
    options.gpu_memory = 1 << 30;
    options.communicator = &world;
    csaw_plan *plan = nullptr;
    EXPECT_EQ(CSAW_EINVAL, same_status(csaw_plan_create(graph.get(), &options, &plan)));
    EXPECT_EQ(0u, std::string(csaw_last_error()).find("gpu_memory is of parts that come and go")) << csaw_last_error();
    options.gpu_memory = 0;
    options.device = "simulated";
    EXPECT_EQ(CSAW_EINVAL, same_status(csaw_plan_create(graph.get(), &options, &plan)));
    EXPECT_EQ(0u, std::string(csaw_last_error()).find("split is for ranks that each step on")) << csaw_last_error();
    EXPECT_EQ(nullptr, plan);
}

} // namespace

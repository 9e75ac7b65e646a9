/* SPDX-License-Identifier: MIT */
/* tests/equality_test.cc - the bits are the same (P2) on a CPU: 1, 2 and 7 threads, 2, 3 and 17 partitions, and batches
 * of any size give what tests/reference gives. */
#include "tests/equality.h"

using namespace equality;

namespace {

std::vector<csaw_plan_options> cpu_plans() {
    return {plan_on("cpu", 1, 0), plan_on("cpu", 2, 0), plan_on("cpu", 7, 0),
            plan_on("cpu", 1, 2), plan_on("cpu", 2, 3), plan_on("cpu", 7, 17)};
}

class OnGraph : public ::testing::TestWithParam<std::string> {};

TEST_P(OnGraph, EveryPlanGivesTheReferencesBits) {
    const Graph graph = reference::small_graph(GetParam());
    expect_equal(graph.csr(), request_on(graph.csr(), 21), cpu_plans());
}

INSTANTIATE_TEST_SUITE_P(Equality, OnGraph, ::testing::ValuesIn(reference::small_graph_names()),
                         [](const auto &info) { return info.param; });

TEST(Equality, OnAHub) {
    const Graph hub = reference::hub_graph();
    expect_equal(hub.csr(), request_on_hub(), {plan_on("cpu", 1, 0), plan_on("cpu", 7, 3)});
}

TEST(Equality, OnRmat) {
    for (bool weighted : {false, true}) {
        const OwnedGraph graph = rmat_graph(weighted);
        const csaw_csr csr = csaw_graph_csr(graph.get());
        expect_equal(csr, one_walk_each(csr, 9), cpu_plans());
    }
}

TEST(Equality, OnRealGraphs) {
    for (const char *file : data_files) {
        const OwnedGraph graph = data_graph(file);
        if (!graph) GTEST_SKIP() << "set CSAW_DATA to the data folder, for " << file;
        const csaw_csr csr = csaw_graph_csr(graph.get());
        expect_equal(csr, one_walk_each(csr, 6), cpu_plans());
    }
}

TEST(Equality, RejectMakes64Attempts) {
    for (const csaw_plan_options &plan : cpu_plans()) expect_64_attempts(plan);
}

TEST(Equality, OfTheOtherWalks) { expect_walks_equal(cpu_plans()); }

TEST(Equality, OfSamplersWithEveryHook) { expect_hooks_equal(cpu_plans()); }

TEST(Equality, BatchesOfAnySizeHoldTheSameWalks) {
    const Graph graph = reference::small_graph("multi_weighted");
    const Request request = request_on(graph.csr(), 6); // 30 walks of 28 bytes
    for (const csaw_plan_options &plan : {plan_on("cpu", 2, 0), plan_on("cpu", 2, 3)}) {
        const Library library(graph.csr(), plan);
        for (const Law &law : laws()) {
            const Walks expected = reference_walks(graph.csr(), law, Method::automatic, request);
            for (uint64_t batch_bytes : {1, 29, 7 * 28 + 1, 17 * 28, 0}) {
                int batches = 0;
                const Walks walks = library.walks_in_batches(law, Method::automatic, request, batch_bytes, &batches);
                EXPECT_TRUE(same(expected, walks)) << law.name() << ", " << batch_bytes << " bytes, " << name_of(plan);
                if (batch_bytes == 1) {
                    EXPECT_EQ(batches, 30) << "a batch has at least one walk";
                }
                if (batch_bytes == 0) {
                    EXPECT_EQ(batches, 1) << "64 MiB hold all of them";
                }
            }
        }
    }
}

// Walk w of seed j is instance w * (number of seeds) + j: one seed at a time, the seeds' walks come back in other
// places.
TEST(Equality, InstancesAreNumberedWalkByWalk) {
    const Graph graph = reference::small_graph("karate");
    const Library library(graph.csr(), plan_on("cpu", 2, 0));
    Request request;
    request.seed = 5;
    request.roots = {33, 0, 16, 0};
    request.walks_per_seed = 3;
    request.depth = 5;
    const Walks walks = library.walks({false, 1, 1}, Method::uniform, request);
    ASSERT_EQ(walks.count, 12u);
    for (uint64_t i = 0; i < 12; i++) EXPECT_EQ(walks.path[i * 6], request.roots[i % 4]);
    request.walks_per_seed = 1; // the same 12 instances, each with a seed of its own
    request.roots = {33, 0, 16, 0, 33, 0, 16, 0, 33, 0, 16, 0};
    EXPECT_TRUE(same(walks, library.walks({false, 1, 1}, Method::uniform, request)));
}

// What does not decide a sample does not change it; what does, does.
TEST(Equality, SamplesDependOnSeedAndNotOnDepth) {
    const Graph graph = reference::small_graph("karate");
    const Library library(graph.csr(), plan_on("cpu", 0, 0));
    Request request = request_on(graph.csr(), 10);
    const Law law = {true, .25f, 4};
    const Walks ten = library.walks(law, Method::automatic, request);
    request.depth = 5;
    const Walks five = library.walks(law, Method::automatic, request);
    for (uint64_t w = 0; w < five.count; w++)
        for (uint32_t s = 0; s <= 5; s++) ASSERT_EQ(five.path[w * 6 + s], ten.path[w * 11 + s]);
    request.seed ^= uint64_t{1} << 63;
    EXPECT_FALSE(same(five, library.walks(law, Method::automatic, request)));
}

} // namespace

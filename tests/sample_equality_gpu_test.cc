/* SPDX-License-Identifier: MIT */
/* tests/sample_equality_gpu_test.cc - samples have the same bits (P2) on a GPU: what tests/reference gives. */
#include "tests/sample_equality.h"

#include <algorithm>
#include <functional>

using namespace sample_equality;

namespace {

const csaw_plan_options gpu = plan_on("cuda:0", 0, 0);

#define SKIP_WITHOUT_GPU()                                                                                     \
    if (const std::string why = reference::no_gpu_because(reference::small_graph("star").csr()); !why.empty()) \
    GTEST_SKIP() << "no GPU: " << why

class OnGpu : public ::testing::TestWithParam<std::string> {};

TEST_P(OnGpu, SamplersWithEveryHookGiveTheReferencesBits) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph(GetParam());
    expect_equal(graph.csr(), samplers_for(GetParam()), requests_on(graph.csr()), {gpu});
}

TEST_P(OnGpu, BuiltInSamplersGiveTheReferencesBits) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph(GetParam());
    expect_equal(graph.csr(), built_in(graph.csr()), requests_on(graph.csr()), {gpu});
}

INSTANTIATE_TEST_SUITE_P(SampleEqualityOnGpu, OnGpu, ::testing::ValuesIn(reference::small_graph_names()),
                         [](const auto &info) { return info.param; });

TEST(SampleEqualityOnGpu, OnEvents) {
    SKIP_WITHOUT_GPU();
    for (bool weighted : {false, true}) {
        const Graph graph = reference::event_graph(weighted);
        expect_equal(graph.csr(), built_in(graph.csr()), requests_on(graph.csr()), {gpu});
    }
}

TEST(SampleEqualityOnGpu, OnAHub) {
    SKIP_WITHOUT_GPU();
    const Graph hub = small_hub(300), large = small_hub(4000);
    const csaw_csr csr = hub.csr();
    expect_equal(csr, samplers_for("hub"), requests_on_hub(csr, {1, 16, 32, 33, 40, 299, 300}), {gpu});
    expect_equal(csr, built_in(csr), requests_on_hub(csr, {40, 299}), {gpu});
    expect_equal(large.csr(), {built_in(large.csr())[0], built_in(large.csr())[2]},
                 requests_on_hub(large.csr(), {1000}), {gpu});
}

// Small enough for a sanitizer: few and many picks, with and without replacement, all; rounds that are exceeded.
TEST(SampleEqualityOnGpu, EveryPathOnce) {
    SKIP_WITHOUT_GPU();
    const Graph hub = small_hub(60);
    std::vector<SampleRequest> requests = requests_on_hub(hub.csr(), {20, 40});
    requests.push_back(requests_on_hub(hub.csr(), {CSAW_ALL})[0]);
    expect_equal(hub.csr(), built_in(hub.csr()), requests, {gpu});
}

TEST(SampleEqualityOnGpu, OnRmat) {
    SKIP_WITHOUT_GPU();
    for (bool weighted : {false, true}) {
        const equality::OwnedGraph graph = equality::rmat_graph(weighted);
        const csaw_csr csr = csaw_graph_csr(graph.get());
        for (const std::vector<uint32_t> &fanout : {std::vector<uint32_t>{5, 3, 2}, {15, 10}, {25, 33}}) {
            SampleRequest request = request_on(csr, fanout, static_cast<uint32_t>(fanout.size()), false);
            request.samples_per_pool = 1;
            expect_equal(csr, compiled(), {request}, {gpu});
            expect_equal(csr, built_in(csr), {request}, {gpu});
        }
    }
}

// Enough instances that those run each by itself whose rows are scanned by a warp; ranges of pools, and all of them.
TEST(SampleEqualityOnGpu, ManySmallInstances) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph("weighted");
    std::vector<Compiled> scanning;
    for (const std::vector<Compiled> &all : {compiled(), built_in(graph.csr())})
        for (Compiled each : all) {
            const auto scans = [](Method m) { return m == Method::its || m == Method::race; };
            each.methods.erase(std::remove_if(each.methods.begin(), each.methods.end(), std::not_fn(scans)),
                               each.methods.end());
            const reference::Sampler &has = each.reference;
            if (!has.fanout && !has.has_frontier_size && !has.keep_pool && !has.replace_pool && !has.layer)
                scanning.push_back(each);
        }
    ASSERT_GE(scanning.size(), 5u);
    SampleRequest request = request_on(graph.csr(), {3, 2}, 2, false);
    request.pools.clear();
    for (csaw_vertex v : graph.vertices())
        request.pools.push_back({v, static_cast<csaw_vertex>((v + 5) % graph.csr().num_vertices)});
    request.samples_per_pool = 1 + 4096 / static_cast<uint32_t>(request.pools.size());
    expect_equal(graph.csr(), scanning, {request}, {gpu});
    request.replace = true;
    expect_equal(graph.csr(), scanning, {request}, {gpu});
}

TEST(SampleEqualityOnGpu, PoolsMayBeEmpty) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph("karate");
    SampleRequest request = request_on(graph.csr(), {}, 2, false);
    request.pools = {{}, {3, 3}, {}, {5}, {}};
    expect_equal(graph.csr(), compiled(), {request}, {gpu});
    request.pools = {{}, {}};
    expect_equal(graph.csr(), compiled(), {request}, {gpu});
}

} // namespace

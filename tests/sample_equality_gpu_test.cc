/* SPDX-License-Identifier: MIT */
/* tests/sample_equality_gpu_test.cc - samples have the same bits (P2) on a GPU: what tests/reference gives. */
#include "tests/sample_equality.h"

using namespace sample_equality;

namespace {

const csaw_plan_options gpu = plan_on("cuda:0", 0, 0);

#define SKIP_WITHOUT_GPU()                                                                                     \
    if (const std::string why = reference::no_gpu_because(reference::small_graph("star").csr()); !why.empty()) \
    GTEST_SKIP() << "no GPU: " << why

// Those that the GPU engine has: one selection a vertex, from all of a pool that is a set.
std::vector<Compiled> of_these(const std::vector<Compiled> &all) {
    std::vector<Compiled> out;
    for (const Compiled &one : all) {
        const reference::Sampler &sampler = one.reference;
        if (!sampler.layer && !sampler.replace_pool && !sampler.keep_pool && !sampler.has_frontier_size)
            out.push_back(one);
    }
    return out;
}

class OnGpu : public ::testing::TestWithParam<std::string> {};

TEST_P(OnGpu, SamplersWithEveryHookGiveTheReferencesBits) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph(GetParam());
    expect_equal(graph.csr(), of_these(samplers_for(GetParam())), requests_on(graph.csr()), {gpu});
}

TEST_P(OnGpu, BuiltInSamplersGiveTheReferencesBits) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph(GetParam());
    expect_equal(graph.csr(), of_these(built_in(graph.csr())), requests_on(graph.csr()), {gpu});
}

INSTANTIATE_TEST_SUITE_P(SampleEqualityOnGpu, OnGpu, ::testing::ValuesIn(reference::small_graph_names()),
                         [](const auto &info) { return info.param; });

TEST(SampleEqualityOnGpu, OnEvents) {
    SKIP_WITHOUT_GPU();
    for (bool weighted : {false, true}) {
        const Graph graph = reference::event_graph(weighted);
        expect_equal(graph.csr(), of_these(built_in(graph.csr())), requests_on(graph.csr()), {gpu});
    }
}

TEST(SampleEqualityOnGpu, OnAHub) {
    SKIP_WITHOUT_GPU();
    const Graph hub = small_hub(300), large = small_hub(4000);
    const csaw_csr csr = hub.csr();
    expect_equal(csr, of_these(samplers_for("hub")), requests_on_hub(csr, {1, 16, 32, 33, 40, 299, 300}), {gpu});
    expect_equal(csr, of_these(built_in(csr)), requests_on_hub(csr, {40, 299}), {gpu});
    expect_equal(large.csr(), {built_in(large.csr())[0], built_in(large.csr())[2]},
                 requests_on_hub(large.csr(), {1000}), {gpu});
}

// Small enough for a sanitizer: few and many picks, with and without replacement, all; rounds that are exceeded.
TEST(SampleEqualityOnGpu, EveryPathOnce) {
    SKIP_WITHOUT_GPU();
    const Graph hub = small_hub(60);
    std::vector<SampleRequest> requests = requests_on_hub(hub.csr(), {20, 40});
    requests.push_back(requests_on_hub(hub.csr(), {CSAW_ALL})[0]);
    expect_equal(hub.csr(), of_these(built_in(hub.csr())), requests, {gpu});
}

TEST(SampleEqualityOnGpu, OnRmat) {
    SKIP_WITHOUT_GPU();
    for (bool weighted : {false, true}) {
        const equality::OwnedGraph graph = equality::rmat_graph(weighted);
        const csaw_csr csr = csaw_graph_csr(graph.get());
        for (const std::vector<uint32_t> &fanout : {std::vector<uint32_t>{5, 3, 2}, {15, 10}, {25, 33}}) {
            SampleRequest request = request_on(csr, fanout, static_cast<uint32_t>(fanout.size()), false);
            request.samples_per_pool = 1;
            expect_equal(csr, of_these(compiled()), {request}, {gpu});
            expect_equal(csr, of_these(built_in(csr)), {request}, {gpu});
        }
    }
}

TEST(SampleEqualityOnGpu, PoolsMayBeEmpty) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph("karate");
    SampleRequest request = request_on(graph.csr(), {}, 2, false);
    request.pools = {{}, {3, 3}, {}, {5}, {}};
    expect_equal(graph.csr(), of_these(compiled()), {request}, {gpu});
    request.pools = {{}, {}};
    expect_equal(graph.csr(), of_these(compiled()), {request}, {gpu});
}

} // namespace

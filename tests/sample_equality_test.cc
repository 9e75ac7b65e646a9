/* SPDX-License-Identifier: MIT */
/* tests/sample_equality_test.cc - samples have the same bits (P2) on a CPU: 1, 2 and 7 threads, 2, 3 and 17 partitions,
 * and batches of any size give what tests/reference gives. */
#include "tests/sample_equality.h"

using namespace sample_equality;

namespace {

std::vector<csaw_plan_options> whole() { return {plan_on("cpu", 1, 0), plan_on("cpu", 2, 0), plan_on("cpu", 7, 0)}; }

std::vector<csaw_plan_options> parted() { return {plan_on("cpu", 1, 2), plan_on("cpu", 2, 3), plan_on("cpu", 7, 17)}; }

class OnGraph : public ::testing::TestWithParam<std::string> {};

TEST_P(OnGraph, SamplersWithEveryHookGiveTheReferencesBits) {
    const Graph graph = reference::small_graph(GetParam());
    expect_equal(graph.csr(), samplers_for(GetParam()), requests_on(graph.csr()), whole());
}

TEST_P(OnGraph, BuiltInSamplersGiveTheReferencesBits) {
    const Graph graph = reference::small_graph(GetParam());
    expect_equal(graph.csr(), built_in(graph.csr()), requests_on(graph.csr()), parted());
}

INSTANTIATE_TEST_SUITE_P(SampleEquality, OnGraph, ::testing::ValuesIn(reference::small_graph_names()),
                         [](const auto &info) { return info.param; });

TEST(SampleEquality, OnEvents) {
    for (bool weighted : {false, true}) {
        const Graph graph = reference::event_graph(weighted);
        expect_equal(graph.csr(), built_in(graph.csr()), requests_on(graph.csr()), parted());
    }
}

TEST(SampleEquality, OnAHub) {
    const Graph hub = small_hub(300), large = small_hub(4000);
    const csaw_csr csr = hub.csr();
    expect_equal(csr, samplers_for("hub"), requests_on_hub(csr, {1, 16, 32, 33, 40, 299, 300}), {plan_on("cpu", 2, 0)});
    expect_equal(csr, built_in(csr), requests_on_hub(csr, {40, 299}), {plan_on("cpu", 2, 0)});
    expect_equal(large.csr(), {built_in(large.csr())[0], built_in(large.csr())[2]},
                 requests_on_hub(large.csr(), {1000}), {plan_on("cpu", 1, 0)});
}

TEST(SampleEquality, OnRmat) {
    for (bool weighted : {false, true}) {
        const equality::OwnedGraph graph = equality::rmat_graph(weighted);
        const csaw_csr csr = csaw_graph_csr(graph.get());
        SampleRequest request = request_on(csr, {5, 3, 2}, 3, false);
        request.samples_per_pool = 1;
        expect_equal(csr, compiled(), {request}, parted());
        expect_equal(csr, built_in(csr), {request}, whole());
    }
}

TEST(SampleEquality, PoolsMayBeEmpty) {
    const Graph graph = reference::small_graph("karate");
    const std::vector<csaw_plan_options> plans = {plan_on("cpu", 2, 0), plan_on("cpu", 2, 3)};
    SampleRequest request = request_on(graph.csr(), {}, 2, false);
    request.pools = {{}, {3, 3}, {}, {5}, {}};
    expect_equal(graph.csr(), compiled(), {request}, plans);
    request.pools = {{}, {}};
    expect_equal(graph.csr(), compiled(), {request}, plans);
}

TEST(SampleEquality, BatchesOfAnySizeHoldTheSameSamples) {
    const Graph graph = reference::small_graph("multi_weighted");
    const SampleRequest mixed = request_on(graph.csr(), {2, 3, 1}, 3, false),
                        ones = request_on(graph.csr(), {}, 3, false);
    for (const csaw_plan_options &plan : {plan_on("cpu", 1, 0), plan_on("cpu", 7, 0), plan_on("cpu", 1, 3)}) {
        const Library library(graph.csr(), plan);
        for (const Compiled &sampler : compiled()) {
            const SampleRequest &request = sampler.reference.replace_pool ? ones : mixed;
            const std::vector<Sample> all = reference_samples(graph.csr(), sampler, Method::automatic, request);
            for (uint64_t batch_bytes : {1, 100, 1000, 0}) {
                for (uint64_t first : {uint64_t{0}, uint64_t{1}, uint64_t{7}, uint64_t{23}, all.size()}) {
                    SCOPED_TRACE(sampler.name + ", " + std::to_string(batch_bytes) + " bytes, from " +
                                 std::to_string(first) + ", " + name_of(plan));
                    int batches = 0;
                    EXPECT_NO_THROW({
                        const auto samples =
                            library.samples_in_batches(sampler.sampler, params_of(sampler), Method::automatic, request,
                                                       first, batch_bytes, &batches);
                        const std::vector<Sample> rest(all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
                        EXPECT_TRUE(same(rest, samples));
                    });
                    if (first == 0 && batch_bytes == 0) {
                        EXPECT_EQ(batches, 1) << "64 MiB hold all of them";
                    }
                    if (first == 0 && batch_bytes == 1) {
                        EXPECT_GT(batches, 1);
                    }
                }
            }
        }
    }
}

// Instance w * (number of pools) + j starts with pool j: the same instances as so many pools, once each.
TEST(SampleEquality, InstancesAreNumberedSampleBySample) {
    const Graph graph = reference::small_graph("karate");
    const Library library(graph.csr(), plan_on("cpu", 2, 0));
    SampleRequest request = request_on(graph.csr(), {2, 2}, 2, false);
    request.pools = {{33}, {0, 5}, {16, 2, 16}};
    request.samples_per_pool = 2;
    const std::vector<Sample> samples = library.samples(&csaw_uniform, nullptr, Method::automatic, request);
    ASSERT_EQ(samples.size(), 6u);
    request.samples_per_pool = 1;
    request.pools = {{33}, {0, 5}, {16, 2, 16}, {33}, {0, 5}, {16, 2, 16}};
    EXPECT_TRUE(same(samples, library.samples(&csaw_uniform, nullptr, Method::automatic, request)));
}

// The same fanouts, another seed or a deeper run.
TEST(SampleEquality, SamplesDependOnSeedAndNotOnDepth) {
    const Graph graph = reference::small_graph("karate");
    const Library library(graph.csr(), plan_on("cpu", 0, 0));
    SampleRequest request = request_on(graph.csr(), {2, 3, 2, 1}, 4, false);
    const auto cut_at = [](std::vector<Sample> samples, uint32_t depth) {
        for (Sample &sample : samples)
            while (!sample.arcs.empty() && sample.arcs.back().depth >= depth) sample.arcs.pop_back();
        return samples;
    };
    const auto deep = library.samples(&csaw_biased, nullptr, Method::its, request);
    request.fanout.resize(2);
    request.depth = 2;
    const auto shallow = library.samples(&csaw_biased, nullptr, Method::its, request);
    EXPECT_TRUE(same(cut_at(deep, 2), shallow));
    request.seed ^= uint64_t{1} << 63;
    EXPECT_FALSE(same(shallow, library.samples(&csaw_biased, nullptr, Method::its, request)));
}

// The arcs of walks are those that their paths followed.
std::vector<Sample> arcs_of(const csaw_csr &csr, const reference::Walks &walks) {
    std::vector<Sample> out(walks.count);
    for (uint64_t w = 0; w < walks.count; w++) {
        const csaw_vertex *path = &walks.path[w * (walks.length + uint64_t{1})];
        out[w].frontier = {path[0]};
        for (uint32_t s = 0; s < walks.length; s++) {
            const csaw_edge edge = walks.edge[w * walks.length + s];
            if (edge != CSAW_NO_EDGE) out[w].arcs.push_back({path[s], csr.col[edge], edge, s});
        }
    }
    return out;
}

// One seed each, in pools or not, is a walk. REJECT's 17th attempt tells a walk from a sample of fanout 1.
TEST(SampleEquality, ArcsOfWalks) {
    const Graph graph = reference::small_graph("directed_weighted");
    const csaw_csr csr = graph.csr();
    const reference::Request request = equality::request_on(csr, 9);
    SampleRequest pools;
    pools.seed = request.seed;
    pools.depth = request.depth;
    pools.samples_per_pool = request.walks_per_seed;
    for (csaw_vertex v : request.roots) pools.pools.push_back({v});
    const csaw_node2vec_params params = {.01f, 100};
    const auto expected = reference::walks(csr, reference::node2vec(.01f, 100), Method::automatic, request, false);
    const Library library(csr, plan_on("cpu", 2, 0));
    EXPECT_TRUE(same(arcs_of(csr, expected), library.arcs_of_walks(&csaw_node2vec, &params, request))) << "seeds";
    EXPECT_TRUE(same(arcs_of(csr, expected), library.samples(&csaw_node2vec, &params, Method::automatic, pools)))
        << "pools of one seed";
    pools.fanout.assign(pools.depth, 1);
    EXPECT_FALSE(same(arcs_of(csr, expected), library.samples(&csaw_node2vec, &params, Method::automatic, pools)))
        << "with a fanout it is a sample";
}

} // namespace

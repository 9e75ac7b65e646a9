/* SPDX-License-Identifier: MIT */
/* tests/hubs_gpu_test.cc - rows that a block of threads scans on a GPU (runtime/engine/device_hubs.cuh): the bits of
 * tests/reference and, of 10^6 arcs, of the CPU engine. Biases are dynamic, so that no sums are stored; weights of 0,
 * and some so large that rounds fail and slots are left; rows without any chance; a bias that is no number.
 *
 * A depth that takes all arcs keeps the runs out of the kernel for small instances, which has no blocks for hubs. */
#include "tests/gpu_cases.h"
#include "tests/reference/select.h"
#include "tests/sample_equality.h"

using namespace gpu_cases;
using reference::Graph;
using reference::SampleRequest;
using sample_equality::Compiled;

namespace {

// Vertex 0 has an arc to each leaf, and so has the vertex after the last leaf, of weight 0; leaves have one to 0.
// giants: 46 or 47, each of 9/10 of the weight of the one before, and others have the least mass there is: a round
// finds some of them, so that slots are open in the last one and, of more, after it.
Graph hub_of(csaw_vertex leaves, bool giants) {
    std::mt19937_64 random(12);
    std::vector<reference::WeightedArc> arcs;
    const csaw_vertex dead = leaves + 1;
    float giant = 1e30f;
    for (csaw_vertex leaf = 1; leaf <= leaves; leaf++) {
        float weight = leaf % 7 == 0 ? 0 : 1 + static_cast<float>(random() % 1024) / 1024;
        if (giants && leaf % (leaves / 46) == 3) weight = giant, giant *= 0.9f;
        arcs.push_back({0, leaf, weight});
        arcs.push_back({leaf, 0, 1});
        arcs.push_back({dead, leaf, 0});
    }
    return reference::graph_of("hub", leaves + 2, arcs, true);
}

// An edge bias without bounds; a static bias times an edge bias.
const std::vector<Compiled> &samplers() {
    static const std::vector<Compiled> two = [] {
        std::vector<Compiled> out;
        for (const reference::HookSampler &given : reference::hook_samplers()) {
            const std::string name = given.name;
            if (name != "moody" && name != "boomerang") continue;
            out.push_back({name, sample_equality::compile(name), {}, given.sampler, {Method::its, Method::race}});
        }
        return out;
    }();
    return two;
}

// The hub is met at depths 0 and, of few arcs, 2; with the leaves that it leads to; with a row that is dead. All
// leaves, at depth 2, are looked up k times each: more than a few would be a test of rows of one arc, and of memory.
SampleRequest request_of(csaw_vertex leaves, uint32_t k, bool replace) {
    SampleRequest out;
    out.seed = 0x9e3779b97f4a7c15;
    out.pools = {{0}, {leaves + 1}, {7, 0, 9, 7}, {leaves + 1, 0}, {5}};
    out.samples_per_pool = 2;
    out.fanout = {k, CSAW_ALL};
    if (k <= 33) out.fanout.push_back(k);
    out.depth = static_cast<uint32_t>(out.fanout.size());
    out.replace = replace;
    return out;
}

struct Shape {
    csaw_vertex leaves;
    bool giants;
};
class OnHub : public ::testing::TestWithParam<Shape> {};

TEST_P(OnHub, GivesTheReferencesBits) {
    SKIP_WITHOUT_GPU();
    const auto [leaves, giants] = GetParam();
    const Graph graph = hub_of(leaves, giants);
    std::vector<SampleRequest> requests;
    for (uint32_t k : {1u, 15u, 32u, 33u, 100u, 5000u}) // more than 32: RACE looks again, ITS has finer sums
        for (bool replace : {false, true}) requests.push_back(request_of(leaves, k, replace));
    const std::vector<Compiled> &two = samplers();
    ASSERT_EQ(2u, two.size());
    sample_equality::expect_equal(graph.csr(), two, requests, {reference::plan_on("cuda:0", 0, 0)});
}

// One arc less than a hub has, as many, and more; of the last not all parts have as many arcs.
INSTANTIATE_TEST_SUITE_P(
    Hubs, OnHub, ::testing::Values(Shape{16383, false}, Shape{16384, true}, Shape{20011, false}, Shape{20011, true}),
    [](const auto &info) { return std::to_string(info.param.leaves) + (info.param.giants ? "_with_giants" : ""); });

// What the rows with giants are for: the eighth round picks, of few picks and of many; it would not be missed
// otherwise.
TEST(Hubs, NeedTheEighthRound) {
    const Graph graph = hub_of(16384, true);
    std::vector<double> weight;
    for (uint64_t e = graph.rowptr[0]; e < graph.rowptr[1]; e++) weight.push_back(double{graph.weight[e]});
    reference::Candidates arcs = reference::alike(static_cast<uint32_t>(weight.size()));
    arcs.masses = reference::masses_of(weight);
    for (uint32_t k : {32u, 33u, 100u}) {
        uint32_t picks = 0;
        for (uint64_t instance = 0; instance < 10; instance++)
            for (const reference::Pick &pick :
                 reference::select(Method::its, arcs, k, false, {0x9e3779b97f4a7c15, instance, 0, 0, 0}))
                picks += pick.round == 7;
        EXPECT_GT(picks, 0u) << k;
    }
}

// Hundreds of them at a depth, beside other vertices.
TEST(Hubs, AreManyInAFrontier) {
    SKIP_WITHOUT_GPU();
    const csaw_vertex leaves = 16400;
    const auto many = static_cast<uint32_t>(reference::share_of(200));
    const Graph graph = hub_of(leaves, true);
    Pair pair(graph.csr());
    for (const Compiled &sampler : samplers()) {
        const Case each = {sampler.name, sampler.sampler, sampler.params, sampler.reference, false};
        for (Method method : sampler.methods) {
            Ask ask = ask_of(each, {{leaves + 1, 0, 4}, {9}}, 0, {6, 4, CSAW_ALL});
            ask.each = many;
            EXPECT_TRUE(pair.same(each, method, ask)) << each.name << ", " << reference::name_of(method);
            EXPECT_EQ(CSAW_OK, pair.last_status) << pair.last_message;
        }
    }
    // by two methods of two samplers: the first draw of those that begin at the hub, the second of those at a leaf
    EXPECT_GT(pair.items, 4u * many * (6 + 4));
}

TEST(Hubs, OfAMillionArcs) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::hub_graph();
    Pair pair(graph.csr());
    for (const Compiled &sampler : samplers()) {
        const Case each = {sampler.name, sampler.sampler, sampler.params, sampler.reference, false};
        for (Method method : sampler.methods) {
            for (uint32_t k : {1u, 32u, 45u}) {
                for (bool replace : {false, true}) {
                    if (replace && method == Method::race) continue; // which does not replace
                    if (!reference::takes_case()) continue;
                    // the hub at depths 0 and 2; a depth later, all of it, whose leaves draw no more
                    for (Ask ask : {ask_of(each, {{0}}, 0, {k, CSAW_ALL, k}),
                                    ask_of(each, {{31415, 0}, {1000000}}, 0, {k, CSAW_ALL})}) {
                        ask.replace = replace;
                        EXPECT_TRUE(pair.same(each, method, ask))
                            << each.name << ", " << reference::name_of(method) << ", fanout " << k << replace;
                        EXPECT_EQ(CSAW_OK, pair.last_status) << pair.last_message;
                    }
                }
            }
        }
    }
    if (reference::every_case() > 1) return;
    EXPECT_GT(pair.items, 2000u);
}

// An arc in the middle of the row, looked at by any of the warps.
TEST(Hubs, WithABiasThatIsNoNumberGiveTheErrorOfTheCpu) {
    SKIP_WITHOUT_GPU();
    const csaw_vertex leaves = 20000;
    for (csaw_vertex bad : {csaw_vertex{1}, leaves / 2, leaves}) {
        Graph graph = hub_of(leaves, false);
        graph.weight[graph.rowptr[0] + bad - 1] = std::numeric_limits<float>::quiet_NaN();
        Pair pair(graph.csr());
        for (const Compiled &sampler : samplers()) {
            const Case each = {sampler.name, sampler.sampler, sampler.params, sampler.reference, false};
            for (Method method : sampler.methods) {
                if (!reference::takes_case()) continue;
                const Ask ask = ask_of(each, {{leaves + 1}, {8, 0}}, 0, {15, CSAW_ALL});
                EXPECT_TRUE(pair.same(each, method, ask)) << each.name << ", " << reference::name_of(method);
                EXPECT_EQ(CSAW_EBIAS, pair.last_status) << each.name << ": " << pair.last_message;
                EXPECT_NE(std::string::npos, pair.last_message.find("edge " + std::to_string(bad - 1) + " "))
                    << pair.last_message;
            }
        }
    }
}

} // namespace

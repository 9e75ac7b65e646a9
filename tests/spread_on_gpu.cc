/* SPDX-License-Identifier: MIT */
/* tests/spread_on_gpu.cc - of parts_gpu_test: a graph that is split over ranks whose GPUs make the steps of walks. The
 * bits and the messages are those of one process, on as many GPUs as there are, which ranks share. The ranks are
 * threads of the test. */
#include "runtime/engine/parts.h"
#include "tests/fault_order.h"
#include "tests/spread_cases.h"

using reference::Graph;
using reference::Method;
using reference::Request;
using spread::Split;

CSAW_DECLARE_SAMPLER(roamer);
CSAW_DECLARE_SAMPLER(asker);

namespace {

class SpreadGpu : public ::testing::Test {
  protected:
    void SetUp() override {
        if (csaw__device_count(&gpus) != CSAW_OK) GTEST_SKIP() << csaw_last_error();
    }
    std::vector<Split> splits() const {
        std::vector<Split> out = spread::splits();
        for (size_t i = 0; i < out.size(); i++) {
            out[i].gpus = gpus;
            out[i].at_once = i % 2 ? 100 : 0;
        }
        return out;
    }
    void expect_as_one(const csaw_csr &csr, const csaw_sampler *sampler, const void *params, Method method,
                       const Request &request, const std::string &what) const {
        const reference::Library whole(csr, reference::plan_on("cpu", 1, 0));
        const reference::Walks expected = whole.walks(sampler, params, method, request);
        for (const Split &split : splits())
            EXPECT_NO_THROW(
                EXPECT_TRUE(equality::same(expected, spread::walks(csr, split, {sampler, params, method}, request)))
                << what << ", " << reference::name_of(method) << ", " << spread::name_of(split));
    }
    int gpus = 0;
};

TEST_F(SpreadGpu, WalksHaveTheBitsOfOneProcess) {
    for (const char *name : {"karate", "directed_weighted", "star", "zero_rows", "isolated"}) {
        const Graph graph = reference::small_graph(name);
        const csaw_csr csr = graph.csr();
        const Request request = equality::request_on(csr, 11);
        for (const equality::Law &law : equality::laws()) {
            const csaw_node2vec_params node2vec = {law.p, law.q};
            for (Method method : reference::methods_of(law))
                expect_as_one(csr, law.node2vec ? &csaw_node2vec : &csaw_uniform, law.node2vec ? &node2vec : nullptr,
                              method, request, law.name() + " on " + name);
        }
    }
}

TEST_F(SpreadGpu, TheOtherWalksToo) {
    for (const Graph &graph : walk_cases::graphs()) {
        const csaw_csr csr = graph.csr();
        for (const walk_cases::Case &walk : walk_cases::cases())
            for (Method method : walk_cases::methods_of(walk, csr))
                expect_as_one(csr, walk.sampler, walk.params.empty() ? nullptr : walk.params.data(), method,
                              equality::one_walk_each(csr, 9), walk.name + " on " + graph.name);
    }
}

TEST_F(SpreadGpu, HooksOfEveryKind) {
    for (const char *name : {"directed_weighted", "multi_weighted", "karate"}) {
        const Graph graph = reference::small_graph(name);
        const Request request = equality::request_on(graph.csr(), 17);
        for (Method method : {Method::automatic, Method::its, Method::race})
            expect_as_one(graph.csr(), &roamer, nullptr, method, request, std::string("roamer on ") + name);
        for (Method method : {Method::automatic, Method::its, Method::alias})
            expect_as_one(graph.csr(), &asker, nullptr, method, request, std::string("asker on ") + name);
    }
}

TEST_F(SpreadGpu, TheLowestFaultIsNamedOnEveryRank) {
    const Graph graph = fault_order::graph();
    for (const fault_order::Run &run : fault_order::runs()) {
        std::vector<csaw_vertex> roots;
        for (const auto &pool : run.pools) roots.push_back(pool[0]);
        const csaw_seeds seeds = {roots.data(), roots.size(), nullptr};
        csaw_run_options options = {};
        options.size = sizeof options;
        options.depth = 3;
        options.select = CSAW_SELECT_ITS;
        const auto draw = [&](csaw_plan *plan) {
            csaw_samples *samples = nullptr;
            const csaw_status status = csaw_sample(plan, &faulty, &run.params, &seeds, &options, &samples);
            csaw_samples_free(samples);
            return status;
        };
        const reference::Library whole(graph.csr(), reference::plan_on("cpu", 1, 0));
        EXPECT_EQ(CSAW_EBIAS, draw(whole.get()));
        const std::string one = csaw_last_error();
        for (const Split &split : splits())
            for (const spread::Outcome &outcome :
                 spread::on_ranks(graph.csr(), split, [&](uint32_t, csaw_plan *plan) { return draw(plan); }))
                EXPECT_EQ(one, outcome.message) << run.name << ", " << spread::name_of(split);
    }
}

// Samples, which the ranks' threads pick, of a plan whose walks would step on GPUs.
TEST_F(SpreadGpu, SamplesAreTheThreadsOfRanks) {
    static const uint32_t fanout[] = {3, 2};
    const Graph graph = reference::small_graph("karate");
    std::vector<uint64_t> arcs(2);
    Split split;
    split.gpus = gpus;
    csaw_run_options options = {};
    options.size = sizeof options;
    options.depth = 2;
    options.fanout = fanout;
    const auto count = [&](csaw_plan *plan, uint64_t *out) {
        csaw_samples *samples = nullptr;
        csaw_arcs got;
        CSAW_TRY(csaw_sample(plan, &csaw_neighbor, nullptr, nullptr, &options, &samples));
        CSAW_TRY(csaw_samples_arcs(samples, CSAW_HOST, &got));
        for (uint64_t i = 0; i < got.offset[got.num_instances]; i++) *out += (got.edge[i] + 1) * (got.depth[i] + 1);
        csaw_samples_free(samples);
        return CSAW_OK;
    };
    uint64_t one = 0;
    const reference::Library whole(graph.csr(), reference::plan_on("cpu", 1, 0));
    ASSERT_EQ(CSAW_OK, count(whole.get(), &one));
    for (const spread::Outcome &outcome :
         spread::on_ranks(graph.csr(), split, [&](uint32_t rank, csaw_plan *plan) { return count(plan, &arcs[rank]); }))
        EXPECT_EQ(CSAW_OK, outcome.status) << outcome.message;
    EXPECT_EQ(one, arcs[0] + arcs[1]);
}

} // namespace

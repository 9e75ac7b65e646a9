/* SPDX-License-Identifier: MIT */
/* tests/spread_on_gpu.cc - of parts_gpu_test: a graph that is split over ranks whose GPUs make the steps of walks. The
 * bits and the messages are those of one process, on as many GPUs as there are, which ranks share. The ranks are
 * threads of the test. Opening a plan, and a walk in tiny launches and batches, take a real GPU long, so walks,
 * methods, graphs and splits are not all paired here: each walk is drawn by each method, and each split draws walks of
 * every kind. All pairs, by the same kernels and host code, are emulated_spread_*_test's and ranks_program's. */
#include "runtime/engine/parts.h"
#include "tests/fault_order.h"
#include "tests/spread_cases.h"

#include <set>

using reference::Graph;
using reference::Method;
using reference::Request;
using reference::Walks;
using spread::Split;

CSAW_DECLARE_SAMPLER(roamer);
CSAW_DECLARE_SAMPLER(asker);

namespace {

struct Case {
    std::string name;
    const csaw_sampler *sampler;
    const void *params;
    Method method;
};

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
    // Each case on `times` of the splits, the next ones for the next case; on one after another, by the same plans.
    void expect_as_one(const csaw_csr &csr, const Request &request, const std::vector<Case> &cases, size_t times,
                       const std::string &graph) {
        const reference::Library whole(csr, reference::plan_on("cpu", 1, 0));
        const std::vector<Split> all = splits();
        std::vector<std::vector<Case>> of(all.size());
        for (const Case &one : cases) {
            if (!reference::takes_case()) continue;
            for (size_t i = 0; i < times; i++) of[(next + i * all.size() / times) % all.size()].push_back(one);
            next++;
        }
        for (size_t i = 0; i < all.size(); i++) {
            if (of[i].empty()) continue;
            const std::vector<Walks> got = walks_of(csr, all[i], request, of[i]);
            for (size_t k = 0; k < got.size(); k++)
                EXPECT_TRUE(
                    equality::same(whole.walks(of[i][k].sampler, of[i][k].params, of[i][k].method, request), got[k]))
                    << of[i][k].name << ", " << reference::name_of(of[i][k].method) << " on " << graph << ", "
                    << spread::name_of(all[i]);
        }
        next++; // so that a case does not come to the same split on every graph
    }
    int gpus = 0;

  private:
    // What the ranks deliver, one after the other, of each case.
    static std::vector<Walks> walks_of(const csaw_csr &csr, const Split &split, const Request &request,
                                       const std::vector<Case> &cases) {
        std::vector<std::vector<Walks>> of(split.ranks, std::vector<Walks>(cases.size()));
        const csaw_seeds seeds = {request.roots.data(), request.roots.size(), nullptr};
        const auto draw = [&](uint32_t rank, csaw_plan *plan) {
            for (size_t k = 0; k < cases.size(); k++) {
                const csaw_run_options options =
                    spread::options_of({cases[k].sampler, cases[k].params, cases[k].method}, request);
                csaw_samples *samples = nullptr;
                csaw_walks got;
                CSAW_TRY(csaw_sample(plan, cases[k].sampler, cases[k].params, &seeds, &options, &samples));
                const csaw_status status = csaw_samples_walks(samples, CSAW_HOST, &got);
                if (status == CSAW_OK) {
                    of[rank][k].count = got.num_walks;
                    of[rank][k].path.assign(got.path, got.path + got.num_walks * (got.length + uint64_t{1}));
                    of[rank][k].edge.assign(got.edge, got.edge + got.num_walks * got.length);
                }
                csaw_samples_free(samples);
                CSAW_TRY(status);
            }
            return CSAW_OK;
        };
        for (const spread::Outcome &outcome : spread::on_ranks(csr, split, draw))
            EXPECT_EQ(CSAW_OK, outcome.status) << outcome.message << ", " << spread::name_of(split);
        std::vector<Walks> out(cases.size());
        for (size_t k = 0; k < cases.size(); k++) {
            out[k].length = request.depth;
            for (const std::vector<Walks> &rank : of) {
                out[k].count += rank[k].count;
                out[k].path.insert(out[k].path.end(), rank[k].path.begin(), rank[k].path.end());
                out[k].edge.insert(out[k].edge.end(), rank[k].edge.begin(), rank[k].edge.end());
            }
        }
        return out;
    }
    size_t next = 0; // of the splits
};

TEST_F(SpreadGpu, WalksHaveTheBitsOfOneProcess) {
    const std::vector<equality::Law> laws = equality::laws();
    std::vector<csaw_node2vec_params> params;
    std::vector<Case> cases;
    for (const equality::Law &law : laws) params.push_back({law.p, law.q});
    for (size_t i = 0; i < laws.size(); i++)
        for (Method method : reference::methods_of(laws[i]))
            cases.push_back({laws[i].name(), laws[i].node2vec ? &csaw_node2vec : &csaw_uniform,
                             laws[i].node2vec ? &params[i] : nullptr, method});
    for (const char *name : {"karate", "directed_weighted", "star", "zero_rows", "isolated"}) {
        const Graph graph = reference::small_graph(name);
        expect_as_one(graph.csr(), equality::request_on(graph.csr(), 11), cases, 1, name);
    }
}

// Each walk by each method on every fifth graph, another one for the next.
TEST_F(SpreadGpu, TheOtherWalksToo) {
    enum { EVERY = 5 };
    const std::vector<walk_cases::Case> walks = walk_cases::cases();
    std::set<std::pair<size_t, Method>> allowed, drawn;
    size_t place = 0;
    for (const Graph &graph : walk_cases::graphs()) {
        const csaw_csr csr = graph.csr();
        std::vector<Case> cases;
        for (size_t i = 0; i < walks.size(); i++)
            for (Method method : walk_cases::methods_of(walks[i], csr)) {
                allowed.insert({i, method});
                if ((place + i + static_cast<size_t>(method)) % EVERY != 0) continue;
                drawn.insert({i, method});
                cases.push_back({walks[i].name, walks[i].sampler,
                                 walks[i].params.empty() ? nullptr : walks[i].params.data(), method});
            }
        expect_as_one(csr, equality::one_walk_each(csr, 9), cases, 1, graph.name);
        place++;
    }
    EXPECT_EQ(allowed, drawn);
}

TEST_F(SpreadGpu, HooksOfEveryKind) {
    std::vector<Case> cases;
    for (Method method : {Method::automatic, Method::its, Method::race})
        cases.push_back({"roamer", &roamer, nullptr, method});
    for (Method method : {Method::automatic, Method::its, Method::alias})
        cases.push_back({"asker", &asker, nullptr, method});
    for (const char *name : {"directed_weighted", "multi_weighted", "karate"}) {
        const Graph graph = reference::small_graph(name);
        expect_as_one(graph.csr(), equality::request_on(graph.csr(), 17), cases, 3, name);
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

// SPDX-License-Identifier: MIT
// tests/ranks/shares.cc - every built-in sampler, as a walk and as a sample, by several methods: the shares of all
// ranks are together what one process makes, instance by instance; what one process refuses, ranks refuse in the same
// words.
#include "ranks.h"

#include <algorithm>
#include <set>

namespace {

using namespace ranks;

const csaw_vertex some_seeds[] = {0, 3, 5, 7, 11, 13, 13, 21, 2, 0, 1, 34, 40, 8};
const uint64_t pools[] = {0, 3, 4, 4, 9, 14}; // one of them empty
const uint32_t fanout[] = {3, 2};

csaw_run_options options_of(csaw_select select, bool sample) {
    csaw_run_options options = {};
    options.size = sizeof options;
    options.seed = 11;
    options.select = select;
    options.edges = !sample;
    options.depth = sample ? 2 : 9;
    options.walks_per_seed = 2;
    options.fanout = sample ? fanout : nullptr;
    options.batch_bytes = 6000 / static_cast<uint64_t>(size_of()); // several rounds
    return options;
}

std::vector<Ask> all_asks(const std::vector<csaw_select> &methods) {
    std::vector<Ask> asks;
    for (uint32_t i = 0; const csaw_sampler *sampler = csaw_sampler_at(i); i++)
        for (csaw_select select : methods) {
            asks.push_back({sampler, {}, {nullptr, 0, nullptr}, options_of(select, false)});
            asks.push_back({sampler, {}, {some_seeds, 14, nullptr}, options_of(select, true)});
            asks.push_back({sampler, {}, {some_seeds, 5, pools}, options_of(select, true)});
        }
    for (Ask &ask : asks)
        if (csaw_sampler_name(ask.sampler) == std::string("multidimensional")) {
            static const uint32_t ones[] = {1, 1};
            if (ask.options.fanout) ask.options.fanout = ones;
        }
    return asks;
}

// Many ranks need not do all that few have done.
std::vector<csaw_select> methods() {
    if (size_of() > 3) return {CSAW_SELECT_AUTO};
    return {CSAW_SELECT_AUTO, CSAW_SELECT_ITS, CSAW_SELECT_ALIAS, CSAW_SELECT_RACE};
}

// All of one process's instances once, each as there.
void expect_shares(const Results &alone, const Results &mine, const std::string &what) {
    for (const auto &[instance, result] : mine) {
        const auto there = alone.find(instance);
        ASSERT_NE(there, alone.end()) << what << ": instance " << instance;
        ASSERT_EQ(there->second, result) << what << ": instance " << instance;
    }
}

} // namespace

namespace {

// What one process comes to.
csaw_status compare_one(const Plan &alone, const Plan &all, const Ask &ask) {
    const std::string what = std::string(csaw_sampler_name(ask.sampler)) + " " + csaw_select_name(ask.options.select) +
                             (ask.seeds.offset ? " pools" : "");
    Results one, sampled, each;
    uint64_t batches = 0;
    const csaw_status wanted = run(alone.get(), ask, &one);
    const std::string message = csaw_last_error();
    EXPECT_EQ(same_status(run(all.get(), ask, &sampled)), wanted) << what << ": " << csaw_last_error();
    if (wanted != CSAW_OK) {
        EXPECT_EQ(csaw_last_error(), message);
    }
    EXPECT_EQ(same_status(run_each(all.get(), ask, &each, &batches)), wanted) << what << ": " << csaw_last_error();
    if (wanted != CSAW_OK) return wanted;
    expect_shares(one, sampled, what);
    expect_shares(one, each, what + " in rounds");
    EXPECT_EQ(sum(sampled.size()), one.size()) << what;
    EXPECT_EQ(sum(each.size()), one.size()) << what;
    EXPECT_EQ(sum(batches), batches * static_cast<uint64_t>(size_of())) << what; // one a round
    // equal groups in order of rank
    EXPECT_LE(sampled.size(), one.size() / static_cast<uint64_t>(size_of()) + 1) << what;
    if (!sampled.empty()) {
        EXPECT_EQ(sampled.rbegin()->first - sampled.begin()->first + 1, sampled.size()) << what;
    }
    return wanted;
}

} // namespace

void ranks::compare(const Plan &alone, const Plan &all, const std::vector<csaw_select> &methods) {
    uint64_t equal = 0, refused = 0;
    for (const Ask &ask : all_asks(methods)) (compare_one(alone, all, ask) == CSAW_OK ? equal : refused)++;
    EXPECT_GT(equal, methods.size() * 25);
    EXPECT_GT(refused, 0u);
}

namespace {

void compare_on(const Graph &graph, int partitions, const std::vector<csaw_select> &methods) {
    compare(plan_alone(graph, partitions), plan_of_all(graph, partitions), methods);
}

TEST(Shares, of_a_weighted_graph) { compare_on(rmat(1, true), 0, {CSAW_SELECT_AUTO}); }
TEST(Shares, of_a_graph_with_types_and_times) { compare_on(mixed(), 0, methods()); }
TEST(Shares, on_partitions) { compare_on(mixed(), 3, {CSAW_SELECT_AUTO}); }

TEST(Shares, of_a_split_graph) {
    const Graph graph = mixed();
    compare(plan_alone(graph), plan_of_split(graph), {CSAW_SELECT_AUTO});
}

// Vertex 20, whose row leads to vertices of every rank, and is longer than a share of the arcs where there are 4 ranks
// or more; a ring of the others.
TEST(Shares, of_a_split_graph_whose_hub_has_neighbours_on_every_rank) {
    std::vector<csaw_vertex> src, dst;
    std::vector<float> weight;
    const auto add = [&](csaw_vertex a, csaw_vertex b) {
        for (const auto &[from, to] : {std::pair(a, b), std::pair(b, a)}) {
            src.push_back(from);
            dst.push_back(to);
            weight.push_back(1 + static_cast<float>((a + b) % 5));
        }
    };
    for (csaw_vertex v = 0; v < 45; v++) {
        if (v != 20) add(20, v);
        if (v != 20 && v != 19) add(v, (v + 1) % 45);
    }
    csaw_edges edges = {};
    edges.num_vertices = 45;
    edges.num_edges = src.size();
    edges.src = src.data();
    edges.dst = dst.data();
    edges.weight = weight.data();
    csaw_graph *made = nullptr;
    ASSERT_EQ(CSAW_OK, csaw_graph_from_edges(&edges, nullptr, &made)) << csaw_last_error();
    const Graph graph(made, csaw_graph_free);
    const Plan alone = plan_alone(graph), all = plan_of_split(graph);
    std::set<std::string> equal;
    for (const Ask &ask : all_asks({CSAW_SELECT_AUTO, CSAW_SELECT_ITS}))
        if (compare_one(alone, all, ask) == CSAW_OK) equal.insert(csaw_sampler_name(ask.sampler));
    for (uint32_t i = 0; const csaw_sampler *const sampler = csaw_sampler_at(i); i++)
        EXPECT_EQ(1u, equal.count(csaw_sampler_name(sampler))) << csaw_sampler_name(sampler);
}

TEST(Shares, of_no_instance_and_of_fewer_than_ranks) {
    const Graph graph = rmat(2, false);
    const Plan all = plan_of_all(graph), alone = plan_alone(graph);
    for (uint64_t count : {uint64_t{1}, uint64_t{2}}) {
        Ask ask = {&csaw_uniform, {}, {some_seeds, count, nullptr}, options_of(CSAW_SELECT_AUTO, false)};
        ask.options.walks_per_seed = 1;
        Results one, sampled, each;
        uint64_t batches = 0;
        EXPECT_EQ(run(alone.get(), ask, &one), CSAW_OK);
        EXPECT_EQ(same_status(run(all.get(), ask, &sampled)), CSAW_OK);
        EXPECT_EQ(same_status(run_each(all.get(), ask, &each, &batches)), CSAW_OK);
        expect_shares(one, sampled, "few");
        EXPECT_EQ(sum(sampled.size()), count);
        EXPECT_EQ(sum(each.size()), count);
        ask.options.first = count; // nothing left
        each.clear();
        EXPECT_EQ(same_status(run_each(all.get(), ask, &each, &batches)), CSAW_OK);
        EXPECT_EQ(sum(each.size()), 0u);
    }
}

TEST(Shares, of_two_groups_of_ranks_at_once) {
    const Graph graph = rmat(3, false);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank_of() % 2, 0, &half);
    {
        const Plan alone = plan_alone(graph), group = plan_of_all(graph, 0, half);
        Ask ask = {&csaw_uniform, {}, {nullptr, 0, nullptr}, options_of(CSAW_SELECT_AUTO, false)};
        ask.options.seed = static_cast<uint64_t>(rank_of() % 2); // each group has its own job
        Results one, each;
        uint64_t batches = 0;
        EXPECT_EQ(run(alone.get(), ask, &one), CSAW_OK);
        EXPECT_EQ(run_each(group.get(), ask, &each, &batches), CSAW_OK) << csaw_last_error();
        expect_shares(one, each, "half");
        EXPECT_EQ(sum(each.size(), half), one.size());
    }
    MPI_Comm_free(&half);
}

} // namespace

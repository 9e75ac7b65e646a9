/* SPDX-License-Identifier: MIT */
/* tests/spread_samples_test.cc - the bits are the same (P2) where a graph is split over ranks: samples of every
 * built-in sampler and of samplers with every hook and flag, against a plan that holds the whole graph, whose bits
 * sample_equality_test.cc holds against tests/reference. */
#include "tests/sample_cases.h"
#include "tests/spread_cases.h"

#include <mutex>

using reference::Graph;
using reference::Method;
using reference::Sample;
using sample_equality::Compiled;
using sample_equality::SampleRequest;
using spread::Split;

namespace {

// What the ranks deliver, one after the other.
std::vector<Sample> samples_of(const csaw_csr &csr, const Split &split, const Compiled &sampler, Method method,
                               const SampleRequest &request) {
    std::vector<std::vector<Sample>> of(split.ranks);
    std::vector<uint64_t> firsts(split.ranks);
    const reference::Seeds seeds(request.pools);
    csaw_run_options run = {};
    run.size = sizeof(run);
    run.seed = request.seed;
    run.walks_per_seed = request.samples_per_pool;
    run.depth = request.depth;
    run.fanout = request.fanout.empty() ? nullptr : request.fanout.data();
    run.replace = request.replace;
    run.select = reference::select_of(method);
    run.edges = request.fanout.empty();
    const auto outcomes = spread::on_ranks(csr, split, [&](uint32_t rank, csaw_plan *plan) {
        const csaw_seeds view = seeds.view();
        csaw_samples *samples = nullptr;
        csaw_arcs arcs;
        csaw_status status =
            csaw_sample(plan, sampler.sampler, sample_equality::params_of(sampler), &view, &run, &samples);
        if (status != CSAW_OK) return status;
        status = csaw_samples_arcs(samples, CSAW_HOST, &arcs);
        firsts[rank] = arcs.first;
        for (uint64_t i = 0; status == CSAW_OK && i < arcs.num_instances; i++) {
            Sample sample;
            sample.frontier.assign(arcs.seed + arcs.seed_offset[i], arcs.seed + arcs.seed_offset[i + 1]);
            for (uint64_t k = arcs.offset[i]; k < arcs.offset[i + 1]; k++)
                sample.arcs.push_back({arcs.src[k], arcs.dst[k], arcs.edge[k], arcs.depth[k]});
            of[rank].push_back(sample);
        }
        csaw_samples_free(samples);
        return status;
    });
    std::vector<Sample> out;
    for (uint32_t rank = 0; rank < split.ranks; rank++) {
        if (outcomes[rank].status != CSAW_OK) throw std::runtime_error(outcomes[rank].message);
        if (firsts[rank] != out.size()) throw std::runtime_error("instances out of order");
        out.insert(out.end(), of[rank].begin(), of[rank].end());
    }
    return out;
}

// A few at each depth, all, none; with replacement. Few picks where batches and room are tiny.
std::vector<SampleRequest> requests_on(const csaw_csr &csr) {
    SampleRequest few = sample_equality::request_on(csr, {2, CSAW_ALL}, 2, false);
    few.pools.resize(3);
    return {few, sample_equality::request_on(csr, {}, 6, false),
            sample_equality::request_on(csr, {2, CSAW_ALL, 3}, 3, false),
            sample_equality::request_on(csr, {3, 0, 2}, 3, true)};
}

const std::vector<Split> splits = {{1, 0, 0, 0, 0, false},
                                   {2, 0, 0, 0, 0, false},
                                   {3, 96, 0, 1, 1, false},
                                   {5, 128, 0, 300, 2, true},
                                   {8, 0, 0, 0, 0, false}};

void expect_equal(const csaw_csr &csr, const std::vector<Compiled> &samplers) {
    const reference::Library whole(csr, reference::plan_on("cpu", 1, 0));
    uint64_t compared = 0;
    for (const Compiled &sampler : samplers)
        for (const SampleRequest &request : requests_on(csr))
            for (Method method : sampler.methods) {
                std::vector<Sample> expected;
                try {
                    expected = whole.samples(sampler.sampler, sample_equality::params_of(sampler), method, request);
                } catch (const std::exception &) {
                    continue; // not allowed
                }
                for (const Split &split : splits) {
                    if (split.room && request.pools.size() > 3) continue;
                    compared++;
                    EXPECT_TRUE(sample_equality::same(expected, samples_of(csr, split, sampler, method, request)))
                        << sampler.name << ", " << reference::name_of(method) << ", "
                        << sample_equality::name_of(request) << ", " << spread::name_of(split);
                }
            }
    EXPECT_GT(compared, 10 * samplers.size());
}

class SamplesOnGraph : public ::testing::TestWithParam<std::string> {};

TEST_P(SamplesOnGraph, OfBuiltInWalks) {
    const Graph graph = reference::small_graph(GetParam());
    expect_equal(graph.csr(), sample_equality::built_in(graph.csr()));
}

// Neighbours, fires, snowballs, layers, lists: as many arcs at each depth as show what each does.
TEST_P(SamplesOnGraph, OfBuiltInSamplers) {
    const Graph graph = reference::small_graph(GetParam());
    const csaw_csr csr = graph.csr();
    const reference::Library whole(csr, reference::plan_on("cpu", 1, 0));
    for (const sample_cases::Case &each : sample_cases::cases()) {
        const SampleRequest request =
            sample_equality::request_on(csr, each.fanout, static_cast<uint32_t>(each.fanout.size()), each.replace);
        const Compiled sampler = {each.name, each.sampler, each.params, each.reference, {}};
        for (Method method : sample_cases::methods_of(each.reference, each.replace, csr)) {
            const std::vector<Sample> expected =
                whole.samples(each.sampler, sample_equality::params_of(sampler), method, request);
            for (const Split &split : splits)
                EXPECT_TRUE(sample_equality::same(expected, samples_of(csr, split, sampler, method, request)))
                    << each.name << ", " << reference::name_of(method) << ", " << spread::name_of(split);
        }
    }
}

TEST_P(SamplesOnGraph, OfSamplersWithEveryHook) {
    const Graph graph = reference::small_graph(GetParam());
    expect_equal(graph.csr(), sample_equality::samplers_for(GetParam()));
}

// ---- memory --------------------------------------------------------------------

// Vertex v leads to the next `degree` ones, around.
Graph ring(csaw_vertex vertices, csaw_vertex degree) {
    std::vector<reference::WeightedArc> arcs;
    for (csaw_vertex v = 0; v < vertices; v++)
        for (csaw_vertex d = 1; d <= degree; d++) arcs.push_back({v, (v + d) % vertices, 1});
    return reference::graph_of("ring", vertices, arcs, false);
}

// Every home has hundreds of entries for every other rank at a time; what waits there stays within the room.
TEST(SpreadSamples, WhatOthersAskTakesNoMoreThanTheRoom) {
    const Graph graph = ring(900, 3);
    std::vector<csaw_vertex> seed;
    for (int i = 0; i < 3; i++)
        for (csaw_vertex v = 0; v < 900; v++) seed.push_back(v);
    const uint64_t offset[] = {0, 900, 1800, 2700};
    static const uint32_t fanout[] = {2, 2};
    const Split split = {3, 0, 0, 8192, 0, false};
    const auto outcomes = spread::on_ranks(graph.csr(), split, [&](uint32_t, csaw_plan *plan) {
        const csaw_seeds seeds = {seed.data(), 3, offset};
        csaw_run_options options = {};
        options.size = sizeof options;
        options.depth = 2;
        options.fanout = fanout;
        csaw_samples *samples = nullptr;
        const csaw_status status = csaw_sample(plan, &csaw_neighbor, nullptr, &seeds, &options, &samples);
        csaw_samples_free(samples);
        return status;
    });
    for (const spread::Outcome &outcome : outcomes) {
        EXPECT_EQ(outcome.status, CSAW_OK) << outcome.message;
        EXPECT_GT(outcome.counts.messages[CSAW__ENTRY], 500u);
        EXPECT_GT(outcome.counts.most_kept, 0u);
        EXPECT_LE(outcome.counts.most_kept, split.room);
    }
}

// All picks of a layer lead from one row, which takes more than the room: it comes once.
TEST(SpreadSamples, ARowComesOnceForAllPicksOfALayer) {
    std::vector<reference::WeightedArc> arcs;
    for (csaw_vertex v = 1; v <= 200; v++) {
        arcs.push_back({0, v, 1});
        arcs.push_back({v, 0, 1});
    }
    const Graph graph = reference::graph_of("star", 201, arcs, false);
    const csaw_vertex seed[] = {0, 0};
    static const uint32_t fanout[] = {50};
    uint64_t picked = 0, wanted = 0;
    std::mutex lock;
    const auto outcomes = spread::on_ranks(graph.csr(), {2, 0, 0, 1, 0, false}, [&](uint32_t, csaw_plan *plan) {
        const csaw_seeds seeds = {seed, 2, nullptr};
        csaw_run_options options = {};
        options.size = sizeof options;
        options.depth = 1;
        options.fanout = fanout;
        csaw_samples *samples = nullptr;
        csaw_arcs got;
        csaw_status status = csaw_sample(plan, &csaw_layer, nullptr, &seeds, &options, &samples);
        if (status == CSAW_OK) status = csaw_samples_arcs(samples, CSAW_HOST, &got);
        const std::lock_guard<std::mutex> hold(lock);
        if (status == CSAW_OK) picked += got.offset[got.num_instances];
        csaw_samples_free(samples);
        return status;
    });
    for (const spread::Outcome &outcome : outcomes) {
        EXPECT_EQ(outcome.status, CSAW_OK) << outcome.message;
        wanted += outcome.counts.messages[CSAW__WANTED];
    }
    EXPECT_EQ(picked, 100u);
    EXPECT_EQ(wanted, 1u); // by the instance whose home is the other rank
}

INSTANTIATE_TEST_SUITE_P(Spread, SamplesOnGraph,
                         ::testing::Values("karate", "multi_weighted", "directed_weighted", "zero_rows"),
                         [](const auto &info) { return info.param; });

} // namespace

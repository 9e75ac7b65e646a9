/* SPDX-License-Identifier: MIT */
/* tests/out_of_memory_test.cc - the bits are the same (P2) where partitions of the graph come and go: walks and samples
 * on a simulated device against tests/reference, for 1, 2, 4 and 17 partitions of which 1, 2 or all are resident, for
 * queues of any room and copies and launches that end in any order. */
#include "tests/out_of_memory_cases.h"

using namespace out_of_memory;
using reference::Graph;
using reference::Method;
using sample_equality::Compiled;
using sample_equality::SampleRequest;

namespace {

class OnGraph : public ::testing::TestWithParam<std::string> {};

TEST_P(OnGraph, WalksHaveTheReferencesBits) {
    const Graph graph = reference::small_graph(GetParam());
    equality::expect_equal(graph.csr(), equality::request_on(graph.csr(), 21), plans());
}

INSTANTIATE_TEST_SUITE_P(OutOfMemory, OnGraph, ::testing::ValuesIn(reference::small_graph_names()),
                         [](const auto &info) { return info.param; });

TEST(OutOfMemory, TheOtherWalksHaveTheReferencesBits) { equality::expect_walks_equal(plans()); }

TEST(OutOfMemory, WalksWithEveryHookHaveTheReferencesBits) { equality::expect_hooks_equal(plans()); }

TEST(OutOfMemory, WalksOnRmatHaveTheReferencesBits) {
    const equality::OwnedGraph graph = equality::rmat_graph(true);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    equality::expect_equal(csr, equality::one_walk_each(csr, 9), plans());
}

// A few at each depth, all, none.
std::vector<SampleRequest> requests_on(const csaw_csr &csr) {
    return {sample_equality::request_on(csr, {}, 6, false),
            sample_equality::request_on(csr, {2, CSAW_ALL, 3}, 3, false),
            sample_equality::request_on(csr, {3, 0, 2}, 3, true)};
}

class SamplesOnGraph : public ::testing::TestWithParam<std::string> {};

TEST_P(SamplesOnGraph, HaveTheReferencesBits) {
    const Graph graph = reference::small_graph(GetParam());
    const csaw_csr csr = graph.csr();
    sample_equality::expect_equal(csr, sample_equality::samplers_for(GetParam()), requests_on(csr), plans());
    sample_equality::expect_equal(csr, sample_equality::built_in(csr), requests_on(csr), plans());
}

INSTANTIATE_TEST_SUITE_P(OutOfMemory, SamplesOnGraph,
                         ::testing::Values("karate", "multi_weighted", "directed_weighted", "zero_rows"),
                         [](const auto &info) { return info.param; });

// ---- queues of any room, any order -------------------------------------------------

// What a test may set before the first run.
struct Squeezed {
    uint64_t queue_room, spill_room, seed;
    bool one_at_a_time, in_turn, equal_shares;
};

const std::vector<Squeezed> squeezed = {{1, 2, 1, false, false, false},   {1, 3, 2, false, true, true},
                                        {2, 2, 3, false, false, true},    {5, 7, 4, true, false, false},
                                        {3, 1000, 5, false, true, false}, {1000, 2, 6, true, true, true}};

void squeeze(const Library &library, const Squeezed &how) {
    csaw__parts *parts = inside(library);
    parts->queue_room = how.queue_room;
    parts->spill_room = how.spill_room;
    parts->device.seed = how.seed;
    parts->one_at_a_time = how.one_at_a_time;
    parts->schedule.in_turn = how.in_turn;
    parts->schedule.equal_shares = how.equal_shares;
}

TEST(OutOfMemory, NoRoomInQueuesLosesNoWalk) {
    const Graph graph = reference::small_graph("directed_weighted");
    const csaw_csr csr = graph.csr();
    const reference::Request request = equality::request_on(csr, 21);
    for (const equality::Law &law : equality::laws())
        for (Method method : reference::methods_of(law)) {
            const reference::Walks expected = equality::reference_walks(csr, law, method, request);
            for (const Squeezed &how : squeezed)
                for (const csaw_plan_options &plan : {simulated(4, 1), simulated(4, 3), simulated(17, 2)}) {
                    const Library library(csr, plan);
                    squeeze(library, how);
                    EXPECT_TRUE(equality::same(expected, library.walks(law, method, request)))
                        << law.name() << ", " << equality::name_of(plan) << ", rooms " << how.queue_room << " and "
                        << how.spill_room;
                    if (how.queue_room == 1 && !how.one_at_a_time) {
                        EXPECT_GT(inside(library)->queues.num_spilled, 0u) << "the test is to overflow them";
                    }
                }
        }
}

TEST(OutOfMemory, NoRoomInQueuesLosesNoSample) {
    const Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    std::vector<Compiled> samplers = sample_equality::built_in(csr);
    for (const Compiled &sampler : sample_equality::compiled()) samplers.push_back(sampler);
    const SampleRequest wide = sample_equality::request_on(csr, {CSAW_ALL, 3, CSAW_ALL}, 3, false),
                        ones = sample_equality::request_on(csr, {}, 5, false);
    for (const Compiled &sampler : samplers) {
        const SampleRequest &request = sampler.reference.replace_pool ? ones : wide;
        const auto expected = sample_equality::reference_samples(csr, sampler, Method::automatic, request);
        for (const Squeezed &how : squeezed)
            for (const csaw_plan_options &plan : {simulated(4, 1), simulated(17, 3)}) {
                SCOPED_TRACE(sampler.name + ", " + equality::name_of(plan) + ", rooms " +
                             std::to_string(how.queue_room) + " and " + std::to_string(how.spill_room));
                const Library library(csr, plan);
                squeeze(library, how);
                EXPECT_NO_THROW({
                    const auto samples = library.samples(sampler.sampler, sample_equality::params_of(sampler),
                                                         Method::automatic, request);
                    EXPECT_TRUE(sample_equality::same(expected, samples));
                });
            }
    }
}

TEST(OutOfMemory, OverflowOfSamplesIsForced) {
    const Graph graph = reference::small_graph("karate");
    const Library library(graph.csr(), simulated(4, 2));
    squeeze(library, squeezed[0]);
    const SampleRequest wide = sample_equality::request_on(graph.csr(), {CSAW_ALL, CSAW_ALL, CSAW_ALL}, 3, false);
    library.samples(csaw_sampler_find("neighbor"), nullptr, Method::automatic, wide);
    EXPECT_GT(inside(library)->queues.num_spilled, 100u);
}

// Copies and launches end in another order for each seed of the device.
TEST(OutOfMemory, AnyOrderOfEndings) {
    const Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const equality::Law law = {true, .25f, 4};
    const reference::Request request = equality::request_on(csr, 12);
    const SampleRequest hops = sample_equality::request_on(csr, {3, CSAW_ALL, 2}, 3, false);
    const reference::Walks expected = equality::reference_walks(csr, law, Method::reject, request);
    const csaw_sampler *const samplers[] = {csaw_sampler_find("neighbor"), csaw_sampler_find("neighbor_once"),
                                            csaw_sampler_find("layer")};
    const Library whole(csr, reference::plan_on("cpu", 1, 0));
    std::vector<std::vector<reference::Sample>> samples;
    for (const csaw_sampler *sampler : samplers)
        samples.push_back(whole.samples(sampler, nullptr, Method::automatic, hops));
    for (uint64_t seed = 1; seed <= 60; seed++) {
        SCOPED_TRACE(seed);
        const Library library(csr, simulated(9, 3));
        squeeze(library, {4, 6, seed, false, seed % 3 == 0, seed % 2 == 0});
        EXPECT_TRUE(equality::same(expected, library.walks(law, Method::reject, request)));
        for (size_t i = 0; i < samples.size(); i++)
            EXPECT_TRUE(
                sample_equality::same(samples[i], library.samples(samplers[i], nullptr, Method::automatic, hops)));
    }
}

// Runs follow one another on one plan: with tables and without, of one sampler and another, in batches.
TEST(OutOfMemory, OnePlanServesManyRuns) {
    const Graph graph = reference::small_graph("directed_weighted");
    const csaw_csr csr = graph.csr();
    const reference::Request request = equality::request_on(csr, 9);
    const Library library(csr, simulated(5, 2));
    const equality::Law uniform = {false, 1, 1}, node2vec = {true, .25f, 4};
    const auto walk = [&](const equality::Law &law, Method method) {
        EXPECT_TRUE(
            equality::same(equality::reference_walks(csr, law, method, request), library.walks(law, method, request)));
    };
    for (int i = 0; i < 3; i++) {
        walk(uniform, Method::its);
        walk(uniform, Method::alias);
        walk(node2vec, Method::reject);
        walk(node2vec, Method::race);
        for (const walk_cases::Case &other : walk_cases::cases())
            for (Method method : walk_cases::methods_of(other, csr)) {
                if (method != Method::alias) continue;
                EXPECT_TRUE(equality::same(
                    reference::walks(csr, other.reference, method, request, reference::has_parallel_arcs(csr)),
                    library_walks(library, other, method, request)))
                    << other.name;
            }
    }
    int batches = 0;
    EXPECT_TRUE(equality::same(equality::reference_walks(csr, node2vec, Method::automatic, request),
                               library.walks_in_batches(node2vec, Method::automatic, request, 100, &batches)));
    EXPECT_GT(batches, 1);
}

} // namespace

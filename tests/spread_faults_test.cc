/* SPDX-License-Identifier: MIT */
/* tests/spread_faults_test.cc - what goes wrong on one rank of a graph that is split over ranks: all ranks say so, none
 * waits for ever, and the next run on the same plans is right. Hooks that break rules are named as by one process. */
#include "tests/failing_allocations.h"
#include "tests/fault_order.h"
#include "tests/spread_spoiled.h"

#include <mutex>
#include <numeric>

CSAW_DECLARE_SAMPLER(wrong_bias);

using reference::Graph;
using reference::Method;
using reference::Request;
using spread::Outcome;
using spread::Split;

namespace {

const std::vector<Split> few = {{2, 96, 1, 1, 1, false}, {3, 0, 0, 0, 0, false}, {5, 96, 0, 0, 2, false}};

// ---- hooks ---------------------------------------------------------------------

// What csaw_sample says on each rank.
std::vector<std::string> said(const csaw_csr &csr, const Split &split, const csaw_sampler *sampler, const void *params,
                              const std::vector<csaw_vertex> &roots, csaw_select select) {
    csaw_run_options options = {};
    options.size = sizeof options;
    options.depth = 3;
    options.select = select;
    std::vector<std::string> out;
    for (const Outcome &outcome : spread::on_ranks(csr, split, [&](uint32_t, csaw_plan *plan) {
             const csaw_seeds seeds = {roots.data(), roots.size(), nullptr};
             csaw_samples *samples = nullptr;
             const csaw_status status = csaw_sample(plan, sampler, params, &seeds, &options, &samples);
             csaw_samples_free(samples);
             return status;
         }))
        out.push_back(outcome.status == CSAW_EBIAS ? outcome.message : csaw_status_text(outcome.status));
    return out;
}

std::string said_by_one(const csaw_csr &csr, const csaw_sampler *sampler, const void *params,
                        const std::vector<csaw_vertex> &roots, csaw_select select) {
    const reference::Library whole(csr, reference::plan_on("cpu", 1, 0));
    csaw_run_options options = {};
    options.size = sizeof options;
    options.depth = 3;
    options.select = select;
    const csaw_seeds seeds = {roots.data(), roots.size(), nullptr};
    csaw_samples *samples = nullptr;
    EXPECT_EQ(csaw_sample(whole.get(), sampler, params, &seeds, &options, &samples), CSAW_EBIAS);
    return csaw_last_error();
}

TEST(SpreadFaults, TheLowestIsNamedOnEveryRank) {
    const Graph graph = fault_order::graph();
    for (const fault_order::Run &run : fault_order::runs()) {
        std::vector<csaw_vertex> roots; // walks
        for (const auto &pool : run.pools) roots.push_back(pool[0]);
        for (csaw_select select : {CSAW_SELECT_REJECT, CSAW_SELECT_ITS, CSAW_SELECT_RACE}) {
            if (run.params.rule == 1 && select == CSAW_SELECT_REJECT)
                continue; // a proposal below the lower bound is taken without a look at its bias
            const std::string one = said_by_one(graph.csr(), &faulty, &run.params, roots, select);
            for (const Split &split : few)
                for (const std::string &message : said(graph.csr(), split, &faulty, &run.params, roots, select))
                    EXPECT_EQ(message, one) << run.name << ", " << spread::name_of(split);
        }
    }
}

// Found by each rank in its own rows, before any walk.
TEST(SpreadFaults, TheLowestBadWeightIsNamedOnEveryRank) {
    const Graph graph = reference::small_graph("karate");
    for (uint32_t vertex : {0u, 5u, 33u}) {
        const uint32_t params[2] = {1, vertex};
        const std::string one = said_by_one(graph.csr(), &wrong_bias, params, {0, 1, 2}, CSAW_SELECT_ALIAS);
        EXPECT_NE(one.find("edge "), std::string::npos);
        for (const Split &split : few)
            for (const std::string &message :
                 said(graph.csr(), split, &wrong_bias, params, {0, 1, 2}, CSAW_SELECT_ALIAS))
                EXPECT_EQ(message, one) << spread::name_of(split);
    }
}

// Samples, whose picks are made by other ranks.
TEST(SpreadFaults, TheLowestOfSamplesIsNamedOnEveryRank) {
    static const uint32_t fanout[] = {2, 2, 2};
    const Graph graph = fault_order::graph();
    const reference::Library whole(graph.csr(), reference::plan_on("cpu", 1, 0));
    for (const fault_order::Run &run : fault_order::runs())
        for (csaw_select select : {CSAW_SELECT_ITS, CSAW_SELECT_REJECT, CSAW_SELECT_RACE}) {
            const std::string one = fault_order::said_of(whole.get(), run, select, fanout, 0);
            EXPECT_NE(one.find(run.where), std::string::npos) << one;
            for (const Split &split : few) {
                std::vector<std::string> messages(split.ranks);
                spread::on_ranks(graph.csr(), split, [&](uint32_t rank, csaw_plan *plan) {
                    messages[rank] = fault_order::said_of(plan, run, select, fanout, 0);
                    return CSAW_OK;
                });
                for (const std::string &message : messages)
                    EXPECT_EQ(message, one) << run.name << ", " << spread::name_of(split);
            }
        }
}

// ---- messages ------------------------------------------------------------------

// An exchange whose nth call for a message fails, once.
struct Failing : spread::Between {
    uint64_t calls = 0, fails = 0;
    csaw_status may() override {
        return ++calls == fails ? csaw__fail(CSAW_EIO, "message %llu was made to fail", (unsigned long long)calls)
                                : CSAW_OK;
    }
};

TEST(SpreadFaults, AMessageThatFailsFailsOnAllRanks) {
    const Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const Request request = equality::request_on(csr, 6);
    const equality::Law law = {true, .25f, 4};
    const csaw_node2vec_params node2vec = {law.p, law.q};
    const reference::Walks expected = equality::reference_walks(csr, law, Method::its, request);
    csaw_run_options options = spread::options_of({nullptr, nullptr, Method::its}, request);
    uint64_t failed = 0;
    for (const Split &split : few)
        for (uint32_t victim : std::vector<uint32_t>{0, split.ranks - 1})
            for (uint64_t n : std::vector<uint64_t>{1, 2, 3, 4, 5, 7, 10, 20, 50, 100, 200, 500}) {
                SCOPED_TRACE(spread::name_of(split) + ", rank " + std::to_string(victim) + ", " + std::to_string(n));
                std::vector<Failing> exchanges(split.ranks);
                std::vector<csaw_status> first(split.ranks), second(split.ranks);
                std::vector<std::string> message(split.ranks);
                std::vector<uint64_t> wrong(split.ranks);
                spread::on_ranks(
                    csr, split,
                    [&](uint32_t rank, csaw_plan *plan) {
                        const csaw_seeds seeds = {request.roots.data(), request.roots.size(), nullptr};
                        csaw_samples *samples = nullptr;
                        csaw_walks got;
                        first[rank] = csaw_sample(plan, &csaw_node2vec, &node2vec, &seeds, &options, &samples);
                        message[rank] = csaw_last_error();
                        csaw_samples_free(samples);
                        samples = nullptr;
                        exchanges[rank].fails = 0;
                        second[rank] = csaw_sample(plan, &csaw_node2vec, &node2vec, &seeds, &options, &samples);
                        if (second[rank] != CSAW_OK) return second[rank];
                        CSAW_TRY(csaw_samples_walks(samples, CSAW_HOST, &got));
                        const uint64_t places = got.length + uint64_t{1};
                        wrong[rank] = !std::equal(got.path, got.path + got.num_walks * places,
                                                  &expected.path[got.first * places]);
                        csaw_samples_free(samples);
                        return CSAW_OK;
                    },
                    [&](const csaw__exchange &inner) {
                        exchanges[inner.rank].fails = inner.rank == victim ? n : 0;
                        return exchanges[inner.rank].view(inner);
                    });
                for (uint32_t rank = 0; rank < split.ranks; rank++) {
                    EXPECT_EQ(first[rank], first[0]) << "some ranks failed, others did not";
                    EXPECT_EQ(second[rank], CSAW_OK);
                    EXPECT_EQ(wrong[rank], 0u);
                    if (first[0] == CSAW_OK) continue;
                    EXPECT_EQ(first[rank], CSAW_EIO);
                    EXPECT_EQ(message[rank], "rank " + std::to_string(victim) + ": message " + std::to_string(n) +
                                                 " was made to fail");
                    failed++;
                }
            }
    EXPECT_GT(failed, 150u) << "most of these messages are needed";
}

TEST(SpreadFaults, AMessageThatIsSpoiledIsRefused) {
    const Graph graph = reference::small_graph("karate");
    const Request request = equality::one_walk_each(graph.csr(), 6);
    const equality::Law law = {true, .25f, 4};
    const csaw_node2vec_params node2vec = {law.p, law.q};
    std::vector<spread::Spoil> spoils = spread::of_walkers_and_records();
    spoils.insert(spoils.end(), {{"a walker with a question, which", CSAW__RECORD, 1, ~0u, 8u << 28},
                                 {"asked about 1000 neighbours", CSAW__QUESTION, 3, 0, 1000},
                                 {"neighbours of vertex 33 in", CSAW__QUESTION, 4, 0, 33},
                                 spread::bytes_are("a question or an answer of 16 bytes", CSAW__QUESTION, 16),
                                 spread::bytes_are("a question or an answer of 16 bytes", CSAW__ANSWER, 16),
                                 {"of walker 1073741824 here", CSAW__ANSWER, 0, 0, 1u << 30},
                                 {"questions from 1000 on", CSAW__ANSWER, 2, 0, 1000},
                                 {"questions from 1 on", CSAW__ANSWER, 2, 0, 1},
                                 {"answered 0 questions", CSAW__ANSWER, 3, 0, 0},
                                 {"answered 1000 questions", CSAW__ANSWER, 3, 0, 1000}});
    spread::ExpectRefused(graph.csr(), {2}, {&csaw_node2vec, &node2vec, Method::its}, request,
                          equality::reference_walks(graph.csr(), law, Method::its, request), spoils);
}

// Samples of one seed each from all 34 vertices of karate, one arc at each of two depths.
void expect_samples_refused(const csaw_sampler *sampler, const std::vector<csaw_vertex> &seed,
                            const std::vector<spread::Spoil> &spoils, uint32_t depth = 2) {
    static const uint32_t fanout[] = {1, 1};
    const Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    csaw_run_options options = {};
    options.size = sizeof options;
    options.depth = depth;
    options.fanout = fanout;
    const csaw_seeds seeds = {seed.data(), seed.size(), nullptr};
    const auto draw = [&](csaw_plan *plan, csaw_samples **out) {
        return csaw_sample(plan, sampler, nullptr, &seeds, &options, out);
    };
    const std::unique_ptr<csaw_graph, reference::Free> borrowed = reference::borrow(csr);
    csaw_plan *plan = nullptr;
    csaw_samples *whole = nullptr;
    reference::require(csaw_plan_create(borrowed.get(), nullptr, &plan));
    reference::require(draw(plan, &whole));
    std::mutex lock; // arcs of whole are made when they are asked for
    const auto right = [&](csaw_samples *mine) {
        const std::lock_guard<std::mutex> hold(lock);
        return spread::instances_as_in(mine, whole);
    };
    spread::ExpectRefused(csr, {2}, spoils, draw, right, seed.size());
    csaw_samples_free(whole);
    csaw_plan_free(plan);
}

std::vector<csaw_vertex> all_of_karate() {
    std::vector<csaw_vertex> seed(34);
    std::iota(seed.begin(), seed.end(), 0u);
    return seed;
}

spread::Spoil kind_is(const char *said, uint32_t of, uint32_t kind) { return {said, of, 1, ~(0xfu << 28), kind << 28}; }

// A pick takes 12 bytes behind 24: its edge stands in words 6 and 7, dst in word 8.
TEST(SpreadFaults, AnEntryOrPicksThatAreSpoiledAreRefused) {
    expect_samples_refused(
        &csaw_neighbor, all_of_karate(),
        {{"an entry at vertex 33, ", CSAW__ENTRY, 4, 0, 33},
         {"an entry at vertex 4294967295, ", CSAW__ENTRY, 4, 0, CSAW_NONE},
         {"root 34, depth", CSAW__ENTRY, 5, 0, 34},
         {", depth 2, to the rows", CSAW__ENTRY, 2, ~0xffffffu, 2},
         spread::bytes_are("an entry of 16 bytes, but here it takes 32;", CSAW__ENTRY, 16),
         kind_is("a message of kind 15, ", CSAW__ENTRY, 15),
         kind_is("a message of kind 0, ", CSAW__ENTRY, CSAW__WALKER),
         {"picks of entry 1048576, ", CSAW__PICKS, 0, ~0xffffffu, 1u << 20},
         {"1 picks from 1 on, of 1, ", CSAW__PICKS, 2, 0, 1},
         {"1 picks from 4294967295 on, of 1, ", CSAW__PICKS, 2, 0, UINT32_MAX},
         {"picks of 40 bytes, but here it takes 24;", CSAW__PICKS, 3, 0, 0},
         {"picks of 40 bytes, but here it takes 48;", CSAW__PICKS, 3, 0, 2},
         {"1 picks from 0 on, of 0, ", CSAW__PICKS, 4, 0, 0},
         {"of 2, dead end", CSAW__PICKS, 4, 0, 2},
         {"dead end 34; ", CSAW__PICKS, 5, 0, 34},
         {"a pick of edge 4294967", CSAW__PICKS, 7, 0, 1},
         {"to vertex 34, update 34; ", CSAW__PICKS, 8, 0, 34},
         {"to vertex 4294967295, update", CSAW__PICKS, 8, 0, CSAW_NONE}, // which an update may be, no dst
         spread::bytes_are("picks of 16 bytes, but here it takes 24 at least", CSAW__PICKS, 16),
         kind_is("a message of kind 8, ", CSAW__PICKS, CSAW__ROW),
         kind_is("a fault of 40 bytes, but here it takes 56;", CSAW__PICKS, CSAW__FAULT)});
}

// Both seeds are rank 0's own: rank 1 alone asks. Its entry becomes picks, none of none.
TEST(SpreadFaults, PicksThatNobodyAskedForAreRefused) {
    expect_samples_refused(
        &csaw_neighbor, {0, 1},
        {{"picks, but nothing was asked of it; ", CSAW__ENTRY, 1, 0, uint32_t{CSAW__PICKS} << 28 | 3 << 12}}, 1);
}

// Behind 40 bytes of a row stands where its arcs lead.
TEST(SpreadFaults, ARowThatIsSpoiledIsRefused) {
    const std::vector<spread::Spoil> spoils = {
        {"wants the row of vertex 33; ", CSAW__WANTED, 2, 0, 33},
        spread::bytes_are("what it wants of 8 bytes, but here it takes 16;", CSAW__WANTED, 8),
        kind_is("a message of kind 4, ", CSAW__WANTED, CSAW__ENTRY),
        {"sent row 1048576, ", CSAW__ROW, 0, ~0xffffffu, 1u << 20},
        {" arcs from 34 on, edge", CSAW__ROW, 2, 0, 34},
        {"a row of ", CSAW__ROW, 3, 0, 1000},
        {"on, edge 4294967", CSAW__ROW, 5, 0, 1},
        {"an arc to vertex 34, ", CSAW__ROW, 10, 0, 34},
        spread::bytes_are("a row of 16 bytes, but here it takes 40 at least", CSAW__ROW, 16),
        kind_is("a message of kind 5, ", CSAW__ROW, CSAW__PICKS)};
    for (const csaw_sampler *sampler : {&csaw_neighbor_once, &csaw_layer})
        expect_samples_refused(sampler, all_of_karate(), spoils);
}

// ---- memory --------------------------------------------------------------------

TEST(SpreadFaults, EveryAllocationFails) {
    const Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const Request request = equality::one_walk_each(csr, 4);
    const csaw_node2vec_params node2vec = {.25f, 4};
    const csaw_run_options options = spread::options_of({nullptr, nullptr, Method::its}, request);
    for (const Split &split : few) {
        bool done = false;
        uint64_t n = 1;
        for (; !done && n < 1000; n++) {
            SCOPED_TRACE(n);
            std::vector<csaw_status> status(split.ranks, CSAW_ENOMEM); // of those that never got a plan
            std::vector<Outcome> outcomes = spread::on_ranks(
                csr, split,
                [&](uint32_t rank, csaw_plan *plan) {
                    const csaw_seeds seeds = {request.roots.data(), request.roots.size(), nullptr};
                    csaw_samples *samples = nullptr;
                    status[rank] = csaw_sample(plan, &csaw_node2vec, &node2vec, &seeds, &options, &samples);
                    csaw_samples_free(samples);
                    return status[rank];
                },
                {}, [&] { csaw__fail_allocations_from(n); });
            done = csaw__allocations_counted() < n;
            csaw__fail_allocations_from(0);
            for (const Outcome &outcome : outcomes) {
                EXPECT_EQ(outcome.status, done ? CSAW_OK : CSAW_ENOMEM) << outcome.message;
                if (!done) {
                    EXPECT_EQ(outcome.message, outcomes[0].message);
                }
            }
        }
        EXPECT_TRUE(done);
        EXPECT_GT(n, 10u * split.ranks);
    }
}

// Entries that go out, rows that come home, layers.
TEST(SpreadFaults, EveryAllocationOfSamplesFails) {
    static const uint32_t fanout[] = {2, 2};
    const Graph graph = reference::small_graph("karate");
    const csaw_vertex seed[] = {0, 9, 30};
    csaw_run_options options = {};
    options.size = sizeof options;
    options.depth = 2;
    options.fanout = fanout;
    for (const csaw_sampler *sampler : {&csaw_neighbor, &csaw_neighbor_once, &csaw_layer}) {
        bool done = false;
        uint64_t n = 1;
        for (; !done && n < 1000; n++) {
            SCOPED_TRACE(n);
            const std::vector<Outcome> outcomes = spread::on_ranks(
                graph.csr(), few[0],
                [&](uint32_t, csaw_plan *plan) {
                    const csaw_seeds seeds = {seed, 3, nullptr};
                    csaw_samples *samples = nullptr;
                    const csaw_status status = csaw_sample(plan, sampler, nullptr, &seeds, &options, &samples);
                    csaw_samples_free(samples);
                    return status;
                },
                {}, [&] { csaw__fail_allocations_from(n); });
            done = csaw__allocations_counted() < n;
            csaw__fail_allocations_from(0);
            for (const Outcome &outcome : outcomes)
                EXPECT_EQ(outcome.status, done ? CSAW_OK : CSAW_ENOMEM) << outcome.message;
        }
        EXPECT_TRUE(done);
        EXPECT_GT(n, 40u);
    }
}

// ---- ranks that do not agree -----------------------------------------------------

TEST(SpreadFaults, RanksThatAskForSomethingElse) {
    const Graph graph = reference::small_graph("karate");
    for (const Outcome &outcome : spread::on_ranks(graph.csr(), {3}, [&](uint32_t rank, csaw_plan *plan) {
             csaw_run_options options = {};
             options.size = sizeof options;
             options.depth = 3;
             options.seed = rank == 2 ? 5 : 4;
             csaw_samples *samples = nullptr;
             return csaw_sample(plan, &csaw_uniform, nullptr, nullptr, &options, &samples);
         })) {
        EXPECT_EQ(outcome.status, CSAW_EINVAL);
        EXPECT_EQ(outcome.message.find("rank 2 has another graph than rank 0"), 0u) << outcome.message;
    }
}

TEST(SpreadFaults, ABatchFunctionOfOneRankStopsAll) {
    const Graph graph = reference::small_graph("karate");
    for (const Outcome &outcome : spread::on_ranks(graph.csr(), {3}, [&](uint32_t rank, csaw_plan *plan) {
             csaw_run_options options = {};
             options.size = sizeof options;
             options.depth = 3;
             options.batch_bytes = 100;
             const auto take = [](void *user, csaw_samples *) {
                 return *static_cast<uint32_t *>(user) == 1 ? csaw__fail(CSAW_EIO, "no place to write to") : CSAW_OK;
             };
             return csaw_sample_each(plan, &csaw_uniform, nullptr, nullptr, &options, take, &rank);
         })) {
        EXPECT_EQ(outcome.status, CSAW_EIO);
        EXPECT_EQ(outcome.message, "rank 1: no place to write to");
    }
}

TEST(SpreadFaults, WhatCannotBeDoneIsRefused) {
    const Graph graph = reference::small_graph("karate");
    for (const Outcome &outcome : spread::on_ranks(graph.csr(), {2}, [&](uint32_t, csaw_plan *plan) {
             csaw_run_options options = {};
             options.size = sizeof options;
             options.depth = 3;
             options.check = true;
             csaw_samples *samples = nullptr;
             return csaw_sample(plan, &csaw_uniform, nullptr, nullptr, &options, &samples);
         }))
        EXPECT_EQ(outcome.status, CSAW_EUNSUPPORTED);
    csaw__local *local = nullptr;
    EXPECT_EQ(csaw__local_create(2, 8, 0, &local), CSAW_EINVAL);
}

} // namespace

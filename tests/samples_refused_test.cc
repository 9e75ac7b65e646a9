/* SPDX-License-Identifier: MIT */
/* tests/samples_refused_test.cc - samples that cannot be drawn as asked: each is refused with limit, value and remedy,
 * and the plan draws on. */
#include "tests/fault_order.h"

#include <csaw/samplers.h>
#include <gtest/gtest.h>

#include <cstring>

CSAW_DECLARE_SAMPLER(asking);
CSAW_DECLARE_SAMPLER(asking_declared);

namespace {

class Refused : public ::testing::Test {
  protected:
    void SetUp() override {
        const csaw_plan_options options = reference::plan_on("cpu", 1, 0);
        ASSERT_EQ(CSAW_OK, csaw_plan_create(graph.get(), &options, &plan));
        run.size = sizeof run;
        run.depth = 2;
    }
    void TearDown() override { csaw_plan_free(plan); }

    void Expect(csaw_status expected, const csaw_sampler *sampler, const void *params, const csaw_seeds *seeds,
                std::initializer_list<const char *> words) {
        csaw_samples *samples = nullptr;
        EXPECT_EQ(expected, csaw_sample(plan, sampler, params, seeds, &run, &samples));
        const std::string message = csaw_last_error();
        for (const char *word : words) EXPECT_NE(std::string::npos, message.find(word)) << message;
        EXPECT_EQ(nullptr, samples);
        csaw_samples_free(samples);
    }

    const reference::Graph karate = reference::small_graph("karate");
    const csaw_csr csr = karate.csr();
    std::unique_ptr<csaw_graph, reference::Free> graph = reference::borrow(csr);
    csaw_plan *plan = nullptr;
    csaw_run_options run = {};
    const uint32_t two[2] = {2, 2};
};

TEST_F(Refused, WhatDoesNotGoTogether) {
    const csaw_random_node_params many = {9000000};
    Expect(CSAW_EINVAL, &csaw_random_node, &many, nullptr, {"9000000", "8388608", "CSAW_ALL"});
    run.fanout = two;
    Expect(CSAW_EINVAL, &csaw_multidimensional, nullptr, nullptr, {"fanout at depth 0 is 2", "give 1"});
    Expect(CSAW_EINVAL, &csaw_temporal, nullptr, nullptr, {"user bytes", "frontier_size of 1"});
    run.check = true;
    Expect(CSAW_EUNSUPPORTED, &csaw_forest_fire, nullptr, nullptr, {"CSAW_VISITED", "without check"});
    run.check = false;
    run.depth = 0;
    Expect(CSAW_EINVAL, &csaw_neighbor, nullptr, nullptr, {"depth", "give depth"});
    run.depth = 2;
    run.select = CSAW_SELECT_ALIAS;
    Expect(CSAW_EINVAL, &csaw_layer, nullptr, nullptr, {"'alias'", "layers", "'its'"});
    run.select = CSAW_SELECT_RACE;
    run.replace = true;
    Expect(CSAW_EINVAL, &csaw_neighbor, nullptr, nullptr, {"'race'", "with replacement"});
}

TEST_F(Refused, PoolsThatAreNone) {
    const csaw_vertex seed[] = {1, 2, 3};
    const uint64_t late[] = {1, 3}, falling[] = {0, 3, 2};
    csaw_seeds seeds = {seed, 1, late};
    run.fanout = two;
    Expect(CSAW_EINVAL, &csaw_neighbor, nullptr, &seeds, {"begin with 0", "is 1"});
    seeds.count = 0;
    Expect(CSAW_EINVAL, &csaw_neighbor, nullptr, &seeds, {"begin with 0"});
    seeds = {seed, 2, falling};
    Expect(CSAW_EINVAL, &csaw_neighbor, nullptr, &seeds, {"never fall", "pool 1 is 3 .. 2"});
    const csaw_vertex beyond[] = {1, 34};
    const uint64_t whole[] = {0, 2};
    seeds = {beyond, 1, whole};
    Expect(CSAW_EINVAL, &csaw_neighbor, nullptr, &seeds, {"vertex 34", "34 vertices"});
}

// Of many offsets, which threads share out, and where one of one seed each is another.
TEST_F(Refused, TheFirstOfManyPoolsThatFallsIsNamed) {
    const uint64_t count = 300001;
    std::vector<csaw_vertex> seed(count + 1);
    std::vector<uint64_t> offset(count + 1);
    const csaw_seeds seeds = {seed.data(), count, offset.data()};
    run.fanout = two;
    for (uint64_t at : {uint64_t{1}, uint64_t{32767}, uint64_t{32768}, uint64_t{32769}, uint64_t{200000}, count - 1}) {
        for (uint64_t j = 0; j <= count; j++) offset[j] = j;
        offset[at] = at + 2;
        Expect(CSAW_EINVAL, &csaw_neighbor, nullptr, &seeds,
               {"never fall", ("pool " + std::to_string(at) + " is " + std::to_string(at + 2) + " .. ").c_str()});
        offset[at] = at + 1; // the pool before has two seeds, this one none
        csaw_samples *samples = nullptr;
        csaw_arcs view;
        ASSERT_EQ(CSAW_OK, csaw_sample(plan, &csaw_neighbor, nullptr, &seeds, &run, &samples)) << csaw_last_error();
        ASSERT_EQ(CSAW_OK, csaw_samples_arcs(samples, CSAW_HOST, &view));
        EXPECT_EQ(0u, view.seed_offset[at + 1] - view.seed_offset[at]) << at;
        csaw_samples_free(samples);
    }
}

TEST_F(Refused, MoreIndependentPicksThanThereAreNumbers) {
    const uint32_t many[] = {8388609, 1};
    run.fanout = many;
    csaw_samples *samples = nullptr;
    ASSERT_EQ(CSAW_OK, csaw_sample(plan, &csaw_neighbor, nullptr, nullptr, &run, &samples)) << csaw_last_error();
    csaw_samples_free(samples); // every arc of a row is taken
    run.replace = true;
    Expect(CSAW_EINVAL, &csaw_neighbor, nullptr, nullptr, {"instance 0, depth 0", "8388609", "8388608"});
}

// ---- what needs a flag ------------------------------------------------------

struct AskingParams { // as in tests/samplers/asking.h
    uint32_t what, hook;
};

// The message that two depths end with, of walks from every vertex or of one sample of a pool that holds all vertices,
// the last in front; empty if it goes well.
std::string said_of(const csaw_csr &csr, const csaw_sampler *sampler, const void *params, int partitions, bool walk) {
    const auto graph = reference::borrow(csr);
    const csaw_plan_options options = reference::plan_on("cpu", 1, partitions);
    const uint32_t two[] = {2, 2};
    std::vector<csaw_vertex> falling;
    for (csaw_vertex v = static_cast<csaw_vertex>(csr.num_vertices); v-- > 0;) falling.push_back(v);
    const uint64_t pool[] = {0, falling.size()};
    const csaw_seeds seeds = {falling.data(), 1, pool};
    csaw_run_options run = {};
    run.size = sizeof run;
    run.depth = 2;
    run.fanout = walk ? nullptr : two;
    run.select = CSAW_SELECT_ITS;
    csaw_plan *plan = nullptr;
    csaw_samples *samples = nullptr;
    EXPECT_EQ(CSAW_OK, csaw_plan_create(graph.get(), &options, &plan));
    const csaw_status status = csaw_sample(plan, sampler, params, walk ? nullptr : &seeds, &run, &samples);
    const std::string said = status == CSAW_OK ? "" : csaw_last_error();
    EXPECT_TRUE(status == CSAW_OK || status == CSAW_EBIAS) << said;
    csaw_samples_free(samples);
    csaw_plan_free(plan);
    return said;
}

TEST(Asking, EveryHookIsToldOfTheFlagThatIsMissing) {
    const reference::Graph graph = reference::small_graph("directed"); // some vertices are dead ends
    const csaw_csr csr = graph.csr();
    const char *hooks[] = {"edge_bias", "update", "fanout", "dead_end"};
    const std::string said[] = {"", "a hook called csaw_prev() in a sample, but the sampler lacks CSAW_SECOND_ORDER",
                                "a hook called csaw_adjacent(), but the sampler lacks CSAW_SECOND_ORDER",
                                "a hook called csaw_visited(), but the sampler lacks CSAW_VISITED"};
    for (uint32_t hook = 0; hook < 4; hook++)
        for (uint32_t what = 0; what < 4; what++) {
            const AskingParams params = {what, hook};
            SCOPED_TRACE(std::string(hooks[hook]) + ": " + said[what]);
            const bool asks = what && !(what == 2 && hook >= 2); // an arc is needed there
            const std::string whole = said_of(csr, &asking, &params, 0, false);
            if (asks) {
                EXPECT_NE(std::string::npos, whole.find("sampler 'asking', instance ")) << whole;
                EXPECT_NE(std::string::npos, whole.find(said[what])) << whole;
            } else {
                EXPECT_EQ("", whole);
            }
            for (int partitions : {2, 3, 17}) EXPECT_EQ(whole, said_of(csr, &asking, &params, partitions, false));
            for (int partitions : {0, 2, 3, 17})
                EXPECT_EQ("", said_of(csr, &asking_declared, &params, partitions, false));
        }
}

TEST(Asking, AWalkKnowsWhereItCameFrom) {
    const reference::Graph karate = reference::small_graph("karate");
    const uint32_t asks_prev[] = {9, 0, 0}; // FaultyParams
    for (int partitions : {0, 3}) {
        EXPECT_EQ("", said_of(karate.csr(), &faulty, asks_prev, partitions, true));
        const std::string said = said_of(karate.csr(), &faulty, asks_prev, partitions, false);
        EXPECT_NE(std::string::npos, said.find("instance 0, depth 0")) << said;
        EXPECT_NE(std::string::npos, said.find("csaw_prev() in a sample")) << said;
    }
}

// At depth 1, the last step of a walk of two, where no later step would tell; at any depth the same on every plan.
TEST(Asking, AnUpdateOfAWalkIsToldAtItsStep) {
    const reference::Graph karate = reference::small_graph("karate");
    for (uint32_t depth : {0, 1}) {
        const uint32_t params[] = {10, 1, depth}; // FaultyParams
        const std::string whole = said_of(karate.csr(), &faulty, params, 0, true);
        EXPECT_NE(std::string::npos, whole.find("csaw_adjacent(), but the sampler lacks CSAW_SECOND_ORDER")) << whole;
        EXPECT_NE(std::string::npos, whole.find("-> 1)")) << whole;
        if (depth == 1) {
            EXPECT_NE(std::string::npos, whole.find("depth 1, edge ")) << whole;
        }
        for (int partitions : {2, 3, 17}) EXPECT_EQ(whole, said_of(karate.csr(), &faulty, params, partitions, true));
    }
}

// ---- of several faults ----------------------------------------------------------

using fault_order::FaultyParams;

std::string lowest_of(const csaw_csr &csr, const csaw_seeds &seeds, const csaw_plan_options &options,
                      const FaultyParams &params, uint64_t batch_bytes) {
    const std::unique_ptr<csaw_graph, reference::Free> graph(reference::borrow(csr));
    csaw_plan *plan = nullptr;
    EXPECT_EQ(CSAW_OK, csaw_plan_create(graph.get(), &options, &plan));
    const uint32_t hops[] = {2, 2, 2};
    csaw_run_options run = {};
    run.size = sizeof run;
    run.depth = 3;
    run.fanout = hops;
    run.select = CSAW_SELECT_ITS; // evaluates every arc of a row, where more than 2 are there or not
    run.batch_bytes = batch_bytes;
    const auto nothing = [](void *, csaw_samples *) { return CSAW_OK; };
    EXPECT_EQ(CSAW_EBIAS, csaw_sample_each(plan, &faulty, &params, &seeds, &run, nothing, nullptr));
    const std::string said = csaw_last_error();
    csaw_plan_free(plan);
    return said;
}

// Of several faults the lowest (instance, depth, edge) is told, however instances and frontiers are cut up.
TEST(Faults, TheLowestIsTold) {
    const csaw_vertex n = 400; // v -> 0 and v -> v + 1, but 0 -> 1 alone
    std::vector<csaw_edge> rowptr = {0, 1};
    std::vector<csaw_vertex> col = {1}, falling;
    for (csaw_vertex v = 1; v < n; v++) {
        col.push_back(0);
        if (v + 1 < n) col.push_back(v + 1);
        rowptr.push_back(col.size());
    }
    for (csaw_vertex v = n; v-- > 100;) falling.push_back(v); // one pool, whose lowest edge is looked at last
    csaw_csr csr = {};
    csr.num_vertices = n;
    csr.num_edges = col.size();
    csr.rowptr = rowptr.data();
    csr.col = col.data();
    const uint64_t pool[] = {0, falling.size()};
    const std::string lowest = "instance 0, depth 0, edge " + std::to_string(rowptr[100]) + " (100 -> 0)";
    const std::string later = "instance 0, depth 1, edge " + std::to_string(rowptr[101]) + " (101 -> 0)";
    std::vector<csaw_plan_options> plans;
    for (int threads : {1, 2, 5}) plans.push_back(reference::plan_on("cpu", threads, 0));
    for (int partitions : {2, 3, 17}) plans.push_back(reference::plan_on("cpu", 1, partitions));
    for (const csaw_plan_options &plan : plans) {
        std::string said = lowest_of(csr, {falling.data(), 1, pool}, plan, {1, 0, 0}, 0);
        EXPECT_NE(std::string::npos, said.find(lowest)) << said;
        said = lowest_of(csr, {falling.data(), 1, pool}, plan, {1, 0, 1}, 0); // from depth 1 on
        EXPECT_NE(std::string::npos, said.find(later)) << said;
    }
    const csaw_vertex two[] = {0, 9, 9}; // instance 0 meets 0 -> 1, then 1 -> 0: at depth 1; the others at depth 0
    const std::string first = "instance 0, depth 1, edge " + std::to_string(rowptr[1]) + " (1 -> 0)";
    for (const csaw_plan_options &plan : plans)
        for (uint64_t batch_bytes : {uint64_t{1}, uint64_t{1} << 20}) {
            const std::string said = lowest_of(csr, {two, 3, nullptr}, plan, {2, 0, 0}, batch_bytes);
            EXPECT_NE(std::string::npos, said.find(first)) << said;
        }
}

// Of a batch the CPU engine looks at no depth behind the first that has a fault; a lower instance may have one there.
TEST(Faults, OfALowerInstanceComeFirstAtAnyDepth) {
    for (int threads : {1, 2, 5}) fault_order::expect_lowest(reference::plan_on("cpu", threads, 0));
    for (int partitions : {2, 3, 10}) fault_order::expect_lowest(reference::plan_on("cpu", 1, partitions));
}

csaw_status draw_from_the_same(void *user, csaw_samples *) {
    csaw_samples *samples = nullptr;
    const csaw_status status =
        csaw_sample(static_cast<csaw_plan *>(user), &csaw_uniform, nullptr, nullptr, nullptr, &samples);
    csaw_samples_free(samples);
    return status;
}

TEST_F(Refused, ThePlanThatIsDrawingIsBusy) {
    EXPECT_EQ(CSAW_EINVAL, csaw_sample_each(plan, &csaw_uniform, nullptr, nullptr, &run, draw_from_the_same, plan));
    EXPECT_NE(nullptr, strstr(csaw_last_error(), "a plan of its own")) << csaw_last_error();
    EXPECT_EQ(CSAW_OK, draw_from_the_same(plan, nullptr)) << csaw_last_error();
}

} // namespace

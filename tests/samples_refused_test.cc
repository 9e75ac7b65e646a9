/* SPDX-License-Identifier: MIT */
/* tests/samples_refused_test.cc - samples that cannot be drawn as asked: each is refused with limit, value and remedy,
 * and the plan draws on. */
#include "tests/reference/graphs.h"
#include "tests/reference/public_api.h"

#include <csaw/samplers.h>
#include <gtest/gtest.h>

#include <cstring>

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

TEST_F(Refused, MoreIndependentPicksThanThereAreNumbers) {
    const uint32_t many[] = {8388609, 1};
    run.fanout = many;
    csaw_samples *samples = nullptr;
    ASSERT_EQ(CSAW_OK, csaw_sample(plan, &csaw_neighbor, nullptr, nullptr, &run, &samples)) << csaw_last_error();
    csaw_samples_free(samples); // every arc of a row is taken
    run.replace = true;
    Expect(CSAW_EINVAL, &csaw_neighbor, nullptr, nullptr, {"instance 0, depth 0", "8388609", "8388608"});
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

/* SPDX-License-Identifier: MIT */
/* tests/samples_memory_test.cc - samples when memory runs out: every allocation fails in turn, in every kind of pool
 * and scope, whole and in partitions, in one piece and in batches; each failure is said, leaks nothing, and leaves a
 * plan that draws the same samples as before. */
#include "runtime/base/memory.h"
#include "tests/reference/graphs.h"
#include "tests/reference/public_api.h"

#include <gtest/gtest.h>

namespace {

struct Kind {
    const char *sampler;
    csaw_select select;
    bool replace;
};

const Kind kinds[] = {{"neighbor", CSAW_SELECT_UNIFORM, false},
                      {"neighbor_biased", CSAW_SELECT_ALIAS, false},
                      {"neighbor_biased", CSAW_SELECT_ITS, true},
                      {"neighbor_once", CSAW_SELECT_RACE, false},
                      {"neighbor_again", CSAW_SELECT_ITS, false},
                      {"forest_fire", CSAW_SELECT_REJECT, false},
                      {"layer", CSAW_SELECT_AUTO, false},
                      {"random_node", CSAW_SELECT_AUTO, false},
                      {"multidimensional", CSAW_SELECT_AUTO, false},
                      {"node2vec", CSAW_SELECT_REJECT, false}};

const uint32_t fanout[] = {1, 1, 1}, wide[] = {3, CSAW_ALL, 2};
const csaw_vertex seed[] = {0, 4, 3, 4, 1, 2, 0};
const uint64_t offset[] = {0, 3, 4, 7};

csaw_status count(void *user, csaw_samples *samples) {
    csaw_arcs arcs;
    const csaw_status status = csaw_samples_arcs(samples, CSAW_HOST, &arcs);
    if (status == CSAW_OK) *static_cast<uint64_t *>(user) += arcs.offset[arcs.num_instances];
    return status;
}

class Samples : public ::testing::TestWithParam<Kind> {
  protected:
    csaw_status Draw(csaw_plan *plan, bool in_batches, uint64_t *arcs) const {
        const Kind &kind = GetParam();
        const csaw_sampler *sampler = csaw_sampler_find(kind.sampler);
        const bool narrow = std::string(kind.sampler) == "multidimensional";
        const csaw_seeds seeds = {seed, 3, offset};
        csaw_run_options run = {};
        run.size = sizeof run;
        run.depth = 3;
        run.fanout = narrow ? fanout : wide;
        run.replace = kind.replace;
        run.select = kind.select;
        run.batch_bytes = 64;
        *arcs = 0;
        if (in_batches) return csaw_sample_each(plan, sampler, nullptr, &seeds, &run, count, arcs);
        csaw_samples *samples = nullptr;
        csaw_status status = csaw_sample(plan, sampler, nullptr, &seeds, &run, &samples);
        if (status == CSAW_OK) status = count(arcs, samples);
        csaw_samples_free(samples);
        return status;
    }
};

TEST_P(Samples, EveryAllocationFailsInTurn) {
    const reference::Graph weighted = reference::small_graph("weighted");
    const csaw_csr csr = weighted.csr();
    const auto graph = reference::borrow(csr);
    for (int partitions : {0, 3})
        for (bool in_batches : {false, true}) {
            const csaw_plan_options options = reference::plan_on("cpu", 2, partitions);
            uint64_t expected = 0, arcs = 0;
            for (uint64_t n = 0;; n++) { // n = 0: none fails
                csaw_plan *plan = nullptr;
                csaw__fail_allocations_from(n);
                csaw_status status = csaw_plan_create(graph.get(), &options, &plan);
                if (status == CSAW_OK) status = Draw(plan, in_batches, &arcs);
                const uint64_t asked = csaw__allocations_counted();
                csaw__fail_allocations_from(0);
                if (n == 0) {
                    ASSERT_EQ(CSAW_OK, status) << csaw_last_error();
                    expected = arcs;
                } else if (status != CSAW_OK) {
                    ASSERT_EQ(CSAW_ENOMEM, status) << csaw_last_error();
                }
                if (plan) { // as good as new
                    ASSERT_EQ(CSAW_OK, Draw(plan, in_batches, &arcs)) << csaw_last_error();
                    ASSERT_EQ(expected, arcs);
                }
                csaw_plan_free(plan);
                if (n > 0 && status == CSAW_OK) {
                    EXPECT_LT(asked, n);
                    EXPECT_GT(n, 10u);
                    break;
                }
                ASSERT_LT(n, 2000u);
            }
        }
}

INSTANTIATE_TEST_SUITE_P(OutOfMemory, Samples, ::testing::ValuesIn(kinds), [](const auto &info) {
    return std::string(info.param.sampler) + "_" + csaw_select_name(info.param.select) +
           (info.param.replace ? "_again" : "");
});

} // namespace

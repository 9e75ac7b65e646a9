/* SPDX-License-Identifier: MIT */
/* tests/emulated_exchange_node2vec_test.cc - tests/emulated_exchange.h, of walks of second order: questions that
 * walkers take to prev's GPU, and rows as a whole that are read where they are. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/equality.h"

#include "tests/emulated_gpu.h"
#define csaw_node2vec_params emulated_node2vec_params // samplers.h has it, too
#include SAMPLER_FILE
#undef csaw_node2vec_params
#include "tests/emulated_exchange.h"
#include "tests/share.h"

using namespace emulated_exchange;

// Questions alone: no GPU sees a row of another's.
TEST(EmulatedExchange, Node2vecByQuestionsIsTheCpus) {
    const csaw_node2vec_params params = {.25f, 4};
    for (const char *name : {"karate", "directed_weighted", "star"}) {
        const reference::Graph graph = reference::small_graph(name);
        SCOPED_TRACE(name);
        ExpectTheCpus(graph.csr(), *csaw_sampler_find("node2vec"), &params, {Method::reject}, few(graph.csr(), 6),
                      Others::poisoned);
    }
}

// At p = q = 1000 most attempts fail, so that REJECT ends by ITS.
TEST(EmulatedExchange, Node2vecByWholeRowsIsTheCpus) {
    for (const char *name : {"karate", "directed_weighted", "star"})
        for (const csaw_node2vec_params params : {csaw_node2vec_params{.25f, 4}, csaw_node2vec_params{1e3f, 1e3f}}) {
            if (!reference::takes_case()) continue;
            const reference::Graph graph = reference::small_graph(name);
            SCOPED_TRACE(name);
            ExpectTheCpus(graph.csr(), *csaw_sampler_find("node2vec"), &params,
                          {Method::reject, Method::its, Method::race}, few(graph.csr(), 6), Others::there);
        }
}

TEST(EmulatedExchange, QuestionsAreCountedAndBatchesFollow) {
    const csaw_node2vec_params params = {.25f, 4};
    const reference::Graph graph = reference::small_graph("karate");
    const Sampler sampler(*csaw_sampler_find("node2vec"));
    const Asked run = {sampler.get(), &params, Method::reject, few(graph.csr(), 6)};
    fake_cuda::Reset();
    fake_cuda::devices = 2;
    const Outcome once = walk(graph.csr(), {0, 1}, run, Others::poisoned),
                  twice = walk(graph.csr(), {0, 1}, run, Others::poisoned, 2);
    ASSERT_EQ(CSAW_OK, twice.status) << twice.message;
    EXPECT_TRUE(equality::same(once.walks, twice.walks));
    EXPECT_GT(once.counts.questions, 20u);
    EXPECT_LT(once.counts.questions, once.counts.walkers);
    EXPECT_EQ(32 * (once.counts.walkers + once.counts.questions), once.counts.bytes);
    EXPECT_EQ(2 * once.counts.bytes, twice.counts.bytes);
}

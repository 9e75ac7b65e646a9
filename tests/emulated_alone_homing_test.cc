/* SPDX-License-Identifier: MIT */
/* tests/emulated_alone_homing_test.cc - tests/emulated_alone.h with pools that stay and grow, and biases that look at
 * where their vertices were first reached from. */
#include <csaw/csaw.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_alone.h"

CSAW_DECLARE_SAMPLER(homing);

using namespace emulated_alone;

namespace {

const Method kMethods[] = {{CSAW__KERNEL_ITS, CSAW_SELECT_ITS}, {CSAW__KERNEL_RACE, CSAW_SELECT_RACE}};

TEST(EmulatedAlone, PoolsThatStayAreTheCpus) {
    csaw_graph *graph = Rmat(true);
    bool left = false, none_left = false;
    for (const std::vector<uint32_t> &fanout : {std::vector<uint32_t>{2, 1, 1}, {3, 0, 2}, {CSAW_ALL, 1}}) {
        Both run(graph, homing, Pools(graph, 7), fanout, 2);
        for (const Method &method : kMethods) {
            EXPECT_GT(run.ExpectTheCpus(method), 0u);
            (together ? left : none_left) = true;
        }
    }
    EXPECT_TRUE(left);
    EXPECT_TRUE(none_left);
    csaw_graph_free(graph);
}

// There is room for the arcs of the first depth, but not for the pool and what they lead to.
TEST(EmulatedAlone, APoolTooLargeIsLeftToTheBatch) {
    csaw_graph *graph = Rmat(false);
    const csaw_csr csr = csaw_graph_csr(graph);
    std::vector<csaw_vertex> pool;
    for (csaw_vertex v = 0; v < csr.num_vertices && 2 * pool.size() <= CSAW__ALONE_PLACES; v++)
        if (csr.rowptr[v + 1] - csr.rowptr[v] <= 1) pool.push_back(v);
    ASSERT_GT(2 * pool.size(), uint64_t{CSAW__ALONE_PLACES});
    {
        Both run(graph, homing, {{1}, pool}, {CSAW_ALL, 0}, 1);
        EXPECT_LE(run.ExpectTheCpus(kMethods[0]), static_cast<uint64_t>(CSAW__ALONE_PLACES));
        EXPECT_GT(together, 0u);
    }
    csaw_graph_free(graph);
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* tests/emulated_alone_reef_test.cc - tests/emulated_alone.h with vertices of a layer, by the sum of biases that depend
 * on the site, with replacement, as many as a hook says; visited ones not at all. */
#include <csaw/csaw.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_alone.h"

CSAW_DECLARE_SAMPLER(reef);

using namespace emulated_alone;

namespace {

const Method kByMass = {CSAW__KERNEL_ITS, CSAW_SELECT_ITS};

TEST(EmulatedAlone, VerticesOfLayersAreTheCpus) {
    csaw_graph *graph = Rmat(true);
    bool left = false, none_left = false;
    for (const std::vector<uint32_t> &fanout : {std::vector<uint32_t>{2, 3}, {1}, {9, 5, 4}, {CSAW_ALL, 2}}) {
        Both run(graph, reef, Pools(graph, 9), fanout, 2);
        EXPECT_GT(run.ExpectTheCpus(kByMass), 0u);
        (together ? left : none_left) = true;
    }
    EXPECT_TRUE(left);
    EXPECT_TRUE(none_left);
    csaw_graph_free(graph);
}

// The last lane of the last block first.
TEST(EmulatedAlone, InAnyOrderOfLanes) {
    csaw_graph *graph = Rmat(true);
    emulated::backwards = true;
    {
        Both run(graph, reef, Pools(graph, 4), {3, 4}, 1);
        run.ExpectTheCpus(kByMass);
    }
    emulated::backwards = false;
    csaw_graph_free(graph);
}

TEST(EmulatedAlone, ABadWeightIsToldInItsPlace) {
    csaw_graph *graph = Rmat(true);
    const csaw_csr csr = csaw_graph_csr(graph);
    for (uint64_t e = 40; e < csr.num_edges; e += 97) const_cast<float *>(csr.weight)[e] = -1;
    {
        Both run(graph, reef, Pools(graph, 6), {3, 3}, 2);
        run.ExpectTheCpusFault(kByMass);
    }
    csaw_graph_free(graph);
}

// More picks than there are numbers, which the batch tells of those that are left: of empty pools none is.
TEST(EmulatedAlone, TooManyPicksAreToldInTheirPlace) {
    csaw_graph *graph = Rmat(true);
    {
        Both run(graph, reef, {{}, {0}, {1, 2}}, {2, 9000000}, 2);
        run.ExpectTheCpusFault(kByMass, CSAW_EINVAL);
    }
    csaw_graph_free(graph);
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* tests/emulated_alone_terrace_test.cc - tests/emulated_alone.h with vertices of a layer, without replacement, in a
 * pool that stays and grows. */
#include <csaw/csaw.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_alone.h"

CSAW_DECLARE_SAMPLER(terrace);

using namespace emulated_alone;

namespace {

const Method kByMass = {CSAW__KERNEL_ITS, CSAW_SELECT_ITS};

TEST(EmulatedAlone, VerticesOfLayersInPoolsThatStayAreTheCpus) {
    csaw_graph *graph = Rmat(false);
    bool left = false, none_left = false;
    for (const std::vector<uint32_t> &fanout : {std::vector<uint32_t>{2, 3, 1}, {4}, {9, 5, 4, 3}, {CSAW_ALL, 2}}) {
        Both run(graph, terrace, Pools(graph, 9), fanout, 2);
        EXPECT_GT(run.ExpectTheCpus(kByMass), 0u);
        (together ? left : none_left) = true;
    }
    EXPECT_TRUE(left);
    EXPECT_TRUE(none_left);
    csaw_graph_free(graph);
}

} // namespace

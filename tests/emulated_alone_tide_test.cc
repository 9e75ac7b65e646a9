/* SPDX-License-Identifier: MIT */
/* tests/emulated_alone_tide_test.cc - tests/emulated_alone.h with layers over a part of a pool that stays and grows,
 * where visited vertices draw less. */
#include <csaw/csaw.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_alone.h"

CSAW_DECLARE_SAMPLER(tide);

using namespace emulated_alone;

namespace {

TEST(EmulatedAlone, LayersOfSelectedFrontiersAreTheCpus) {
    csaw_graph *graph = Rmat(true);
    bool left = false, none_left = false;
    for (const std::vector<uint32_t> &fanout : {std::vector<uint32_t>{3, 2, 4}, {5, 0, 3}, {CSAW_ALL, CSAW_ALL}}) {
        Both run(graph, tide, Pools(graph, 9), fanout, 2);
        for (uint32_t size : {1u, 4u, CSAW_ALL}) {
            run.Give(tide_params{size});
            EXPECT_GT(run.ExpectTheCpus({CSAW__KERNEL_ITS, CSAW_SELECT_ITS}), 0u);
            (together ? left : none_left) = true;
        }
    }
    EXPECT_TRUE(left);
    EXPECT_TRUE(none_left);
    csaw_graph_free(graph);
}

} // namespace

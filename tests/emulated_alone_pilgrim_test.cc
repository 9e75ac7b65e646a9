/* SPDX-License-Identifier: MIT */
/* tests/emulated_alone_pilgrim_test.cc - tests/emulated_alone.h with bytes of an instance that every arc picked, and
 * every dead end, changes. */
#include <csaw/csaw.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_alone.h"

CSAW_DECLARE_SAMPLER(pilgrim);

using namespace emulated_alone;

namespace {

TEST(EmulatedAlone, BytesOfInstancesAreTheCpus) {
    csaw_graph *graph = Rmat(true);
    Both run(graph, pilgrim, Pools(graph, 9), {3, 1, 2, 3}, 3);
    for (const Method &method : {Method{CSAW__KERNEL_ITS, CSAW_SELECT_ITS}, {CSAW__KERNEL_RACE, CSAW_SELECT_RACE}}) {
        EXPECT_GT(run.ExpectTheCpus(method), 0u);
        EXPECT_EQ(0u, together);
    }
    csaw_graph_free(graph);
}

} // namespace

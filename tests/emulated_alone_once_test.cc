/* SPDX-License-Identifier: MIT */
/* tests/emulated_alone_once_test.cc - tests/emulated_alone.h with neighbour samples that visit no vertex twice, by
 * weight: every instance has room, so none is left to the batch, unless it could have too many arcs. */
#include <csaw/csaw.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_alone.h"

using namespace emulated_alone;

namespace {

const Method kMethods[] = {{CSAW__KERNEL_ITS, CSAW_SELECT_ITS}, {CSAW__KERNEL_RACE, CSAW_SELECT_RACE}};

const csaw_sampler &Once() { return *csaw_sampler_find("neighbor_once"); }

TEST(EmulatedAlone, VisitedVerticesAreTheCpus) {
    csaw_graph *graph = Rmat(true);
    for (const std::vector<uint32_t> &fanout : {std::vector<uint32_t>{4, 3, 2}, {40, 2}, {CSAW_ALL, 1}, {2, 0, 3}}) {
        Both run(graph, Once(), Pools(graph, 7), fanout, 2);
        for (const Method &method : kMethods) {
            EXPECT_GT(run.ExpectTheCpus(method), 0u);
            EXPECT_EQ(0u, together);
        }
    }
    csaw_graph_free(graph);
}

// Of several that are met.
TEST(EmulatedAlone, ABadWeightIsToldInItsPlace) {
    csaw_graph *graph = Rmat(true);
    const csaw_csr csr = csaw_graph_csr(graph);
    for (uint64_t e = 40; e < csr.num_edges; e += 97) const_cast<float *>(csr.weight)[e] = std::nanf("");
    {
        Both run(graph, Once(), Pools(graph, 6), {3, 3}, 2);
        for (const Method &method : kMethods) run.ExpectTheCpusFault(method);
    }
    csaw_graph_free(graph);
}

// The last lane of the last block first.
TEST(EmulatedAlone, InAnyOrderOfLanes) {
    csaw_graph *graph = Rmat(true);
    emulated::backwards = true;
    {
        Both run(graph, Once(), Pools(graph, 5), {5, 4}, 1);
        for (const Method &method : kMethods) run.ExpectTheCpus(method);
    }
    emulated::backwards = false;
    csaw_graph_free(graph);
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* tests/emulated_alone_fire_test.cc - tests/emulated_alone.h with forest fire, whose fanouts are random: blocks have
 * room for CSAW__ALONE_PLACES arcs, and some fires burn more. */
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

const Method kMethods[] = {{CSAW__KERNEL_REJECT, CSAW_SELECT_REJECT},
                           {CSAW__KERNEL_ITS, CSAW_SELECT_ITS},
                           {CSAW__KERNEL_RACE, CSAW_SELECT_RACE}};

const csaw_sampler &Fire() { return *csaw_sampler_find("forest_fire"); }

TEST(EmulatedAlone, ManyFiresAndThoseTooLargeAreTheCpus) {
    csaw_graph *graph = Rmat(false);
    {
        Both run(graph, Fire(), Pools(graph, 12), std::vector<uint32_t>(4, 1), 2);
        for (const Method &method : kMethods) {
            EXPECT_GT(run.ExpectTheCpus(method), static_cast<uint64_t>(CSAW__ALONE_PLACES));
            EXPECT_GT(together, 0u) << "none was too large";
        }
    }
    csaw_graph_free(graph);
}

TEST(EmulatedAlone, OneFireIsTheCpus) {
    csaw_graph *graph = Rmat(false);
    for (uint32_t depth : {1u, 2u}) {
        Both run(graph, Fire(), Pools(graph, 1), std::vector<uint32_t>(depth, 1), 1);
        run.ExpectTheCpus(kMethods[0]);
    }
    csaw_graph_free(graph);
}

// Some of the memory is that of blocks, some that of the instances that are left: without the former, the batch runs
// all.
TEST(EmulatedAlone, AllocationsAndLaunchesMayFail) {
    csaw_graph *graph = Rmat(false);
    {
        Both run(graph, Fire(), Pools(graph, 6), std::vector<uint32_t>(4, 1), 2);
        run.ExpectFaultsAreTold(kMethods[0]);
    }
    csaw_graph_free(graph);
}

} // namespace

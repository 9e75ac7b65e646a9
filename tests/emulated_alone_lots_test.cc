/* SPDX-License-Identifier: MIT */
/* tests/emulated_alone_lots_test.cc - tests/emulated_alone.h with more instances of layers than run at a time: lots of
 * CSAW__ALONE_LAYERS, whose arcs come together at the end. */
#include <csaw/csaw.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_alone.h"

using namespace emulated_alone;

namespace {

const Method kByMass = {CSAW__KERNEL_ITS, CSAW_SELECT_ITS}, kAlike = {CSAW__KERNEL_UNIFORM, CSAW_SELECT_UNIFORM};

const csaw_sampler &Layer() { return *csaw_sampler_find("layer"); }

uint64_t Lots(uint64_t instances) { return (instances + CSAW__ALONE_LAYERS - 1) / CSAW__ALONE_LAYERS; }

// A lot that is full, one that is not, several; pools that end within a lot and begin again.
TEST(EmulatedAloneLots, LayersAreTheCpus) {
    ASSERT_LT(1, CSAW__ALONE_LAYERS);
    for (bool weighted : {true, false}) {
        csaw_graph *graph = Rmat(weighted);
        for (uint32_t pools : {CSAW__ALONE_LAYERS, CSAW__ALONE_LAYERS + 1, 2 * CSAW__ALONE_LAYERS, 13})
            for (uint32_t each : {1u, 3u}) {
                Both run(graph, Layer(), Pools(graph, pools), {4, 2, 9}, each);
                EXPECT_GT(run.ExpectTheCpus(weighted ? kByMass : kAlike, Lots(pools * each)), 0u);
                EXPECT_EQ(0u, together);
            }
        csaw_graph_free(graph);
    }
}

// Of some lots instances have no room and advance together.
TEST(EmulatedAloneLots, WholeLayersAreTheCpus) {
    for (bool weighted : {true, false}) {
        csaw_graph *graph = Rmat(weighted);
        {
            Both run(graph, Layer(), Pools(graph, 24), {CSAW_ALL, 5}, 1);
            EXPECT_GT(run.ExpectTheCpus(weighted ? kByMass : kAlike, Lots(24)), uint64_t{CSAW__ALONE_PLACES});
            EXPECT_GT(together, 0u);
        }
        csaw_graph_free(graph);
    }
}

// Pools without a seed, and a whole lot of them.
TEST(EmulatedAloneLots, EmptyPoolsAreTheCpus) {
    csaw_graph *graph = Rmat(true);
    std::vector<std::vector<csaw_vertex>> pools = Pools(graph, 3 * CSAW__ALONE_LAYERS);
    for (uint32_t j = CSAW__ALONE_LAYERS - 1; j <= 2 * CSAW__ALONE_LAYERS; j++) pools[j].clear();
    {
        Both run(graph, Layer(), pools, {4, 4}, 1);
        run.ExpectTheCpus(kByMass, 3);
    }
    csaw_graph_free(graph);
}

// The first lots have no fault; of the two instances that have one the lower is told.
TEST(EmulatedAloneLots, ABadWeightIsToldInItsPlace) {
    csaw_graph *graph = Rmat(true);
    const csaw_csr csr = csaw_graph_csr(graph);
    std::vector<std::vector<csaw_vertex>> pools;
    std::vector<csaw_vertex> bad;
    for (csaw_vertex v = 0; pools.size() < 4 * CSAW__ALONE_LAYERS; v++) {
        ASSERT_LT(v, csr.num_vertices);
        if (csr.rowptr[v] == csr.rowptr[v + 1]) continue;
        if (pools.size() == 2 * CSAW__ALONE_LAYERS + 1 || pools.size() == 3 * CSAW__ALONE_LAYERS) bad.push_back(v);
        pools.push_back({v});
    }
    ASSERT_EQ(2u, bad.size());
    for (csaw_vertex v : bad) const_cast<float *>(csr.weight)[csr.rowptr[v]] = std::nanf("");
    {
        Both run(graph, Layer(), pools, {3}, 1);
        run.ExpectTheCpusFault(kByMass);
    }
    csaw_graph_free(graph);
}

TEST(EmulatedAloneLots, AllocationsAndLaunchesMayFail) {
    csaw_graph *graph = Rmat(true);
    {
        Both run(graph, Layer(), Pools(graph, CSAW__ALONE_LAYERS + 2), {CSAW_ALL, 3}, 1);
        run.ExpectFaultsAreTold(kByMass);
    }
    csaw_graph_free(graph);
}

} // namespace

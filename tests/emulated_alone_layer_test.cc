/* SPDX-License-Identifier: MIT */
/* tests/emulated_alone_layer_test.cc - tests/emulated_alone.h with layers, by weight and all alike. Blocks have room
 * for CSAW__ALONE_PLACES arcs, and for the masses of CSAW__ALONE_LAYER times as many candidates. */
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

const Method kByMass = {CSAW__KERNEL_ITS, CSAW_SELECT_ITS}, kAlike = {CSAW__KERNEL_UNIFORM, CSAW_SELECT_UNIFORM};

const csaw_sampler &Layer() { return *csaw_sampler_find("layer"); }

TEST(EmulatedAlone, LayersAreTheCpus) {
    for (bool weighted : {true, false}) {
        csaw_graph *graph = Rmat(weighted);
        for (const std::vector<uint32_t> &fanout : {std::vector<uint32_t>{4, 6, 9}, {32}, {2, 0, 3}, {40, 2}}) {
            const bool fits = fanout[0] <= CSAW__ALONE_PLACES; // else it is known before
            Both run(graph, Layer(), Pools(graph, 8), fanout, 2);
            for (const Method &method : {kByMass, kAlike}) {
                if (weighted && method.kernel == CSAW__KERNEL_UNIFORM) continue;
                EXPECT_GT(run.ExpectTheCpus(method, fits), 0u);
                EXPECT_EQ(!fits, together > 0);
            }
        }
        csaw_graph_free(graph);
    }
}

// All arcs of small frontiers; of large ones they have no room.
TEST(EmulatedAlone, WholeLayersAndThoseTooLargeAreTheCpus) {
    for (bool weighted : {true, false}) {
        csaw_graph *graph = Rmat(weighted);
        {
            Both run(graph, Layer(), Pools(graph, 24), {CSAW_ALL, 5}, 1);
            EXPECT_GT(run.ExpectTheCpus(weighted ? kByMass : kAlike), static_cast<uint64_t>(CSAW__ALONE_PLACES));
            EXPECT_GT(together, 0u);
        }
        csaw_graph_free(graph);
    }
}

// Few picks, but more candidates than a block has masses for; where all are alike there are no masses.
TEST(EmulatedAlone, WideLayersAreLeftToTheBatch) {
    csaw_graph *graph = Rmat(false, 11);
    const csaw_csr csr = csaw_graph_csr(graph);
    std::vector<csaw_vertex> hubs(csr.num_vertices);
    for (csaw_vertex v = 0; v < hubs.size(); v++) hubs[v] = v;
    const auto degree = [&](csaw_vertex v) { return csr.rowptr[v + 1] - csr.rowptr[v]; };
    std::stable_sort(hubs.begin(), hubs.end(), [&](csaw_vertex a, csaw_vertex b) { return degree(a) > degree(b); });
    hubs.resize(CSAW__ALONE_PLACES);
    uint64_t arcs = 0;
    for (csaw_vertex v : hubs) arcs += degree(v);
    ASSERT_GT(arcs, uint64_t{CSAW__ALONE_LAYER} * CSAW__ALONE_PLACES);
    {
        Both run(graph, Layer(), {{0, 1}, hubs, {7}}, {6, 4}, 2);
        run.ExpectTheCpus(kByMass);
        EXPECT_GT(together, 0u);
        run.ExpectTheCpus(kAlike);
        EXPECT_EQ(0u, together);
    }
    csaw_graph_free(graph);
}

TEST(EmulatedAlone, ABadWeightIsToldInItsPlace) {
    csaw_graph *graph = Rmat(true);
    const csaw_csr csr = csaw_graph_csr(graph);
    for (uint64_t e = 40; e < csr.num_edges; e += 97) const_cast<float *>(csr.weight)[e] = std::nanf("");
    {
        Both run(graph, Layer(), Pools(graph, 6), {3, 3}, 2);
        run.ExpectTheCpusFault(kByMass);
    }
    csaw_graph_free(graph);
}

TEST(EmulatedAlone, AllocationsAndLaunchesMayFail) {
    csaw_graph *graph = Rmat(true);
    {
        Both run(graph, Layer(), Pools(graph, 6), {CSAW_ALL, 3}, 1);
        run.ExpectFaultsAreTold(kByMass);
    }
    csaw_graph_free(graph);
}

} // namespace

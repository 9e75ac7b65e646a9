/* SPDX-License-Identifier: MIT */
/* tests/emulated_alone_set_test.cc - tests/emulated_alone.h with frontiers that are selected from their pools by a
 * vertex_bias, which may break its rules. */
#include <csaw/csaw.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_alone.h"

CSAW_DECLARE_SAMPLER(barren_set);

using namespace emulated_alone;

namespace {

const Method kMethods[] = {{CSAW__KERNEL_UNIFORM, CSAW_SELECT_UNIFORM},
                           {CSAW__KERNEL_ITS, CSAW_SELECT_ITS},
                           {CSAW__KERNEL_RACE, CSAW_SELECT_RACE}};

// Of pools of one to eight vertices.
std::vector<std::vector<csaw_vertex>> LargePools(const csaw_graph *graph) {
    std::vector<std::vector<csaw_vertex>> pools = Pools(graph, 9);
    const auto n = static_cast<uint32_t>(csaw_graph_csr(graph).num_vertices);
    for (uint32_t v = 0; v < 5; v++) pools.push_back({v, v + 9, n / 2 - v, v + 31, v + 77, v + 100, v + 9, n / 3 + v});
    return pools;
}

TEST(EmulatedAlone, SelectedFrontiersAreTheCpus) {
    csaw_graph *graph = Rmat(false);
    for (uint32_t size : {0u, 1u, 2u, 5u, CSAW_ALL}) {
        Both run(graph, barren_set, LargePools(graph), {1, 1, 1}, 2);
        // where no place is asked for no bias is, so none can break its rules
        run.Give(barren_params{size == 0, 3, size});
        for (const Method &method : kMethods) {
            const uint64_t most = run.ExpectTheCpus(method);
            EXPECT_EQ(size > 0, most > 0);
            EXPECT_EQ(0u, together);
        }
    }
    csaw_graph_free(graph);
}

// More places than a team keeps in shared memory, of a pool as large as there is room for.
TEST(EmulatedAlone, ManyPlacesAreTheCpus) {
    csaw_graph *graph = Rmat(false);
    std::vector<csaw_vertex> pool;
    for (csaw_vertex v = 0; v < CSAW__ALONE_PLACES; v++) pool.push_back(v);
    {
        Both run(graph, barren_set, {pool}, {1, 1}, 3);
        run.Give(barren_params{0, 0, 40});
        run.ExpectTheCpus(kMethods[1]);
        EXPECT_EQ(0u, together);
    }
    { // the large pool's arcs have no room; the others' have
        Both run(graph, barren_set, {{3}, pool}, {1, 1, 1}, 1);
        run.Give(barren_params{0, 0, 60});
        EXPECT_GT(run.ExpectTheCpus(kMethods[1]), static_cast<uint64_t>(CSAW__ALONE_PLACES));
        EXPECT_GT(together, 0u);
        run.ExpectFaultsAreTold(kMethods[0]);
    }
    csaw_graph_free(graph);
}

TEST(EmulatedAlone, ABadBiasOfAVertexIsToldInItsPlace) {
    csaw_graph *graph = Rmat(false);
    for (uint32_t rule : {1u, 2u, 3u}) {
        const csaw_vertex seed = Pools(graph, 6)[4][1];
        Both run(graph, barren_set, Pools(graph, 6), {1, 1, 1}, 2);
        run.Give(barren_params{rule, seed, 1});
        run.ExpectTheCpusFault(kMethods[1]);
    }
    csaw_graph_free(graph);
}

} // namespace

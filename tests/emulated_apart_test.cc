/* SPDX-License-Identifier: MIT */
/* tests/emulated_apart_test.cc - walks that scan rows, on an emulated GPU: they are the CPU's, however many lanes apart
 * they stand, with short rows, rows that the warp scans, and hubs. */
#include <csaw/csaw.h>
#include <csaw/samplers.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#define __CUDACC_RTC__ // without launches, which are no C++
#include "runtime/engine/device_kernels.cuh"
#undef __CUDACC_RTC__

namespace {

const uint32_t kLength = 7;

struct Paths {
    std::vector<csaw_vertex> path; // [walks, kLength + 1]
};

Paths OnTheCpu(const csaw_graph *graph, const std::vector<csaw_vertex> &roots, csaw_select select) {
    csaw_plan *plan = nullptr;
    csaw_samples *samples = nullptr;
    csaw_run_options run = {};
    csaw_seeds seeds = {};
    csaw_walks view;
    run.size = sizeof run;
    run.depth = kLength;
    run.seed = 5;
    run.select = select;
    seeds.vertex = roots.data();
    seeds.count = roots.size();
    EXPECT_EQ(CSAW_OK, csaw_plan_create(graph, nullptr, &plan)) << csaw_last_error();
    EXPECT_EQ(CSAW_OK, csaw_sample(plan, csaw_sampler_find("biased"), nullptr, &seeds, &run, &samples))
        << csaw_last_error();
    EXPECT_EQ(CSAW_OK, csaw_samples_walks(samples, CSAW_HOST, &view));
    EXPECT_EQ(kLength + 1, view.path_walk_stride);
    Paths out;
    out.path.assign(view.path, view.path + roots.size() * (kLength + 1));
    csaw_samples_free(samples);
    csaw_plan_free(plan);
    return out;
}

template <uint32_t KERNEL>
Paths OnTheGpu(const csaw_graph *graph, const std::vector<csaw_vertex> &roots, uint32_t log_apart) {
    const csaw_csr csr = csaw_graph_csr(graph);
    const uint64_t walks = roots.size();
    std::vector<csaw_vertex> steps(walks * (kLength + 1), 77);
    unsigned long long fault = ~0ull;
    csaw__job job = {};
    job.rows.offset = csr.rowptr;
    job.rows.wide = 1;
    job.rows.col = csr.col;
    job.rows.weight = csr.weight;
    job.rows.count = job.num_vertices = static_cast<csaw_vertex>(csr.num_vertices);
    job.kernel = KERNEL;
    job.length = kLength;
    job.seed = 5;
    job.roots = roots.data();
    job.num_roots = job.num_walks = walks;
    job.path = steps.data();
    job.fault = &fault;
    job.log_apart = log_apart;
    const auto blocks = static_cast<unsigned>(((walks << log_apart) + 255) / 256);
    emulated::RunBlocks(blocks, 256, [&job] { csaw__device_walk<KERNEL>(job); });
    EXPECT_EQ(~0ull, fault);
    Paths out;
    for (uint64_t w = 0; w < walks; w++)
        for (uint64_t d = 0; d <= kLength; d++) out.path.push_back(steps[d * walks + w]);
    return out;
}

TEST(EmulatedApart, WalksAreTheCpus) {
    csaw_graph *graph = nullptr;
    csaw_rmat_options rmat = {};
    rmat.size = sizeof rmat;
    rmat.scale = 11;
    rmat.edge_factor = 8;
    rmat.seed = 3;
    rmat.weighted = true;
    ASSERT_EQ(CSAW_OK, csaw_graph_rmat(&rmat, &graph));
    const csaw_csr csr = csaw_graph_csr(graph);
    csaw_vertex hub = 0;
    const auto degree = [&](csaw_vertex v) { return csr.rowptr[v + 1] - csr.rowptr[v]; };
    for (csaw_vertex v = 0; v < csr.num_vertices; v++) hub = degree(v) > degree(hub) ? v : hub;
    ASSERT_GT(degree(hub), 100u);
    for (size_t walks : {1u, 33u, 100u}) {
        std::vector<csaw_vertex> roots(walks, hub);
        for (size_t w = 1; w < walks; w += 2) roots[w] = static_cast<csaw_vertex>(w * 2654435761u % csr.num_vertices);
        const Paths by_sums = OnTheCpu(graph, roots, CSAW_SELECT_ITS),
                    by_race = OnTheCpu(graph, roots, CSAW_SELECT_RACE);
        EXPECT_NE(by_sums.path, by_race.path);
        for (uint32_t log_apart = 0; log_apart <= 5; log_apart++) {
            EXPECT_EQ(by_sums.path, OnTheGpu<CSAW__KERNEL_ITS>(graph, roots, log_apart).path) << log_apart;
            EXPECT_EQ(by_race.path, OnTheGpu<CSAW__KERNEL_RACE>(graph, roots, log_apart).path) << log_apart;
        }
    }
    csaw_graph_free(graph);
}

} // namespace

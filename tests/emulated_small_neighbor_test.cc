// SPDX-License-Identifier: MIT
// tests/emulated_small_neighbor_test.cc - samples of small instances on the GPU (runtime/engine/device_each.cu), from
// csaw_sample() to arcs in the host's memory, against a fake CUDA and an emulated GPU: the bits of the CPU's, whatever
// memory there is, few calls of CUDA for few instances, seeds that are no vertices refused.
#include <csaw/samplers.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_each.h"
#include "tests/failing_allocations.h"

#include <cuda_runtime.h>

namespace {

void Run(int kernel, const csaw__job &job) {
    switch (kernel) {
    case CSAW__KERNEL_EACH + CSAW__KERNEL_UNIFORM: return csaw__run_each<CSAW__KERNEL_UNIFORM, csaw__team>(job);
    case CSAW__KERNEL_TILES_UNIFORM: return csaw__run_each<CSAW__KERNEL_UNIFORM, csaw__tile>(job);
    case CSAW__KERNEL_LAST_UNIFORM: return csaw__run_last<CSAW__KERNEL_UNIFORM>(job);
    default: FAIL() << kernel;
    }
}

int Launch(int kernel, unsigned blocks, unsigned threads, void *stream, const csaw__job *job) {
    const csaw__job copy = *job;
    if (job->roots) {
        cudaPointerAttributes where;
        EXPECT_EQ(cudaSuccess, cudaPointerGetAttributes(&where, job->roots + job->regions.first));
        EXPECT_NE(cudaMemoryTypeUnregistered, where.type) << "a GPU would not find the seeds";
    }
    return fake_cuda::Launch(stream,
                             [=] { emulated::RunBlocks(blocks, threads, [&copy, kernel] { Run(kernel, copy); }); });
}

class EmulatedSmall : public ::testing::Test {
  protected:
    EmulatedSmall() : sampler(csaw_neighbor) { sampler.device = &kernels; }
    void SetUp() override {
        csaw_rmat_options rmat = {};
        rmat.size = sizeof rmat;
        rmat.scale = 8;
        rmat.edge_factor = 12;
        rmat.seed = 3;
        fake_cuda::Reset();
        ASSERT_EQ(CSAW_OK, csaw_graph_rmat(&rmat, &graph));
        ASSERT_EQ(CSAW_OK, csaw_plan_create(graph, nullptr, &cpu));
        csaw_plan_options on = {};
        on.size = sizeof on;
        on.device = "cuda:0";
        ASSERT_EQ(CSAW_OK, csaw_plan_create(graph, &on, &gpu)) << csaw_last_error();
        for (csaw_vertex i = 0; i < 40; i++) seed.push_back(i * 2654435761u % 200);
        for (uint64_t i = 0; i <= 20; i++) pools.push_back(2 * i);
        run.size = sizeof run;
        run.fanout = fanout;
        run.depth = 2;
        run.seed = 5;
    }
    void TearDown() override {
        csaw_plan_free(gpu);
        csaw_plan_free(cpu);
        csaw_graph_free(graph);
        EXPECT_TRUE(fake_cuda::AllGivenBack());
    }
    csaw_status Draw(csaw_plan *plan, emulated_each::Arcs *out) const {
        csaw_samples *samples = nullptr;
        csaw_arcs view;
        const csaw_seeds given = {seed.data(), offset ? 20u : seeds, offset};
        csaw_status status =
            csaw_sample(plan, plan == gpu ? &sampler : &csaw_neighbor, nullptr, &given, &run, &samples);
        if (status == CSAW_OK) status = csaw_samples_arcs(samples, CSAW_HOST, &view);
        if (status == CSAW_OK) {
            const uint64_t n = view.num_instances, arcs = view.offset[n];
            out->offset.assign(view.offset, view.offset + n + 1);
            out->seed_offset.assign(view.seed_offset, view.seed_offset + n + 1);
            out->src.assign(view.src, view.src + arcs);
            out->dst.assign(view.dst, view.dst + arcs);
            out->edge.assign(view.edge, view.edge + arcs);
            out->depth.assign(view.depth, view.depth + arcs);
            out->seed.assign(view.seed, view.seed + view.seed_offset[n]);
        }
        csaw_samples_free(samples);
        return status;
    }
    void ExpectTheCpus() const {
        emulated_each::Arcs want, got;
        ASSERT_EQ(CSAW_OK, Draw(cpu, &want)) << csaw_last_error();
        ASSERT_EQ(CSAW_OK, Draw(gpu, &got)) << csaw_last_error();
        EXPECT_GT(want.src.size(), 100u);
        EXPECT_TRUE(want == got);
    }
    csaw__device_sampler kernels = {Launch};
    csaw_sampler sampler;
    csaw_graph *graph = nullptr;
    csaw_plan *cpu = nullptr, *gpu = nullptr;
    std::vector<csaw_vertex> seed;
    std::vector<uint64_t> pools;
    const uint64_t *offset = nullptr;
    uint64_t seeds = 31;
    uint32_t fanout[2] = {3, 2};
    csaw_run_options run = {};
};

TEST_F(EmulatedSmall, BitsAreTheCpus) {
    ExpectTheCpus();
    offset = pools.data();
    ExpectTheCpus();
    run.walks_per_seed = 3;
    ExpectTheCpus();
    offset = nullptr;
    ExpectTheCpus();
    fanout[1] = 0; // nothing is left to a last depth
    run.walks_per_seed = 5;
    ExpectTheCpus();
}

// Samples get room for all the arcs that there could be, and where that is refused for those that there are.
TEST_F(EmulatedSmall, WhateverMemoryThereIs) {
    emulated_each::Arcs want, got;
    ASSERT_EQ(CSAW_OK, Draw(cpu, &want));
    const size_t before = fake_cuda::used;
    uint64_t drawn = 0, counted = 0;
    for (size_t more = 0; more < 20000; more += 40) {
        cudaDeviceSynchronize(); // what the draw before gave back is there
        fake_cuda::total = before + more;
        const uint64_t copies = fake_cuda::copies;
        const csaw_status status = Draw(gpu, &got);
        fake_cuda::total = size_t{1} << 40;
        if (status != CSAW_OK) {
            EXPECT_EQ(CSAW_EDEVMEM, status) << csaw_last_error();
            EXPECT_EQ(0u, drawn) << "less was enough";
        } else {
            EXPECT_TRUE(want == got) << more;
            drawn++;
            counted += fake_cuda::copies - copies > 2 + 7; // to the host seven arrays
        }
    }
    EXPECT_GT(counted, 0u);
    EXPECT_GT(drawn, counted);
    fail_every_allocation([&] {
        const csaw_status status = Draw(gpu, &got);
        if (status == CSAW_OK) {
            EXPECT_TRUE(want == got);
        }
        return status;
    });
}

TEST_F(EmulatedSmall, WithoutPageLockedMemory) {
    emulated_each::Arcs want, got;
    fake_cuda::refuse_pages = true;
    for (csaw_vertex i = 40; i < 501; i++) seed.push_back(i * 40503u % 200);
    for (uint64_t count : {31, 501}) {
        seeds = count;
        for (uint32_t k : {2, 20}) { // widths of tiles
            fanout[0] = k;
            ExpectTheCpus();
        }
    }
    ASSERT_EQ(CSAW_OK, Draw(cpu, &want));
    fail_every_allocation([&] {
        fanout[1] = fanout[1] % 3 + 1; // others than those that are kept
        const csaw_status status = Draw(gpu, &got);
        return status;
    });
    fanout[1] = 2;
    ASSERT_EQ(CSAW_OK, Draw(gpu, &got));
    EXPECT_TRUE(want == got);
    fake_cuda::refuse_pages = false;
}

// Instances begin as their seeds come: pieces of 128 bytes and more, at multiples of 64; read where they are, or, more
// than 64 of wide tiles, copied. A seed that is none stops them.
TEST_F(EmulatedSmall, InstancesBeginAsTheirSeedsCome) {
    emulated_each::Arcs want, got;
    for (csaw_vertex i = 40; i < 501; i++) seed.push_back(i * 40503u % 200);
    for (uint64_t count : {63, 64, 65, 95, 96, 127, 128, 301, 501}) {
        seeds = count;
        for (uint32_t k : {2, 5, 20}) { // widths of tiles
            fanout[0] = k;
            const uint64_t launches = fake_cuda::launches, copies = fake_cuda::copies;
            const uint64_t pieces = count / 32, copied = k > 4 && count > 64 ? pieces : 0;
            ASSERT_EQ(CSAW_OK, Draw(cpu, &want)) << csaw_last_error();
            ASSERT_EQ(CSAW_OK, Draw(gpu, &got)) << csaw_last_error();
            EXPECT_TRUE(want == got) << count << ", " << k;
            EXPECT_EQ(3 + pieces, fake_cuda::launches - launches) << count;
            EXPECT_EQ(copied + 2 + 7, fake_cuda::copies - copies) << count << ", " << k; // fanouts, counts; to the host
        }
    }
    seed[300] = 999;
    const uint64_t launches = fake_cuda::launches;
    EXPECT_EQ(CSAW_EINVAL, Draw(gpu, &got));
    EXPECT_EQ(0u, std::string(csaw_last_error()).find("seed 300 is vertex 999, ")) << csaw_last_error();
    EXPECT_GT(10u, fake_cuda::launches - launches);
    seed[300] = 1;
    run.walks_per_seed = 2; // seeds are of several instances
    ASSERT_EQ(CSAW_OK, Draw(cpu, &want));
    ASSERT_EQ(CSAW_OK, Draw(gpu, &got));
    EXPECT_TRUE(want == got);
}

// Copies: fanouts, once, and what the host waits for; launches: instances, sums, seeds, the last depth. Seeds are read
// where they are, and offsets of one seed each by nobody.
TEST_F(EmulatedSmall, FewInstancesTakeFewCalls) {
    csaw_samples *samples = nullptr;
    csaw_seeds few = {seed.data(), 31, nullptr};
    std::vector<uint64_t> one_each;
    for (uint64_t i = 0; i <= 31; i++) one_each.push_back(i);
    for (const uint64_t *of :
         {static_cast<const uint64_t *>(nullptr), static_cast<const uint64_t *>(one_each.data())}) {
        few.offset = of;
        const uint64_t copies = fake_cuda::copies, launches = fake_cuda::launches;
        ASSERT_EQ(CSAW_OK, csaw_sample(gpu, &sampler, nullptr, &few, &run, &samples)) << csaw_last_error();
        EXPECT_EQ(of ? 1u : 2u, fake_cuda::copies - copies);
        EXPECT_EQ(4u, fake_cuda::launches - launches);
        csaw_samples_free(samples);
    }
}

TEST_F(EmulatedSmall, SeedsThatAreNoVerticesAreRefused) {
    emulated_each::Arcs none;
    seed[7] = 256;
    seed[33] = ~0u;
    for (const uint64_t *of : {static_cast<const uint64_t *>(nullptr), static_cast<const uint64_t *>(pools.data())}) {
        offset = of;
        EXPECT_EQ(CSAW_EINVAL, Draw(gpu, &none));
        EXPECT_EQ(0u, std::string(csaw_last_error()).find("seed 7 is vertex 256, but the graph has "))
            << csaw_last_error();
    }
    seed[7] = seed[33] = 0;
    ExpectTheCpus();
}

} // namespace

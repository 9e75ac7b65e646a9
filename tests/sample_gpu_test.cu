/* SPDX-License-Identifier: MIT */
/* tests/sample_gpu_test.cu - the GPU engine beyond equal bits (tests/equality_gpu_test.cc): faults of hooks, device
 * views, samplers compiled at run time by NVRTC, memory that runs out, samples that outlive their plan. */
#include "tests/failing_allocations.h"
#include "tests/fault_order.h"
#include "tests/gpu_cases.h"

#include <cuda_runtime.h>

using fault_order::FaultyParams;

CSAW_DECLARE_SAMPLER(restart);
CSAW_DECLARE_SAMPLER(by_degree);

namespace {

csaw_plan *Plan(const csaw_graph *graph, const char *device) {
    csaw_plan_options options = {};
    options.size = sizeof options;
    options.device = device;
    csaw_plan *plan = nullptr;
    csaw_plan_create(graph, &options, &plan);
    return plan;
}

class SampleGpu : public ::testing::Test {
  protected:
    void SetUp() override {
        csaw_rmat_options rmat = {};
        rmat.size = sizeof rmat;
        rmat.scale = 12;
        rmat.weighted = true;
        ASSERT_EQ(CSAW_OK, csaw_graph_rmat(&rmat, &graph)) << csaw_last_error();
        gpu = Plan(graph, "cuda:0");
        if (!gpu) GTEST_SKIP() << "no GPU: " << csaw_last_error();
        cpu = Plan(graph, "cpu");
        run.size = sizeof run;
        run.depth = 11;
        run.seed = 5;
        run.edges = true;
    }
    void TearDown() override {
        csaw_plan_free(cpu);
        csaw_plan_free(gpu);
        csaw_graph_free(graph);
    }
    void ExpectEqual(const csaw_sampler *sampler, const void *params) {
        csaw_samples *a = nullptr, *b = nullptr;
        uint64_t places = 0;
        ASSERT_EQ(CSAW_OK, csaw_sample(cpu, sampler, params, nullptr, &run, &a)) << csaw_last_error();
        ASSERT_EQ(CSAW_OK, csaw_sample(gpu, sampler, params, nullptr, &run, &b)) << csaw_last_error();
        EXPECT_TRUE(gpu_cases::same_walks(a, b, &places));
        EXPECT_LT(10000u, places);
        csaw_samples_free(a);
        csaw_samples_free(b);
    }
    void ExpectSameFaults(uint32_t depth) {
        for (csaw_select select : {CSAW_SELECT_ITS, CSAW_SELECT_REJECT})
            for (uint32_t rule : {1u, 2u, 3u, 6u}) {
                const FaultyParams params = {rule, 17, depth};
                csaw_samples *none = nullptr;
                run.select = select;
                EXPECT_EQ(CSAW_EBIAS, csaw_sample(cpu, &faulty, &params, nullptr, &run, &none));
                const std::string want = csaw_last_error();
                EXPECT_EQ(CSAW_EBIAS, csaw_sample(gpu, &faulty, &params, nullptr, &run, &none));
                EXPECT_EQ(want, csaw_last_error());
                EXPECT_EQ(nullptr, none);
            }
    }
    csaw_graph *graph = nullptr;
    csaw_plan *gpu = nullptr, *cpu = nullptr;
    csaw_run_options run = {};
};

TEST_F(SampleGpu, FaultsAreNamedAsOnTheCpu) { ExpectSameFaults(3); }

// Also samples.
TEST_F(SampleGpu, FaultsOfALowerInstanceComeFirstAtAnyDepth) {
    fault_order::expect_lowest(reference::plan_on("cuda:0", 0, 0));
}

TEST_F(SampleGpu, CustomSamplersGiveTheSameBits) {
    ExpectEqual(&by_degree, nullptr); // ITS, dynamic, csaw_pow and csaw_random_arc
    ExpectEqual(&restart, nullptr);
    const FaultyParams none = {0, 0, 0};
    run.select = CSAW_SELECT_REJECT;
    ExpectEqual(&faulty, &none);
}

TEST_F(SampleGpu, RunTimeSamplersGiveTheBitsOfBuiltInOnes) {
    const csaw_sampler *mine = nullptr;
    ASSERT_EQ(CSAW_OK, csaw_sampler_compile(CSAW_SOURCE_DIR "/examples/my_node2vec.c", &mine)) << csaw_last_error();
    const csaw_node2vec_params params = {0.25f, 4};
    for (csaw_select select : {CSAW_SELECT_AUTO, CSAW_SELECT_ITS}) {
        run.select = select;
        ExpectEqual(mine, &params);
        csaw_samples *a = nullptr, *b = nullptr;
        uint64_t places = 0;
        ASSERT_EQ(CSAW_OK, csaw_sample(gpu, mine, &params, nullptr, &run, &a)) << csaw_last_error();
        ASSERT_EQ(CSAW_OK, csaw_sample(gpu, &csaw_node2vec, &params, nullptr, &run, &b)) << csaw_last_error();
        EXPECT_TRUE(gpu_cases::same_walks(a, b, &places));
        csaw_samples_free(a);
        csaw_samples_free(b);
    }
    csaw_plan_free(gpu); // before the sampler that it ran
    gpu = nullptr;
    csaw_sampler_unload(mine);
}

TEST_F(SampleGpu, DeviceViewIsStepMajorAndOutlivesThePlan) {
    csaw_samples *samples = nullptr;
    csaw_walks host, device;
    ASSERT_EQ(CSAW_OK, csaw_sample(gpu, &csaw_node2vec, nullptr, nullptr, &run, &samples)) << csaw_last_error();
    csaw_plan_free(gpu);
    gpu = nullptr;
    ASSERT_EQ(CSAW_OK, csaw_samples_walks(samples, CSAW_DEVICE, &device)) << csaw_last_error();
    ASSERT_EQ(CSAW_OK, csaw_samples_walks(samples, CSAW_HOST, &host)) << csaw_last_error();
    std::vector<csaw_vertex> steps(device.num_walks * (device.length + 1));
    ASSERT_EQ(cudaSuccess, cudaMemcpy(steps.data(), device.path, steps.size() * 4, cudaMemcpyDeviceToHost));
    uint64_t different = 0;
    for (uint64_t w = 0; w < device.num_walks; w++)
        for (uint32_t s = 0; s <= device.length; s++)
            different += steps[w * device.path_walk_stride + s * device.path_step_stride] !=
                         host.path[w * host.path_walk_stride + s * host.path_step_stride];
    EXPECT_EQ(0u, different);
    csaw_samples_free(samples);
}

csaw_status Append(void *user, csaw_samples *samples) {
    csaw_walks w;
    csaw_status status = csaw_samples_walks(samples, CSAW_HOST, &w);
    if (status != CSAW_OK) return status;
    auto *all = static_cast<std::vector<csaw_vertex> *>(user);
    all->insert(all->end(), w.path, w.path + w.num_walks * (w.length + 1));
    return CSAW_OK;
}

// From device memory, while the next batch is drawn.
csaw_status AppendFromDevice(void *user, csaw_samples *samples) {
    csaw_walks w;
    csaw_status status = csaw_samples_walks(samples, CSAW_DEVICE, &w);
    if (status != CSAW_OK) return status;
    std::vector<csaw_vertex> steps(w.num_walks * (w.length + 1));
    if (cudaMemcpy(steps.data(), w.path, steps.size() * 4, cudaMemcpyDeviceToHost) != cudaSuccess) return CSAW_ECUDA;
    auto *all = static_cast<std::vector<csaw_vertex> *>(user);
    for (uint64_t i = 0; i < w.num_walks; i++)
        for (uint32_t s = 0; s <= w.length; s++) all->push_back(steps[i * w.path_walk_stride + s * w.path_step_stride]);
    return CSAW_OK;
}

TEST_F(SampleGpu, BatchesAreTheWhole) {
    csaw_samples *samples = nullptr;
    csaw_walks w;
    std::vector<csaw_vertex> all;
    run.walks_per_seed = 3;
    ASSERT_EQ(CSAW_OK, csaw_sample(gpu, &csaw_node2vec, nullptr, nullptr, &run, &samples)) << csaw_last_error();
    ASSERT_EQ(CSAW_OK, csaw_samples_walks(samples, CSAW_HOST, &w));
    run.batch_bytes = 100000;
    for (auto *append : {Append, AppendFromDevice}) {
        all.clear();
        ASSERT_EQ(CSAW_OK, csaw_sample_each(gpu, &csaw_node2vec, nullptr, nullptr, &run, append, &all))
            << csaw_last_error();
        EXPECT_EQ(std::vector<csaw_vertex>(w.path, w.path + w.num_walks * (w.length + 1)), all);
    }
    csaw_samples_free(samples);
}

TEST_F(SampleGpu, EveryAllocationFails) {
    const csaw_vertex root = 3;
    const csaw_seeds seeds = {&root, 1, nullptr};
    fail_every_allocation([&] {
        csaw_samples *samples = nullptr;
        csaw_walks walks;
        csaw_plan *plan = Plan(graph, "cuda:0");
        csaw_status status = plan ? csaw_sample(plan, &csaw_node2vec, nullptr, &seeds, &run, &samples) : CSAW_ENOMEM;
        if (status == CSAW_OK) status = csaw_samples_walks(samples, CSAW_HOST, &walks);
        csaw_samples_free(samples);
        csaw_plan_free(plan);
        return status;
    });
}

// ---- samples, whose bits tests/sample_equality_gpu_test.cc compares ----

TEST_F(SampleGpu, FaultsInSamplesAreNamedAsOnTheCpu) {
    static const uint32_t fanout[] = {2, 3, 2, 2};
    run.depth = 4;
    run.fanout = fanout;
    for (uint32_t depth : {0u, 2u}) ExpectSameFaults(depth);
}

std::vector<uint64_t> Flat(csaw_samples *samples) {
    csaw_arcs arcs;
    std::vector<uint64_t> out;
    if (csaw_samples_arcs(samples, CSAW_HOST, &arcs) != CSAW_OK) return out;
    for (uint64_t i = 0; i < arcs.num_instances; i++)
        for (uint64_t a = arcs.offset[i]; a < arcs.offset[i + 1]; a++)
            out.insert(out.end(), {arcs.first + i, arcs.src[a], arcs.dst[a], arcs.edge[a], arcs.depth[a]});
    return out;
}

template <typename T> std::vector<T> Fetched(const T *device, uint64_t count) {
    std::vector<T> host(count);
    EXPECT_EQ(cudaSuccess, cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

// Small instances, instances that share the GPU, pools that are lists: three ways to the arrays.
TEST_F(SampleGpu, ArcsOnTheDeviceAreThoseOnTheHost) {
    static const uint32_t few[] = {3, 2}, many[] = {40, 5};
    const csaw_vertex seed[] = {1, 2, 3, 50, 60, 70, 80};
    const uint64_t offset[] = {0, 3, 3, 7};
    const csaw_seeds pools = {seed, 3, offset};
    run.depth = 2;
    for (int way = 0; way < 3; way++) {
        csaw_samples *samples = nullptr;
        csaw_arcs there, here;
        run.fanout = way == 0 ? few : way == 1 ? many : nullptr;
        ASSERT_EQ(CSAW_OK,
                  csaw_sample(gpu, way == 2 ? &csaw_multidimensional : &csaw_neighbor, nullptr, &pools, &run, &samples))
            << csaw_last_error();
        ASSERT_EQ(CSAW_OK, csaw_samples_arcs(samples, CSAW_DEVICE, &there)) << csaw_last_error();
        const std::vector<uint64_t> begins = Fetched(there.offset, 4), seeds = Fetched(there.seed_offset, 4);
        const uint64_t arcs = begins[3];
        const auto src = Fetched(there.src, arcs), dst = Fetched(there.dst, arcs);
        const auto edge = Fetched(there.edge, arcs);
        const auto depth = Fetched(there.depth, arcs), first = Fetched(there.seed, seeds[3]);
        ASSERT_EQ(CSAW_OK, csaw_samples_arcs(samples, CSAW_HOST, &here)) << csaw_last_error();
        EXPECT_EQ(3u, there.num_instances);
        EXPECT_LT(3u, arcs);
        EXPECT_EQ(std::vector<uint64_t>(here.offset, here.offset + 4), begins);
        EXPECT_EQ(std::vector<uint64_t>(here.seed_offset, here.seed_offset + 4), seeds);
        EXPECT_EQ(std::vector<csaw_vertex>(here.src, here.src + arcs), src);
        EXPECT_EQ(std::vector<csaw_vertex>(here.dst, here.dst + arcs), dst);
        EXPECT_EQ(std::vector<csaw_edge>(here.edge, here.edge + arcs), edge);
        EXPECT_EQ(std::vector<uint32_t>(here.depth, here.depth + arcs), depth);
        EXPECT_EQ(std::vector<csaw_vertex>(here.seed, here.seed + seeds[3]), first);
        csaw_samples_free(samples);
    }
}

csaw_status AppendArcs(void *user, csaw_samples *samples) {
    const std::vector<uint64_t> more = Flat(samples);
    auto *all = static_cast<std::vector<uint64_t> *>(user);
    all->insert(all->end(), more.begin(), more.end());
    return CSAW_OK;
}

TEST_F(SampleGpu, SamplesInBatchesAreTheWholeAndOutliveThePlan) {
    static const uint32_t fanout[] = {15, 10, 5};
    csaw_samples *a = nullptr, *b = nullptr;
    std::vector<uint64_t> all;
    run.depth = 3;
    run.fanout = fanout;
    ASSERT_EQ(CSAW_OK, csaw_sample(cpu, &csaw_neighbor_once, nullptr, nullptr, &run, &a)) << csaw_last_error();
    ASSERT_EQ(CSAW_OK, csaw_sample(gpu, &csaw_neighbor_once, nullptr, nullptr, &run, &b)) << csaw_last_error();
    run.batch_bytes = 1 << 20;
    ASSERT_EQ(CSAW_OK, csaw_sample_each(gpu, &csaw_neighbor_once, nullptr, nullptr, &run, AppendArcs, &all))
        << csaw_last_error();
    csaw_plan_free(gpu);
    gpu = nullptr;
    const std::vector<uint64_t> want = Flat(a);
    EXPECT_LT(100000u, want.size());
    EXPECT_EQ(want, Flat(b));
    EXPECT_EQ(want, all);
    csaw_samples_free(a);
    csaw_samples_free(b);
}

// So many arcs that bringing them into their order takes far longer than the way back to the caller.
TEST_F(SampleGpu, ArcsInDeviceMemoryAreThereWhenTheCallReturns) {
    static const uint32_t fanout[] = {15};
    const uint64_t looked_at = 1000;
    csaw_samples *samples = nullptr;
    csaw_arcs host, device;
    std::vector<csaw_edge> edge(looked_at);
    uint64_t count = 0;
    run.depth = 1;
    run.fanout = fanout;
    run.walks_per_seed = reference::every_case() > 1 ? 4 : 256;
    ASSERT_EQ(CSAW_OK, csaw_sample(gpu, &csaw_layer, nullptr, nullptr, &run, &samples)) << csaw_last_error();
    ASSERT_EQ(CSAW_OK, csaw_samples_arcs(samples, CSAW_DEVICE, &device)) << csaw_last_error();
    ASSERT_EQ(cudaSuccess, cudaMemcpy(&count, device.offset + device.num_instances, 8, cudaMemcpyDeviceToHost));
    ASSERT_LT(reference::every_case() > 1 ? looked_at : 1000000, count);
    ASSERT_EQ(cudaSuccess,
              cudaMemcpy(edge.data(), device.edge + count - looked_at, looked_at * 8, cudaMemcpyDeviceToHost));
    ASSERT_EQ(CSAW_OK, csaw_samples_arcs(samples, CSAW_HOST, &host)) << csaw_last_error();
    ASSERT_EQ(count, host.offset[host.num_instances]);
    EXPECT_EQ(std::vector<csaw_edge>(host.edge + count - looked_at, host.edge + count), edge);
    csaw_samples_free(samples);
}

TEST_F(SampleGpu, EveryAllocationOfSamplesFails) {
    static const uint32_t fanout[] = {3, 40};
    const csaw_vertex roots[] = {3, 5, 3};
    const csaw_seeds seeds = {roots, 3, nullptr};
    run.depth = 2;
    run.fanout = fanout;
    run.select = CSAW_SELECT_ITS;
    EXPECT_LT(10u, fail_every_allocation([&] {
                  csaw_samples *samples = nullptr;
                  const csaw_status status = csaw_sample(gpu, &csaw_neighbor_once, nullptr, &seeds, &run, &samples);
                  csaw_samples_free(samples);
                  return status;
              }));
}

TEST_F(SampleGpu, TooManyWalksAreADeviceMemoryError) {
    csaw_samples *s = nullptr;
    run.depth = 1000000;
    run.walks_per_seed = 1000;
    EXPECT_EQ(CSAW_EDEVMEM, csaw_sample(gpu, &csaw_uniform, nullptr, nullptr, &run, &s));
    EXPECT_NE(std::string::npos, std::string(csaw_last_error()).find("csaw_sample_each"));
    EXPECT_EQ(nullptr, s);
}

TEST_F(SampleGpu, NoSuchDevice) {
    EXPECT_EQ(nullptr, Plan(graph, "cuda:4096"));
    EXPECT_NE(std::string::npos, std::string(csaw_last_error()).find("cuda:4096"));
}

} // namespace

// SPDX-License-Identifier: MIT
// tests/emulated_blocks_test.cc - blocks made on a GPU, on the CPU: kernels on an emulated GPU, all else against a fake
// CUDA, from arcs that the CPU engine drew into its memory. Their bits are those of blocks made on the host.
#include "tests/failing_allocations.h"
#include "tests/reference/graphs.h"

#include "tests/blocks_cases.h"

#include "tests/fake_cuda/launch.h"

#include "runtime/engine/device_few.cuh"

namespace {

using namespace blocks_cases;

class EmulatedBlocks : public ::testing::Test {
  protected:
    EmulatedBlocks() { fake_cuda::Reset(); }
    ~EmulatedBlocks() override { EXPECT_TRUE(fake_cuda::AllGivenBack()); }
};

void compare(const csaw_graph *graph, const Request &run, const char *what) {
    const Value on_host = value_of(draw(graph, "cpu", run).get(), CSAW_HOST);
    const Samples there = draw(graph, "cuda:0", run);
    for (bool backwards : {false, true}) { // whatever the order in which threads come
        emulated::backwards = backwards;
        EXPECT_TRUE(value_of(there.get(), CSAW_DEVICE) == on_host) << what << ", " << csaw_sampler_name(run.sampler);
    }
    emulated::backwards = false;
    EXPECT_TRUE(value_of(there.get(), CSAW_HOST) == on_host)
        << what << ", on the host, " << csaw_sampler_name(run.sampler);
}

TEST_F(EmulatedBlocks, OfSamplesOfAllKinds) {
    const Graph graph = make(WEIGHT, NONE);
    for (const Request &run : runs) compare(graph.get(), run, "small graph");
}

TEST_F(EmulatedBlocks, OfHubsAndOddities) {
    const Graph graph = odd_graph();
    for (const Named &each : odd_runs()) compare(graph.get(), each.run, each.what);
}

// By one block of so many lanes, a tile or several; what stands behind the sums stays as it is.
template <class T> void sum_few(uint32_t count, uint32_t lanes) {
    std::vector<T> in(count), out(count + 1, 12345), exact(count + 1, 12345);
    T sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        in[i] = static_cast<T>(i * 2654435761u % 1000) << (4 * sizeof(T) - 16); // over 32 bits in sum, if there are 64
        exact[i] = sum;
        sum += in[i];
    }
    emulated::RunBlocks(1, lanes, [&] { csaw__sum_few<T>(in.data(), out.data(), count); });
    EXPECT_TRUE(out == exact) << count << " entries, " << lanes << " lanes";
}

TEST_F(EmulatedBlocks, SumsOfFew) {
    for (uint32_t count : {1, 2, 8, 9, 255, 256, 257, 512, 513, 3000})
        for (uint32_t lanes : {32, 64, 128}) {
            sum_few<uint32_t>(count, lanes);
            sum_few<uint64_t>(count, lanes);
        }
    for (uint32_t count : {8192, 8193, CSAW__FEW}) sum_few<uint64_t>(count, 1024);
}

TEST_F(EmulatedBlocks, NeedSamplesOfOneGpu) {
    const Graph graph = make(WEIGHT, NONE);
    const Samples samples = draw(graph.get(), "cpu", runs[0]);
    csaw_blocks *out = nullptr;
    EXPECT_EQ(csaw_blocks_create_in(samples.get(), CSAW_DEVICE, &out), CSAW_EUNSUPPORTED);
    EXPECT_TRUE(message_has({"'cuda:N'"}));
    EXPECT_EQ(csaw_blocks_create_in(samples.get(), static_cast<csaw_space>(7), &out), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"space is 7"}));
    EXPECT_EQ(csaw_blocks_create_in(nullptr, CSAW_DEVICE, &out), CSAW_EINVAL);
    EXPECT_EQ(out, nullptr);
}

std::unique_ptr<csaw_plan, decltype(&csaw_plan_free)> plan_on(const csaw_graph *graph, const char *device) {
    csaw_plan_options options = {};
    csaw_plan *plan = nullptr;
    options.size = sizeof options;
    options.device = device;
    reference::require(csaw_plan_create(graph, &options, &plan));
    return {plan, csaw_plan_free};
}

// Where all arcs lead of so many instances that take every neighbour of vertex 1.
std::vector<uint32_t> arcs_of(csaw_plan *plan, uint64_t seeds) {
    static const std::vector<csaw_vertex> vertex(4096, 1);
    const uint32_t fanout = CSAW_ALL;
    csaw_seeds pools = {};
    pools.vertex = vertex.data();
    pools.count = seeds;
    csaw_run_options run = {};
    run.size = sizeof run;
    run.depth = 1;
    run.fanout = &fanout;
    csaw_samples *samples = nullptr;
    csaw_arcs arcs = {};
    EXPECT_EQ(csaw_sample(plan, &csaw_neighbor, nullptr, &pools, &run, &samples), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "is left for somebody else to find";
    if (!samples) return {};
    EXPECT_EQ(csaw_samples_arcs(samples, CSAW_HOST, &arcs), CSAW_OK);
    std::vector<uint32_t> out(arcs.dst, arcs.dst + arcs.offset[seeds]);
    csaw_samples_free(samples);
    return out;
}

TEST_F(EmulatedBlocks, MemoryOfSamplesIsKeptAndGivenUp) {
    const Graph graph = make(WEIGHT, NONE);
    const auto cpu = plan_on(graph.get(), "cpu");
    size_t with_many;
    {
        const auto roomy = plan_on(graph.get(), "cuda:0");
        fake_cuda::peak = fake_cuda::used;
        EXPECT_EQ(arcs_of(roomy.get(), 4000), arcs_of(cpu.get(), 4000));
        with_many = fake_cuda::peak;
        const size_t kept = fake_cuda::used;
        EXPECT_EQ(arcs_of(roomy.get(), 4000), arcs_of(cpu.get(), 4000));
        EXPECT_EQ(arcs_of(roomy.get(), 3900), arcs_of(cpu.get(), 3900));
        EXPECT_EQ(fake_cuda::used, kept) << "by the same block";
        EXPECT_EQ(fake_cuda::peak, with_many);
        arcs_of(roomy.get(), 1000);
        EXPECT_GT(fake_cuda::peak, with_many) << "of which these would take too much";
    }
    const auto plan = plan_on(graph.get(), "cuda:0");
    arcs_of(plan.get(), 1000);
    fake_cuda::total = with_many; // enough, without what those left
    EXPECT_EQ(arcs_of(plan.get(), 4000), arcs_of(cpu.get(), 4000));
}

TEST_F(EmulatedBlocks, OutliveSamplesAndPlan) {
    const Graph graph = make(WEIGHT, NONE);
    const Request &run = runs[5];
    csaw_blocks *made = nullptr;
    reference::require(csaw_blocks_create_in(draw(graph.get(), "cuda:0", run).get(), CSAW_DEVICE, &made));
    const Blocks blocks(made, csaw_blocks_free);
    EXPECT_TRUE(loader_cases::blocks_of(made, 1) == value_of(draw(graph.get(), "cpu", run).get(), CSAW_HOST).blocks[1]);
}

// In a batch function, while the GPU draws the next batch.
TEST_F(EmulatedBlocks, OfBatches) {
    const Graph graph = make(WEIGHT, NONE);
    const Request run = {&csaw_neighbor_again, {3, 2}, 0, {}, {}, 9};
    std::vector<std::vector<Value>> values;
    for (const char *device : {"cpu", "cuda:0"}) {
        csaw_plan *p = nullptr;
        const csaw_plan_options of = reference::plan_on(device, 1, 0);
        reference::require(csaw_plan_create(graph.get(), &of, &p));
        const Plan plan(p, csaw_plan_free);
        csaw_run_options options = {};
        options.size = sizeof options;
        options.depth = 2;
        options.fanout = run.fanout.data();
        options.walks_per_seed = run.each;
        options.batch_bytes = 1000;
        options.select = CSAW_SELECT_ITS; // the fake engine has no tables
        std::vector<Value> all;
        struct User {
            csaw_space space;
            std::vector<Value> *all;
        } user = {strcmp(device, "cpu") == 0 ? CSAW_HOST : CSAW_DEVICE, &all};
        const auto take = [](void *given, csaw_samples *samples) {
            const User *const to = static_cast<User *>(given);
            to->all->push_back(value_of(samples, to->space));
            return CSAW_OK;
        };
        reference::require(csaw_sample_each(plan.get(), run.sampler, nullptr, nullptr, &options, take, &user));
        values.push_back(all);
    }
    EXPECT_GT(values[0].size(), 5u);
    EXPECT_TRUE(values[0] == values[1]);
}

// Copies and launches that fail, and memory that runs out: an error, and nothing is kept.
TEST_F(EmulatedBlocks, FailuresKeepNothing) {
    const Graph graph = make(WEIGHT, NONE);
    const Samples samples = draw(graph.get(), "cuda:0", runs[7]); // sorted
    const auto blocks = [&] {
        csaw_blocks *out = nullptr;
        const csaw_status status = csaw_blocks_create_in(samples.get(), CSAW_DEVICE, &out);
        EXPECT_EQ(status == CSAW_OK, out != nullptr);
        csaw_blocks_free(out);
        return status;
    };
    EXPECT_GT(fail_every_allocation(blocks), 15u);
    uint64_t failed = 0;
    for (uint64_t n = 1; n < 100; n++) {
        fake_cuda::launches = 0;
        fake_cuda::fail_launch = n;
        const csaw_status status = blocks();
        fake_cuda::fail_launch = 0;
        if (status == CSAW_OK) break;
        EXPECT_EQ(status, CSAW_ECUDA);
        failed++;
    }
    EXPECT_EQ(failed, 12u); // 9 kernels, sums twice and a sort
}

} // namespace

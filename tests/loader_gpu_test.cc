// SPDX-License-Identifier: MIT
// tests/loader_gpu_test.cc - rows gathered, blocks made and minibatches loaded on a GPU are the CPU's, byte for byte.
// Skipped without a GPU.
#include <chrono>
#include <random>
#include <thread>

#include "tests/failing_allocations.h"
#include "tests/gpu_memory.cuh"
#include "tests/reference/graphs.h"

#include "tests/blocks_cases.h"

#include "runtime/engine/device_parts.h"
#include "runtime/engine/plan.h"

using namespace blocks_cases;
using namespace loader_cases;
using gpu_memory::Array;
using gpu_memory::Require;
using gpu_memory::SameBytes;
using reference::plan_on;

namespace {

const uint32_t fanout[] = {15, 10};

class LoaderOnGpu : public ::testing::Test {
  protected:
    void SetUp() override {
        const std::string why = reference::no_gpu_because(csr);
        if (!why.empty()) GTEST_SKIP() << why;
        loader_cases::fetch = [](void *to, const void *from, size_t bytes) {
            Require(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
        };
        cpu = std::make_unique<reference::Library>(csr, plan_on("cpu", 0, 0));
        gpu = std::make_unique<reference::Library>(csr, plan_on("cuda:0", 0, 0));
        Require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i % 65521) / 3;
        for (size_t i = 0; i < label.size(); i++) label[i] = static_cast<int64_t>(i) * 1000000007 - 5;
        options.size = sizeof options;
        options.batch_size = 100;
        options.seed = 41;
        options.depth = 2;
        options.fanout = fanout;
        options.epochs = 2;
        options.features = &features;
        options.label = label.data();
    }
    void TearDown() override {
        cpu.reset(), gpu.reset();
        if (stream) Require(cudaStreamDestroy(stream));
    }
    std::vector<Batch> of_the_cpu() { return all_of(open(cpu->get(), {}, options).get()); }
    csaw_loader_options there() const {
        csaw_loader_options out = options;
        out.stream = stream;
        return out;
    }
    static reference::Graph rmat() {
        csaw_rmat_options of = {};
        of.size = sizeof of;
        of.scale = 11;
        of.edge_factor = 16;
        of.seed = 5;
        of.keep_isolated = true;
        csaw_graph *made = nullptr;
        reference::require(csaw_graph_rmat(&of, &made));
        const csaw_csr view = csaw_graph_csr(made);
        reference::Graph out;
        out.rowptr.assign(view.rowptr, view.rowptr + view.num_vertices + 1);
        out.col.assign(view.col, view.col + view.num_edges);
        csaw_graph_free(made);
        return out;
    }
    reference::Graph graph = rmat();
    csaw_csr csr = graph.csr();
    static constexpr uint64_t wide = 300;
    std::vector<float> x = std::vector<float>(csr.num_vertices * wide);
    std::vector<int64_t> label = std::vector<int64_t>(csr.num_vertices);
    csaw_dense features = {csr.num_vertices, wide - 1, wide, CSAW_F32, x.data()}; // a column is left out
    csaw_loader_options options = {};
    cudaStream_t stream = nullptr;
    std::unique_ptr<reference::Library> cpu, gpu;
};

// ---- csaw_gather() -------------------------------------------------------------------

TEST_F(LoaderOnGpu, RowsGathered) {
    std::mt19937_64 random(3);
    for (csaw_dtype dtype : {CSAW_F32, CSAW_F16, CSAW_BF16})
        for (uint64_t cols : {1u, 7u, 64u, 128u, 300u, 1001u})
            for (uint64_t gap : {0u, 3u}) {
                const uint64_t bytes = dtype == CSAW_F32 ? 4 : 2, rows = 900, count = 5000, stride = cols + gap;
                std::vector<unsigned char> from(rows * stride * bytes), want(count * stride * bytes, 0xee);
                for (unsigned char &b : from) b = static_cast<unsigned char>(random());
                std::vector<csaw_vertex> vertex(count);
                for (csaw_vertex &v : vertex) v = static_cast<csaw_vertex>(random() % rows);
                const Array<unsigned char> there(from), out(want), again(want);
                const Array<csaw_vertex> list(vertex);
                csaw_dense x_view = {rows, cols, stride, dtype, from.data()},
                           y_view = {count, cols, stride, dtype, want.data()};
                const csaw_gather_options how = {sizeof how, 0, "cuda:0", stream};
                ASSERT_EQ(csaw_gather(&x_view, vertex.data(), count, nullptr, &y_view), CSAW_OK);
                y_view.data = out.get();
                EXPECT_EQ(csaw_gather(&x_view, list.get(), count, &how, &y_view), CSAW_EINVAL) << "ordinary memory";
                void *pinned = nullptr;
                Require(cudaMallocHost(&pinned, from.size()));
                memcpy(pinned, from.data(), from.size());
                x_view.data = pinned;
                ASSERT_EQ(csaw_gather(&x_view, list.get(), count, &how, &y_view), CSAW_OK) << csaw_last_error();
                EXPECT_TRUE(SameBytes(out.back(), want)) << "page-locked, " << cols << " columns, gap " << gap;
                x_view.data = there.get();
                y_view.data = again.get();
                ASSERT_EQ(csaw_gather(&x_view, list.get(), count, &how, &y_view), CSAW_OK) << csaw_last_error();
                EXPECT_TRUE(SameBytes(again.back(), want)) << cols << " columns, gap " << gap;
                Require(cudaFreeHost(pinned));
            }
}

// ---- blocks ----------------------------------------------------------------------------

void compare(const csaw_graph *of, const Request &run, const char *what) {
    const Value on_host = value_of(draw(of, "cpu", run).get(), CSAW_HOST);
    const Samples there = draw(of, "cuda:0", run);
    EXPECT_TRUE(value_of(there.get(), CSAW_DEVICE) == on_host) << what << ", " << csaw_sampler_name(run.sampler);
    EXPECT_TRUE(value_of(there.get(), CSAW_HOST) == on_host)
        << what << ", on the host, " << csaw_sampler_name(run.sampler);
}

TEST_F(LoaderOnGpu, BlocksOfSamplesOfAllKinds) {
    const Graph small = make(WEIGHT, NONE), odd = odd_graph();
    for (const Request &run : runs) compare(small.get(), run, "small graph");
    for (const Named &each : odd_runs()) compare(odd.get(), each.run, each.what);
    std::vector<csaw_vertex> seeds(csr.num_vertices);
    for (csaw_vertex v = 0; v < csr.num_vertices; v++) seeds[v] = v;
    const auto large = reference::borrow(csr);
    compare(large.get(), {&csaw_neighbor_again, {15, 10, 5}, 0, seeds, {0, 1024, 2048}, 3}, "hubs, many at once");
    compare(large.get(), {&csaw_neighbor_again, {CSAW_ALL, CSAW_ALL}, 0, seeds, {0, 1000}, 1}, "every arc");
    compare(large.get(), {&csaw_layer, {400, 300}, 0, seeds, {0, 1000}, 2}, "sorted");
}

TEST_F(LoaderOnGpu, EveryAllocationOfBlocksMayFail) {
    const Graph small = make(WEIGHT, NONE);
    const Samples samples = draw(small.get(), "cuda:0", runs[7]);
    EXPECT_GT(fail_every_allocation([&] {
                  csaw_blocks *out = nullptr;
                  const csaw_status status = csaw_blocks_create_in(samples.get(), CSAW_DEVICE, &out);
                  csaw_blocks_free(out);
                  return status;
              }),
              15u);
}

// ---- the loader ------------------------------------------------------------------------

TEST_F(LoaderOnGpu, BatchesAreTheCpus) {
    for (const csaw_sampler *sampler : {static_cast<const csaw_sampler *>(nullptr), &csaw_neighbor_once, &csaw_layer})
        for (uint32_t in_flight : {1u, 2u, 3u}) {
            if (!reference::takes_case()) continue;
            options.sampler = sampler;
            options.in_flight = in_flight;
            options.replace = in_flight == 3;
            const std::vector<Batch> expected = of_the_cpu();
            EXPECT_TRUE(all_of(open(gpu->get(), {}, there()).get()) == expected) << in_flight << " in flight";
            EXPECT_TRUE(all_of(open(gpu->get(), {}, options).get()) == expected) << "the default stream";
        }
}

TEST_F(LoaderOnGpu, OddBatchesAreTheCpus) {
    options.sampler = &csaw_uniform;
    options.fanout = nullptr;
    options.batch_size = csr.num_vertices - 1; // one is left, whose sample is a walk
    EXPECT_TRUE(all_of(open(gpu->get(), {}, there()).get()) == of_the_cpu());
    options.features = nullptr;
    options.label = nullptr;
    EXPECT_TRUE(all_of(open(gpu->get(), {}, there()).get()) == of_the_cpu());
}

TEST_F(LoaderOnGpu, WhereverFeaturesLieAndWhateverIsCached) {
    const std::vector<Batch> expected = of_the_cpu();
    uint64_t before = 0;
    for (uint64_t bytes : {uint64_t{0}, uint64_t{100} * 4 * wide, uint64_t{1} << 30}) {
        options.cache_bytes = bytes;
        const Loader loader = open(gpu->get(), {}, there());
        std::vector<Batch> batches;
        uint64_t cached = 0, all = 0;
        for (const csaw_minibatch *m = nullptr;;) {
            reference::require(csaw_loader_next(loader.get(), &m));
            if (!m) break;
            batches.push_back(value_of(*m));
            cached += m->cached;
            all += m->num_vertices;
        }
        EXPECT_TRUE(batches == expected) << bytes;
        EXPECT_EQ(cached == all, bytes == uint64_t{1} << 30);
        EXPECT_EQ(cached > 0, bytes > 0);
        EXPECT_GE(cached, before);
        before = cached;
    }
    options.cache_bytes = 0;
    const Array<float> there_already(x);
    features.data = there_already.get();
    EXPECT_TRUE(all_of(open(gpu->get(), {}, there()).get()) == expected) << "in the GPU's memory";
    void *pinned = nullptr;
    Require(cudaMallocHost(&pinned, x.size() * sizeof x[0]));
    memcpy(pinned, x.data(), x.size() * sizeof x[0]);
    features.data = pinned;
    EXPECT_TRUE(all_of(open(gpu->get(), {}, there()).get()) == expected) << "page-locked before";
    Require(cudaFreeHost(pinned));
}

// Copies of each batch wait in the caller's stream, behind 20 ms of work, in which several batches are made, while he
// asks for the next.
TEST_F(LoaderOnGpu, WeightsOfArcsStayThere) {
    std::vector<float> weights(csr.num_edges);
    for (size_t e = 0; e < weights.size(); e++) weights[e] = static_cast<float>(e % 1021 + 1) / 8;
    csaw_csr of = csr;
    of.weight = weights.data();
    const reference::Library plan(of, plan_on("cuda:0", 0, 0));
    options.features = nullptr;
    options.label = nullptr;
    const Loader loader = open(plan.get(), {}, there());
    for (const csaw_minibatch *m = nullptr;;) { // the next batch is made meanwhile
        reference::require(csaw_loader_next(loader.get(), &m));
        if (!m) break;
        for (uint32_t d = 0; d < 2; d++) {
            csaw_block_view block;
            reference::require(csaw_blocks_look(m->blocks, 0, d, &block));
            const Array<float> out(std::vector<float>(block.num_edges, -1));
            ASSERT_EQ(csaw_plan_weights(plan.get(), &block, stream, out.get()), CSAW_OK) << csaw_last_error();
            std::vector<float> expected;
            for (csaw_edge e : list(block.space, block.edge, block.num_edges)) expected.push_back(weights[e]);
            EXPECT_TRUE(out.back() == expected) << "depth " << d;
        }
    }
}

TEST_F(LoaderOnGpu, ACallerWhoDoesNotWait) {
    struct Kept {
        uint64_t vertices, edges;
        Array<char> features;
        Array<csaw_vertex> vertex, col;
    };
    const std::vector<Batch> expected = of_the_cpu();
    const auto sleep = [](void *) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    const auto keep = [&](auto &to, const void *from, uint64_t bytes) {
        Require(cudaMemcpyAsync(to.get(), from, bytes, cudaMemcpyDeviceToDevice, stream));
    };
    for (uint32_t in_flight : {1u, 2u, 3u})
        for (bool take : {false, true}) {
            options.in_flight = in_flight;
            std::vector<Kept> kept;
            for (const Batch &batch : expected) { // memory is taken before: that waits for the GPU
                const Block &outer = batch.blocks.back();
                kept.push_back({batch.vertices.size(), outer.col.size(),
                                Array<char>(std::vector<char>(batch.features.size())),
                                Array<csaw_vertex>(std::vector<csaw_vertex>(batch.vertices.size())),
                                Array<csaw_vertex>(std::vector<csaw_vertex>(outer.col.size()))});
            }
            const Loader loader = open(gpu->get(), {}, there());
            csaw_minibatch *own = nullptr;
            size_t b = 0;
            for (const csaw_minibatch *m = nullptr;; b++) {
                reference::require(csaw_loader_next(loader.get(), &m));
                csaw_minibatch_free(own);
                own = nullptr;
                if (!m) break;
                ASSERT_LT(b, kept.size());
                if (take) reference::require(csaw_loader_take(loader.get(), &own));
                const csaw_minibatch *const batch = take ? own : m;
                csaw_block_view outer = {};
                reference::require(csaw_blocks_look(batch->blocks, 0, 1, &outer));
                ASSERT_EQ(batch->num_vertices, kept[b].vertices);
                ASSERT_EQ(outer.num_edges, kept[b].edges);
                Require(cudaLaunchHostFunc(stream, sleep, nullptr));
                keep(kept[b].features, batch->features.data, expected[b].features.size());
                keep(kept[b].vertex, batch->vertex, batch->num_vertices * sizeof *batch->vertex);
                keep(kept[b].col, outer.col, outer.num_edges * sizeof *outer.col);
            }
            ASSERT_EQ(b, expected.size());
            Require(cudaStreamSynchronize(stream));
            for (b = 0; b < kept.size(); b++) {
                EXPECT_TRUE(kept[b].features.back() == expected[b].features) << b;
                EXPECT_TRUE(kept[b].vertex.back() == expected[b].vertices) << b;
                EXPECT_TRUE(kept[b].col.back() == expected[b].blocks.back().col) << b;
            }
        }
}

TEST_F(LoaderOnGpu, BatchesTakenStayAndLoadersCloseAtAnyTime) {
    const std::vector<Batch> expected = of_the_cpu();
    std::vector<csaw_minibatch *> taken;
    {
        const Loader loader = open(gpu->get(), {}, there());
        const csaw_minibatch *m = nullptr;
        for (int b = 0; b < 7; b++) {
            csaw_minibatch *own = nullptr;
            ASSERT_EQ(csaw_loader_next(loader.get(), &m), CSAW_OK);
            ASSERT_EQ(csaw_loader_take(loader.get(), &own), CSAW_OK);
            taken.push_back(own);
        }
    }
    for (int n : {0, 1, 3}) {
        const Loader loader = open(gpu->get(), {}, there());
        const csaw_minibatch *m = nullptr;
        for (int i = 0; i < n; i++) ASSERT_EQ(csaw_loader_next(loader.get(), &m), CSAW_OK);
    }
    gpu.reset();
    for (size_t b = 0; b < taken.size(); b++) {
        EXPECT_TRUE(value_of(*taken[b]) == expected[b]) << b;
        csaw_minibatch_free(taken[b]);
    }
}

// The pool of the plan does not grow with the number of batches. Other programs may share the GPU.
TEST_F(LoaderOnGpu, MemoryIsUsedAgain) {
    options.epochs = reference::every_case() > 1 ? 2 : 60;
    const Loader loader = open(gpu->get(), {}, there());
    const csaw_minibatch *m = nullptr;
    const uint64_t all = options.epochs * csaw_loader_batches(loader.get());
    uint64_t early = 0;
    if (reference::every_case() == 1) {
        ASSERT_GT(all, 400u);
    }
    for (uint64_t b = 0; b < all; b++) {
        reference::require(csaw_loader_next(loader.get(), &m));
        if (b == all / 2) early = csaw__device_peak(gpu->get()->device);
    }
    EXPECT_GT(early, 0u);
    EXPECT_LE(csaw__device_peak(gpu->get()->device), early + (uint64_t{64} << 20));
}

TEST_F(LoaderOnGpu, EveryAllocationMayFail) {
    const auto whole = reference::borrow(csr);
    options.batch_size = 1000;
    options.cache_bytes = 1 << 20;
    const csaw_plan_options on_gpu = plan_on("cuda:0", 0, 0);
    EXPECT_GT(fail_every_allocation([&] { return run_through(whole.get(), &on_gpu, nullptr, there()); }), 50u);
}

TEST_F(LoaderOnGpu, FailuresInTheirPlace) {
    graph.weight.assign(graph.col.size(), 1);
    csaw_vertex bad = 250;
    while (graph.rowptr[bad] == graph.rowptr[bad + 1]) bad++;
    ASSERT_LT(bad, 300u);
    graph.weight[graph.rowptr[bad]] = -1;
    const csaw_csr faulty = graph.csr();
    const reference::Library library(faulty, plan_on("cuda:0", 0, 0));
    const uint32_t one[] = {1};
    options.depth = 1;
    options.fanout = one;
    options.keep_order = true;
    options.select = CSAW_SELECT_ITS;
    const Loader loader = open(library.get(), {}, there());
    expect_the_third_to_fail(loader.get());
    csaw_loader *out = nullptr;
    options.cache_bytes = 100;
    options.features = nullptr;
    EXPECT_EQ(csaw_loader_open(gpu->get(), nullptr, &options, &out), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"cache_bytes is 100"}));
    const reference::Library parts(csr, plan_on("cuda:0", 0, 3));
    options.cache_bytes = 0;
    EXPECT_EQ(csaw_loader_open(parts.get(), nullptr, &options, &out), CSAW_EUNSUPPORTED);
    EXPECT_TRUE(message_has({"without partitions"}));
    EXPECT_EQ(out, nullptr);
}

} // namespace

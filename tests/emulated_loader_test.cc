// SPDX-License-Identifier: MIT
// tests/emulated_loader_test.cc - a loader on a GPU, on the CPU: kernels on an emulated GPU, all else against a fake
// CUDA whose streams run in an order that a seed decides. Batches are the CPU's, byte for byte, wherever features lie
// and whatever is cached; what the caller has put into his stream finds its batch as it was; failures in their place.
#include "tests/failing_allocations.h"
#include "tests/loader_cases.h"
#include "tests/reference/graphs.h"

#include "tests/fake_cuda/launch.h"

using namespace loader_cases;
using graph_cases::message_has;
using reference::plan_on;

namespace {

const uint32_t fanout[] = {3, 2};

class EmulatedLoader : public ::testing::Test {
  protected:
    EmulatedLoader() {
        fake_cuda::Reset();
        for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i) / 3;
        for (size_t i = 0; i < label.size(); i++) label[i] = static_cast<int64_t>(i) * 1000000007 - 5;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        options.size = sizeof options;
        options.batch_size = 8;
        options.seed = 41;
        options.depth = 2;
        options.fanout = fanout;
        options.epochs = 3;
        options.features = &features;
        options.label = label.data();
    }
    ~EmulatedLoader() override {
        cpu.reset(), gpu.reset();
        cudaStreamDestroy(stream);
        EXPECT_TRUE(fake_cuda::AllGivenBack());
    }
    std::vector<Batch> of_the_cpu() { return all_of(open(cpu->get(), {}, options).get()); }
    csaw_loader_options there() const {
        csaw_loader_options out = options;
        out.stream = stream;
        return out;
    }
    reference::Graph graph = reference::small_graph("karate");
    csaw_csr csr = graph.csr();
    std::vector<float> x = std::vector<float>(34 * 5);
    std::vector<int64_t> label = std::vector<int64_t>(34);
    csaw_dense features = {34, 4, 5, CSAW_F32, x.data()}; // a column is left out
    csaw_loader_options options = {};
    cudaStream_t stream = nullptr;
    std::unique_ptr<reference::Library> cpu = std::make_unique<reference::Library>(csr, plan_on("cpu", 0, 0)),
                                        gpu = std::make_unique<reference::Library>(csr, plan_on("cuda:0", 0, 0));
};

TEST_F(EmulatedLoader, BatchesAreTheCpus) {
    const uint32_t many[] = {1000, CSAW_ALL};
    for (const csaw_sampler *sampler : {static_cast<const csaw_sampler *>(nullptr), &csaw_neighbor_once, &csaw_layer})
        for (const uint32_t *of_depth : {fanout, many, static_cast<const uint32_t *>(nullptr)})
            for (uint32_t in_flight : {1u, 2u, 3u}) {
                options.sampler = sampler;
                options.fanout = of_depth;
                options.in_flight = in_flight;
                options.replace = in_flight == 3 && of_depth == fanout;
                const std::vector<Batch> expected = of_the_cpu();
                ASSERT_EQ(expected.size(), 15u);
                fake_cuda::Seed(in_flight + 5);
                const Loader loader = open(gpu->get(), {}, there());
                EXPECT_EQ(csaw_loader_batches(loader.get()), 5u);
                EXPECT_TRUE(all_of(loader.get()) == expected) << in_flight << " in flight";
            }
}

// Batches of one seed that are walks; seeds without arcs; no seeds; neither features nor labels.
TEST_F(EmulatedLoader, OddBatchesAreTheCpus) {
    options.sampler = &csaw_uniform;
    options.fanout = nullptr;
    options.depth = 5;
    options.batch_size = 3; // 34 = 11 * 3 + 1
    EXPECT_TRUE(all_of(open(gpu->get(), {}, there()).get()) == of_the_cpu());
    options.label = nullptr;
    EXPECT_TRUE(all_of(open(gpu->get(), {}, there()).get()) == of_the_cpu());
    options.features = nullptr;
    EXPECT_TRUE(all_of(open(gpu->get(), {}, there()).get()) == of_the_cpu());
    const csaw_seeds none = {nullptr, 0, nullptr};
    csaw_loader *loader = nullptr;
    ASSERT_EQ(csaw_loader_open(gpu->get(), &none, &options, &loader), CSAW_OK);
    EXPECT_TRUE(all_of(loader).empty());
    csaw_loader_close(loader);
    const csaw_edge rowptr[] = {0, 0, 0};
    const csaw_csr lonely = {2, 0, rowptr, nullptr, nullptr, nullptr, nullptr};
    const reference::Library cpus(lonely, plan_on("cpu", 0, 0)), gpus(lonely, plan_on("cuda:0", 0, 0));
    options.sampler = nullptr;
    EXPECT_TRUE(all_of(open(gpus.get(), {}, options).get()) == all_of(open(cpus.get(), {}, options).get()));
}

TEST_F(EmulatedLoader, WhereverFeaturesLieAndWhateverIsCached) {
    const std::vector<Batch> expected = of_the_cpu();
    void *memory = nullptr;
    cudaMalloc(&memory, x.size() * sizeof x[0]);
    memcpy(memory, x.data(), x.size() * sizeof x[0]);
    features.data = memory; // the GPU's
    EXPECT_TRUE(all_of(open(gpu->get(), {}, there()).get()) == expected);
    cudaFree(memory);
    std::vector<float> pinned = x;
    cudaHostRegister(pinned.data(), pinned.size() * sizeof pinned[0], 0);
    features.data = pinned.data();
    EXPECT_TRUE(all_of(open(gpu->get(), {}, there()).get()) == expected);
    cudaHostUnregister(pinned.data());
    features.data = x.data();
    uint64_t before = 0, all = 0;
    for (const Batch &batch : expected) all += batch.vertices.size();
    for (uint64_t bytes : {15, 16, 16 * 7 + 3, 16 * 34, 1 << 20}) { // a row has 16
        options.cache_bytes = bytes;
        const Loader loader = open(gpu->get(), {}, there());
        std::vector<Batch> batches;
        uint64_t cached = 0;
        for (const csaw_minibatch *m = nullptr;;) {
            reference::require(csaw_loader_next(loader.get(), &m));
            if (!m) break;
            batches.push_back(value_of(*m));
            cached += m->cached;
        }
        EXPECT_TRUE(batches == expected) << bytes;
        EXPECT_EQ(cached > 0, bytes >= 16);
        EXPECT_EQ(cached == all, bytes >= 16 * 34);
        EXPECT_GE(cached, before);
        before = cached;
    }
    options.cache_bytes = 0;
}

// Pages that are locked, and rows on others: wherever the array begins and ends.
// While the loader has the plan; a graph without weights, an edge that the graph does not have.
TEST_F(EmulatedLoader, WeightsOfArcsStayThere) {
    reference::Graph weighted = reference::small_graph("weighted");
    csaw_csr of = weighted.csr();
    ASSERT_NE(of.weight, nullptr);
    options.features = nullptr;
    options.label = nullptr;
    options.select = CSAW_SELECT_RACE; // without tables
    for (const csaw_csr &each : {of, csr}) {
        const reference::Library there_plan(each, plan_on("cuda:0", 0, 0));
        const Loader loader = open(there_plan.get(), {}, there());
        const csaw_minibatch *m = nullptr;
        reference::require(csaw_loader_next(loader.get(), &m));
        csaw_block_view block;
        reference::require(csaw_blocks_look(m->blocks, 0, 1, &block));
        ASSERT_EQ(block.space, CSAW_DEVICE);
        ASSERT_GT(block.num_edges, 5u);
        void *memory = nullptr;
        cudaMalloc(&memory, block.num_edges * sizeof(float));
        float *const weight = static_cast<float *>(memory);
        ASSERT_EQ(csaw_plan_weights(there_plan.get(), &block, stream, weight), CSAW_OK) << csaw_last_error();
        EXPECT_EQ(memcmp(weight, "\xa5\xa5\xa5\xa5", 4), 0) << "it waited for the stream";
        cudaStreamSynchronize(stream);
        for (uint64_t k = 0; k < block.num_edges; k++)
            EXPECT_EQ(weight[k], each.weight ? each.weight[block.edge[k]] : 1.0f);
        const_cast<csaw_edge *>(block.edge)[1] = each.num_edges; // the emulated GPU's memory is the host's
        ASSERT_EQ(csaw_plan_weights(there_plan.get(), &block, stream, weight), CSAW_OK) << csaw_last_error();
        cudaStreamSynchronize(stream);
        EXPECT_TRUE(std::isnan(weight[1]));
        EXPECT_FALSE(std::isnan(weight[0]));
        float here = 0;
        EXPECT_EQ(csaw_plan_weights(there_plan.get(), &block, stream, &here), CSAW_EINVAL);
        EXPECT_TRUE(message_has({"out lies in memory of the host", "cuda:0"}));
        EXPECT_EQ(csaw_plan_weights(cpu->get(), &block, stream, weight), CSAW_EUNSUPPORTED);
        cudaFree(memory);
    }
}

TEST_F(EmulatedLoader, RowsOfLockedPagesAndOthers) {
    const uint64_t cols = 700, page = 4096;
    std::vector<float> room(34 * cols + 3 * page / 4);
    float *const aligned =
        reinterpret_cast<float *>((reinterpret_cast<uintptr_t>(room.data()) + page - 1) / page * page);
    for (size_t i = 0; i < room.size(); i++) room[i] = static_cast<float>(i);
    options.epochs = 1;
    for (size_t offset : {0, 1, 350, 1023}) // floats from a page's beginning on
        for (uint64_t width : {cols, uint64_t{600}, uint64_t{1}})
            for (uint64_t bytes : {uint64_t{0}, 10 * width * sizeof(float)}) {
                features = {34, width, cols, CSAW_F32, aligned + offset};
                options.cache_bytes = 0;
                const std::vector<Batch> expected = of_the_cpu();
                options.cache_bytes = bytes;
                const Loader loader = open(gpu->get(), {}, there());
                EXPECT_TRUE(fake_cuda::IsRegistered(aligned + page / 2, 1));
                EXPECT_EQ(fake_cuda::IsRegistered(aligned, 1), offset == 0) << "others have memory on that page";
                const std::vector<float> before = room;
                uint64_t copied = 0;
                for (uint64_t v = 0; v < 34; v++) {
                    float *const row = aligned + offset + v * cols;
                    if (fake_cuda::IsRegistered(row, width * sizeof *row)) continue;
                    std::fill_n(row, width, -7.0f); // which the GPU does not look at
                    copied++;
                }
                EXPECT_GT(copied, 0u);
                EXPECT_TRUE(all_of(loader.get()) == expected) << offset << ", " << width;
                room = before;
            }
    EXPECT_FALSE(fake_cuda::IsRegistered(aligned + page / 2, 1));
    options.cache_bytes = 0;
}

// Of two loaders on one array the first that closes leaves it locked for the other.
TEST_F(EmulatedLoader, LoadersShareLockedPages) {
    const uint64_t cols = 1024, page = 4096; // a row is a page
    std::vector<float> room(34 * cols + page / 4);
    float *const aligned =
        reinterpret_cast<float *>((reinterpret_cast<uintptr_t>(room.data()) + page - 1) / page * page);
    for (size_t i = 0; i < room.size(); i++) room[i] = static_cast<float>(i);
    features = {34, cols, 0, CSAW_F32, aligned};
    const std::vector<Batch> expected = of_the_cpu();
    const reference::Library other(csr, plan_on("cuda:0", 0, 0));
    Loader one = open(gpu->get(), {}, there());
    EXPECT_TRUE(fake_cuda::IsRegistered(aligned, 34 * page));
    const Loader two = open(other.get(), {}, there());
    one.reset();
    EXPECT_TRUE(fake_cuda::IsRegistered(aligned, 34 * page));
    EXPECT_TRUE(all_of(two.get()) == expected);
}

// The hottest vertex of karate's club is 33, of 17 arcs; then 0, of 16.
TEST_F(EmulatedLoader, HitsAreThoseOfTheHottest) {
    options.cache_bytes = 2 * 16;
    const Loader loader = open(gpu->get(), {}, there());
    uint64_t all = 0;
    for (const csaw_minibatch *m = nullptr;;) {
        reference::require(csaw_loader_next(loader.get(), &m));
        if (!m) break;
        const csaw_vertex *const end = m->vertex + m->num_vertices;
        EXPECT_EQ(m->cached, std::count(m->vertex, end, 33u) + std::count(m->vertex, end, 0u));
        all += m->cached;
    }
    EXPECT_GT(all, 15u);
    options.cache_bytes = 0;
}

// The caller calls csaw_loader_next() at once; what he put into his stream runs when it comes to it.
TEST_F(EmulatedLoader, ACallerWhoDoesNotWait) {
    const std::vector<Batch> expected = of_the_cpu();
    for (uint64_t seed = 1; seed < 16; seed++)
        for (bool take : {false, true}) {
            options.in_flight = 1 + seed % 3;
            fake_cuda::Seed(seed);
            uint64_t seen = 0;
            {
                const Loader loader = open(gpu->get(), {}, there());
                csaw_minibatch *own = nullptr;
                for (const csaw_minibatch *m = nullptr;;) {
                    reference::require(csaw_loader_next(loader.get(), &m));
                    csaw_minibatch_free(own); // the last one, when this is there
                    own = nullptr;
                    if (!m) break;
                    if (take) reference::require(csaw_loader_take(loader.get(), &own));
                    const csaw_minibatch batch = take ? *own : *m; // by value, as arguments of a kernel
                    csaw_block_view block = {};
                    reference::require(csaw_blocks_look(batch.blocks, 0, 1, &block));
                    const Batch &want = expected[batch.epoch * 5 + batch.number];
                    reference::require(
                        fake_cuda::Put(stream,
                                       [&want, &seen, batch, block] {
                                           seen++;
                                           const float *const rows = static_cast<const float *>(batch.features.data);
                                           EXPECT_EQ(memcmp(rows, want.features.data(), want.features.size()), 0);
                                           EXPECT_TRUE(std::equal(want.label.begin(), want.label.end(), batch.label));
                                           EXPECT_TRUE(
                                               std::equal(want.vertices.begin(), want.vertices.end(), block.vertex));
                                           EXPECT_TRUE(std::equal(want.blocks[1].col.begin(), want.blocks[1].col.end(),
                                                                  block.col));
                                           EXPECT_TRUE(std::equal(want.blocks[1].edge.begin(),
                                                                  want.blocks[1].edge.end(), block.edge));
                                       }) == cudaSuccess
                            ? CSAW_OK
                            : CSAW_ECUDA);
                }
            }
            cudaStreamSynchronize(stream);
            EXPECT_EQ(seen, 15u);
        }
}

// Batches taken outlive loader and plan.
TEST_F(EmulatedLoader, BatchesTakenStay) {
    const std::vector<Batch> expected = of_the_cpu();
    std::vector<csaw_minibatch *> taken;
    {
        const Loader loader = open(gpu->get(), {}, there());
        const csaw_minibatch *m = nullptr;
        for (int b = 0; b < 7; b++) {
            ASSERT_EQ(csaw_loader_next(loader.get(), &m), CSAW_OK);
            csaw_minibatch *own = nullptr;
            ASSERT_EQ(csaw_loader_take(loader.get(), &own), CSAW_OK);
            EXPECT_EQ(own->space, CSAW_DEVICE);
            taken.push_back(own);
        }
    }
    gpu.reset();
    for (size_t b = 0; b < taken.size(); b++) {
        EXPECT_TRUE(value_of(*taken[b]) == expected[b]);
        csaw_minibatch_free(taken[b]);
    }
    cudaStreamSynchronize(stream);
}

TEST_F(EmulatedLoader, MayBeClosedAtAnyTime) {
    uint64_t seen = 0;
    options.in_flight = 1;
    for (uint64_t seed = 1; seed < 20; seed++) { // with work on the batch still to come
        fake_cuda::Seed(seed);
        const Loader loader = open(gpu->get(), {}, there());
        const csaw_minibatch *m = nullptr;
        ASSERT_EQ(csaw_loader_next(loader.get(), &m), CSAW_OK);
        const csaw_minibatch batch = *m;
        const std::vector<csaw_vertex> vertices(m->vertex, m->vertex + m->num_vertices);
        fake_cuda::Put(
            stream, [&seen, batch, vertices] { seen += std::equal(vertices.begin(), vertices.end(), batch.vertex); });
    }
    cudaStreamSynchronize(stream);
    EXPECT_EQ(seen, 19u);
    for (int taken : {0, 1, 2, 7}) {
        const Loader loader = open(gpu->get(), {}, there());
        const csaw_minibatch *m = nullptr;
        for (int i = 0; i < taken; i++) ASSERT_EQ(csaw_loader_next(loader.get(), &m), CSAW_OK);
    }
    EXPECT_EQ(all_of(open(gpu->get(), {}, there()).get()).size(), 15u); // the plan is free again
}

// With work on a batch still to come, from wherever it stands; pages stay locked and the cache as it is.
TEST_F(EmulatedLoader, BeginsAnew) {
    options.cache_bytes = 64;
    options.epochs = 1;
    const std::vector<Batch> expected = [&] {
        csaw_loader_options on_host = options;
        on_host.cache_bytes = 0;
        return all_of(open(cpu->get(), {}, on_host).get());
    }();
    const Loader loader = open(gpu->get(), {}, there());
    uint64_t seen = 0;
    for (uint64_t before = 0; before < 7; before++) {
        fake_cuda::Seed(before + 1);
        const csaw_minibatch *m = nullptr;
        for (uint64_t i = 0; i < before; i++) ASSERT_EQ(csaw_loader_next(loader.get(), &m), CSAW_OK);
        if (m) {
            const std::vector<csaw_vertex> vertices(m->vertex, m->vertex + m->num_vertices);
            fake_cuda::Put(stream, [&seen, at = m->vertex, vertices] {
                seen += std::equal(vertices.begin(), vertices.end(), at);
            });
        }
        ASSERT_EQ(csaw_loader_restart(loader.get(), nullptr, options.seed), CSAW_OK) << csaw_last_error();
        EXPECT_TRUE(all_of(loader.get()) == expected) << before;
        ASSERT_EQ(csaw_loader_restart(loader.get(), nullptr, options.seed), CSAW_OK);
    }
    cudaStreamSynchronize(stream);
    EXPECT_EQ(seen, 5u); // the sixth call finds no batch
}

TEST_F(EmulatedLoader, AFailureComesInItsPlace) {
    graph.weight.assign(graph.col.size(), 1);
    graph.weight[graph.rowptr[20]] = -1; // found where a run by ITS looks at the row of vertex 20
    const csaw_csr bad = graph.csr();
    const reference::Library library(bad, plan_on("cuda:0", 0, 0));
    const uint32_t one[] = {1};
    options.depth = 1;
    options.fanout = one;
    options.keep_order = true;
    options.select = CSAW_SELECT_ITS;
    for (uint32_t in_flight : {1u, 2u, 5u}) {
        options.in_flight = in_flight;
        const Loader loader = open(library.get(), {}, there());
        expect_the_third_to_fail(loader.get());
    }
}

TEST_F(EmulatedLoader, EveryAllocationMayFail) {
    options.cache_bytes = 64;
    options.epochs = 1;
    options.batch_size = 12;
    const auto whole = reference::borrow(csr);
    const csaw_plan_options on_gpu = plan_on("cuda:0", 0, 0);
    EXPECT_GT(fail_every_allocation([&] { return run_through(whole.get(), &on_gpu, nullptr, there()); }), 50u);
}

// Launches and copies that fail: an error in the batch's place, and nothing is kept (the fixture looks).
TEST_F(EmulatedLoader, FailuresOfCudaAreTold) {
    options.cache_bytes = 64;
    options.epochs = 1;
    options.batch_size = 3;
    for (uint64_t *fail : {&fake_cuda::fail_launch, &fake_cuda::fail_copy}) {
        uint64_t at_open = 0, later = 0, n = 1;
        for (;; n += 3) {
            const reference::Library library(csr, plan_on("cuda:0", 0, 0));
            const csaw_loader_options o = there();
            csaw_loader *loader = nullptr;
            const csaw_minibatch none = {}, *m = &none;
            fake_cuda::launches = fake_cuda::copies = 0;
            *fail = n;
            csaw_status status = csaw_loader_open(library.get(), nullptr, &o, &loader);
            at_open += status != CSAW_OK;
            EXPECT_EQ(status == CSAW_OK, loader != nullptr);
            while (status == CSAW_OK && m) status = csaw_loader_next(loader, &m);
            later += loader && status != CSAW_OK;
            csaw_loader_close(loader);
            *fail = 0;
            if (status == CSAW_OK) break;
            EXPECT_EQ(status, CSAW_ECUDA) << csaw_last_error();
        }
        EXPECT_GE(at_open, 1u);
        EXPECT_GT(later, 10u);
    }
    options.cache_bytes = 0;
}

TEST_F(EmulatedLoader, RefusesWhatCannotBe) {
    csaw_loader *out = nullptr;
    const auto refused = [&](const reference::Library &library, const csaw_loader_options &o, csaw_status status,
                             const std::vector<std::string> &parts) {
        EXPECT_EQ(csaw_loader_open(library.get(), nullptr, &o, &out), status);
        EXPECT_TRUE(message_has(parts));
        EXPECT_EQ(out, nullptr);
    };
    options.cache_bytes = 100;
    refused(*cpu, options, CSAW_EINVAL, {"cache_bytes", "plan on a GPU"});
    options.features = nullptr;
    refused(*gpu, options, CSAW_EINVAL, {"cache_bytes is 100", "host's memory"});
    options.cache_bytes = 0;
    refused(*cpu, there(), CSAW_EINVAL, {"stream", "plan on a GPU"});
    options.features = &features;
    std::vector<float> wide(34 * 1000);
    features = {34, 1000, 0, CSAW_F32, wide.data()};
    fake_cuda::refuse_pages = true;
    refused(*gpu, options, CSAW_ENOMEM, {"MiB of features", "page-locked", "ulimit"});
    fake_cuda::refuse_pages = false;
    options.sampler = &csaw_multidimensional; // whose first frontier is one of the seeds
    const uint32_t one[] = {1, 1};
    options.fanout = one;
    const Loader loader = open(gpu->get(), {}, there());
    const csaw_minibatch *m = nullptr;
    EXPECT_EQ(csaw_loader_next(loader.get(), &m), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"'multidimensional'", "8 seeds"}));
}

} // namespace

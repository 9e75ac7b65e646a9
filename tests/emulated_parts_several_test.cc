/* SPDX-License-Identifier: MIT */
/* tests/emulated_parts_several_test.cc - tests/emulated_parts.h on several GPUs: partitions come to each of them, or it
 * reads the graph in place, in its own memory and by its own thread; tables of the host are shared; the progress
 * function hears of all rounds on the caller's thread. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "runtime/engine/gpus.h"
#include "tests/equality.h"

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_parts.h"

using namespace emulated_parts;
using reference::Method;

namespace {

csaw_plan_options on_gpus(const char *list, int partitions, int resident) {
    csaw_plan_options out = on_gpu(partitions, resident);
    out.device = list;
    return out;
}

const csaw__parts *parts_of(const Library &library, uint32_t gpu) { return library.get()->gpus->plan[gpu]->parts; }

class EmulatedPartsSeveral : public ::testing::Test {
  protected:
    void SetUp() override {
        fake_cuda::Reset();
        fake_cuda::devices = 3;
    }
    void TearDown() override {
        EXPECT_TRUE(fake_cuda::AllGivenBack());
        fake_cuda::Reset();
    }
    const csaw_sampler *const built_in = csaw_sampler_find("biased");
    const Sampler sampler{*built_in};
};

TEST_F(EmulatedPartsSeveral, WalksAreTheCpus) {
    for (const char *name : {"weighted", "directed_weighted"}) {
        const reference::Graph graph = reference::small_graph(name);
        const csaw_csr csr = graph.csr();
        Request request = few(csr, 5);
        if (request.roots.size() > 12) request.roots.resize(12);
        const Library cpu(csr, reference::plan_on("cpu", 1, 0));
        for (const csaw_plan_options &plan :
             {on_gpus("cuda:0,cuda:1", 3, 1), on_gpus("cuda:2,cuda:0,cuda:1", 5, 2), on_gpus("cuda:0,cuda:0", 4, 0)}) {
            SCOPED_TRACE(std::string(name) + ", " + equality::name_of(plan));
            const Library gpus(csr, plan);
            const uint32_t count = gpus.get()->gpus->count;
            for (Method method : {Method::alias, Method::its, Method::alias})
                EXPECT_TRUE(equality::same(cpu.walks(built_in, nullptr, method, request),
                                           gpus.walks(sampler.get(), nullptr, method, request)))
                    << reference::name_of(method);
            for (uint32_t gpu = 0; gpu < count; gpu++) EXPECT_GT(parts_of(gpus, gpu)->cuda->use.copies, 0u);
        }
    }
}

TEST_F(EmulatedPartsSeveral, BatchesHoldTheSameWalks) {
    const reference::Graph graph = reference::small_graph("weighted");
    const csaw_csr csr = graph.csr();
    const Request request = few(csr, 5);
    const Library cpu(csr, reference::plan_on("cpu", 1, 0)), gpus(csr, on_gpus("cuda:0,cuda:1", 3, 1));
    struct Taken {
        std::vector<csaw_vertex> path;
        int batches;
    } taken[2] = {};
    for (const Library *library : {&cpu, &gpus}) {
        csaw_run_options run = {};
        run.size = sizeof run;
        run.depth = 5;
        run.batch_bytes = 24 * 7;
        const csaw_seeds seeds = {request.roots.data(), request.roots.size(), nullptr};
        const auto take = [](void *user, csaw_samples *samples) {
            Taken *t = static_cast<Taken *>(user);
            csaw_walks walks;
            t->batches++;
            CSAW_TRY(csaw_samples_walks(samples, CSAW_HOST, &walks));
            t->path.insert(t->path.end(), walks.path, walks.path + walks.num_walks * (walks.length + 1));
            return CSAW_OK;
        };
        Taken *const into = &taken[library == &gpus];
        ASSERT_EQ(CSAW_OK, csaw_sample_each(library->get(), library == &gpus ? sampler.get() : built_in, nullptr,
                                            &seeds, &run, take, into))
            << csaw_last_error();
        EXPECT_GT(into->batches, 2);
    }
    EXPECT_EQ(taken[0].path, taken[1].path);
}

struct Heard {
    std::thread::id thread = std::this_thread::get_id();
    std::vector<uint64_t> done;
    uint64_t stop_at = ~0ull;
};

bool hear(void *user, uint64_t done, uint64_t) {
    Heard *h = static_cast<Heard *>(user);
    EXPECT_EQ(h->thread, std::this_thread::get_id());
    h->done.push_back(done);
    return done < h->stop_at;
}

TEST_F(EmulatedPartsSeveral, RoundsAreToldOnTheCallersThreadAndCanBeStopped) {
    const reference::Graph graph = reference::small_graph("weighted");
    const csaw_csr csr = graph.csr();
    Request request = few(csr, 2);
    request.roots.resize(5);
    const Walks expected = Library(csr, reference::plan_on("cpu", 1, 0)).walks(built_in, nullptr, Method::its, request);
    const Library gpus(csr, on_gpus("cuda:0,cuda:1", 2, 1));
    for (uint32_t gpu : {0u, 1u}) gpus.get()->gpus->plan[gpu]->parts->one_at_a_time = true; // a round each
    const auto draw = [&](Heard *heard, std::vector<csaw_vertex> *path) {
        const csaw_seeds seeds = {request.roots.data(), request.roots.size(), nullptr};
        csaw_run_options run = {};
        run.size = sizeof run;
        run.depth = request.depth;
        run.seed = request.seed;
        run.select = CSAW_SELECT_ITS;
        run.progress = hear;
        run.user = heard;
        csaw_samples *samples = nullptr;
        csaw_walks walks;
        CSAW_TRY(csaw_sample(gpus.get(), sampler.get(), nullptr, &seeds, &run, &samples));
        reference::require(csaw_samples_walks(samples, CSAW_HOST, &walks));
        path->assign(walks.path, walks.path + walks.num_walks * (walks.length + 1));
        csaw_samples_free(samples);
        return CSAW_OK;
    };
    Heard heard, stopped, again;
    std::vector<csaw_vertex> path, none;
    ASSERT_EQ(CSAW_OK, draw(&heard, &path)) << csaw_last_error();
    EXPECT_EQ(expected.path, path);
    EXPECT_GE(heard.done.size(), 4u) << "before, after, and of the first GPU's rounds but one";
    EXPECT_TRUE(std::is_sorted(heard.done.begin(), heard.done.end()));
    EXPECT_EQ(0u, heard.done.front());
    EXPECT_EQ(5u, heard.done.back());
    stopped.stop_at = 1;
    EXPECT_EQ(CSAW_ESTOPPED, draw(&stopped, &none));
    EXPECT_EQ("stopped by the progress callback after " + std::to_string(stopped.done.back()) + " of 5 walks",
              std::string(csaw_last_error()));
    EXPECT_LT(stopped.done.back(), 5u);
    EXPECT_EQ(CSAW_OK, draw(&again, &path)) << csaw_last_error();
    EXPECT_EQ(expected.path, path);
}

// A graph that does not fit the memory of any.
TEST_F(EmulatedPartsSeveral, EachReadsInPlaceWhereThatCostsLess) {
    csaw_rmat_options rmat = {};
    rmat.size = sizeof rmat;
    rmat.scale = 9;
    rmat.weighted = true;
    csaw_graph *made = nullptr;
    reference::require(csaw_graph_rmat(&rmat, &made));
    const equality::OwnedGraph graph(made);
    const csaw_csr csr = csaw_graph_csr(made);
    csaw_plan_options options = on_gpus("cuda:0,cuda:1", 0, 0);
    options.gpu_memory = 64 << 10;
    Request request = few(csr, 2);
    request.roots.resize(13);
    const Library cpu(csr, reference::plan_on("cpu", 1, 0)), gpus(csr, options);
    EXPECT_TRUE(equality::same(cpu.walks(built_in, nullptr, Method::alias, request),
                               gpus.walks(sampler.get(), nullptr, Method::alias, request)));
    for (uint32_t gpu : {0u, 1u}) {
        EXPECT_TRUE(parts_of(gpus, gpu)->fit.in_place);
        EXPECT_EQ(parts_of(gpus, gpu)->cuda->use.copies, 0u);
    }
}

TEST_F(EmulatedPartsSeveral, AFailureNamesTheGpuAndThePlanGoesOn) {
    const reference::Graph graph = reference::small_graph("weighted");
    const csaw_csr csr = graph.csr();
    Request request = few(csr, 3);
    request.roots.resize(6);
    const Walks expected = Library(csr, reference::plan_on("cpu", 1, 0)).walks(built_in, nullptr, Method::its, request);
    const Library gpus(csr, on_gpus("cuda:0,cuda:1", 3, 1));
    const auto draw = [&] { return gpus.walks(sampler.get(), nullptr, Method::its, request); };
    draw();
    uint64_t failed = 0;
    for (uint64_t n = 1; n < 30; n += 4) {
        fake_cuda::fail_copy = fake_cuda::copies + n;
        try {
            EXPECT_TRUE(equality::same(expected, draw())); // it may have had fewer copies to make
        } catch (const std::runtime_error &error) {
            const std::string said = error.what();
            EXPECT_TRUE(said.find(": cuda:0: ") != said.npos || said.find(": cuda:1: ") != said.npos) << said;
            failed++;
        }
        fake_cuda::fail_copy = 0;
        EXPECT_TRUE(equality::same(expected, draw()));
    }
    EXPECT_GT(failed, 3u);
}

// One GPU listed twice has its memory for both.
TEST_F(EmulatedPartsSeveral, AGpuThatIsListedTwiceIsShared) {
    const reference::Graph graph = reference::small_graph("weighted");
    const csaw_csr csr = graph.csr();
    fake_cuda::total = 256 << 10;
    const Library once(csr, on_gpu(2, 1)), twice(csr, on_gpus("cuda:0,cuda:0", 2, 1));
    const uint64_t whole = once.get()->parts->cuda->memory;
    for (uint32_t i : {0u, 1u}) EXPECT_LE(2 * parts_of(twice, i)->cuda->memory, whole);
    for (uint32_t i : {0u, 1u}) EXPECT_GE(3 * parts_of(twice, i)->cuda->memory, whole);
}

} // namespace

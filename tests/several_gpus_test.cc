/* SPDX-License-Identifier: MIT */
/* tests/several_gpus_test.cc - plans on several GPUs: the bits, the batches, the messages are those of the CPU's plan,
 * on any number of GPUs, with fewer instances than GPUs, with none; a GPU that is lost at any batch is named, what was
 * delivered stays good and is taken up again; each GPU has a thread, and all draw at the same time. The GPUs are
 * tests/host_gpu.h; real ones: multi_gpu_test.cc. */
#include "tests/several_gpus.h"

#include "runtime/engine/gpus.h"
#include "runtime/ranks/ranks.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

using namespace several_gpus;

namespace {

TEST_P(Gpus, BatchesAndBitsAreTheCpus) {
    for (const std::string &list : {std::string("cuda:0,cuda:1"), std::string("cuda:3,cuda:0,cuda:1"),
                                    std::string("cuda:0,cuda:0"), std::string("all"), sixteen()}) {
        SCOPED_TRACE(list);
        const auto gpus = plans.on(list.c_str());
        for (uint64_t instances : {0, 1, 2, 7, 16, 17, 59, 60}) { // fewer than GPUs, as many, uneven
            EXPECT_EQ(CSAW_OK, expect_same(gpus.get(), {}, instances)) << instances;
            std::vector<uint64_t> a, b;
            EXPECT_EQ(CSAW_OK, draw_whole(cpu.get(), instances, &a));
            EXPECT_EQ(CSAW_OK, draw_whole(gpus.get(), instances, &b)) << csaw_last_error();
            EXPECT_EQ(a, b) << instances;
            EXPECT_GE(a.size(), instances);
        }
    }
}

TEST_P(Gpus, EachHasAThreadAndAllDrawAtTheSameTime) {
    const auto gpus = plans.on("cuda:0,cuda:1,cuda:2");
    host_gpu::together = 3;
    std::vector<uint64_t> whole;
    EXPECT_EQ(CSAW_OK, draw_whole(gpus.get(), 60, &whole));
    EXPECT_EQ(3u, host_gpu::drew.size()) << "a thread each";
    Watch watch;
    EXPECT_EQ(CSAW_OK, draw(gpus.get(), &watch));
    EXPECT_GE(watch.batches, 5u);
    EXPECT_FALSE(host_gpu::came_in_vain) << "one GPU waited for another to begin";
    for (int gpu : {0, 1, 2}) EXPECT_EQ(watch.batches + 1, host_gpu::drawn[gpu]) << gpu; // a share of each batch
}

// Every GPU, at every batch: what was delivered before is good, and the rest is drawn on other GPUs.
TEST_P(Gpus, OneThatIsLostIsNamedAndTheRunIsTakenUpAgain) {
    const auto gpus = plans.on("cuda:0,cuda:1,cuda:2"), fewer = plans.on("cuda:4,cuda:5");
    Watch expected;
    ASSERT_EQ(CSAW_OK, draw(cpu.get(), &expected));
    for (int gpu : {0, 1, 2})
        for (uint64_t at = 1; at <= expected.batches; at++) {
            SCOPED_TRACE("cuda:" + std::to_string(gpu) + " at batch " + std::to_string(at));
            host_gpu::forget();
            host_gpu::fail_at[gpu] = at;
            Watch before, after;
            EXPECT_EQ(CSAW_ECUDA, draw(gpus.get(), &before));
            EXPECT_EQ("cuda:" + std::to_string(gpu) + ": the GPU is lost", std::string(csaw_last_error()));
            EXPECT_EQ(at - 1, before.batches);
            run.first = before.done;
            EXPECT_EQ(CSAW_OK, draw(at % 2 ? fewer.get() : gpus.get(), &after)) << csaw_last_error();
            run.first = 0;
            before.got.insert(before.got.end(), after.got.begin(), after.got.end());
            EXPECT_EQ(expected.got, before.got);
        }
    std::vector<uint64_t> none;
    host_gpu::forget();
    host_gpu::fail_at[1] = 1;
    EXPECT_EQ(CSAW_ECUDA, draw_whole(gpus.get(), 60, &none));
    EXPECT_TRUE(holds(csaw_last_error(), "cuda:1: ")) << csaw_last_error();
    EXPECT_EQ(CSAW_OK, draw_whole(gpus.get(), 60, &none));
}

// An earlier batch before a later one, within it an earlier share: errors of GPUs and faults of hooks alike.
TEST_P(Gpus, OfSeveralFailuresTheFirstInOrderOfDeliveryIsTold) {
    const auto gpus = plans.on("cuda:0,cuda:1,cuda:2");
    const auto expect = [&](const char *what, uint64_t batches, csaw_status status, const FaultyParams &params = {}) {
        Watch watch;
        EXPECT_EQ(status, draw(gpus.get(), &watch, 60, params));
        EXPECT_TRUE(holds(csaw_last_error(), what)) << csaw_last_error();
        EXPECT_EQ(batches, watch.batches);
        host_gpu::forget();
    };
    host_gpu::fail_at[2] = host_gpu::fail_at[1] = 2;
    expect("cuda:1: ", 1, CSAW_ECUDA);
    host_gpu::fail_at[0] = 3;
    host_gpu::fail_at[2] = 2;
    expect("cuda:2: ", 1, CSAW_ECUDA);
    const uint64_t batch = GetParam() ? 12 : 5;
    for (uint64_t share : {0, 2}) { // of the second batch, in which a hook breaks its rules while cuda:1 is lost
        FaultyParams params = {};
        std::string said;
        uint64_t at = 0;
        for (uint32_t trial = 0;
             at < batch + csaw__share_begin(batch, share, 3) || at >= batch + csaw__share_begin(batch, share + 1, 3);
             trial++) {
            Watch alone;
            ASSERT_LT(trial, 1800u) << "that share is never the first at fault";
            params = {1, trial % 60, trial / 60 % 3};
            run.seed = 7 + trial / 180;
            ASSERT_EQ(CSAW_EBIAS, draw(cpu.get(), &alone, 60, params));
            said = csaw_last_error();
            at = std::stoull(said.substr(said.find("instance ") + 9));
        }
        host_gpu::fail_at[1] = 2;
        expect(share ? "cuda:1: " : said.c_str(), 1, share ? CSAW_ECUDA : CSAW_EBIAS, params);
    }
}

TEST_P(Gpus, FaultsOfHooksAreTheCpus) {
    const auto gpus = plans.on("cuda:0,cuda:1,cuda:2,cuda:3");
    std::set<uint64_t> places;
    for (uint32_t rule : {1u, 6u})
        for (csaw_vertex vertex = 0; vertex < 60; vertex++) {
            const csaw_status status = expect_same(gpus.get(), {}, 60, {rule, vertex, 2});
            EXPECT_TRUE(status == CSAW_EBIAS || (status == CSAW_OK && rule == 6)); // nobody may have gone there
            places.insert(status == CSAW_EBIAS ? vertex : ~0ull);
        }
    EXPECT_GT(places.size(), 20u);
}

// GPUs look at seeds as they take their shares. Whatever else goes wrong meanwhile, in an earlier share too, the first
// of them that is no vertex is what is told, as where they are looked at before all else.
TEST_P(Gpus, SeedsThatAreNoVerticesComeBeforeAllElse) {
    std::vector<csaw_vertex> vertex(60);
    std::vector<uint64_t> pools(61);
    csaw_seeds seeds = {vertex.data(), 60, nullptr};
    FaultyParams broken = {1, 2, 0};
    const auto told = [&](csaw_plan *plan, uint64_t stop_at) {
        Watch watch;
        watch.stop_at_done = stop_at;
        run.progress = tell_progress;
        run.user = &watch;
        csaw_samples *samples = nullptr;
        EXPECT_EQ(CSAW_EINVAL, csaw_sample(plan, &faulty, &broken, &seeds, &run, &samples));
        EXPECT_EQ(nullptr, samples);
        return std::string(csaw_last_error());
    };
    for (uint64_t i = 0; i <= 60; i++) pools[i] = i < 30 ? 0 : i;
    for (const char *list : {"cuda:0", "cuda:0,cuda:1,cuda:2"}) {
        const auto gpus = plans.on(list);
        for (const uint64_t *offset : {(const uint64_t *)nullptr, (const uint64_t *)pools.data()}) {
            if (offset && GetParam()) continue; // pools are no walks
            seeds.offset = offset;
            for (uint64_t at : {0, 19, 20, 59}) {
                SCOPED_TRACE(list + std::string(offset ? ", pools, " : ", ") + std::to_string(at));
                for (csaw_vertex v = 0; v < 60; v++) vertex[v] = v < at ? v : 60 + v;
                const std::string want =
                    "seed " + std::to_string(at) + " is vertex " + std::to_string(60 + at) + ", but the graph has 60 ";
                EXPECT_EQ(0u, told(cpu.get(), ~0ull).find(want)) << csaw_last_error();
                EXPECT_EQ(0u, told(gpus.get(), ~0ull).find(want)) << csaw_last_error();
                EXPECT_EQ(0u, told(gpus.get(), 0).find(want)) << csaw_last_error();
                host_gpu::forget();
                host_gpu::fail_at[0] = 1;
                EXPECT_EQ(0u, told(gpus.get(), ~0ull).find(want)) << csaw_last_error();
                const csaw_select given = std::exchange(run.select, CSAW_SELECT_UNIFORM); // which it cannot be
                EXPECT_EQ(0u, told(gpus.get(), ~0ull).find(want)) << csaw_last_error();
                run.select = given;
            }
        }
    }
}

TEST_P(Gpus, StopsWhereTheCpuStops) {
    const auto gpus = plans.on("cuda:0,cuda:1,cuda:2");
    for (uint64_t at : {1, 2, 5}) {
        Watch watch;
        watch.stop_at_batch = at;
        EXPECT_EQ(CSAW_EIO, expect_same(gpus.get(), watch));
    }
    for (uint64_t done : {0, 1, 13, 30, 60}) {
        Watch watch;
        watch.stop_at_done = done;
        EXPECT_EQ(CSAW_ESTOPPED, expect_same(gpus.get(), watch));
    }
    EXPECT_EQ(CSAW_OK, expect_same(gpus.get(), {}));
}

// Whatever memory there is: the bits, or a clear refusal and what comes before it.
TEST_P(Gpus, MemoryForOneBatchIsEnough) {
    const auto gpus = plans.on("cuda:0,cuda:1");
    Watch expected;
    ASSERT_EQ(CSAW_OK, draw(cpu.get(), &expected));
    uint64_t refused = 0, drawn = 0;
    for (uint64_t bytes = 0; bytes < 6000; bytes += 100) {
        Watch watch;
        host_gpu::room = bytes;
        const csaw_status status = draw(gpus.get(), &watch);
        EXPECT_LE(host_gpu::used, bytes);
        if (status == CSAW_OK) {
            EXPECT_EQ(expected.got, watch.got);
        } else {
            EXPECT_EQ(CSAW_EDEVMEM, status);
            EXPECT_TRUE(holds(csaw_last_error(), "cuda:")) << csaw_last_error();
        }
        EXPECT_TRUE(std::equal(watch.got.begin(), watch.got.end(), expected.got.begin()));
        (status == CSAW_OK ? drawn : refused)++;
    }
    host_gpu::room = ~uint64_t{0};
    EXPECT_GT(refused, 3u);
    EXPECT_GT(drawn, 10u);
}

TEST_P(Gpus, EveryAllocationFailsInTurn) {
    Watch expected;
    ASSERT_EQ(CSAW_OK, draw(cpu.get(), &expected));
    const csaw_plan_options options = reference::plan_on("cuda:0,cuda:1", 0, 0);
    for (uint64_t n = 1;; n++) {
        csaw_plan *plan = nullptr;
        Watch watch;
        csaw__fail_allocations_from(n);
        csaw_status status = csaw_plan_create(plans.graph.get(), &options, &plan);
        if (status == CSAW_OK) status = draw(plan, &watch);
        const uint64_t asked = csaw__allocations_counted();
        csaw__fail_allocations_from(0);
        EXPECT_TRUE(std::equal(watch.got.begin(), watch.got.end(), expected.got.begin()))
            << "finished batches are right";
        if (status == CSAW_OK) {
            EXPECT_EQ(expected.got, watch.got);
        } else {
            EXPECT_TRUE(status == CSAW_ENOMEM || status == CSAW_EDEVMEM) << csaw_last_error();
            EXPECT_TRUE(holds(csaw_last_error(), "memory")) << csaw_last_error();
        }
        Watch again;
        if (plan) {
            EXPECT_EQ(CSAW_OK, draw(plan, &again)) << csaw_last_error();
            EXPECT_EQ(expected.got, again.got) << "on the same plan";
        }
        csaw_plan_free(plan);
        if (asked < n) {
            EXPECT_EQ(CSAW_OK, status);
            EXPECT_GT(n, 15u);
            break;
        }
        ASSERT_LT(n, 1000u);
    }
}

TEST_P(Gpus, SamplesOutliveThePlan) {
    auto gpus = plans.on("cuda:0,cuda:1,cuda:2");
    const csaw_seeds seeds = {nullptr, 60, nullptr};
    const FaultyParams none = {};
    csaw_samples *samples = nullptr;
    std::vector<uint64_t> expected, got;
    ASSERT_EQ(CSAW_OK, draw_whole(cpu.get(), 60, &expected));
    ASSERT_EQ(CSAW_OK, csaw_sample(gpus.get(), &faulty, &none, &seeds, &run, &samples)) << csaw_last_error();
    gpus.reset();
    EXPECT_EQ(CSAW_OK, take_words(samples, false, &got)) << csaw_last_error();
    EXPECT_EQ(expected, got);
    csaw_samples_free(samples);
}

TEST_P(Gpus, ViewsInDeviceMemoryAreOfOneGpu) {
    const csaw_seeds seeds = {nullptr, 60, nullptr};
    const FaultyParams none = {};
    for (int count : {1, 2}) {
        host_gpu::gpus = count;
        const auto plan = plans.on("all");
        csaw_samples *samples = nullptr;
        ASSERT_EQ(CSAW_OK, csaw_sample(plan.get(), &faulty, &none, &seeds, &run, &samples)) << csaw_last_error();
        csaw_walks walks;
        csaw_arcs arcs;
        const csaw_status status = GetParam() ? csaw_samples_walks(samples, CSAW_DEVICE, &walks)
                                              : csaw_samples_arcs(samples, CSAW_DEVICE, &arcs);
        EXPECT_EQ(count == 1 ? CSAW_OK : CSAW_EUNSUPPORTED, status);
        if (count == 2) {
            EXPECT_TRUE(holds(csaw_last_error(), "memory of 2 GPUs")) << csaw_last_error();
        }
        csaw_samples_free(samples);
    }
}

INSTANTIATE_TEST_SUITE_P(OnGpus, Gpus, ::testing::Bool(),
                         [](const auto &info) { return info.param ? "walks" : "samples"; });

// ---- plans ------------------------------------------------------------------

class GpusPlan : public ::testing::Test {
  protected:
    void SetUp() override { host_gpu::gpus = 3; }
    void TearDown() override { host_gpu::gpus = 1; }
    std::string refusal(const char *device, csaw_status expected) const {
        const csaw_plan_options options = reference::plan_on(device, 0, 0);
        csaw_plan *plan = nullptr;
        EXPECT_EQ(expected, csaw_plan_create(plans.graph.get(), &options, &plan)) << device;
        EXPECT_EQ(nullptr, plan);
        return csaw_last_error();
    }
    const Graph graph = ring(60);
    const Plans plans = {graph.csr()};
};

TEST_F(GpusPlan, GpusThatAreNotThereAreNamed) {
    EXPECT_TRUE(holds(refusal("cuda:0,cuda:3", CSAW_EINVAL), "device 'cuda:3' does not exist; there are 3"));
    host_gpu::gpus = 0;
    EXPECT_TRUE(holds(refusal("all", CSAW_ECUDA), "no CUDA device was found"));
    host_gpu::gpus = 17;
    EXPECT_TRUE(holds(refusal("all", CSAW_EUNSUPPORTED), "'all' is 17 GPUs, and a plan has at most 16"));
}

TEST_F(GpusPlan, ExplainsWhatEachGpuHas) {
    const auto plan = plans.on("cuda:2,cuda:0");
    const std::string text = csaw_plan_explain(plan.get());
    EXPECT_TRUE(holds(text, "\ngpus        2: of every batch each draws one of as many equal groups")) << text;
    EXPECT_TRUE(holds(text, "\ntables      of cuda:2\ndevice      cuda:2, of memory of the host\n"
                            "device      cuda:0, of memory of the host\n"))
        << text;
    EXPECT_FALSE(holds(text, "tables      static")) << "the CPU's";
    EXPECT_FALSE(holds(text, "tables      of cuda:0")) << "said once";
}

TEST_F(GpusPlan, WhatIsTheCpusIsRefused) {
    const auto plan = plans.on("cuda:0,cuda:1");
    csaw_run_options run = {};
    run.size = sizeof run;
    run.check = true;
    csaw_samples *samples = nullptr;
    EXPECT_EQ(CSAW_EUNSUPPORTED, csaw_sample(plan.get(), &csaw_uniform, nullptr, nullptr, &run, &samples));
    EXPECT_TRUE(holds(csaw_last_error(), "device 'cpu'")) << csaw_last_error();
}

// What a batch takes of a GPU's memory never grows within a run.
TEST(Shares, DifferByOneAtMostAndAreNoLargerOfFewer) {
    for (uint64_t parts = 1; parts <= 9; parts++)
        for (uint64_t count = 0; count <= 40; count++) {
            EXPECT_EQ(0u, csaw__share_begin(count, 0, parts));
            EXPECT_EQ(count, csaw__share_begin(count, parts, parts));
            for (uint64_t i = 0; i < parts; i++) {
                const uint64_t share = csaw__share_begin(count, i + 1, parts) - csaw__share_begin(count, i, parts);
                EXPECT_GE(share, count / parts);
                EXPECT_LE(share, (count + parts - 1) / parts);
                EXPECT_LE(share, csaw__share_begin(count + 1, i + 1, parts) - csaw__share_begin(count + 1, i, parts));
            }
        }
}

// ---- files ------------------------------------------------------------------

std::string read_file(const std::filesystem::path &path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

csaw_status write_batch(void *user, csaw_samples *samples) {
    return csaw_writer_write(static_cast<csaw_writer *>(user), samples);
}

// Walks to a file, by that plan; goes on with what is there.
csaw_status write_walks(csaw_plan *plan, const std::string &path, bool resume) {
    csaw_write_options write = {};
    write.size = sizeof write;
    write.num_walks = 60;
    write.length = 3;
    write.job = "walks on a ring";
    write.resume = resume;
    csaw_writer *writer = nullptr;
    CSAW_TRY(csaw_writer_open(path.c_str(), &write, &writer));
    csaw_run_options run = {};
    run.size = sizeof run;
    run.depth = 3;
    run.batch_bytes = 16 * 7; // 7 walks
    run.first = csaw_writer_done(writer);
    const csaw_status status = csaw_sample_each(plan, &csaw_uniform, nullptr, nullptr, &run, write_batch, writer);
    if (status == CSAW_OK) return csaw_writer_close(writer);
    csaw_writer_discard(writer);
    return status;
}

TEST_F(GpusPlan, AFileThatALostGpuCutShortIsCompletedOnOthers) {
    const auto folder = std::filesystem::temp_directory_path() / ("csaw-gpus-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    const auto cpu = plans.on("cpu"), gpus = plans.on("cuda:0,cuda:1,cuda:2"), one = plans.on("cuda:0");
    const std::string whole = folder / "whole.txt", path = folder / "walks.txt";
    ASSERT_EQ(CSAW_OK, write_walks(cpu.get(), whole, false)) << csaw_last_error();
    for (uint64_t at = 1; at <= 9; at++) {
        host_gpu::forget();
        host_gpu::fail_at[1] = at;
        EXPECT_EQ(CSAW_ECUDA, write_walks(gpus.get(), path, false));
        EXPECT_FALSE(std::filesystem::exists(path));
        EXPECT_EQ(at > 1, std::filesystem::exists(path + ".resume"));
        EXPECT_EQ(CSAW_OK, write_walks(at % 2 ? one.get() : gpus.get(), path, true)) << csaw_last_error();
        EXPECT_EQ(read_file(whole), read_file(path));
        std::filesystem::remove(path);
    }
    std::filesystem::remove_all(folder);
}

} // namespace

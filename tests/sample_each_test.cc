/* SPDX-License-Identifier: MIT */
/* tests/sample_each_test.cc - csaw_sample_each() on a plan whose device draws a batch while the batch function has the
 * one before: the bits, the batches, the failures and their messages are those of the CPU's plan, whatever memory there
 * is for a second batch. The device is tests/host_gpu.h. */
#include "tests/host_gpu.h"

#include "tests/fault_cases.h"
#include "tests/sample_words.h"

#include <chrono>

CSAW_DECLARE_SAMPLER(faulty);

namespace {

using namespace fault_cases;

struct FaultyParams { // as in tests/samplers/faulty.c
    uint32_t rule, vertex, depth;
};

struct Watch {
    csaw_plan *plan = nullptr;
    uint64_t stop_at_batch = ~0ull, stop_at_done = ~0ull;
    bool wait = false;  // for the next batch to be begun, where there is one
    bool leave = false; // what was drawn on the device
    uint64_t batches = 0, done = 0, begun_before = 0;
    std::vector<uint64_t> got; // what was delivered, in words
    std::vector<csaw_status> inner;
};

csaw_status draw_inside(csaw_plan *plan) {
    csaw_samples *none = nullptr;
    return csaw_sample(plan, &csaw_uniform, nullptr, nullptr, nullptr, &none);
}

bool next_is_begun(const Watch &w) {
    for (int i = 0; i < 5000; i++) {
        if (host_gpu::draws_begun - w.begun_before > w.batches) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
}

csaw_status take_batch(void *user, csaw_samples *samples) {
    Watch *w = static_cast<Watch *>(user);
    w->inner.push_back(draw_inside(w->plan));
    if (++w->batches == w->stop_at_batch) return csaw__fail(CSAW_EIO, "the disk is full");
    if (w->wait) {
        EXPECT_TRUE(next_is_begun(*w)) << "batch " << w->batches;
    }
    if (w->leave) return CSAW_OK;
    return sample_words::take_words(samples, false, &w->got);
}

bool tell_progress(void *user, uint64_t done, uint64_t) {
    Watch *w = static_cast<Watch *>(user);
    w->inner.push_back(draw_inside(w->plan));
    w->done = done;
    return done < w->stop_at_done;
}

Graph ring(csaw_vertex vertices) {
    std::vector<reference::WeightedArc> arcs;
    for (csaw_vertex v = 0; v < vertices; v++)
        for (csaw_vertex by : {1u, 2u, vertices - 2, vertices - 1}) arcs.push_back({v, (v + by) % vertices, 1});
    return reference::graph_of("ring", vertices, arcs, false);
}

class Each : public ::testing::TestWithParam<bool> { // whether walks or samples
  protected:
    Each() : graph(ring(60)), plans{graph.csr()}, cpu(plans.on("cpu")), gpu(plans.on("cuda:0")) {
        run.size = sizeof run;
        run.seed = 7;
        run.depth = 3;
        run.select = CSAW_SELECT_ITS; // without tables
        if (!GetParam()) run.fanout = fanout;
        run.edges = GetParam();
        run.batch_bytes = GetParam() ? 12 * 40 : 5 * 24 * 15; // 12 walks; 5 samples
        run.progress = tell_progress;
        host_gpu::drew.clear();
        host_gpu::most_used = 0;
    }
    ~Each() override {
        gpu.reset();
        EXPECT_EQ(0u, host_gpu::used) << "device memory is left";
        EXPECT_FALSE(host_gpu::drew_two_at_once);
    }
    csaw_status draw(csaw_plan *plan, Watch *watch, uint64_t instances = 60, const FaultyParams &params = {}) {
        const csaw_seeds seeds = {nullptr, instances, nullptr};
        run.user = watch;
        watch->plan = plan;
        watch->begun_before = host_gpu::draws_begun;
        const csaw_status status = csaw_sample_each(plan, &faulty, &params, &seeds, &run, take_batch, watch);
        for (csaw_status inner : watch->inner) EXPECT_EQ(CSAW_EINVAL, inner) << "the plan is busy";
        watch->inner.clear();
        return status;
    }
    // As the CPU's plan has it, to the message. What it comes to.
    csaw_status expect_same(Watch like, const FaultyParams &params = {}) {
        Watch a = like, b = like;
        return sample_words::expect_same(
            &a, &b, [&](Watch *w) { return draw(cpu.get(), w, 60, params); },
            [&](Watch *w) { return draw(gpu.get(), w, 60, params); });
    }
    static constexpr uint32_t fanout[3] = {2, 2, 2};
    Graph graph;
    Plans plans;
    std::unique_ptr<csaw_plan, reference::Free> cpu, gpu;
    csaw_run_options run = {};
};
constexpr uint32_t Each::fanout[3];

TEST_P(Each, BatchesAreThoseOfTheCpuAndDrawnAhead) {
    EXPECT_EQ(CSAW_OK, expect_same({}));
    EXPECT_EQ(2u, host_gpu::drew.size());
    Watch w, whole;
    EXPECT_EQ(CSAW_OK, draw(gpu.get(), &w));
    EXPECT_GE(w.batches, 5u);
    Watch ahead;
    ahead.wait = true;
    ahead.stop_at_batch = w.batches - 1; // the last one has none behind it
    EXPECT_EQ(CSAW_EIO, draw(gpu.get(), &ahead));
    run.batch_bytes = 1 << 20;
    EXPECT_EQ(CSAW_OK, draw(cpu.get(), &whole));
    EXPECT_EQ(1u, whole.batches);
    EXPECT_EQ(whole.got, w.got);
    EXPECT_GT(w.got.size(), 60u * 3);
}

TEST_P(Each, OneBatchTakesNoThreadAndNoMemoryMore) {
    run.batch_bytes = 1 << 20;
    Watch w;
    EXPECT_EQ(CSAW_OK, draw(gpu.get(), &w));
    EXPECT_EQ(std::set<std::thread::id>{std::this_thread::get_id()}, host_gpu::drew);
    const csaw_seeds seeds = {nullptr, 60, nullptr};
    const uint64_t one = host_gpu::most_used;
    csaw_samples *samples = nullptr;
    host_gpu::most_used = 0;
    run.progress = nullptr;
    const FaultyParams none = {};
    ASSERT_EQ(CSAW_OK, csaw_sample(gpu.get(), &faulty, &none, &seeds, &run, &samples)) << csaw_last_error();
    csaw_arcs arcs;
    EXPECT_EQ(CSAW_OK, csaw_samples_arcs(samples, CSAW_HOST, &arcs));
    csaw_samples_free(samples);
    EXPECT_EQ(host_gpu::most_used, one);
}

TEST_P(Each, AFaultIsToldAfterTheBatchesBeforeIt) {
    std::set<uint64_t> batches; // that were delivered before
    for (uint32_t rule : {1u, 6u})
        for (csaw_vertex vertex = 0; vertex < 60; vertex++) {
            Watch w;
            const csaw_status status = expect_same(w, {rule, vertex, 2});
            EXPECT_TRUE(status == CSAW_EBIAS || (status == CSAW_OK && rule == 6)); // nobody may have gone there
            if (status == CSAW_OK) continue;
            EXPECT_EQ(CSAW_EBIAS, draw(gpu.get(), &w, 60, {rule, vertex, 2}));
            batches.insert(w.batches);
        }
    EXPECT_GE(batches.size(), 4u);
}

TEST_P(Each, StopsWhereTheCpuStops) {
    for (uint64_t at : {1, 2, 5}) {
        Watch watch;
        watch.stop_at_batch = at;
        EXPECT_EQ(CSAW_EIO, expect_same(watch));
    }
    for (uint64_t done : {0, 1, 13, 30, 60}) {
        Watch watch;
        watch.stop_at_done = done;
        EXPECT_EQ(CSAW_ESTOPPED, expect_same(watch));
    }
    Watch late; // the next batch, being drawn meanwhile, has a fault: nobody asked for it
    late.stop_at_batch = 2;
    EXPECT_EQ(CSAW_EIO, expect_same(late, {1, 40, 0}));
    EXPECT_EQ(CSAW_OK, expect_same({}));
}

// Memory for so many bytes: where one batch alone has room enough, so has the run, with the same bits.
TEST_P(Each, GoesOnOneByOneWhereTwoBatchesDoNotFit) {
    if (!GetParam()) { // of one depth, so that all batches have as many arcs
        run.depth = 1;
        run.batch_bytes = 5 * 24 * 3;
    }
    const uint64_t at_once = GetParam() ? 12 : 5;
    const uint64_t batch = GetParam() ? 12 * 40 : csaw__arcs_bytes(5, 5 * 2, 5), turned = GetParam() ? 12 * 24 : 0,
                   list = 8 * at_once;
    Watch expected;
    ASSERT_EQ(CSAW_OK, draw(cpu.get(), &expected));
    uint64_t refused = 0, again = 0, ahead = 0, alone = 0;
    for (bool leave : {false, true})
        for (uint64_t bytes = 0; bytes < 1500; bytes += 4) {
            Watch one, all;
            one.leave = all.leave = leave;
            host_gpu::room = bytes;
            const csaw_status fits = draw(gpu.get(), &one, at_once);
            host_gpu::drew.clear();
            host_gpu::most_used = 0;
            const csaw_status status = draw(gpu.get(), &all);
            EXPECT_EQ(bytes >= batch + (leave ? list : std::max(list, turned)) ? CSAW_OK : CSAW_EDEVMEM, fits);
            EXPECT_EQ(fits, status) << bytes << ": " << csaw_last_error();
            EXPECT_LE(host_gpu::most_used, bytes);
            refused += status == CSAW_EDEVMEM;
            if (status != CSAW_OK) continue;
            if (!leave) {
                EXPECT_EQ(expected.got, all.got);
            }
            EXPECT_EQ(expected.done, all.done);
            EXPECT_EQ(expected.batches, all.batches);
            const uint64_t draws = host_gpu::draws_begun - all.begun_before;
            (host_gpu::drew.size() == 1 ? alone : draws > all.batches ? again : ahead)++;
            if (bytes >= 2 * batch + turned + list) {
                EXPECT_EQ(all.batches, draws);
                EXPECT_EQ(2 * batch + turned + list, host_gpu::most_used);
            }
        }
    host_gpu::room = ~uint64_t{0};
    EXPECT_GT(refused, 50u);
    EXPECT_GT(ahead, 50u);
    EXPECT_GT(again, 50u); // once in vain
    EXPECT_EQ(turned ? (turned - list) / 4 : 0, alone)
        << "not tried"; // there was no room to deliver, which nobody asked for
}

TEST_P(Each, EveryAllocationFailsInTurn) {
    Watch expected;
    ASSERT_EQ(CSAW_OK, draw(cpu.get(), &expected));
    for (uint64_t n = 1;; n++) {
        gpu = plans.on("cuda:0"); // a new one keeps nothing yet
        Watch w;
        csaw__fail_allocations_from(n);
        const csaw_status status = draw(gpu.get(), &w);
        const uint64_t asked = csaw__allocations_counted();
        csaw__fail_allocations_from(0);
        if (status == CSAW_OK) {
            EXPECT_EQ(expected.got, w.got);
        } else {
            EXPECT_TRUE(status == CSAW_ENOMEM || status == CSAW_EDEVMEM) << csaw_last_error();
            EXPECT_NE(std::string::npos, std::string(csaw_last_error()).find("memory")) << csaw_last_error();
            EXPECT_TRUE(std::equal(w.got.begin(), w.got.end(), expected.got.begin())) << "finished batches are right";
        }
        Watch again;
        EXPECT_EQ(CSAW_OK, draw(gpu.get(), &again)) << csaw_last_error();
        EXPECT_EQ(expected.got, again.got) << "on the same plan";
        if (asked < n) {
            EXPECT_EQ(CSAW_OK, status);
            EXPECT_GT(n, 8u);
            break;
        }
        ASSERT_LT(n, 1000u);
    }
}

INSTANTIATE_TEST_SUITE_P(OnAGpu, Each, ::testing::Bool(),
                         [](const auto &info) { return info.param ? "walks" : "samples"; });

} // namespace

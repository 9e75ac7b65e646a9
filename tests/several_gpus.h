/* SPDX-License-Identifier: MIT */
/* tests/several_gpus.h - runs on several GPUs held against the CPU's: batches, bits, progress and messages. The GPUs
 * are tests/host_gpu.h. */
#ifndef CSAW_TESTS_SEVERAL_GPUS_H
#define CSAW_TESTS_SEVERAL_GPUS_H

#include "tests/host_gpu.h"

#include "tests/fault_cases.h"
#include "tests/sample_words.h"

CSAW_DECLARE_SAMPLER(faulty);

namespace several_gpus {

using namespace fault_cases;

struct FaultyParams { // as in tests/samplers/faulty.c
    uint32_t rule, vertex, depth;
};

struct Watch {
    csaw_plan *plan = nullptr;
    uint64_t stop_at_batch = ~0ull, stop_at_done = ~0ull;
    uint64_t batches = 0, done = 0;
    std::vector<uint64_t> firsts; // of batches
    std::vector<uint64_t> got;    // what was delivered, in words
};

using sample_words::take_words;

inline csaw_status take_batch(void *user, csaw_samples *samples) {
    Watch *w = static_cast<Watch *>(user);
    csaw_samples *none = nullptr;
    EXPECT_EQ(CSAW_EINVAL, csaw_sample(w->plan, &csaw_uniform, nullptr, nullptr, nullptr, &none)) << "it is busy";
    if (++w->batches == w->stop_at_batch) return csaw__fail(CSAW_EIO, "the disk is full");
    const size_t before = w->got.size();
    CSAW_TRY(take_words(samples, false, &w->got));
    w->firsts.push_back(w->got.size() > before ? w->got[before] : ~0ull);
    return CSAW_OK;
}

inline bool tell_progress(void *user, uint64_t done, uint64_t) {
    Watch *w = static_cast<Watch *>(user);
    w->done = done;
    return done < w->stop_at_done;
}

inline Graph ring(csaw_vertex vertices) {
    std::vector<reference::WeightedArc> arcs;
    for (csaw_vertex v = 0; v < vertices; v++)
        for (csaw_vertex by : {1u, 2u, vertices - 2, vertices - 1}) arcs.push_back({v, (v + by) % vertices, 1});
    return reference::graph_of("ring", vertices, arcs, false);
}

inline bool holds(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

inline std::string sixteen() {
    std::string out = "cuda:0";
    for (int i = 1; i < 16; i++) out += ",cuda:" + std::to_string(i);
    return out;
}

class Gpus : public ::testing::TestWithParam<bool> { // whether walks or samples
  protected:
    Gpus() : graph(ring(60)), plans{graph.csr()}, cpu(plans.on("cpu")) {
        host_gpu::gpus = 16;
        host_gpu::forget();
        run.size = sizeof run;
        run.seed = 7;
        run.depth = 3;
        run.select = CSAW_SELECT_ITS; // without tables
        if (!GetParam()) run.fanout = fanout;
        run.edges = GetParam();
        run.batch_bytes = GetParam() ? 12 * 40 : 5 * 24 * 15; // 12 walks; 5 samples
    }
    ~Gpus() override {
        host_gpu::gpus = 1;
        host_gpu::together = 0;
        host_gpu::forget();
        EXPECT_EQ(0u, host_gpu::used) << "device memory is left";
        EXPECT_FALSE(host_gpu::drew_two_at_once);
    }
    csaw_status draw(csaw_plan *plan, Watch *watch, uint64_t instances = 60, const FaultyParams &params = {}) {
        const csaw_seeds seeds = {nullptr, instances, nullptr};
        run.progress = tell_progress;
        run.user = watch;
        watch->plan = plan;
        return csaw_sample_each(plan, &faulty, &params, &seeds, &run, take_batch, watch);
    }
    // All at once, as words.
    csaw_status draw_whole(csaw_plan *plan, uint64_t instances, std::vector<uint64_t> *got) {
        const csaw_seeds seeds = {nullptr, instances, nullptr};
        const FaultyParams none = {};
        csaw_samples *samples = nullptr;
        run.progress = nullptr;
        CSAW_TRY(csaw_sample(plan, &faulty, &none, &seeds, &run, &samples));
        const csaw_status status = take_words(samples, false, got);
        csaw_samples_free(samples);
        return status;
    }
    // As the CPU's plan has it, to the message. What it comes to.
    csaw_status expect_same(csaw_plan *gpus, const Watch &like, uint64_t instances = 60,
                            const FaultyParams &params = {}) {
        Watch a = like, b = like;
        const csaw_status status = sample_words::expect_same(
            &a, &b, [&](Watch *w) { return draw(cpu.get(), w, instances, params); },
            [&](Watch *w) { return draw(gpus, w, instances, params); });
        EXPECT_EQ(a.firsts, b.firsts);
        return status;
    }
    static constexpr uint32_t fanout[3] = {2, 2, 2};
    Graph graph;
    Plans plans;
    std::unique_ptr<csaw_plan, reference::Free> cpu;
    csaw_run_options run = {};
};

} // namespace several_gpus

#endif

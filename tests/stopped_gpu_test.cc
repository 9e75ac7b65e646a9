/* SPDX-License-Identifier: MIT */
/* tests/stopped_gpu_test.cc - runs on a GPU that a batch or progress function stops: the call says so, the same plan
 * then gives the bits of the CPU engine, and what was stopped can be taken up again. */
#include "tests/fault_cases.h"

using namespace fault_cases;

namespace {

struct Watch {
    csaw_plan *plan = nullptr;
    uint64_t batches = 0, stop_at_batch = ~0ull; // counted from 1
    uint64_t calls = 0, stop_at_done = ~0ull;    // by progress, once so many are done
    csaw_status inner = CSAW_OK;                 // of a run that a batch function tried on its own plan
    std::vector<uint64_t> got;                   // what was delivered, in words
};

csaw_status take_batch(void *user, csaw_samples *samples) {
    Watch *w = static_cast<Watch *>(user);
    csaw_arcs arcs = {};
    if (++w->batches == w->stop_at_batch) return CSAW_EIO;
    const csaw_status status = csaw_samples_arcs(samples, CSAW_HOST, &arcs);
    if (status != CSAW_OK) return status;
    for (uint64_t i = 0; i < arcs.num_instances; i++)
        for (uint64_t a = arcs.offset[i]; a < arcs.offset[i + 1]; a++)
            w->got.insert(w->got.end(), {arcs.first + i, arcs.src[a], arcs.dst[a], arcs.edge[a], arcs.depth[a]});
    csaw_samples *none = nullptr;
    w->inner = csaw_sample(w->plan, &csaw_uniform, nullptr, nullptr, nullptr, &none);
    return CSAW_OK;
}

bool tell_progress(void *user, uint64_t done, uint64_t) {
    Watch *w = static_cast<Watch *>(user);
    w->calls++;
    return done < w->stop_at_done;
}

class Stopped : public ::testing::TestWithParam<const char *> {
  protected:
    void SetUp() override {
        SKIP_WITHOUT_GPU();
        graph = starlet();
        plans.reset(new Plans{graph.csr()});
        cpu = plans->on("cpu");
        gpu = plans->on("cuda:0");
        const std::string name = GetParam();
        each = name == "walks" ? walks()[1] : samples()[0];
        for (const Case &other : samples()) // whose instances run each by a block of its own
            if (other.name == name) each = other;
        ask = ask_of(each, {{0}, {1}, {55}, {99}}, 5, {3, 2});
        ask.each = 25; // 100 instances
    }
    csaw_status run_each(csaw_plan *plan, Watch *watch, uint64_t first = 0) const {
        const reference::Seeds seeds(ask.pools);
        const csaw_seeds view = seeds.view();
        csaw_run_options options = options_of(ask, Method::its);
        options.edges = true;
        options.batch_bytes = 1000; // some instances at a time
        options.first = first;
        options.progress = tell_progress;
        options.user = watch;
        watch->plan = plan;
        return csaw_sample_each(plan, each.sampler, each.params.empty() ? nullptr : each.params.data(), &view, &options,
                                take_batch, watch);
    }
    // The plan gives right bits still, at once and by batches.
    void expect_plan_works(const char *after) const {
        const Outcome a = draw(cpu.get(), each, Method::its, ask), b = draw(gpu.get(), each, Method::its, ask);
        ASSERT_EQ(CSAW_OK, b.status) << after << ": " << b.message;
        EXPECT_TRUE(equal_bits(a.samples.get(), b.samples.get(), each.walk)) << after;
        Watch x, y;
        EXPECT_EQ(CSAW_OK, run_each(cpu.get(), &x)) << after << ": " << csaw_last_error();
        EXPECT_EQ(CSAW_OK, run_each(gpu.get(), &y)) << after << ": " << csaw_last_error();
        EXPECT_EQ(x.got, y.got) << after;
        EXPECT_GT(y.got.size(), 500u) << after;
        EXPECT_GT(y.batches, 5u) << after;
    }

    Graph graph;
    std::unique_ptr<Plans> plans;
    std::unique_ptr<csaw_plan, reference::Free> cpu, gpu;
    Case each;
    Ask ask;
};

TEST_P(Stopped, ByABatchFunction) {
    for (uint64_t at : {1, 2, 3}) {
        Watch watch;
        watch.stop_at_batch = at;
        EXPECT_EQ(CSAW_EIO, run_each(gpu.get(), &watch));
        EXPECT_EQ(at, watch.batches);
        expect_plan_works("after a batch function that failed");
    }
}

TEST_P(Stopped, ByProgress) {
    for (uint64_t done : {0, 1, 50}) {
        Watch watch;
        watch.stop_at_done = done;
        EXPECT_EQ(CSAW_ESTOPPED, run_each(gpu.get(), &watch));
        EXPECT_NE(std::string::npos, std::string(csaw_last_error()).find("progress")) << csaw_last_error();
        EXPECT_EQ(done > 0, watch.batches > 0);
        EXPECT_EQ(watch.calls, watch.batches + 1); // once before the first
        expect_plan_works("after a progress function that stopped it");
    }
}

// csaw_sample() asks before it begins and when all is done.
TEST_P(Stopped, ByProgressOfAWholeRun) {
    const reference::Seeds seeds(ask.pools);
    const csaw_seeds view = seeds.view();
    csaw_run_options options = options_of(ask, Method::its);
    options.progress = tell_progress;
    for (uint64_t done : {0, 100}) {
        Watch watch;
        watch.stop_at_done = done;
        options.user = &watch;
        csaw_samples *none = nullptr;
        EXPECT_EQ(CSAW_ESTOPPED,
                  csaw_sample(gpu.get(), each.sampler, each.params.empty() ? nullptr : each.params.data(), &view,
                              &options, &none));
        EXPECT_EQ(nullptr, none);
        EXPECT_EQ(done ? 2u : 1u, watch.calls);
        expect_plan_works("after a run that was stopped");
    }
}

TEST_P(Stopped, AndTakenUpAgain) {
    Watch before, after, whole;
    before.stop_at_done = 30;
    EXPECT_EQ(CSAW_ESTOPPED, run_each(gpu.get(), &before));
    EXPECT_EQ(CSAW_EINVAL, before.inner); // a batch function may not draw from the plan that calls it
    ASSERT_FALSE(before.got.empty());
    const uint64_t done = before.got[before.got.size() - 5] + 1; // every instance here has arcs
    EXPECT_GE(done, 30u);
    EXPECT_LT(done, 100u);
    EXPECT_EQ(CSAW_OK, run_each(gpu.get(), &after, done)) << csaw_last_error();
    EXPECT_EQ(CSAW_OK, run_each(cpu.get(), &whole)) << csaw_last_error();
    std::vector<uint64_t> both = before.got;
    both.insert(both.end(), after.got.begin(), after.got.end());
    EXPECT_EQ(whole.got, both);
}

INSTANTIATE_TEST_SUITE_P(Runs, Stopped, ::testing::Values("walks", "samples", "layer", "neighbor_again"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace

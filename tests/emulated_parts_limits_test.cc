/* SPDX-License-Identifier: MIT */
/* tests/emulated_parts_limits_test.cc - tests/emulated_parts.h, where something is refused: memory beyond the budget,
 * page-locked pages, any allocation, any copy, any launch; a kernel that breaks; a hook that does. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/equality.h"
#include "tests/failing_allocations.h"

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_parts.h"

using namespace emulated_parts;
using reference::Method;

namespace {

struct Case {
    reference::Graph graph = reference::small_graph("weighted");
    csaw_csr csr = graph.csr();
    Sampler sampler{*csaw_sampler_find("biased")};
    Request request = few(csr, 5);
    Walks expected = Library(csr, reference::plan_on("cpu", 1, 0))
                         .walks(csaw_sampler_find("biased"), nullptr, Method::alias, request);
};

// One run on a plan of its own.
csaw_status Draw(const Case &of, const csaw_plan_options &options, Walks *out = nullptr) {
    csaw_graph *graph = nullptr;
    csaw_plan *plan = nullptr;
    csaw_samples *samples = nullptr;
    csaw_walks view;
    const csaw_seeds seeds = {of.request.roots.data(), of.request.roots.size(), nullptr};
    csaw_run_options run = {};
    run.size = sizeof run;
    run.depth = of.request.depth;
    run.seed = of.request.seed;
    run.walks_per_seed = of.request.walks_per_seed;
    run.select = CSAW_SELECT_ALIAS;
    run.edges = true;
    csaw_status status = csaw_graph_borrow_csr(&of.csr, &graph);
    if (status == CSAW_OK) status = csaw_plan_create(graph, &options, &plan);
    if (status == CSAW_OK) status = csaw_sample(plan, of.sampler.get(), nullptr, &seeds, &run, &samples);
    if (status == CSAW_OK) status = csaw_samples_walks(samples, CSAW_HOST, &view);
    if (status == CSAW_OK && out) {
        out->count = view.num_walks;
        out->length = view.length;
        out->path.assign(view.path, view.path + view.num_walks * (view.length + 1));
        out->edge.assign(view.edge, view.edge + view.num_walks * view.length);
    }
    csaw_samples_free(samples);
    csaw_plan_free(plan);
    csaw_graph_free(graph);
    EXPECT_TRUE(fake_cuda::AllGivenBack());
    return status;
}

class EmulatedPartsLimits : public ::testing::Test {
  protected:
    void SetUp() override { fake_cuda::Reset(); }
    void TearDown() override { fake_cuda::Reset(); }
    Case of;
    Walks got;
};

TEST_F(EmulatedPartsLimits, PagesThatMayNotBeLockedAreCopiedByWayOfBlocks) {
    fake_cuda::refuse_pages = true;
    ASSERT_EQ(CSAW_OK, Draw(of, on_gpu(3, 1), &got)) << csaw_last_error();
    EXPECT_TRUE(equality::same(of.expected, got));
}

TEST_F(EmulatedPartsLimits, TwoPlansShareTheGraphsPages) {
    const Library one(of.csr, on_gpu(3, 1)), other(of.csr, on_gpu(2, 1));
    for (const Library *library : {&one, &other})
        EXPECT_TRUE(equality::same(of.expected, library->walks(of.sampler.get(), nullptr, Method::alias, of.request)));
    EXPECT_FALSE(inside(one)->graph.refused || inside(other)->graph.refused);
}

TEST_F(EmulatedPartsLimits, ThePlanSaysWhatIsLocked) {
    const auto said = [&] { return std::string(csaw_plan_explain(Library(of.csr, on_gpu(3, 1)).get())); };
    EXPECT_NE(said().find("\nlocked      the graph's "), std::string::npos) << said();
    fake_cuda::refuse_pages = true;
    EXPECT_NE(said().find("\nlocked      nothing, since the system refused (ulimit -l); copies go by way of blocks\n"),
              std::string::npos)
        << said();
}

// More walks than the budget holds at a time: rounds. All of it is used, less what allocations may be padded by.
TEST_F(EmulatedPartsLimits, TheBudgetIsNeverExceeded) {
    csaw_rmat_options rmat = {};
    rmat.size = sizeof rmat;
    rmat.scale = 9;
    rmat.weighted = true;
    csaw_graph *graph = nullptr;
    ASSERT_EQ(CSAW_OK, csaw_graph_rmat(&rmat, &graph));
    of.csr = csaw_graph_csr(graph);
    of.request = few(of.csr, 2);
    of.request.walks_per_seed = 10;
    of.expected = Library(of.csr, reference::plan_on("cpu", 1, 0))
                      .walks(csaw_sampler_find("biased"), nullptr, Method::alias, of.request);
    csaw_plan_options options = on_gpu(0, 2);
    options.gpu_memory = 64 << 10;
    fake_cuda::granule = CSAW__CUDA_GRANULE;
    ASSERT_EQ(CSAW_OK, Draw(of, options, &got)) << csaw_last_error();
    EXPECT_TRUE(equality::same(of.expected, got));
    EXPECT_LE(fake_cuda::peak, options.gpu_memory);
    EXPECT_GT(fake_cuda::peak, options.gpu_memory * 3 / 4) << "the budget is there to be used";
    fake_cuda::granule = 1;
    csaw_graph_free(graph);
}

TEST_F(EmulatedPartsLimits, TooLittleMemoryIsSaid) {
    csaw_plan_options options = on_gpu(3, 1);
    options.gpu_memory = CSAW__CUDA_GRANULE;
    EXPECT_EQ(CSAW_EDEVMEM, Draw(of, options));
    EXPECT_NE(std::string(csaw_last_error()).find("need "), std::string::npos) << csaw_last_error();
    fake_cuda::total = 1 << 20;
    options.gpu_memory = 2 << 20;
    EXPECT_EQ(CSAW_EDEVMEM, Draw(of, options));
    EXPECT_NE(std::string(csaw_last_error()).find("give no more than that"), std::string::npos) << csaw_last_error();
}

TEST_F(EmulatedPartsLimits, EveryAllocationFailsInTurn) {
    EXPECT_GT(fail_every_allocation([&] { return Draw(of, on_gpu(3, 1)); }), 15u);
}

TEST_F(EmulatedPartsLimits, TablesAreReadInPlace) {
    ExpectReadInPlace(*csaw_sampler_find("biased"), nullptr, {Method::alias});
}

// The first one fails, then the second, until a run has fewer: what a run has hangs on what ends first. Returns how
// many.
uint64_t FailEachInTurn(const Case &of, uint64_t *which, const uint64_t *count, bool refuse_pages) {
    for (uint64_t n = 1;; n++) {
        fake_cuda::Reset();
        fake_cuda::refuse_pages = refuse_pages;
        *which = n;
        const csaw_status status = Draw(of, on_gpu(3, 1));
        if (*count < n) {
            EXPECT_EQ(CSAW_OK, status) << csaw_last_error();
            return n - 1;
        }
        EXPECT_EQ(CSAW_ECUDA, status) << n;
    }
}

TEST_F(EmulatedPartsLimits, EveryCopyAndEveryLaunchFailsInTurn) {
    EXPECT_GT(FailEachInTurn(of, &fake_cuda::fail_copy, &fake_cuda::copies, false), 20u);
    EXPECT_GT(FailEachInTurn(of, &fake_cuda::fail_launch, &fake_cuda::launches, false), 4u);
}

// The same by way of blocks, which another thread fills.
TEST_F(EmulatedPartsLimits, AFailedCopyByWayOfBlocksIsTold) {
    EXPECT_GT(FailEachInTurn(of, &fake_cuda::fail_copy, &fake_cuda::copies, true), 15u);
}

TEST_F(EmulatedPartsLimits, AKernelThatBreaksIsToldAndAllIsGivenBack) {
    for (uint64_t n = 1; n <= 4; n++) {
        fake_cuda::Reset();
        fake_cuda::fault_at = n;
        EXPECT_EQ(CSAW_ECUDA, Draw(of, on_gpu(3, 1))) << n;
    }
}

// After a failure the plan is as good as before.
TEST_F(EmulatedPartsLimits, APlanGoesOnAfterAFailure) {
    const Library gpu(of.csr, on_gpu(3, 1));
    const auto draw = [&] { return gpu.walks(of.sampler.get(), nullptr, Method::alias, of.request); };
    draw();
    for (uint64_t n = 1; n < 20; n += 3) {
        fake_cuda::fail_copy = fake_cuda::copies + n;
        EXPECT_THROW(draw(), std::runtime_error);
        EXPECT_TRUE(equality::same(of.expected, draw()));
    }
}

TEST_F(EmulatedPartsLimits, BiasedWalksStandApart) {
    const reference::Graph graph = reference::small_graph("weighted");
    ExpectTheCpusApart(graph.csr(), *csaw_sampler_find("biased"), nullptr, {Method::its, Method::race, Method::alias});
}

} // namespace

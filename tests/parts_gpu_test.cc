/* SPDX-License-Identifier: MIT */
/* tests/parts_gpu_test.cc - the bits are the same (P2) where partitions of the graph come to a GPU and go: every walk,
 * every method, for 2, 4 and 17 partitions of which 1, 2 or all are resident, some of these on each graph, all of them
 * on three; memory within its budget; allocations
 * that fail; hooks that break their rules. One partition is the graph as it is: tests/equality_gpu_test.cc. */
#include "runtime/engine/parts.h"
#include "tests/equality.h"
#include "tests/fault_cases.h"

#include <algorithm>

extern "C" {
#include "runtime/base/memory.h"
}

CSAW_DECLARE_SAMPLER(roamer);
CSAW_DECLARE_SAMPLER(asker);
CSAW_DECLARE_SAMPLER(faulty);

using reference::Graph;
using reference::Library;
using reference::Method;

namespace {

csaw_plan_options on_gpu(int partitions, int resident) {
    csaw_plan_options out = reference::plan_on("cuda:0", 0, partitions);
    out.resident = resident;
    return out;
}

std::vector<csaw_plan_options> plans() {
    std::vector<csaw_plan_options> out;
    for (int partitions : {2, 4, 17})
        for (int resident : {1, 2, 0})
            if (resident < partitions) out.push_back(on_gpu(partitions, resident));
    return out;
}

// Two of them, others for each number.
std::vector<csaw_plan_options> plans_for(size_t number) {
    const std::vector<csaw_plan_options> all = plans();
    return {all[2 * number % all.size()], all[(2 * number + 1) % all.size()]};
}

csaw__parts *inside(const Library &library) { return library.get()->parts; }

#define SKIP_WITHOUT_GPU_FOR(CSR) \
    if (const std::string why = reference::no_gpu_because(CSR); !why.empty()) GTEST_SKIP() << "no GPU: " << why

class PartsOnGpu : public ::testing::TestWithParam<std::string> {};

TEST_P(PartsOnGpu, WalksHaveTheReferencesBits) {
    const Graph graph = reference::small_graph(GetParam());
    SKIP_WITHOUT_GPU_FOR(graph.csr());
    const auto &names = reference::small_graph_names();
    const auto number = static_cast<size_t>(std::find(names.begin(), names.end(), GetParam()) - names.begin());
    equality::expect_equal(graph.csr(), equality::request_on(graph.csr(), 21), plans_for(number));
}

INSTANTIATE_TEST_SUITE_P(PartsGpu, PartsOnGpu, ::testing::ValuesIn(reference::small_graph_names()),
                         [](const auto &info) { return info.param; });

TEST(PartsGpu, TheOtherWalksHaveTheReferencesBits) {
    SKIP_WITHOUT_GPU_FOR(reference::small_graph("karate").csr());
    equality::expect_walks_equal({on_gpu(4, 1), on_gpu(17, 2)});
}

TEST(PartsGpu, SamplersCompiledAtRunTimeHaveTheReferencesBits) {
    SKIP_WITHOUT_GPU_FOR(reference::small_graph("karate").csr());
    equality::expect_hooks_equal({on_gpu(4, 1), on_gpu(17, 2)});
}

TEST(PartsGpu, OnAHub) {
    const Graph hub = reference::hub_graph();
    SKIP_WITHOUT_GPU_FOR(hub.csr());
    equality::expect_equal(hub.csr(), equality::request_on_hub(), {on_gpu(4, 1), on_gpu(17, 2)});
}

TEST(PartsGpu, SixtyFourAttempts) {
    SKIP_WITHOUT_GPU_FOR(reference::small_graph("star").csr());
    equality::expect_64_attempts(on_gpu(4, 1));
}

TEST(PartsGpu, OnRmat) {
    for (bool weighted : {false, true}) {
        const equality::OwnedGraph graph = equality::rmat_graph(weighted);
        const csaw_csr csr = csaw_graph_csr(graph.get());
        SKIP_WITHOUT_GPU_FOR(csr);
        equality::expect_equal(csr, equality::one_walk_each(csr, 9), {on_gpu(4, 2), on_gpu(17, 0)});
    }
}

// An update that asks about prev's neighbours, user bytes, dead ends that lead on.
TEST(PartsGpu, WalksWithEveryHookHaveTheCpusBits) {
    size_t number = 0;
    for (const char *name : {"karate", "directed_weighted", "multi_weighted", "zero_rows"}) {
        const Graph graph = reference::small_graph(name);
        const csaw_csr csr = graph.csr();
        SKIP_WITHOUT_GPU_FOR(csr);
        const reference::Request request = equality::request_on(csr, 21);
        const Library cpu(csr, reference::plan_on("cpu", 1, 0));
        for (const csaw_plan_options &plan : plans_for(number++)) {
            const Library gpu(csr, plan);
            for (const csaw_sampler *sampler : {&roamer, &asker})
                for (Method method : {Method::automatic, Method::its, Method::race}) {
                    if (!reference::takes_case()) continue;
                    EXPECT_TRUE(equality::same(cpu.walks(sampler, nullptr, method, request),
                                               gpu.walks(sampler, nullptr, method, request)))
                        << csaw_sampler_name(sampler) << ", " << name << ", " << reference::name_of(method) << ", "
                        << equality::name_of(plan);
                }
        }
    }
}

// Instances one after the other, transfers in turn, equal shares: other orders, the same bits.
TEST(PartsGpu, EveryScheduleHasTheCpusBits) {
    const Graph graph = reference::small_graph("directed_weighted");
    const csaw_csr csr = graph.csr();
    SKIP_WITHOUT_GPU_FOR(csr);
    const reference::Request request = equality::request_on(csr, 12);
    const equality::Law law = {true, .25f, 4};
    const auto expected = equality::reference_walks(csr, law, Method::reject, request);
    for (int which = 0; which < 8; which++) {
        if (!reference::takes_case()) continue;
        const Library gpu(csr, on_gpu(9, 3));
        inside(gpu)->one_at_a_time = which & 1;
        inside(gpu)->schedule.in_turn = which & 2;
        inside(gpu)->schedule.equal_shares = which & 4;
        EXPECT_TRUE(equality::same(expected, gpu.walks(law, Method::reject, request))) << which;
    }
}

using equality::rmat;

// Weighted R-MAT 19 takes about 130 MiB, with alias tables 390.
TEST(PartsGpu, TheBudgetIsNeverExceeded) {
    const equality::OwnedGraph graph = rmat(19, true);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    SKIP_WITHOUT_GPU_FOR(csr);
    reference::Request request = equality::one_walk_each(csr, 20);
    request.roots.resize(reference::share_of(request.roots.size()));
    const Library cpu(csr, reference::plan_on("cpu", 0, 0));
    for (uint64_t mib : {64, 100}) {
        csaw_plan_options options = on_gpu(0, 2);
        options.gpu_memory = mib << 20;
        const Library gpu(csr, options);
        ASSERT_NE(inside(gpu), nullptr);
        for (const equality::Law &law : {equality::Law{false, 1, 1}, equality::Law{true, .25f, 4}})
            for (Method method : {Method::automatic, Method::alias}) {
                if (law.node2vec && method == Method::alias) continue;
                EXPECT_TRUE(equality::same(cpu.walks(law, method, request), gpu.walks(law, method, request)))
                    << law.name() << ", " << reference::name_of(method);
            }
        EXPECT_GT(inside(gpu)->fit.parts, 1u);
        EXPECT_LE(inside(gpu)->kind->use(inside(gpu)).peak, mib << 20);
        EXPECT_GT(inside(gpu)->kind->use(inside(gpu)).peak, (mib << 20) / 2) << "the budget is there to be used";
    }
}

// Nobody says how partitions are to come: what looks at few arcs a step may read them where they lie, all of them or
// the last.
TEST(PartsGpu, TheGraphIsReadInPlace) {
    const equality::OwnedGraph graph = rmat(19, true);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    SKIP_WITHOUT_GPU_FOR(csr);
    reference::Request request = equality::one_walk_each(csr, 20);
    request.roots.resize(reference::share_of(request.roots.size()));
    const Library cpu(csr, reference::plan_on("cpu", 0, 0));
    csaw_plan_options options = on_gpu(0, 0);
    options.gpu_memory = 64u << 20;
    const Library gpu(csr, options);
    ASSERT_NE(inside(gpu), nullptr);
    inside(gpu)->way = CSAW__PARTS_STAY; // a walk of second order brings partitions, if it has the choice
    for (const equality::Law &law : {equality::Law{false, 1, 1}, equality::Law{true, .25f, 4}}) {
        EXPECT_TRUE(
            equality::same(cpu.walks(law, Method::automatic, request), gpu.walks(law, Method::automatic, request)))
            << law.name();
        EXPECT_TRUE(inside(gpu)->fit.in_place);
    }
    EXPECT_EQ(inside(gpu)->kind->use(inside(gpu)).copies, 0u);
    inside(gpu)->way = CSAW__PARTS_BRING_MOST;
    for (const equality::Law &law : {equality::Law{false, 1, 1}, equality::Law{true, .25f, 4}}) {
        EXPECT_TRUE(
            equality::same(cpu.walks(law, Method::automatic, request), gpu.walks(law, Method::automatic, request)))
            << law.name();
        EXPECT_FALSE(inside(gpu)->fit.in_place);
    }
    EXPECT_LE(inside(gpu)->kind->use(inside(gpu)).peak, options.gpu_memory);
}

// A round of walks is a batch.
TEST(PartsGpu, BatchesHaveTheCpusBits) {
    const Graph graph = reference::small_graph("directed_weighted");
    const csaw_csr csr = graph.csr();
    SKIP_WITHOUT_GPU_FOR(csr);
    const reference::Request request = equality::request_on(csr, 9);
    const Library gpu(csr, on_gpu(5, 2));
    for (const equality::Law &law : equality::laws()) {
        int batches = 0;
        EXPECT_TRUE(equality::same(equality::reference_walks(csr, law, Method::automatic, request),
                                   gpu.walks_in_batches(law, Method::automatic, request, 400, &batches)));
        EXPECT_GT(batches, 1);
    }
}

// ---- failures ----------------------------------------------------------------------

struct FaultyParams { // as in tests/samplers/faulty.c
    uint32_t rule, vertex, depth;
};

// Status and words of a run on a plan of its own.
std::string said(const csaw_csr &csr, const csaw_plan_options &options, const csaw_sampler *sampler, const void *params,
                 Method method) {
    try {
        const Library library(csr, options);
        library.walks(sampler, params, method, equality::request_on(csr, 6));
        return "ok";
    } catch (const std::runtime_error &error) {
        return error.what();
    }
}

TEST(PartsGpu, WhatHooksDoWrongIsSaidAsOnTheCpu) {
    const Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    SKIP_WITHOUT_GPU_FOR(csr);
    int wrong = 0;
    for (uint32_t rule : {0, 1, 2, 3, 6, 8})
        for (Method method : {Method::its, Method::reject, Method::race}) {
            const FaultyParams params = {rule, 2, 1};
            const std::string cpu = said(csr, reference::plan_on("cpu", 1, 0), &faulty, &params, method);
            EXPECT_EQ(cpu, said(csr, on_gpu(4, 2), &faulty, &params, method)) << rule;
            wrong += cpu != "ok";
        }
    EXPECT_GT(wrong, 9);
}

TEST(PartsGpu, EveryAllocationFailsInTurn) {
    const Graph graph = reference::small_graph("directed_weighted");
    const csaw_csr csr = graph.csr();
    SKIP_WITHOUT_GPU_FOR(csr);
    const reference::Request request = equality::request_on(csr, 5);
    const auto borrowed = reference::borrow(csr);
    for (const char *name : {"biased", "node2vec"}) {
        uint64_t n = 1;
        for (bool done = false; !done && n < 1000; n++) {
            const csaw_plan_options options = on_gpu(3, 1);
            csaw_run_options run = {};
            run.size = sizeof run;
            run.depth = 5;
            csaw_plan *plan = nullptr;
            csaw_samples *samples = nullptr;
            csaw__fail_allocations_from(n);
            csaw_status status = csaw_plan_create(borrowed.get(), &options, &plan);
            if (status == CSAW_OK)
                status = csaw_sample(plan, csaw_sampler_find(name), nullptr, nullptr, &run, &samples);
            const uint64_t asked = csaw__allocations_counted();
            csaw__fail_allocations_from(0);
            // pages that cannot be locked are copied another way, or the CPU draws
            const std::string message = status == CSAW_OK ? "" : csaw_last_error();
            done = status == CSAW_OK && asked < n;
            EXPECT_TRUE(status == CSAW_OK || status == CSAW_ENOMEM || status == CSAW_EDEVMEM)
                << csaw_status_text(status) << ": " << message;
            csaw_samples_free(samples);
            csaw_plan_free(plan);
        }
        EXPECT_GT(n, 15u);
        EXPECT_LT(n, 1000u);
    }
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* tests/out_of_memory_limits_test.cc - what partitions that come and go may cost: memory within its budget, nothing
 * lost when an allocation or a copy fails, and fewer bytes moved than in cyclic order. */
#include "runtime/base/memory.h"
#include "tests/out_of_memory_cases.h"

using namespace out_of_memory;
using reference::Graph;
using reference::Method;
using sample_equality::SampleRequest;

namespace {

equality::OwnedGraph rmat(uint32_t scale, bool weighted) {
    csaw_rmat_options options = {};
    options.size = sizeof options;
    options.scale = scale;
    options.weighted = weighted;
    csaw_graph *graph = nullptr;
    reference::require(csaw_graph_rmat(&options, &graph));
    return equality::OwnedGraph(graph);
}

csaw_plan_options in_memory(uint64_t bytes) {
    csaw_plan_options out = reference::plan_on("simulated", 1, 0);
    out.gpu_memory = bytes;
    return out;
}

// ---- the budget ------------------------------------------------------------------

// Weighted R-MAT 10 takes about 190 KiB, with alias tables 560.
class Budget : public ::testing::TestWithParam<uint64_t> {};

TEST_P(Budget, IsNeverExceeded) {
    const equality::OwnedGraph graph = rmat(10, true);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const reference::Request walks = equality::one_walk_each(csr, 20);
    const SampleRequest samples = sample_equality::request_on(csr, {4, 3, CSAW_ALL}, 3, false);
    const Library whole(csr, reference::plan_on("cpu", 1, 0)), parted(csr, in_memory(GetParam()));
    csaw__parts *const parts = inside(parted);
    uint32_t most = 0;
    for (const equality::Law &law : {equality::Law{false, 1, 1}, equality::Law{true, .25f, 4}})
        for (Method method : reference::methods_of(law)) {
            EXPECT_TRUE(equality::same(whole.walks(law, method, walks), parted.walks(law, method, walks)))
                << law.name() << ", " << reference::name_of(method);
            most = std::max(most, parts->fit.parts);
        }
    for (const char *name : {"neighbor", "neighbor_biased", "neighbor_once", "layer", "random_node"}) {
        const csaw_sampler *sampler = csaw_sampler_find(name);
        EXPECT_TRUE(sample_equality::same(whole.samples(sampler, nullptr, Method::automatic, samples),
                                          parted.samples(sampler, nullptr, Method::automatic, samples)))
            << name;
        most = std::max(most, parts->fit.parts);
    }
    EXPECT_LE(parts->device.peak, GetParam());
    EXPECT_GT(parts->device.peak, GetParam() / 2) << "the budget is there to be used";
    EXPECT_GT(most, 1u) << "it all fits: nothing was tested";
}

INSTANTIATE_TEST_SUITE_P(OutOfMemory, Budget, ::testing::Values(48 << 10, 64 << 10, 100 << 10, 200 << 10, 500 << 10));

TEST(Budget, TooLittleIsSaidBeforehand) {
    const equality::OwnedGraph graph = rmat(10, true);
    const csaw_plan_options options = in_memory(8 << 10);
    csaw_plan *plan = nullptr;
    EXPECT_EQ(CSAW_EDEVMEM, csaw_plan_create(graph.get(), &options, &plan));
    EXPECT_NE(std::string(csaw_last_error()).find("too little"), std::string::npos) << csaw_last_error();
    EXPECT_EQ(plan, nullptr);
}

// ---- failures ----------------------------------------------------------------------

struct Job {
    const char *sampler;
    csaw_select select;
    bool is_walk;
};

const Job jobs[] = {{"uniform", CSAW_SELECT_ALIAS, true},        {"node2vec", CSAW_SELECT_REJECT, true},
                    {"node2vec", CSAW_SELECT_ITS, true},         {"neighbor", CSAW_SELECT_UNIFORM, false},
                    {"neighbor_biased", CSAW_SELECT_ITS, false}, {"neighbor_once", CSAW_SELECT_AUTO, false},
                    {"layer", CSAW_SELECT_AUTO, false},          {"node2vec", CSAW_SELECT_REJECT, false}};

const uint32_t wide[] = {3, CSAW_ALL, 2};

// The arcs drawn, as numbers; the status if it failed.
csaw_status draw(csaw_plan *plan, const Job &job, std::vector<csaw_edge> *out) {
    csaw_run_options run = {};
    run.size = sizeof run;
    run.depth = job.is_walk ? 12 : 3;
    run.fanout = job.is_walk ? nullptr : wide;
    run.select = job.select;
    run.edges = true;
    csaw_samples *samples = nullptr;
    csaw_arcs arcs;
    csaw_status status = csaw_sample(plan, csaw_sampler_find(job.sampler), nullptr, nullptr, &run, &samples);
    if (status == CSAW_OK) status = csaw_samples_arcs(samples, CSAW_HOST, &arcs);
    if (status == CSAW_OK) out->assign(arcs.edge, arcs.edge + arcs.offset[arcs.num_instances]);
    csaw_samples_free(samples);
    return status;
}

class Failures : public ::testing::TestWithParam<int> {
  protected:
    void SetUp() override {
        graph = rmat(5, true);
        options = simulated(5, 2);
        csaw_plan *whole = nullptr;
        const csaw_plan_options cpu = reference::plan_on("cpu", 1, 0);
        reference::require(csaw_plan_create(graph.get(), &cpu, &whole));
        ASSERT_EQ(CSAW_OK, draw(whole, jobs[GetParam()], &expected)) << csaw_last_error();
        csaw_plan_free(whole);
    }
    std::unique_ptr<csaw_plan, reference::Free> Plan() const {
        csaw_plan *plan = nullptr;
        if (csaw_plan_create(graph.get(), &options, &plan) != CSAW_OK) return nullptr;
        plan->parts->queue_room = 3;
        plan->parts->spill_room = 8;
        return std::unique_ptr<csaw_plan, reference::Free>(plan);
    }
    equality::OwnedGraph graph;
    csaw_plan_options options = {};
    std::vector<csaw_edge> expected;
};

TEST_P(Failures, EveryAllocationInTurn) {
    const Job &job = jobs[GetParam()];
    uint64_t asked = 0;
    for (uint64_t n = 0; n <= asked; n++) { // n = 0: none fails
        SCOPED_TRACE(n);
        std::vector<csaw_edge> arcs;
        csaw__fail_allocations_from(n);
        const auto plan = Plan();
        const csaw_status status = plan ? draw(plan.get(), job, &arcs) : CSAW_ENOMEM;
        if (n == 0) asked = csaw__allocations_counted();
        const std::string message = csaw_last_error();
        csaw__fail_allocations_from(0);
        if (n == 0) {
            ASSERT_EQ(CSAW_OK, status) << csaw_last_error();
            ASSERT_EQ(expected, arcs);
            continue;
        }
        ASSERT_EQ(CSAW_ENOMEM, status);
        ASSERT_NE(message.find("no memory for"), std::string::npos) << message;
        if (!plan) continue;
        ASSERT_EQ(CSAW_OK, draw(plan.get(), job, &arcs)) << csaw_last_error();
        ASSERT_EQ(expected, arcs) << "after a failure the plan works as before";
    }
    EXPECT_GT(asked, 20u);
}

TEST_P(Failures, EveryCopyInTurn) {
    const Job &job = jobs[GetParam()];
    for (uint64_t n = 1;; n++) {
        SCOPED_TRACE(n);
        std::vector<csaw_edge> arcs;
        const auto plan = Plan();
        ASSERT_TRUE(plan);
        plan->parts->device.fail_copy = n;
        const csaw_status status = draw(plan.get(), job, &arcs);
        if (status == CSAW_OK) {
            EXPECT_GT(n, 5u) << "five partitions were copied at least";
            EXPECT_LT(plan->parts->device.copies, n);
            break;
        }
        ASSERT_EQ(CSAW_ECUDA, status);
        ASSERT_EQ(CSAW_OK, draw(plan.get(), job, &arcs)) << csaw_last_error();
        ASSERT_EQ(expected, arcs) << "after a failure the plan works as before";
    }
}

INSTANTIATE_TEST_SUITE_P(OutOfMemory, Failures, ::testing::Range(0, static_cast<int>(sizeof jobs / sizeof *jobs)));

// ---- batches -------------------------------------------------------------------------

// 300 walks of 2^16 places, 79 MB, from vertices without arcs: more than the 64 MiB of a batch on the CPU, less than
// what 1 GiB has for instances.
TEST(Batches, HoldWhatIsUnderWayTogether) {
    const csaw_edge rowptr[] = {0, 0, 0};
    csaw_csr csr = {};
    csr.num_vertices = 2;
    csr.rowptr = rowptr;
    const auto graph = reference::borrow(csr);
    const csaw_vertex seed = 1;
    const csaw_seeds seeds = {&seed, 1, nullptr};
    for (bool parted : {false, true}) {
        const csaw_plan_options options = parted ? in_memory(1 << 30) : reference::plan_on("cpu", 1, 0);
        csaw_plan *plan = nullptr;
        csaw_run_options run = {};
        run.size = sizeof run;
        run.depth = (1 << 16) - 1;
        run.walks_per_seed = 300;
        reference::require(csaw_plan_create(graph.get(), &options, &plan));
        int batches = 0;
        const auto count = [](void *user, csaw_samples *) {
            ++*static_cast<int *>(user);
            return CSAW_OK;
        };
        reference::require(
            csaw_sample_each(plan, csaw_sampler_find("uniform"), nullptr, &seeds, &run, count, &batches));
        EXPECT_EQ(batches, parted ? 1 : 2);
        csaw_plan_free(plan);
    }
}

// ---- bytes moved ---------------------------------------------------------------------

struct Moved {
    uint64_t transfers, bytes;
    double expected; // transfers
};

template <class Draw>
Moved moved(const csaw_csr &csr, const csaw_plan_options &options, bool in_turn, bool one_at_a_time, const Draw &draw) {
    const Library library(csr, options);
    csaw__parts *const parts = inside(library);
    parts->schedule.in_turn = in_turn;
    parts->one_at_a_time = one_at_a_time;
    draw(library);
    EXPECT_EQ(parts->device.copies, parts->schedule.transfers);
    return {parts->device.copies, parts->device.copied_bytes, csaw__fit_transfers(&parts->fit, 80)};
}

TEST(Moved, LessThanInCyclicOrder) {
    const equality::OwnedGraph graph = rmat(12, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const reference::Request one_each = equality::one_walk_each(csr, 80);
    const auto walk = [&](const Library &library) { library.walks({false, 1, 1}, Method::automatic, one_each); };
    const auto node2vec = [&](const Library &library) { library.walks({true, .25f, 4}, Method::automatic, one_each); };
    SampleRequest hops = sample_equality::request_on(csr, {10, 5}, 2, false);
    hops.pools.clear();
    for (csaw_vertex v = 0; v < csr.num_vertices; v++) hops.pools.push_back({v});
    const auto sample = [&](const Library &library) {
        library.samples(csaw_sampler_find("neighbor"), nullptr, Method::automatic, hops);
    };
    for (const csaw_plan_options &plan : {simulated(4, 2), simulated(16, 2), simulated(16, 4)}) {
        SCOPED_TRACE(equality::name_of(plan));
        EXPECT_LT(moved(csr, plan, false, false, walk).bytes, moved(csr, plan, true, false, walk).bytes);
        EXPECT_LT(moved(csr, plan, false, false, node2vec).bytes, moved(csr, plan, true, false, node2vec).bytes);
        // Two hops ask for all partitions once and for those that left once more, in any order.
        EXPECT_LE(moved(csr, plan, false, false, sample).transfers, moved(csr, plan, true, false, sample).transfers);
    }
}

// Instances that share a transfer, and instances that do not.
TEST(Moved, LessByBatchesOfInstances) {
    const equality::OwnedGraph graph = rmat(8, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const reference::Request one_each = equality::one_walk_each(csr, 10);
    const auto walk = [&](const Library &library) { library.walks({false, 1, 1}, Method::automatic, one_each); };
    const SampleRequest hops = sample_equality::request_on(csr, {4, 3}, 2, false);
    const auto sample = [&](const Library &library) {
        library.samples(csaw_sampler_find("neighbor"), nullptr, Method::automatic, hops);
    };
    EXPECT_LT(10 * moved(csr, simulated(4, 2), false, false, walk).bytes,
              moved(csr, simulated(4, 2), false, true, walk).bytes);
    const auto by_depth = [&](const Library &library) {
        library.samples(csaw_sampler_find("neighbor_once"), nullptr, Method::automatic, hops);
    };
    EXPECT_LT(3 * moved(csr, simulated(4, 2), false, false, sample).bytes,
              moved(csr, simulated(4, 2), false, true, sample).bytes);
    EXPECT_LT(3 * moved(csr, simulated(4, 2), false, false, by_depth).bytes,
              moved(csr, simulated(4, 2), false, true, by_depth).bytes);
}

// What `csaw plan` foretells of walks of 80 steps, where arcs lead anywhere.
TEST(Moved, AboutAsForetold) {
    csaw_random_graph_options options = {};
    options.size = sizeof options;
    options.num_vertices = 4096;
    options.num_edges = 65536;
    csaw_graph *made = nullptr;
    reference::require(csaw_graph_erdos_renyi(&options, &made));
    const equality::OwnedGraph graph(made);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const reference::Request one_each = equality::one_walk_each(csr, 80);
    const auto walk = [&](const Library &library) { library.walks({false, 1, 1}, Method::automatic, one_each); };
    for (const csaw_plan_options &plan : {simulated(4, 2), simulated(16, 2), simulated(16, 4), simulated(8, 0)}) {
        const Moved got = moved(csr, plan, false, false, walk);
        EXPECT_LT(static_cast<double>(got.transfers), 1.3 * got.expected) << equality::name_of(plan);
        EXPECT_GT(static_cast<double>(got.transfers), 0.8 * got.expected) << equality::name_of(plan);
    }
}

TEST(Moved, NothingTwiceIfAllStays) {
    const equality::OwnedGraph graph = rmat(8, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const reference::Request one_each = equality::one_walk_each(csr, 10);
    const auto walk_twice = [&](const Library &library) {
        library.walks({true, .25f, 4}, Method::automatic, one_each);
        library.walks({false, 1, 1}, Method::automatic, one_each);
    };
    EXPECT_EQ(moved(csr, simulated(7, 0), false, false, walk_twice).transfers, 7u);
}

} // namespace

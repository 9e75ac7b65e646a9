/* SPDX-License-Identifier: MIT */
/* tests/joint_gpus_test.cc - GPUs that hold a graph together: when they do, what refuses, and runs where there is
 * little or something wrong with the graph: without arcs, without vertices, with weights that are no static biases.
 * What comes of it is the CPU's, to the message, and the plan is good for other runs. The GPUs are tests/host_gpu.h;
 * real ones: multi_gpu_test.cc. */
#include "tests/several_gpus.h"

#include "runtime/engine/device_joint.h"
#include "runtime/engine/gpus.h"

#include <limits>
#include <stdexcept>

namespace {

using namespace several_gpus;

struct Held {
    const char *list;
    bool exchange; // of walkers
};

std::unique_ptr<csaw_plan, reference::Free> together(const Plans &plans, const Held &held) {
    csaw_plan_options options = reference::plan_on(held.list, 0, 0);
    csaw_plan *plan = nullptr;
    options.split = true;
    options.exchange = held.exchange;
    reference::require(csaw_plan_create(plans.graph.get(), &options, &plan));
    return std::unique_ptr<csaw_plan, reference::Free>(plan);
}

Case called(const std::string &name) {
    for (const Case &each : all())
        if (each.name == name) return each;
    throw std::out_of_range(name);
}

class JointGpus : public ::testing::TestWithParam<Held> {
  protected:
    void SetUp() override { host_gpu::gpus = 3; }
    void TearDown() override {
        host_gpu::gpus = 1;
        host_gpu::forget();
        EXPECT_EQ(0u, host_gpu::used) << "device memory is left";
        EXPECT_EQ(0u, host_gpu::joints);
        EXPECT_EQ(0u, host_gpu::exchanges);
        EXPECT_EQ(GetParam().exchange, host_gpu::exchanged > 0);
        host_gpu::exchanged = 0;
    }
    // What the CPU comes to, and says.
    csaw_status expect_the_cpus(csaw_plan *cpu, csaw_plan *gpus, const Case &each, Method method, const Ask &ask) {
        SCOPED_TRACE(each.name + ", " + reference::name_of(method));
        const Outcome a = draw(cpu, each, method, ask), b = draw(gpus, each, method, ask);
        EXPECT_EQ(a.status, b.status);
        EXPECT_EQ(a.message, b.message);
        if (a.samples && b.samples) {
            EXPECT_TRUE(equal_bits(a.samples.get(), b.samples.get(), each.walk));
        }
        said = a.message;
        return a.status;
    }
    std::string said;
};

// Every walk ends where it begins, and no sample has an arc but those that name none.
TEST_P(JointGpus, HoldAGraphWithoutArcs) {
    for (csaw_vertex vertices : {0u, 1u, 101u})
        for (bool weighted : {false, true}) {
            SCOPED_TRACE(std::to_string(vertices) + (weighted ? " vertices, weighted" : " vertices"));
            const Graph graph = reference::graph_of("no arcs", vertices, {}, weighted);
            const Plans plans = {graph.csr()};
            const auto cpu = plans.on("cpu"), gpus = together(plans, GetParam());
            ASSERT_EQ(1u, host_gpu::joints);
            uint64_t runs = 0;
            for (const Case &each : all())
                for (Method method : methods_of(each, plans.csr)) {
                    Ask ask = ask_on_starlet(each);
                    if (vertices < 101) ask.pools = Pools(vertices, {0});
                    runs += expect_the_cpus(cpu.get(), gpus.get(), each, method, ask) == CSAW_OK;
                }
            EXPECT_GT(runs, 20u);
        }
}

// Alias tables meet it whoever goes there, ITS at the first instance that does.
TEST_P(JointGpus, TellOfAStaticBiasThatBreaksItsRules) {
    const Graph graph = starlet();
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
    const Plans whole = {graph.csr()};
    for (float wrong : {-1.0f, nan, infinite})
        for (csaw_edge at : {csaw_edge{0}, csaw_edge{150}, whole.csr.num_edges - 1}) {
            SCOPED_TRACE(std::to_string(wrong) + " on arc " + std::to_string(at));
            std::vector<float> weight(whole.csr.weight, whole.csr.weight + whole.csr.num_edges);
            weight[at] = wrong;
            csaw_csr csr = whole.csr;
            csr.weight = weight.data();
            const Plans bad = {csr};
            const auto cpu = bad.on("cpu"), gpus = together(bad, GetParam());
            for (bool walk : {true, false}) {
                const Case each = called(walk ? "biased" : "neighbor_biased"),
                           uniform = called(walk ? "uniform" : "neighbor");
                Ask ask = ask_on_starlet(each);
                ask.each = 40;
                EXPECT_EQ(CSAW_EBIAS, expect_the_cpus(cpu.get(), gpus.get(), each, Method::alias, ask));
                EXPECT_NE(std::string::npos, said.find("on edge " + std::to_string(at) + " (")) << said;
                const csaw_status status = expect_the_cpus(cpu.get(), gpus.get(), each, Method::its, ask);
                EXPECT_TRUE(at > 0 || status == CSAW_EBIAS) << "in the row where most instances begin";
                EXPECT_EQ(CSAW_OK, expect_the_cpus(cpu.get(), gpus.get(), uniform, Method::uniform, ask));
                EXPECT_EQ(CSAW_EBIAS, expect_the_cpus(cpu.get(), gpus.get(), each, Method::alias, ask)) << "again";
            }
        }
}

// What the first makes all of them read, until it makes others.
TEST_P(JointGpus, HaveTablesThatTheFirstMakes) {
    const Graph graph = starlet();
    const Plans plans = {graph.csr()};
    const auto cpu = plans.on("cpu"), gpus = together(plans, GetParam());
    host_gpu::made_tables = host_gpu::shared_tables = 0;
    uint32_t runs = 0;
    for (int i = 0; i < 2; i++)
        for (const char *name : {"biased", "biased_by_degree", "neighbor_biased"})
            for (Method method : {Method::alias, Method::its}) {
                const Case each = called(name);
                EXPECT_EQ(CSAW_OK, expect_the_cpus(cpu.get(), gpus.get(), each, method, ask_on_starlet(each)));
                runs++;
            }
    EXPECT_EQ(runs / 2, host_gpu::made_tables);
    EXPECT_EQ(runs * gpus->gpus->count, host_gpu::shared_tables) << "at each run, by the first with each";
}

INSTANTIATE_TEST_SUITE_P(Lists, JointGpus,
                         ::testing::Values(Held{"cuda:0,cuda:1", false}, Held{"cuda:2,cuda:0,cuda:2", false},
                                           Held{"cuda:0,cuda:1", true}, Held{"cuda:2,cuda:0,cuda:2", true}),
                         [](const auto &info) {
                             return std::string(info.index % 2 ? "three" : "two") +
                                    (info.param.exchange ? "_exchange" : "");
                         });

// ---- when they do, and what refuses ---------------------------------------------

csaw_status create(const Plans &plans, const char *list, bool split, std::unique_ptr<csaw_plan, reference::Free> *out) {
    csaw_plan_options options = reference::plan_on(list, 0, 0);
    csaw_plan *plan = nullptr;
    options.split = split;
    host_gpu::members = 0;
    const csaw_status status = csaw_plan_create(plans.graph.get(), &options, &plan);
    out->reset(plan);
    return status;
}

TEST_P(Gpus, HoldTheGraphTogetherIfAsked) {
    std::unique_ptr<csaw_plan, reference::Free> plan;
    ASSERT_EQ(CSAW_OK, create(plans, "cuda:2,cuda:0,cuda:2", true, &plan)) << csaw_last_error();
    EXPECT_EQ(1u, host_gpu::joints);
    EXPECT_EQ(0x010101u, host_gpu::members) << "each of them once";
    EXPECT_TRUE(holds(csaw_plan_explain(plan.get()), "\nsplit       over them: each holds "));
    host_gpu::shared_tables = 0;
    for (uint64_t instances : {0, 2, 60}) EXPECT_EQ(CSAW_OK, expect_same(plan.get(), {}, instances));
    EXPECT_EQ(3u * 3, host_gpu::shared_tables) << "at each run, by the first with each";
    plan.reset();
    EXPECT_EQ(0u, host_gpu::joints);
    ASSERT_EQ(CSAW_OK, create(plans, "cuda:2", true, &plan)) << "of one it says nothing";
    ASSERT_EQ(CSAW_OK, create(plans, "cuda:2,cuda:1", false, &plan));
    EXPECT_EQ(0u, host_gpu::joints);
    EXPECT_EQ(0u, host_gpu::members);
}

// Walks alone; samples are drawn by each GPU as ever.
TEST_P(Gpus, ExchangeWalkersIfAsked) {
    csaw_plan_options options = reference::plan_on("cuda:2,cuda:0,cuda:2", 0, 0);
    csaw_plan *made = nullptr;
    options.split = options.exchange = true;
    host_gpu::let_in = 0;
    host_gpu::exchanged = 0;
    ASSERT_EQ(CSAW_OK, csaw_plan_create(plans.graph.get(), &options, &made)) << csaw_last_error();
    std::unique_ptr<csaw_plan, reference::Free> plan(made);
    EXPECT_EQ(1u, host_gpu::exchanges);
    EXPECT_EQ(3u * 3, host_gpu::let_in);
    EXPECT_TRUE(holds(csaw_plan_explain(plan.get()), "\nexchange    walkers go to the GPU that has their row"));
    EXPECT_TRUE(
        holds(csaw_plan_explain(plan.get()), "\nunder way   each GPU takes 88 bytes for every walk of a batch"));
    for (uint64_t instances : {0, 2, 60}) EXPECT_EQ(CSAW_OK, expect_same(plan.get(), {}, instances));
    EXPECT_EQ(GetParam(), host_gpu::exchanged > 0) << "walks";
    uint64_t faults = 0;
    for (uint32_t rule : {1u, 6u})
        for (csaw_vertex vertex = 0; vertex < 60; vertex += 7)
            faults += expect_same(plan.get(), {}, 60, {rule, vertex, 2}) == CSAW_EBIAS;
    EXPECT_GT(faults, 5u);
    std::vector<uint64_t> expected, got;
    ASSERT_EQ(CSAW_OK, draw_whole(cpu.get(), 60, &expected));
    ASSERT_EQ(CSAW_OK, draw_whole(plan.get(), 60, &got)) << csaw_last_error();
    EXPECT_EQ(expected, got);
    plan.reset();
    EXPECT_EQ(0u, host_gpu::exchanges);
    const auto refused = [&](const char *list, bool split) {
        csaw_plan *none = nullptr;
        options = reference::plan_on(list, 0, 0);
        options.split = split;
        options.exchange = true;
        EXPECT_EQ(CSAW_EINVAL, csaw_plan_create(plans.graph.get(), &options, &none)) << list;
        EXPECT_TRUE(holds(csaw_last_error(), "give split, and a device of more than one")) << csaw_last_error();
    };
    refused("cuda:2,cuda:0", false);
    refused("cuda:2", true);
    refused("cpu", true);
}

// Walkers under way are in the account of the GPUs' memory: one listed twice, which has room for some 1,000 walks.
class ExchangedWalks : public ::testing::Test {
  protected:
    void SetUp() override {
        host_gpu::gpus = 2;
        csaw_plan_options options = reference::plan_on("cuda:1,cuda:1", 0, 0);
        csaw_plan *made = nullptr;
        options.split = options.exchange = true;
        reference::require(csaw_plan_create(plans.graph.get(), &options, &made));
        plan.reset(made);
        run.size = sizeof run;
        run.depth = 4;
        run.walks_per_seed = 200;
    }
    void TearDown() override {
        plan.reset();
        host_gpu::room = ~uint64_t{0};
        host_gpu::gpus = 1;
        host_gpu::trimmed = 0;
        host_gpu::exchanged = 0;
        host_gpu::forget();
        EXPECT_EQ(0u, host_gpu::used);
    }
    // All vertices of all walks.
    csaw_status draw(csaw_plan *of, std::vector<csaw_vertex> *out) {
        const auto take = [](void *user, csaw_samples *samples) {
            csaw_walks walks;
            CSAW_TRY(csaw_samples_walks(samples, CSAW_HOST, &walks));
            auto *const all = static_cast<std::vector<csaw_vertex> *>(user);
            all->insert(all->end(), walks.path, walks.path + walks.num_walks * (walks.length + uint64_t{1}));
            return CSAW_OK;
        };
        out->clear();
        return csaw_sample_each(of, &csaw_uniform, nullptr, nullptr, &run, take, out);
    }
    csaw_status draw_at_once() {
        csaw_samples *samples = nullptr;
        const csaw_status status = csaw_sample(plan.get(), &csaw_uniform, nullptr, nullptr, &run, &samples);
        csaw_samples_free(samples);
        return status;
    }
    const Graph graph = ring(60);
    const Plans plans = {graph.csr()};
    std::unique_ptr<csaw_plan, reference::Free> plan;
    csaw_run_options run = {};
};

TEST_F(ExchangedWalks, ComeInBatchesThatFit) {
    std::vector<csaw_vertex> expected, got;
    const auto cpu = plans.on("cpu");
    ASSERT_EQ(CSAW_OK, draw(cpu.get(), &expected));
    ASSERT_EQ(12000u * 5, expected.size());
    host_gpu::room = host_gpu::used + 300000;
    for (uint64_t bytes : {0, 1 << 30}) {
        run.batch_bytes = bytes;
        host_gpu::exchanged = 0;
        ASSERT_EQ(CSAW_OK, draw(plan.get(), &got)) << csaw_last_error();
        EXPECT_EQ(expected, got);
        EXPECT_GT(host_gpu::exchanged, 5u);
        EXPECT_LT(host_gpu::exchanged, 30u) << "batches are larger than they need be";
    }
    run.batch_bytes = 100 * 20;
    host_gpu::exchanged = 0;
    ASSERT_EQ(CSAW_OK, draw(plan.get(), &got)) << csaw_last_error();
    EXPECT_EQ(expected, got);
    EXPECT_EQ(120u, host_gpu::exchanged) << "of 100, as asked";
}

TEST_F(ExchangedWalks, HaveWhatPlansKeepForLaterBeforeTheyAreRefused) {
    const uint64_t used = host_gpu::used;
    host_gpu::kept = 3000000;
    host_gpu::used += host_gpu::kept;
    host_gpu::room = used + 3200000;
    EXPECT_EQ(CSAW_OK, draw_at_once()) << csaw_last_error();
    EXPECT_EQ(2u, host_gpu::trimmed) << "each plan";
    EXPECT_EQ(CSAW_OK, draw_at_once());
    EXPECT_EQ(2u, host_gpu::trimmed) << "there was room";
    host_gpu::room = used + 1000000;
    EXPECT_EQ(CSAW_EDEVMEM, draw_at_once());
    EXPECT_TRUE(holds(csaw_last_error(), "cuda:1: no device memory for walkers that GPUs exchange"))
        << csaw_last_error();
    EXPECT_EQ(4u, host_gpu::trimmed);
    std::vector<csaw_vertex> got;
    EXPECT_EQ(CSAW_OK, draw(plan.get(), &got)) << csaw_last_error();
    EXPECT_EQ(12000u * 5, got.size());
}

TEST_P(Gpus, ThatCannotHoldTheGraphTogetherSaySo) {
    std::unique_ptr<csaw_plan, reference::Free> plan;
    host_gpu::reach = false;
    EXPECT_EQ(CSAW_EUNSUPPORTED, create(plans, "cuda:2,cuda:0", true, &plan));
    EXPECT_TRUE(holds(csaw_last_error(), "cuda:2 cannot read the memory of cuda:0")) << csaw_last_error();
    host_gpu::reach = true;
    host_gpu::free_memory = 1 << 20;
    EXPECT_EQ(CSAW_EDEVMEM, create(plans, "cuda:2,cuda:0", true, &plan));
    EXPECT_TRUE(holds(csaw_last_error(), "but of one of them 0.9 are to be had; list more GPUs")) << csaw_last_error();
    host_gpu::free_memory = uint64_t{1} << 40;
    csaw_plan_options options = reference::plan_on("cuda:2,cuda:0", 0, 2);
    csaw_plan *none = nullptr;
    options.split = true;
    EXPECT_EQ(CSAW_EINVAL, csaw_plan_create(plans.graph.get(), &options, &none));
    EXPECT_TRUE(holds(csaw_last_error(), "give one of the two")) << csaw_last_error();
    host_gpu::refuse_joint = true;
    EXPECT_EQ(CSAW_ECUDA, create(plans, "cuda:2,cuda:0", true, &plan));
    host_gpu::refuse_joint = false;
}

// One vertex with six million loops: 24 MB of arcs, with weights 48.
struct Loops {
    const std::vector<csaw_vertex> col = std::vector<csaw_vertex>(6000000, 0);
    const std::vector<float> weight = std::vector<float>(col.size(), 1);
    const std::vector<csaw_edge> rowptr = {0, col.size()};
    csaw_csr csr(bool weighted) const {
        csaw_csr out = {};
        out.num_vertices = 1;
        out.num_edges = col.size();
        out.rowptr = rowptr.data();
        out.col = col.data();
        out.weight = weighted ? weight.data() : nullptr;
        return out;
    }
};

// 20 MB of them for each of two that hold them together, of which 8 are for what is mapped at least.
TEST_P(Gpus, HoldTheGraphTogetherWhereOneAloneDoesNot) {
    const Loops loops;
    const Plans large = {loops.csr(false)};
    std::unique_ptr<csaw_plan, reference::Free> plan;
    const auto with = [&](uint64_t megabytes, const char *list) {
        host_gpu::free_memory = megabytes * 8 / 7 * 1000000;
        const csaw_status status = create(large, list, false, &plan);
        host_gpu::free_memory = uint64_t{1} << 40;
        return status;
    };
    EXPECT_EQ(CSAW_OK, with(28, "cuda:0,cuda:1"));
    EXPECT_EQ(0u, host_gpu::joints) << "it fits on each";
    EXPECT_EQ(CSAW_OK, with(22, "cuda:0,cuda:1")) << csaw_last_error();
    EXPECT_EQ(1u, host_gpu::joints);
    plan.reset();
    EXPECT_EQ(CSAW_EUNSUPPORTED, with(18, "cuda:0,cuda:1")) << "partitions, which this build does not have";
    EXPECT_EQ(CSAW_OK, with(18, "cuda:0,cuda:1,cuda:2")) << csaw_last_error();
    EXPECT_EQ(1u, host_gpu::joints);
    plan.reset();
    for (bool *way : {&host_gpu::reach, &host_gpu::refuse_joint}) {
        *way = !*way;
        EXPECT_EQ(CSAW_EUNSUPPORTED, with(22, "cuda:0,cuda:1")) << "likewise";
        *way = !*way;
    }
    EXPECT_EQ(0u, host_gpu::joints);
}

// With weights tables of 96 MB come to it, which partitions would bring along.
TEST_P(Gpus, HoldTheGraphTogetherIfTablesOfItsWeightsFit) {
    const Loops loops;
    const csaw_plan_options options = {};
    csaw_plan_options split = {};
    split.split = true;
    const Plans large = {loops.csr(true)};
    bool together = false;
    EXPECT_EQ(CSAW_OK, csaw__gpus_together(large.graph.get(), &options, 2, 46000000, &together));
    EXPECT_FALSE(together) << "40.25 of them, where the arcs alone take 24 + 8.4";
    EXPECT_EQ(CSAW_OK, csaw__gpus_together(large.graph.get(), &split, 2, 46000000, &together));
    EXPECT_TRUE(together) << "which asks for no tables";
    EXPECT_EQ(CSAW_OK, csaw__gpus_together(large.graph.get(), &options, 5, 46000000, &together));
    EXPECT_TRUE(together) << "144 / 5 + 8.4 = 37.2";
}

// Every byte of an array is one member's, whoever comes first.
TEST(JointPieces, AreEachByteOnce) {
    for (uint32_t members : {1u, 2u, 3u, 16u})
        for (uint32_t first = 0; first < members; first++)
            for (uint64_t granules : {0, 1, 2, 3, 5, 17, 48}) {
                const uint64_t granule = 64, piece = (granules + members - 1) / members * granule;
                const uint64_t bytes = granules ? granules * granule - 5 : 0; // mapped by whole granules
                std::vector<int> had(bytes, 0);
                for (uint32_t m = 0; m < members; m++) {
                    const csaw__joint_piece of =
                        csaw__joint_piece_of(bytes, piece ? piece : granule, members, first, m);
                    for (uint64_t i = 0; i < of.bytes; i++) had.at(of.begin + i)++;
                    if (m == first) {
                        EXPECT_EQ(0u, of.begin);
                    }
                }
                EXPECT_EQ(static_cast<int64_t>(bytes), std::count(had.begin(), had.end(), 1));
            }
}

// The samples keep what they need of the GPUs.

INSTANTIATE_TEST_SUITE_P(OnGpus, Gpus, ::testing::Bool(),
                         [](const auto &info) { return info.param ? "walks" : "samples"; });

} // namespace

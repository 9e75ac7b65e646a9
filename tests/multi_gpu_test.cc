/* SPDX-License-Identifier: MIT */
/* tests/multi_gpu_test.cc - the bits are the same (P2) on several GPUs: every sampler by every method, at once and in
 * batches, few instances and many; what goes wrong is said as on the CPU, and what a GPU does wrong by its name. The
 * same GPU twice, which needs one alone, and where there are more, two and all of them. What a run does with several
 * GPUs is tested without one in several_gpus_test.cc. */
#include "runtime/engine/device_joint.h"
#include "runtime/engine/gpus.h"
#include "tests/fault_cases.h"
#include "tests/sample_words.h"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>

extern "C" {
#include "runtime/base/memory.h"
}

CSAW_DECLARE_SAMPLER(faulty);

using namespace fault_cases;

namespace {

struct FaultyParams { // as in tests/samplers/faulty.c
    uint32_t rule, vertex, depth;
};
struct WildParams { // as in tests/samplers/wild.c
    uint32_t what, from;
};

int count_gpus() {
    int count = 0;
    return csaw__device_count(&count) == CSAW_OK ? count : 0;
}

std::vector<std::string> lists() {
    std::vector<std::string> out = {"cuda:0,cuda:0", "cuda:0,cuda:0,cuda:0"};
    if (count_gpus() < 2) return out;
    out.insert(out.end(), {"cuda:0,cuda:1", "cuda:1,cuda:0", "all"});
    return out;
}

std::vector<int> every_gpu() {
    std::vector<int> out(static_cast<size_t>(count_gpus()));
    for (size_t i = 0; i < out.size(); i++) out[i] = static_cast<int>(i);
    return out;
}

// Of "cuda:1,cuda:0": 1, 0.
std::vector<int> gpus_of(const std::string &list) {
    std::vector<int> out;
    for (size_t at = list.find("cuda:"); at != std::string::npos; at = list.find("cuda:", at + 1))
        out.push_back(std::stoi(list.substr(at + 5)));
    return out;
}

struct Taken {
    bool walk = false;
    uint64_t batches = 0;
    std::vector<uint64_t> words{};
};

using sample_words::take_words;

csaw_status take_batch(void *user, csaw_samples *samples) {
    Taken *t = static_cast<Taken *>(user);
    t->batches++;
    return take_words(samples, t->walk, &t->words);
}

csaw_status draw_each(csaw_plan *plan, const Case &each, Method method, const Ask &ask, uint64_t batch_bytes,
                      Taken *taken, uint64_t first = 0) {
    const reference::Seeds seeds(ask.pools);
    const csaw_seeds view = seeds.view();
    csaw_run_options options = options_of(ask, method);
    options.batch_bytes = batch_bytes;
    options.first = first;
    taken->walk = each.walk;
    return csaw_sample_each(plan, each.sampler, each.params.empty() ? nullptr : each.params.data(), &view, &options,
                            take_batch, taken);
}

std::vector<uint64_t> words_of(csaw_plan *plan, const Case &each, Method method, const Ask &ask) {
    const Outcome drawn = draw(plan, each, method, ask);
    std::vector<uint64_t> out;
    EXPECT_EQ(CSAW_OK, drawn.status) << drawn.message;
    if (drawn.samples) {
        EXPECT_EQ(CSAW_OK, take_words(drawn.samples.get(), each.walk, &out)) << csaw_last_error();
    }
    return out;
}

// Of a list of GPUs that hold the graph together; walkers go where their rows are, or not.
csaw_plan_options together(const std::string &list, bool exchange = false) {
    csaw_plan_options out = reference::plan_on(list.c_str(), 0, 0);
    out.split = true;
    out.exchange = exchange;
    return out;
}

// Whether GPUs of the list hold a graph together; they do unless one does not read another's memory.
bool may_be_together(const std::string &list) {
    const std::vector<int> ordinals = list == "all" ? every_gpu() : gpus_of(list);
    bool all = false;
    int reader = 0, holder = 0;
    EXPECT_EQ(CSAW_OK,
              csaw__joint_reaches(ordinals.data(), static_cast<uint32_t>(ordinals.size()), &all, &reader, &holder));
    return all && ordinals.size() > 1;
}

Case called(const std::vector<Case> &cases, const std::string &name) {
    for (const Case &each : cases)
        if (each.name == name) return each;
    throw std::out_of_range(name);
}

// So many instances, about.
Ask ask_for(const Case &each, uint32_t instances) {
    Ask out = ask_on_starlet(each);
    out.each = std::max(1u, instances / static_cast<uint32_t>(out.pools.size()));
    return out;
}

std::unique_ptr<csaw_plan, reference::Free> plan_with(const Plans &plans, const csaw_plan_options &options) {
    csaw_plan *plan = nullptr;
    reference::require(csaw_plan_create(plans.graph.get(), &options, &plan));
    return std::unique_ptr<csaw_plan, reference::Free>(plan);
}

class MultiGpu : public ::testing::Test {
  protected:
    void SetUp() override { SKIP_WITHOUT_GPU(); }
    const Graph graph = starlet();
    const Plans plans = {graph.csr()};
};

TEST_F(MultiGpu, EverySamplerByEveryMethodHasTheCpusBits) {
    const auto cpu = plans.on("cpu");
    for (const std::string &list : lists()) {
        const auto gpus = plans.on(list.c_str());
        for (const Case &each : all())
            for (Method method : methods_of(each, plans.csr)) {
                if (!reference::takes_case()) continue;
                SCOPED_TRACE(list + ", " + each.name + ", " + reference::name_of(method));
                const Ask ask = ask_for(each, 100);
                const std::vector<uint64_t> expected = words_of(cpu.get(), each, method, ask);
                EXPECT_EQ(expected, words_of(gpus.get(), each, method, ask));
                Taken taken;
                EXPECT_EQ(CSAW_OK, draw_each(gpus.get(), each, method, ask, 3000, &taken)) << csaw_last_error();
                EXPECT_EQ(expected, taken.words);
                ASSERT_FALSE(HasFailure());
            }
    }
}

TEST_F(MultiGpu, AGraphHeldTogetherHasTheCpusBits) {
    const auto cpu = plans.on("cpu");
    for (const std::string &list : lists())
        for (bool exchange : {false, true}) {
            if (!may_be_together(list)) continue;
            const auto gpus = plan_with(plans, together(list, exchange));
            EXPECT_NE(std::string::npos, std::string(csaw_plan_explain(gpus.get())).find("\nsplit       over them"));
            for (const Case &each : all())
                for (Method method : methods_of(each, plans.csr)) {
                    if (!reference::takes_case()) continue;
                    SCOPED_TRACE(list + (exchange ? " that exchange, " : ", ") + each.name + ", " +
                                 reference::name_of(method));
                    const Ask ask = ask_for(each, 100);
                    const std::vector<uint64_t> expected = words_of(cpu.get(), each, method, ask);
                    EXPECT_EQ(expected, words_of(gpus.get(), each, method, ask));
                    Taken taken; // of batches, two of which there are at a time
                    EXPECT_EQ(CSAW_OK, draw_each(gpus.get(), each, method, ask, 3000, &taken)) << csaw_last_error();
                    EXPECT_EQ(expected, taken.words);
                    ASSERT_FALSE(HasFailure());
                }
        }
}

// Arcs and weights of 14 MiB each, tables of up to 57: pieces on every GPU, borders within rows.
TEST_F(MultiGpu, ALargeGraphHeldTogetherHasTheCpusBits) {
    csaw_rmat_options rmat = {};
    rmat.size = sizeof rmat;
    rmat.scale = 17;
    rmat.weighted = true;
    csaw_graph *made = nullptr;
    reference::require(csaw_graph_rmat(&rmat, &made));
    const std::unique_ptr<csaw_graph, reference::Free> kept(made);
    const Plans large = {csaw_graph_csr(made)};
    ASSERT_GT(large.csr.num_edges, uint64_t{3} << 20);
    const auto cpu = large.on("cpu");
    std::vector<std::unique_ptr<csaw_plan, reference::Free>> gpus;
    for (const std::string &list : lists())
        for (bool exchange : {false, true})
            if (may_be_together(list)) gpus.push_back(plan_with(large, together(list, exchange)));
    Pools alone;
    for (csaw_vertex v = 0; v < 5000; v++)
        alone.push_back({v * 7919u % static_cast<csaw_vertex>(large.csr.num_vertices)});
    const std::pair<Case, std::vector<Method>> jobs[] = {
        {called(walks(), "uniform"), {Method::uniform}},
        {called(walks(), "biased"), {Method::alias, Method::its}}, // tables of both kinds, in turn
        {walks()[1], {Method::reject}},
        {called(samples(), "neighbor"), {Method::uniform}},
        {called(samples(), "neighbor_biased"), {Method::alias, Method::its}},
        {called(samples(), "layer"), {Method::its}}};
    for (const auto &[each, methods] : jobs)
        for (Method method : methods) {
            if (!reference::takes_case()) continue;
            const Ask ask = ask_of(each, alone, 20, {15, 10});
            const std::vector<uint64_t> expected = words_of(cpu.get(), each, method, ask);
            for (const auto &plan : gpus)
                EXPECT_TRUE(expected == words_of(plan.get(), each, method, ask))
                    << each.name << ", " << reference::name_of(method) << ", " << plan->gpus->count << " GPUs";
        }
    const Ask ask = ask_of(jobs[1].first, alone, 20, {}); // samples outlive the plan, and what it had mapped
    const Outcome drawn = draw(gpus[0].get(), jobs[1].first, Method::alias, ask);
    ASSERT_EQ(CSAW_OK, drawn.status) << drawn.message;
    gpus.clear();
    std::vector<uint64_t> words;
    EXPECT_EQ(CSAW_OK, take_words(drawn.samples.get(), true, &words)) << csaw_last_error();
    EXPECT_TRUE(words == words_of(cpu.get(), jobs[1].first, Method::alias, ask));
}

TEST_F(MultiGpu, WhatIsHeldTogetherIsGivenBack) {
    const Case biased = called(walks(), "biased");
    uint64_t before = 0, after = 0;
    for (int round = 0; round < 6; round++) { // other programs may take some of the GPU's memory, but not in each round
        EXPECT_EQ(CSAW_OK, csaw__device_free_memory(0, &before));
        for (int i = 0; i < 10; i++) {
            const auto gpus = plan_with(plans, together("cuda:0,cuda:0", i % 4 > 1));
            words_of(gpus.get(), biased, i % 2 ? Method::alias : Method::its, ask_for(biased, 10));
        }
        EXPECT_EQ(CSAW_OK, csaw__device_free_memory(0, &after));
        if (round > 0 && after + (8 << 20) >= before) return; // 10 plans of at least 5 arrays of 2 MiB each
    }
    FAIL() << "10 plans left " << before - after << " bytes behind, again and again";
}

TEST_F(MultiGpu, EveryAllocationOfAGraphHeldTogetherFailsInTurn) {
    const auto cpu = plans.on("cpu");
    const Case each = called(walks(), "biased");
    const Ask ask = ask_for(each, 12);
    const std::string twice = "cuda:0,cuda:0";
    Taken expected;
    ASSERT_EQ(CSAW_OK, draw_each(cpu.get(), each, Method::alias, ask, 150, &expected)) << csaw_last_error();
    for (bool exchange : {false, true}) {
        const csaw_plan_options options = together(twice, exchange);
        for (uint64_t n = 1;; n += reference::step_of_share()) {
            csaw_plan *plan = nullptr;
            Taken taken;
            csaw__fail_allocations_from(n);
            csaw_status status = csaw_plan_create(plans.graph.get(), &options, &plan);
            if (status == CSAW_OK) status = draw_each(plan, each, Method::alias, ask, 150, &taken);
            const uint64_t asked = csaw__allocations_counted();
            csaw__fail_allocations_from(0);
            ASSERT_LE(taken.words.size(), expected.words.size());
            EXPECT_TRUE(std::equal(taken.words.begin(), taken.words.end(), expected.words.begin()));
            if (plan) {
                Taken again;
                EXPECT_EQ(CSAW_OK, draw_each(plan, each, Method::alias, ask, 150, &again)) << csaw_last_error();
                EXPECT_EQ(expected.words, again.words) << "on the same plan";
            }
            csaw_plan_free(plan);
            if (asked < n) {
                EXPECT_EQ(CSAW_OK, status) << csaw_last_error();
                EXPECT_EQ(expected.words, taken.words);
                EXPECT_GT(n, 15u);
                break;
            }
            EXPECT_TRUE(status == CSAW_OK || status == CSAW_ENOMEM || status == CSAW_EDEVMEM) << csaw_last_error();
            ASSERT_LT(n, 3000u);
        }
    }
}

// Fewer than GPUs, and odd numbers.
TEST_F(MultiGpu, FewInstances) {
    const auto cpu = plans.on("cpu");
    for (const std::string &list : lists()) {
        const auto gpus = plans.on(list.c_str());
        for (const Case &each : {walks()[0], walks()[1], samples()[0]})
            for (uint32_t pools : {0, 1, 2, 5}) {
                SCOPED_TRACE(list + ", " + each.name + ", " + std::to_string(pools));
                Pools alone;
                for (csaw_vertex v = 0; v < pools; v++) alone.push_back({v * 9});
                const Ask ask = ask_of(each, alone, 4, {3, 2});
                EXPECT_EQ(words_of(cpu.get(), each, Method::automatic, ask),
                          words_of(gpus.get(), each, Method::automatic, ask));
            }
    }
}

TEST_F(MultiGpu, ManyInstances) {
    csaw_rmat_options rmat = {};
    rmat.size = sizeof rmat;
    rmat.scale = 14;
    rmat.weighted = true;
    csaw_graph *made = nullptr;
    reference::require(csaw_graph_rmat(&rmat, &made));
    const std::unique_ptr<csaw_graph, reference::Free> kept(made);
    const Plans large = {csaw_graph_csr(made)};
    const auto cpu = large.on("cpu");
    Pools alone;
    for (csaw_vertex v = 0; v < 10001; v++)
        alone.push_back({v * 7919u % static_cast<csaw_vertex>(large.csr.num_vertices)});
    for (const std::string &list : lists()) {
        const auto gpus = large.on(list.c_str());
        for (const Case &each : {walks()[0], walks()[1], samples()[0], samples()[1]}) {
            SCOPED_TRACE(list + ", " + each.name);
            const Ask ask = ask_of(each, alone, 20, {15, 10});
            const std::vector<uint64_t> expected = words_of(cpu.get(), each, Method::automatic, ask);
            EXPECT_TRUE(expected == words_of(gpus.get(), each, Method::automatic, ask));
            Taken taken;
            EXPECT_EQ(CSAW_OK, draw_each(gpus.get(), each, Method::automatic, ask, 1 << 20, &taken));
            EXPECT_TRUE(expected == taken.words);
            EXPECT_GE(taken.batches, 2u);
            if (each.walk) continue;
            const Outcome drawn = draw(gpus.get(), each, Method::automatic, ask); // each share where it belongs
            ASSERT_EQ(CSAW_OK, drawn.status) << drawn.message;
            ASSERT_EQ(gpus->gpus->count, drawn.samples->num_shares);
            for (uint32_t i = 0; i < drawn.samples->num_shares; i++) {
                EXPECT_EQ(gpus->gpus->plan[i]->device, drawn.samples->share[i]->device);
                EXPECT_GT(drawn.samples->share[i]->num_walks, 1000u);
            }
        }
    }
}

TEST_F(MultiGpu, SamplersCompiledAtRunTime) {
    const csaw_sampler *own = nullptr;
    ASSERT_EQ(CSAW_OK, csaw_sampler_compile(CSAW_SOURCE_DIR "/tests/samplers/wild.c", &own)) << csaw_last_error();
    {
        const auto cpu = plans.on("cpu");
        for (const std::string &list : lists())
            for (bool walk : {true, false}) {
                const auto gpus = plans.on(list.c_str());
                const Case each = {"wild", own, sample_cases::bytes_of(WildParams{0, 0}), {}, walk, false, {}};
                Ask ask = ask_of(each, {{0}, {1}, {55}, {99}}, 4, {2, 2});
                ask.each = 25;
                EXPECT_EQ(words_of(cpu.get(), each, Method::its, ask), words_of(gpus.get(), each, Method::its, ask))
                    << list;
            }
    }
    csaw_sampler_unload(own);
}

TEST_F(MultiGpu, PartitionsComeToEachOfThem) {
    const auto cpu = plans.on("cpu");
    for (const std::string &list : lists())
        for (int resident : {1, 2}) {
            csaw_plan_options options = reference::plan_on(list.c_str(), 0, 4);
            options.resident = resident;
            const auto gpus = plan_with(plans, options);
            for (const Case &each : all()) {
                if (!reference::takes_case()) continue;
                SCOPED_TRACE(list + ", " + each.name);
                const Ask ask = ask_for(each, 50);
                const std::vector<uint64_t> expected = words_of(cpu.get(), each, Method::automatic, ask);
                EXPECT_EQ(expected, words_of(gpus.get(), each, Method::automatic, ask));
                Taken taken;
                EXPECT_EQ(CSAW_OK, draw_each(gpus.get(), each, Method::automatic, ask, 3000, &taken));
                EXPECT_EQ(expected, taken.words);
                ASSERT_FALSE(HasFailure());
            }
        }
}

TEST_F(MultiGpu, AFaultIsToldAfterTheBatchesBeforeIt) {
    const auto cpu = plans.on("cpu");
    for (const std::string &list : lists())
        for (bool walk : {true, false}) {
            const auto gpus = plans.on(list.c_str());
            std::set<uint64_t> batches;
            for (csaw_vertex vertex = 1; vertex <= 100; vertex += 7) {
                if (!reference::takes_case()) continue;
                const Case each = {"faulty", &faulty, sample_cases::bytes_of(FaultyParams{6, vertex, 1}), {}, walk,
                                   false,    {}};
                Ask ask = ask_of(each, {{0}, {1}, {55}, {99}}, 4, {2, 2});
                ask.each = 25;
                Taken a, b;
                const csaw_status status = draw_each(cpu.get(), each, Method::its, ask, 1000, &a);
                const std::string said = csaw_last_error();
                EXPECT_EQ(status, draw_each(gpus.get(), each, Method::its, ask, 1000, &b)) << csaw_last_error();
                if (status != CSAW_OK) {
                    EXPECT_EQ(said, csaw_last_error());
                    batches.insert(b.batches);
                }
                EXPECT_EQ(a.words, b.words);
            }
            if (reference::every_case() > 1) continue;
            EXPECT_GE(batches.size(), 2u) << "in the first batch, and in later ones";
        }
}

// By alias tables at once, by ITS where an instance comes to that row; and the plan is good for other samplers.
TEST_F(MultiGpu, AStaticBiasThatBreaksItsRulesIsToldAsOnTheCpu) {
    const Case biased = called(walks(), "biased"), uniform = called(walks(), "uniform");
    const Ask ask = ask_for(biased, 200);
    for (float wrong : {-1.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        csaw_csr csr = graph.csr();
        std::vector<float> weight(csr.weight, csr.weight + csr.num_edges);
        weight[50] = wrong; // an arc of the hub
        csr.weight = weight.data();
        const Plans bad = {csr};
        const auto cpu = bad.on("cpu");
        for (const std::string &list : lists())
            for (bool joint : {false, true}) {
                if (joint && !may_be_together(list)) continue;
                SCOPED_TRACE(list + (joint ? " together, " : ", ") + std::to_string(wrong));
                const auto gpus = joint ? plan_with(bad, together(list)) : bad.on(list.c_str());
                for (Method method : {Method::alias, Method::its, Method::alias}) {
                    const Outcome a = draw(cpu.get(), biased, method, ask), b = draw(gpus.get(), biased, method, ask);
                    EXPECT_EQ(CSAW_EBIAS, a.status) << reference::name_of(method);
                    EXPECT_EQ(CSAW_EBIAS, b.status) << reference::name_of(method);
                    EXPECT_EQ(a.message, b.message);
                    EXPECT_EQ(words_of(cpu.get(), uniform, Method::uniform, ask),
                              words_of(gpus.get(), uniform, Method::uniform, ask));
                }
            }
    }
}

TEST_F(MultiGpu, AGraphWithoutArcs) {
    for (csaw_vertex vertices : {0u, 1u, 101u}) {
        const Graph none = reference::graph_of("no arcs", vertices, {}, true);
        const Plans empty = {none.csr()};
        const auto cpu = empty.on("cpu");
        for (const std::string &list : lists())
            for (bool joint : {false, true}) {
                if (joint && !may_be_together(list)) continue;
                const auto gpus = joint ? plan_with(empty, together(list)) : empty.on(list.c_str());
                for (const Case &each : all())
                    for (Method method : methods_of(each, empty.csr)) {
                        if (!reference::takes_case()) continue;
                        SCOPED_TRACE(list + (joint ? " together, " : ", ") + each.name + ", " +
                                     reference::name_of(method) + ", " + std::to_string(vertices) + " vertices");
                        Ask ask = ask_for(each, 12);
                        if (vertices < 101) ask.pools = Pools(vertices, {0});
                        const Outcome a = draw(cpu.get(), each, method, ask), b = draw(gpus.get(), each, method, ask);
                        EXPECT_EQ(a.status, b.status);
                        EXPECT_EQ(a.message, b.message);
                        if (a.samples && b.samples) {
                            EXPECT_TRUE(equal_bits(a.samples.get(), b.samples.get(), each.walk));
                        }
                        ASSERT_FALSE(HasFailure());
                    }
            }
    }
}

TEST_F(MultiGpu, EveryAllocationFailsInTurn) {
    const auto cpu = plans.on("cpu");
    const std::string list = lists()[count_gpus() < 2 ? 0 : 2];
    for (const auto &[each, method] :
         {std::pair<Case, Method>{walks()[1], Method::reject}, {samples()[0], Method::uniform}}) {
        SCOPED_TRACE(each.name);
        const Ask ask = ask_for(each, 12);
        Taken expected;
        ASSERT_EQ(CSAW_OK, draw_each(cpu.get(), each, method, ask, 150, &expected)) << csaw_last_error();
        for (uint64_t n = 1;; n += reference::step_of_share()) {
            const auto plan = plans.on(list.c_str()); // keeps nothing yet
            Taken taken, again;
            csaw__fail_allocations_from(n);
            const csaw_status status = draw_each(plan.get(), each, method, ask, 150, &taken);
            const uint64_t asked = csaw__allocations_counted();
            csaw__fail_allocations_from(0);
            ASSERT_LE(taken.words.size(), expected.words.size());
            EXPECT_TRUE(std::equal(taken.words.begin(), taken.words.end(), expected.words.begin()));
            if (status != CSAW_OK) {
                EXPECT_TRUE(status == CSAW_ENOMEM || status == CSAW_EDEVMEM) << csaw_last_error();
            } else {
                EXPECT_EQ(expected.words, taken.words);
            }
            ASSERT_EQ(CSAW_OK, draw_each(plan.get(), each, method, ask, 150, &again)) << csaw_last_error();
            EXPECT_EQ(expected.words, again.words) << "on the same plan";
            if (asked < n) {
                EXPECT_EQ(CSAW_OK, status);
                EXPECT_GT(n, 10u);
                break;
            }
            ASSERT_LT(n, 3000u);
        }
    }
}

TEST_F(MultiGpu, GpusThatAreNotThereAreNamed) {
    const std::string list = "cuda:0,cuda:" + std::to_string(count_gpus());
    const csaw_plan_options options = reference::plan_on(list.c_str(), 0, 0);
    csaw_plan *plan = nullptr;
    EXPECT_EQ(CSAW_EINVAL, csaw_plan_create(plans.graph.get(), &options, &plan));
    EXPECT_NE(std::string::npos, std::string(csaw_last_error()).find("does not exist")) << csaw_last_error();
}

TEST_F(MultiGpu, AllIsEveryGpu) {
    const auto plan = plans.on("all");
    EXPECT_EQ(count_gpus() < 2, plan->device != nullptr);
    EXPECT_EQ(count_gpus() < 2 ? 0 : count_gpus(), plan->gpus ? static_cast<int>(plan->gpus->count) : 0);
    for (int gpu = 0; gpu < count_gpus(); gpu++)
        EXPECT_NE(std::string::npos,
                  std::string(csaw_plan_explain(plan.get())).find("\ndevice      cuda:" + std::to_string(gpu) + " "))
            << csaw_plan_explain(plan.get());
}

// ---- a GPU that fails ---------------------------------------------------------

#define MUST(WHAT)                                                                                       \
    do {                                                                                                 \
        if (!(WHAT)) {                                                                                   \
            std::fprintf(stderr, "line %d: %s; last message: %s\n", __LINE__, #WHAT, csaw_last_error()); \
            std::exit(1);                                                                                \
        }                                                                                                \
    } while (0)

// A kernel of the last GPU traps, first of all in instance `from`. In a process of its own: the error stays with it.
void run_wild(const std::string &list, const std::string &name, bool walk, uint32_t from) {
    const Graph graph = starlet();
    const Plans plans = {graph.csr()};
    const csaw_sampler *own = nullptr;
    MUST(csaw_sampler_compile(CSAW_SOURCE_DIR "/tests/samplers/wild.c", &own) == CSAW_OK);
    const auto cpu = plans.on("cpu"), gpus = plans.on(list.c_str());
    const Case wild = {"wild", own, sample_cases::bytes_of(WildParams{2, from}), {}, walk, false, {}};
    Ask ask = ask_of(wild, {{0}, {1}, {55}, {99}}, 4, {2, 2});
    ask.each = 25;
    Taken whole, taken;
    MUST(draw_each(cpu.get(), wild, Method::its, ask, 1000, &whole) == CSAW_OK);
    MUST(draw_each(gpus.get(), wild, Method::its, ask, 1000, &taken) == CSAW_ECUDA);
    MUST(std::string(csaw_last_error()).find(name + ": cudaError") == 0);
    MUST(taken.words.size() < whole.words.size());
    MUST(std::equal(taken.words.begin(), taken.words.end(), whole.words.begin()));
    const uint64_t of_one = walk ? 1 + 5 + 4 : 0; // words of an instance
    MUST(!walk || taken.words.size() / of_one <= from);
    MUST(draw_each(cpu.get(), wild, Method::its, ask, 1000, &taken) == CSAW_OK);
    std::exit(0);
}

TEST(KernelErrorOnGpus, NamesTheGpuAndKeepsWhatWasDelivered) {
    SKIP_WITHOUT_GPU();
    GTEST_FLAG_SET(death_test_style, "threadsafe"); // a new process, not a copy of this one with its threads
    const bool two = count_gpus() > 1;
    for (bool walk : {true, false})
        for (uint32_t from : {0u, 99u}) // of the first share, of the last one's
            EXPECT_EXIT(
                run_wild(two ? "cuda:0,cuda:1" : "cuda:0,cuda:0", !two || from == 0 ? "cuda:0" : "cuda:1", walk, from),
                ::testing::ExitedWithCode(0), "");
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* tests/sample_test.cc - what csaw_sample answers to good and bad requests: options, seeds, batches, progress, hooks
 * that break their rules, memory that runs out. */
#include <csaw/samplers.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/sample_words.h"

extern "C" {
#include "runtime/base/memory.h"
#include "runtime/base/watch.h"
CSAW_DECLARE_SAMPLER(faulty);
CSAW_DECLARE_SAMPLER(restart);
CSAW_DECLARE_SAMPLER(by_degree);
CSAW_DECLARE_SAMPLER(closing);
}

namespace {

struct FaultyParams { // as in tests/samplers/faulty.c
    uint32_t rule, vertex, depth;
};

class Sample : public ::testing::Test {
  protected:
    void SetUp() override { // ring 0-1-2-3-4-0 with chord 1-3, and 5 isolated
        const csaw_vertex src[] = {0, 1, 2, 3, 4, 1}, dst[] = {1, 2, 3, 4, 0, 3};
        csaw_edges edges = {};
        edges.num_vertices = 6;
        edges.num_edges = 6;
        edges.src = src;
        edges.dst = dst;
        csaw_load_options load = {};
        load.size = sizeof load;
        load.undirected = true;
        ASSERT_EQ(CSAW_OK, csaw_graph_from_edges(&edges, &load, &graph)) << csaw_last_error();
        ASSERT_EQ(CSAW_OK, csaw_plan_create(graph, nullptr, &plan)) << csaw_last_error();
        run.size = sizeof run;
        run.depth = 6;
        run.seed = 3;
    }
    void TearDown() override {
        csaw_samples_free(samples);
        csaw_plan_free(plan);
        csaw_graph_free(graph);
    }
    std::vector<csaw_vertex> Path() {
        csaw_walks w;
        EXPECT_EQ(CSAW_OK, csaw_samples_walks(samples, CSAW_HOST, &w));
        return std::vector<csaw_vertex>(w.path, w.path + w.num_walks * (w.length + 1));
    }
    void ExpectError(csaw_status got, csaw_status want, std::initializer_list<const char *> parts) {
        EXPECT_EQ(want, got);
        for (const char *part : parts)
            EXPECT_NE(std::string::npos, std::string(csaw_last_error()).find(part)) << csaw_last_error();
        EXPECT_EQ(nullptr, samples);
    }
    csaw_graph *graph = nullptr;
    csaw_plan *plan = nullptr;
    csaw_samples *samples = nullptr;
    csaw_run_options run = {};
};

TEST_F(Sample, RefusesWhatItCannotDo) {
    const csaw_vertex out_of_range[] = {0, 6};
    const csaw_seeds seeds = {out_of_range, 2, nullptr};
    ExpectError(csaw_sample(plan, &csaw_uniform, nullptr, &seeds, &run, &samples), CSAW_EINVAL,
                {"seed 1", "vertex 6", "6 vertices"});
    run.depth = 1u << 24;
    ExpectError(csaw_sample(plan, &csaw_uniform, nullptr, nullptr, &run, &samples), CSAW_EINVAL,
                {"16777216", "16777215"});
    run.depth = 6;
    run.walks_per_seed = 0xffffffffu;
    const std::vector<csaw_vertex> many(257, 0);
    const csaw_seeds too_many = {many.data(), many.size(), nullptr};
    ExpectError(csaw_sample(plan, &csaw_uniform, nullptr, &too_many, &run, &samples), CSAW_EINVAL, {"2^40"});
    run.walks_per_seed = 0;
    run.size = sizeof run + 8;
    ExpectError(csaw_sample(plan, &csaw_uniform, nullptr, nullptr, &run, &samples), CSAW_EINVAL, {"size", "sizeof"});
    ExpectError(csaw_sample(nullptr, &csaw_uniform, nullptr, nullptr, nullptr, &samples), CSAW_EINVAL, {"NULL"});
}

TEST_F(Sample, RefusesMethodsThatDoNotFit) {
    run.select = CSAW_SELECT_UNIFORM;
    ExpectError(csaw_sample(plan, &csaw_node2vec, nullptr, nullptr, &run, &samples), CSAW_EINVAL,
                {"uniform", "edge_bias", "its"});
    run.select = CSAW_SELECT_ALIAS;
    ExpectError(csaw_sample(plan, &csaw_node2vec, nullptr, nullptr, &run, &samples), CSAW_EINVAL,
                {"alias", "edge_bias"});
    run.select = CSAW_SELECT_REJECT;
    ExpectError(csaw_sample(plan, &csaw_uniform, nullptr, nullptr, &run, &samples), CSAW_EINVAL, {"reject", "bounds"});
    ExpectError(csaw_sample(plan, &by_degree, nullptr, nullptr, &run, &samples), CSAW_EINVAL, {"reject", "no bounds"});
    run.select = (csaw_select)99;
    ExpectError(csaw_sample(plan, &csaw_uniform, nullptr, nullptr, &run, &samples), CSAW_EINVAL, {"99"});
}

TEST_F(Sample, RefusesParametersOutsideTheirCondition) {
    for (float bad : {0.0f, -1.0f, INFINITY, NAN}) {
        const csaw_node2vec_params params = {bad, 1};
        ExpectError(csaw_sample(plan, &csaw_node2vec, &params, nullptr, &run, &samples), CSAW_EINVAL,
                    {"node2vec", "p is"});
    }
    csaw_node2vec_params params;
    csaw_sampler_defaults(&csaw_node2vec, &params);
    EXPECT_EQ(1, params.p);
    EXPECT_EQ(1, params.q);
    EXPECT_EQ(CSAW_OK, csaw_sampler_set(&csaw_node2vec, &params, "q", "0.5"));
    EXPECT_EQ(0.5f, params.q);
    EXPECT_EQ(CSAW_EINVAL, csaw_sampler_set(&csaw_node2vec, &params, "q", "0.5x"));
    EXPECT_EQ(CSAW_EINVAL, csaw_sampler_set(&csaw_node2vec, &params, "r", "1"));
    EXPECT_NE(std::string::npos, std::string(csaw_last_error()).find("it has p, q"));
    EXPECT_EQ(0.5f, params.q);
    FaultyParams whole = {};
    EXPECT_EQ(CSAW_EINVAL, csaw_sampler_set(&faulty, &whole, "vertex", "4294967296"));
    EXPECT_EQ(CSAW_EINVAL, csaw_sampler_set(&faulty, &whole, "vertex", "-1"));
    EXPECT_EQ(CSAW_EINVAL, csaw_sampler_set(&faulty, &whole, "rule", "11"));
    EXPECT_EQ(CSAW_OK, csaw_sampler_set(&faulty, &whole, "vertex", "4294967295"));
    EXPECT_EQ(4294967295u, whole.vertex);
}

TEST_F(Sample, BuiltInParametersMatchTheHeader) {
    uint32_t count = 0;
    const csaw_param *p = csaw_sampler_params(&csaw_node2vec, &count);
    ASSERT_EQ(2u, count);
    EXPECT_EQ(sizeof(csaw_node2vec_params), csaw_sampler_params_size(&csaw_node2vec));
    EXPECT_EQ(offsetof(csaw_node2vec_params, p), p[0].offset);
    EXPECT_EQ(offsetof(csaw_node2vec_params, q), p[1].offset);
    EXPECT_EQ(&csaw_node2vec, csaw_sampler_find("node2vec"));
    EXPECT_EQ(nullptr, csaw_sampler_find("no such"));
}

TEST_F(Sample, IsolatedVerticesEndAtOnce) {
    ASSERT_EQ(CSAW_OK, csaw_sample(plan, &csaw_uniform, nullptr, nullptr, &run, &samples)) << csaw_last_error();
    const std::vector<csaw_vertex> path = Path();
    EXPECT_EQ(5u, path[5 * 7]);
    for (int s = 1; s <= 6; s++) EXPECT_EQ(CSAW_NONE, path[5 * 7 + s]);
    for (int w = 0; w < 5; w++)
        for (int s = 0; s <= 6; s++) EXPECT_LT(path[w * 7 + s], 5u);
}

TEST_F(Sample, RestartGoesToTheRootAndSaysNoEdge) {
    double r = 1;
    run.edges = true;
    ASSERT_EQ(CSAW_OK, csaw_sample(plan, &restart, &r, nullptr, &run, &samples)) << csaw_last_error();
    csaw_walks w;
    ASSERT_EQ(CSAW_OK, csaw_samples_walks(samples, CSAW_HOST, &w));
    for (uint64_t i = 0; i < w.num_walks; i++) // vertex 5 has no arc: dead_end brings it back too
        for (uint32_t s = 0; s < w.length; s++) {
            EXPECT_EQ(i, w.path[i * 7 + s + 1]);
            EXPECT_EQ(CSAW_NO_EDGE, w.edge[i * 6 + s]);
        }
}

TEST_F(Sample, RestartHappensAsOftenAsAsked) { // 6 * 20000 * 1 draws of a coin of 1/4: 5 standard deviations
    double r = 0.25;
    run.walks_per_seed = 20000;
    run.depth = 1;
    ASSERT_EQ(CSAW_OK, csaw_sample(plan, &restart, &r, nullptr, &run, &samples)) << csaw_last_error();
    const std::vector<csaw_vertex> path = Path();
    double back = 0, total = 0;
    for (size_t i = 0; i < path.size(); i += 2)
        if (path[i] != 5) back += path[i] == path[i + 1], total++;
    EXPECT_NEAR(0.25, back / total, 5 * std::sqrt(0.25 * 0.75 / total));
}

TEST_F(Sample, BrokenHooksAreNamedByTheLowestInstanceDepthEdge) {
    const csaw_csr csr = csaw_graph_csr(graph);
    const csaw_vertex roots[] = {0, 4, 2}; // walks from 4 and 2 alone can meet 3 on their first step; 4 comes first
    const csaw_seeds seeds = {roots, 3, nullptr};
    csaw_edge edge = csr.rowptr[4];
    while (csr.col[edge] != 3) edge++;
    const std::string where = "instance 1, depth 0, edge " + std::to_string(edge) + " (4 -> 3)";
    run.depth = 1;
    run.select = CSAW_SELECT_ITS; // evaluates every arc of the row
    const char *const said[] = {"", "edge_bias is -1", "edge_bias is nan", "edge_bias is inf"};
    for (uint32_t rule = 1; rule <= 3; rule++)
        for (int threads : {1, 2, 5}) {
            csaw_plan_free(plan);
            plan = nullptr;
            csaw_plan_options options = {};
            options.size = sizeof options;
            options.threads = threads;
            ASSERT_EQ(CSAW_OK, csaw_plan_create(graph, &options, &plan));
            const FaultyParams params = {rule, 3, 0};
            ExpectError(csaw_sample(plan, &faulty, &params, &seeds, &run, &samples), CSAW_EBIAS,
                        {"sampler 'faulty'", where.c_str(), said[rule]});
        }
    const FaultyParams none = {0, 3, 0};
    EXPECT_EQ(CSAW_OK, csaw_sample(plan, &faulty, &none, &seeds, &run, &samples)) << csaw_last_error();
}

TEST_F(Sample, PartitionsNameTheSameFault) {
    const FaultyParams params = {1, 3, 2};
    run.select = CSAW_SELECT_ITS;
    EXPECT_EQ(CSAW_EBIAS, csaw_sample(plan, &faulty, &params, nullptr, &run, &samples));
    const std::string whole = csaw_last_error();
    csaw_plan_options options = {};
    options.size = sizeof options;
    options.partitions = 3;
    csaw_plan_free(plan);
    plan = nullptr;
    ASSERT_EQ(CSAW_OK, csaw_plan_create(graph, &options, &plan));
    EXPECT_EQ(CSAW_EBIAS, csaw_sample(plan, &faulty, &params, nullptr, &run, &samples));
    EXPECT_EQ(whole, csaw_last_error());
}

TEST_F(Sample, HooksMayNotLeaveTheGraph) {
    run.select = CSAW_SELECT_ITS;
    FaultyParams params = {6, 3, 0};
    ExpectError(csaw_sample(plan, &faulty, &params, nullptr, &run, &samples), CSAW_EBIAS,
                {"update", "vertex 11", "0 .. 5"});
    params = {7, 5, 0};
    ExpectError(csaw_sample(plan, &faulty, &params, nullptr, &run, &samples), CSAW_EBIAS,
                {"dead_end", "instance 5, depth 0, at vertex 5", "vertex 6"});
}

TEST_F(Sample, CheckModeComparesHooksWithTraits) {
    run.check = true;
    FaultyParams params = {0, 3, 0};
    ASSERT_EQ(CSAW_OK, csaw_sample(plan, &faulty, &params, nullptr, &run, &samples)) << csaw_last_error();
    const std::vector<csaw_vertex> checked = Path();
    csaw_samples_free(samples);
    samples = nullptr;
    run.check = false;
    ASSERT_EQ(CSAW_OK, csaw_sample(plan, &faulty, &params, nullptr, &run, &samples)) << csaw_last_error();
    EXPECT_EQ(checked, Path());
    csaw_samples_free(samples);
    samples = nullptr;
    run.check = true;
    params = {4, 3, 0}; // factor 3 where bounds say at most 2
    ExpectError(csaw_sample(plan, &faulty, &params, nullptr, &run, &samples), CSAW_EBIAS,
                {"edge_bias is 3", "bound 2", "instance"});
    params = {5, 3, 0}; // static_bias that changes with depth
    ExpectError(csaw_sample(plan, &faulty, &params, nullptr, &run, &samples), CSAW_EBIAS,
                {"static_bias is 2", "was 1", "depth 1", "edge"});
    params = {0, 3, 0};
    run.select = CSAW_SELECT_ITS;
    EXPECT_EQ(CSAW_OK, csaw_sample(plan, &by_degree, nullptr, nullptr, &run, &samples)) << csaw_last_error();
}

TEST_F(Sample, BadWeightsAreAnErrorOnlyWhereEvaluated) {
    const csaw_edge rowptr[] = {0, 1, 2, 3};
    const csaw_vertex col[] = {1, 0, 0};
    const float weight[] = {1, 1, NAN};
    csaw_csr csr = {};
    csr.num_vertices = 3;
    csr.num_edges = 3;
    csr.rowptr = rowptr;
    csr.col = col;
    csr.weight = weight;
    csaw_graph *bad = nullptr;
    csaw_plan *p = nullptr;
    ASSERT_EQ(CSAW_OK, csaw_graph_from_csr(&csr, &bad)) << csaw_last_error();
    ASSERT_EQ(CSAW_OK, csaw_plan_create(bad, nullptr, &p));
    const csaw_vertex root = 0;
    const csaw_seeds one = {&root, 1, nullptr};
    run.select = CSAW_SELECT_ITS; // the walk 0 1 0 1 never sees the arc of vertex 2
    EXPECT_EQ(CSAW_OK, csaw_sample(p, &csaw_node2vec, nullptr, &one, &run, &samples)) << csaw_last_error();
    csaw_samples_free(samples);
    samples = nullptr;
    ExpectError(csaw_sample(p, &csaw_node2vec, nullptr, nullptr, &run, &samples), CSAW_EBIAS,
                {"static_bias is nan", "instance 2, depth 0, edge 2 (2 -> 0)"});
    run.select = CSAW_SELECT_REJECT; // tables evaluate every arc
    ExpectError(csaw_sample(p, &csaw_node2vec, nullptr, &one, &run, &samples), CSAW_EBIAS,
                {"static_bias is nan", "edge 2 (2 -> 0)"});
    csaw_plan_free(p);
    csaw_graph_free(bad);
}

TEST_F(Sample, EmptyGraphAndNoSeeds) {
    csaw_edges none = {};
    csaw_graph *empty = nullptr;
    csaw_plan *p = nullptr;
    csaw_walks w;
    ASSERT_EQ(CSAW_OK, csaw_graph_from_edges(&none, nullptr, &empty)) << csaw_last_error();
    for (int partitions : {1, 3}) {
        csaw_plan_options options = {};
        options.size = sizeof options;
        options.partitions = partitions;
        ASSERT_EQ(CSAW_OK, csaw_plan_create(empty, &options, &p)) << csaw_last_error();
        ASSERT_EQ(CSAW_OK, csaw_sample(p, &csaw_uniform, nullptr, nullptr, &run, &samples)) << csaw_last_error();
        ASSERT_EQ(CSAW_OK, csaw_samples_walks(samples, CSAW_HOST, &w));
        EXPECT_EQ(0u, w.num_walks);
        csaw_samples_free(samples);
        samples = nullptr;
        csaw_plan_free(p);
    }
    csaw_graph_free(empty);
    const csaw_vertex root = 0;
    const csaw_seeds no_seeds = {&root, 0, nullptr};
    ASSERT_EQ(CSAW_OK, csaw_sample(plan, &csaw_uniform, nullptr, &no_seeds, &run, &samples)) << csaw_last_error();
    ASSERT_EQ(CSAW_OK, csaw_samples_walks(samples, CSAW_HOST, &w));
    EXPECT_EQ(0u, w.num_walks);
}

struct Progress {
    uint64_t calls = 0, last = 0, stop_at = ~0ull, batches = 0;
    std::thread::id thread = std::this_thread::get_id();
};

bool Report(void *user, uint64_t done, uint64_t) {
    Progress *p = static_cast<Progress *>(user);
    EXPECT_EQ(p->thread, std::this_thread::get_id());
    EXPECT_GE(done, p->last);
    p->calls++;
    p->last = done;
    return done < p->stop_at;
}

csaw_status Count(void *user, csaw_samples *) {
    static_cast<Progress *>(user)->batches++;
    return CSAW_OK;
}

csaw_status Refuse(void *, csaw_samples *) { return CSAW_EIO; }

TEST_F(Sample, EachReportsProgressAndStops) {
    Progress p;
    run.progress = Report;
    run.user = &p;
    run.walks_per_seed = 10;
    run.batch_bytes = 7 * 28; // seven walks of seven vertices
    ASSERT_EQ(CSAW_OK, csaw_sample_each(plan, &csaw_uniform, nullptr, nullptr, &run, Count, &p)) << csaw_last_error();
    EXPECT_EQ(9u, p.batches);
    EXPECT_EQ(60u, p.last);
    p = Progress();
    p.stop_at = 20;
    EXPECT_EQ(CSAW_ESTOPPED, csaw_sample_each(plan, &csaw_uniform, nullptr, nullptr, &run, Count, &p));
    EXPECT_EQ(3u, p.batches);
    run.progress = nullptr;
    EXPECT_EQ(CSAW_EIO, csaw_sample_each(plan, &csaw_uniform, nullptr, nullptr, &run, Refuse, nullptr));
}

// A batch that the CPU draws: who waits is told how far it is, and may stop it.
class SampleHeard : public Sample, public ::testing::WithParamInterface<int> { // threads
  protected:
    void SetUp() override {
        Sample::SetUp();
        csaw_plan_options options = {};
        options.size = sizeof options;
        options.threads = GetParam();
        csaw_plan_free(std::exchange(plan, nullptr));
        ASSERT_EQ(CSAW_OK, csaw_plan_create(graph, &options, &plan)) << csaw_last_error();
        run.walks_per_seed = 2000;
        csaw__watch_every(0);
    }
    void TearDown() override {
        csaw__watch_every(100000000);
        Sample::TearDown();
    }
    bool alone() const { return GetParam() == 1; } // else the other threads may draw all, and nobody is asked
};

TEST_P(SampleHeard, OfOneBatch) {
    const uint32_t fanout[] = {2, 2};
    for (const csaw_sampler *sampler : {&csaw_uniform, &csaw_neighbor}) {
        Progress p;
        std::vector<uint64_t> want, got;
        run.fanout = sampler == &csaw_neighbor ? fanout : nullptr;
        run.depth = run.fanout ? 2 : 6;
        run.edges = !run.fanout;
        run.progress = nullptr;
        ASSERT_EQ(CSAW_OK, csaw_sample(plan, sampler, nullptr, nullptr, &run, &samples)) << csaw_last_error();
        ASSERT_EQ(CSAW_OK, sample_words::take_words(samples, !run.fanout, &want));
        csaw_samples_free(std::exchange(samples, nullptr));
        run.progress = Report;
        run.user = &p;
        p.stop_at = 1;
        ExpectError(csaw_sample(plan, sampler, nullptr, nullptr, &run, &samples), CSAW_ESTOPPED, {"progress callback"});
        const std::string after = "after " + std::to_string(p.last) + " of 12000";
        EXPECT_NE(std::string::npos, std::string(csaw_last_error()).find(after)) << csaw_last_error();
        EXPECT_LT(0u, p.last);
        if (alone()) {
            EXPECT_GT(12000u, p.last);
        }
        p = Progress(); // the plan is as it was
        ASSERT_EQ(CSAW_OK, csaw_sample(plan, sampler, nullptr, nullptr, &run, &samples)) << csaw_last_error();
        if (alone()) {
            EXPECT_LT(2u, p.calls);
        }
        EXPECT_EQ(12000u, p.last);
        ASSERT_EQ(CSAW_OK, sample_words::take_words(samples, !run.fanout, &got));
        EXPECT_TRUE(want == got);
        csaw_samples_free(std::exchange(samples, nullptr));
    }
}

TEST_P(SampleHeard, OfSeveral) {
    Progress p;
    run.progress = Report;
    run.user = &p;
    run.batch_bytes = 3000 * 28; // 3,000 walks of seven vertices
    p.stop_at = 3001;
    EXPECT_EQ(CSAW_ESTOPPED, csaw_sample_each(plan, &csaw_uniform, nullptr, nullptr, &run, Count, &p));
    EXPECT_LT(3000u, p.last);
    if (!alone()) return;
    EXPECT_EQ(1u, p.batches) << "the second was stopped while it was drawn";
    EXPECT_GT(6000u, p.last);
}

// The progress function may call csaw, but for the plan that draws, and set or take away the thread's watch.
bool MakeAGraph(void *user, uint64_t, uint64_t) {
    Progress *p = static_cast<Progress *>(user);
    EXPECT_EQ(0u, p->batches++) << "asked while it was asked";
    csaw_rmat_options options = {};
    csaw_graph *made = nullptr;
    options.size = sizeof options;
    options.scale = 6;
    EXPECT_EQ(CSAW_OK, csaw_graph_rmat(&options, &made)) << csaw_last_error();
    csaw_graph_free(made);
    csaw_watch(nullptr, nullptr);
    p->calls++;
    p->batches--;
    return true;
}

TEST_P(SampleHeard, MayCallCsaw) {
    Progress p;
    run.progress = MakeAGraph;
    run.user = &p;
    run.walks_per_seed = 200;
    ASSERT_EQ(CSAW_OK, csaw_sample(plan, &csaw_uniform, nullptr, nullptr, &run, &samples)) << csaw_last_error();
    EXPECT_LE(alone() ? 3u : 2u, p.calls);
}

INSTANTIATE_TEST_SUITE_P(Threads, SampleHeard, ::testing::Values(1, 2));

TEST_F(Sample, DeviceViewsNeedADevice) {
    ASSERT_EQ(CSAW_OK, csaw_sample(plan, &csaw_uniform, nullptr, nullptr, &run, &samples));
    csaw_walks w = {};
    EXPECT_EQ(CSAW_EUNSUPPORTED, csaw_samples_walks(samples, CSAW_DEVICE, &w));
    EXPECT_EQ(nullptr, w.path);
}

TEST_F(Sample, PlansRefuseWhatTheyDoNotKnow) {
    csaw_plan *p = nullptr;
    csaw_plan_options options = {};
    options.size = sizeof options;
    for (const char *device : {"gpu", "cuda0", "cuda:", "cuda:x", "cuda:0x", "cuda:-1"}) {
        options.device = device;
        EXPECT_EQ(CSAW_EINVAL, csaw_plan_create(graph, &options, &p)) << device;
    }
    options.device = "cpu";
    options.threads = -1;
    EXPECT_EQ(CSAW_EINVAL, csaw_plan_create(graph, &options, &p));
    options.threads = 0;
    options.partitions = -1;
    EXPECT_EQ(CSAW_EINVAL, csaw_plan_create(graph, &options, &p));
    EXPECT_EQ(nullptr, p);
    EXPECT_NE(nullptr, std::strstr(csaw_plan_explain(plan), "6 vertices, 12 arcs"));
}

TEST_F(Sample, HooksAskOnlyWhatTheyDeclared) {
    run.select = CSAW_SELECT_ITS;
    FaultyParams params = {8, 3, 1};
    ExpectError(csaw_sample(plan, &faulty, &params, nullptr, &run, &samples), CSAW_EBIAS,
                {"csaw_adjacent", "CSAW_SECOND_ORDER"});
    params.rule = 9; // the degree of no vertex is 0, and nothing breaks
    params.depth = 0;
    EXPECT_EQ(CSAW_OK, csaw_sample(plan, &faulty, &params, nullptr, &run, &samples)) << csaw_last_error();
}

TEST_F(Sample, UpdateMayAskForAdjacencyOnPartitionsToo) {
    run.walks_per_seed = 50;
    for (csaw_select select : {CSAW_SELECT_ITS, CSAW_SELECT_REJECT, CSAW_SELECT_RACE}) {
        run.select = select;
        ASSERT_EQ(CSAW_OK, csaw_sample(plan, &closing, nullptr, nullptr, &run, &samples)) << csaw_last_error();
        const std::vector<csaw_vertex> whole = Path();
        csaw_samples_free(samples);
        samples = nullptr;
        csaw_plan *parts = nullptr;
        csaw_plan_options options = {};
        options.size = sizeof options;
        options.partitions = 3;
        ASSERT_EQ(CSAW_OK, csaw_plan_create(graph, &options, &parts));
        ASSERT_EQ(CSAW_OK, csaw_sample(parts, &closing, nullptr, nullptr, &run, &samples)) << csaw_last_error();
        EXPECT_EQ(whole, Path()) << csaw_select_name(select);
        csaw_samples_free(samples);
        samples = nullptr;
        csaw_plan_free(parts);
    }
}

TEST_F(Sample, MoreThanAnAddressSpaceIsRefused) {
    run.walks_per_seed = 1u << 30;
    run.depth = (1u << 24) - 1;
    const std::vector<csaw_vertex> roots(1024, 0);
    const csaw_seeds seeds = {roots.data(), roots.size(), nullptr}; // 2^40 walks of 2^24 places: 2^64
    ExpectError(csaw_sample(plan, &csaw_uniform, nullptr, &seeds, &run, &samples), CSAW_ENOMEM, {"csaw_sample_each"});
}

TEST_F(Sample, SeedsWithoutAnArrayAreTheFirstVertices) {
    csaw_seeds seeds = {nullptr, 7, nullptr};
    ExpectError(csaw_sample(plan, &csaw_uniform, nullptr, &seeds, &run, &samples), CSAW_EINVAL,
                {"7 seeds", "the graph has 6"});
    for (uint64_t count : {0, 5}) {
        csaw_walks w;
        seeds.count = count;
        ASSERT_EQ(CSAW_OK, csaw_sample(plan, &csaw_uniform, nullptr, &seeds, &run, &samples)) << csaw_last_error();
        ASSERT_EQ(CSAW_OK, csaw_samples_walks(samples, CSAW_HOST, &w));
        ASSERT_EQ(count, w.num_walks);
        for (uint64_t i = 0; i < count; i++) EXPECT_EQ(i, w.path[i * w.path_walk_stride]);
        csaw_samples_free(samples);
        samples = nullptr;
    }
}

TEST_F(Sample, ASamplerLoadedWhereAnotherWasGetsItsOwnTables) {
    const char *const text =
        "#include <csaw/sampler.h>\n"
        "CSAW_FN float keep(const csaw_site *s, const csaw_arc *a) { (void)s; return a->dst == %d; }\n"
        "CSAW_SAMPLER(only, csaw_no_params, .static_bias = keep);\n";
    const csaw_vertex root = 1; // its neighbours are 0, 2, 3
    const csaw_seeds seeds = {&root, 1, nullptr};
    run.depth = 1;
    for (int allowed : {0, 2, 3, 0}) {
        const std::string path = ::testing::TempDir() + "csaw_only.c";
        FILE *file = fopen(path.c_str(), "w");
        ASSERT_NE(nullptr, file);
        fprintf(file, text, allowed);
        fclose(file);
        const csaw_sampler *only = nullptr;
        ASSERT_EQ(CSAW_OK, csaw_sampler_compile(path.c_str(), &only)) << csaw_last_error();
        ASSERT_EQ(CSAW_OK, csaw_sample(plan, only, nullptr, &seeds, &run, &samples)) << csaw_last_error();
        EXPECT_EQ((csaw_vertex)allowed, Path()[1]);
        csaw_samples_free(samples);
        samples = nullptr;
        csaw_sampler_unload(only);
    }
}

csaw_status Look(void *, csaw_samples *samples) {
    csaw_walks w;
    return csaw_samples_walks(samples, CSAW_HOST, &w);
}

/* Every request for memory fails in turn, in every engine, with tables and without: a clean error, and the leak checker
 * sees the rest. */
TEST_F(Sample, EveryAllocationFails) {
    csaw_csr csr = csaw_graph_csr(graph);
    std::vector<float> weight(csr.num_edges);
    for (size_t e = 0; e < weight.size(); e++) weight[e] = 1 + (float)(e % 5);
    csr.weight = weight.data();
    csaw_graph *weighted = nullptr;
    ASSERT_EQ(CSAW_OK, csaw_graph_borrow_csr(&csr, &weighted));
    const csaw_node2vec_params params = {0.25f, 4};
    run.edges = true;
    for (csaw_select select : {CSAW_SELECT_ITS, CSAW_SELECT_REJECT})
        for (int mode = 0; mode < 4; mode++) { // whole, in partitions, in batches, checked
            csaw_plan_options options = {};
            options.size = sizeof options;
            options.partitions = mode == 1 ? 3 : 0;
            run.select = select;
            run.check = mode == 3;
            run.batch_bytes = 200;
            for (uint64_t n = 1;; n++) {
                csaw_plan *p = nullptr;
                csaw_samples *s = nullptr;
                csaw__fail_allocations_from(n);
                csaw_status status = csaw_plan_create(weighted, &options, &p);
                if (status == CSAW_OK)
                    status = mode == 2 ? csaw_sample_each(p, &csaw_node2vec, &params, nullptr, &run, Look, nullptr)
                                       : csaw_sample(p, &csaw_node2vec, &params, nullptr, &run, &s);
                const uint64_t asked = csaw__allocations_counted();
                csaw__fail_allocations_from(0);
                csaw_samples_free(s);
                csaw_plan_free(p);
                if (status == CSAW_OK) {
                    EXPECT_LT(asked, n);
                    EXPECT_GT(n, 4u);
                    break;
                }
                ASSERT_EQ(CSAW_ENOMEM, status) << csaw_last_error();
                ASSERT_LT(n, 1000u);
            }
        }
    csaw_graph_free(weighted);
}

} // namespace

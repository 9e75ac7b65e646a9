/* SPDX-License-Identifier: MIT */
/* tests/watch_test.cc - csaw_watch(): every long call is stopped at its first question, its second and so on, until one
 * is left that asks no more; what it leaves behind is what a sanitizer finds. */
#include <csaw/samplers.h>
#include <csaw/training.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "runtime/base/watch.h"
}

namespace {

struct Asked {
    uint64_t times = 0, stop_at = 0; // 0 = never
    std::thread::id thread = std::this_thread::get_id();
};

bool answer(void *user) {
    Asked *const asked = static_cast<Asked *>(user);
    EXPECT_EQ(asked->thread, std::this_thread::get_id());
    return ++asked->times != asked->stop_at;
}

struct Watch {
    explicit Watch(Asked *asked) { csaw_watch(answer, asked); }
    ~Watch() { csaw_watch(nullptr, nullptr); }
    Watch(const Watch &) = delete;
    Watch &operator=(const Watch &) = delete;
};

csaw_graph *rmat(uint32_t scale, bool weighted) {
    csaw_rmat_options options = {};
    options.size = sizeof options;
    options.scale = scale;
    options.weighted = weighted;
    csaw_graph *graph = nullptr;
    EXPECT_EQ(csaw_graph_rmat(&options, &graph), CSAW_OK) << csaw_last_error();
    return graph;
}

class WatchTest : public testing::Test {
  protected:
    void SetUp() override {
        csaw__watch_every(0);
        graph = rmat(12, true);
    }
    void TearDown() override {
        csaw_graph_free(graph);
        csaw__watch_every(100000000);
    }
    // A call that makes a graph, or whose graph is the one before; it frees what it made.
    void stops(const std::string &what, const std::function<csaw_status()> &call) {
        uint64_t stopped = 0;
        for (uint64_t at = 1;; at += 1 + at / 8) {
            Asked asked;
            asked.stop_at = at;
            const Watch watch(&asked);
            const csaw_status status = call();
            if (status == CSAW_OK) {
                EXPECT_LT(asked.times, at) << what;
                break;
            }
            ASSERT_EQ(status, CSAW_ESTOPPED) << what << ": " << csaw_last_error();
            EXPECT_EQ(asked.times, at) << what << " asked again after no";
            EXPECT_NE(std::string(csaw_last_error()).find("csaw_watch"), std::string::npos);
            stopped++;
        }
        EXPECT_GE(stopped, 1u) << what << " asks nobody";
    }
    // The same of a call with a place for a graph, left alone if it is stopped.
    void makes(const std::string &what, const std::function<csaw_status(csaw_graph **)> &call) {
        stops(what, [&] {
            csaw_graph *const untouched = graph;
            csaw_graph *made = untouched;
            const csaw_status status = call(&made);
            EXPECT_EQ(made == untouched, status != CSAW_OK) << what;
            if (status == CSAW_OK) csaw_graph_free(made);
            return status;
        });
    }
    csaw_graph *graph = nullptr;
};

TEST_F(WatchTest, GraphsThatAreGenerated) {
    csaw_rmat_options options = {};
    options.size = sizeof options;
    options.scale = 12;
    options.weighted = true;
    makes("rmat", [&](csaw_graph **out) { return csaw_graph_rmat(&options, out); });
    csaw_random_graph_options random = {};
    random.size = sizeof random;
    random.num_vertices = 300;
    for (uint64_t edges : {20000, 40000}) { // the second by those that are left out
        random.num_edges = edges;
        makes("erdos_renyi", [&](csaw_graph **out) { return csaw_graph_erdos_renyi(&random, out); });
    }
    const std::vector<uint32_t> degree(5000, 8);
    random = {};
    random.size = sizeof random;
    random.degree = degree.data();
    random.num_degrees = degree.size();
    makes("configuration", [&](csaw_graph **out) { return csaw_graph_configuration(&random, out); });
}

TEST_F(WatchTest, GraphsMadeOfGraphs) {
    makes("transpose", [&](csaw_graph **out) { return csaw_graph_transpose(graph, out); });
    makes("by_degree", [&](csaw_graph **out) { return csaw_graph_by_degree(graph, out); });
    csaw_csr csr = csaw_graph_csr(graph);
    const std::vector<uint32_t> type(csr.num_edges, 3);
    csr.type = type.data();
    csaw_graph *typed = nullptr;
    ASSERT_EQ(csaw_graph_borrow_csr(&csr, &typed), CSAW_OK);
    makes("by_degree, with types", [&](csaw_graph **out) { return csaw_graph_by_degree(typed, out); });
    csaw_graph_free(typed);
    std::vector<csaw_vertex> src;
    for (uint64_t v = 0; v < csr.num_vertices; v++) src.insert(src.end(), csr.rowptr[v + 1] - csr.rowptr[v], v);
    csaw_edges edges = {};
    edges.num_edges = csr.num_edges;
    edges.src = src.data();
    edges.dst = csr.col;
    csr = csaw_graph_csr(graph);
    makes("from_csr", [&](csaw_graph **out) { return csaw_graph_from_csr(&csr, out); });
    makes("from_edges", [&](csaw_graph **out) { return csaw_graph_from_edges(&edges, nullptr, out); });
}

TEST_F(WatchTest, Files) {
    const std::string path = testing::TempDir() + "watched.txt", words = testing::TempDir() + "watched_words.txt";
    stops("save", [&] { return csaw_graph_save(graph, path.c_str()); });
    makes("load", [&](csaw_graph **out) { return csaw_graph_load(path.c_str(), nullptr, out); });
    FILE *const file = fopen(words.c_str(), "w");
    ASSERT_NE(file, nullptr);
    for (int i = 0; i < 3000; i++) fprintf(file, "a%d b%d\n", i % 700, i % 997);
    fclose(file);
    makes("load words", [&](csaw_graph **out) { return csaw_graph_load(words.c_str(), nullptr, out); });
    remove(words.c_str());
    remove(path.c_str());
    { // a save that is stopped leaves no file
        Asked asked;
        asked.stop_at = 5;
        const Watch watch(&asked);
        EXPECT_EQ(csaw_graph_save(graph, path.c_str()), CSAW_ESTOPPED);
    }
    EXPECT_EQ(fopen(path.c_str(), "r"), nullptr);
}

TEST_F(WatchTest, TablesNegativesSubgraphs) {
    csaw_run_options run = {};
    run.size = sizeof run;
    run.depth = 2;
    csaw_plan *plan = nullptr;
    stops("alias tables", [&] {
        csaw_samples *samples = nullptr;
        csaw_plan *fresh = nullptr;
        csaw_status status = csaw_plan_create(graph, nullptr, &fresh);
        if (status == CSAW_OK) status = csaw_sample(fresh, &csaw_biased, nullptr, nullptr, &run, &samples);
        csaw_samples_free(samples);
        csaw_plan_free(fresh);
        return status;
    });
    ASSERT_EQ(csaw_plan_create(graph, nullptr, &plan), CSAW_OK);
    { // a plan whose tables were stopped makes them the next time
        Asked asked;
        asked.stop_at = 2;
        const Watch watch(&asked);
        csaw_samples *samples = nullptr;
        EXPECT_EQ(csaw_sample(plan, &csaw_biased, nullptr, nullptr, &run, &samples), CSAW_ESTOPPED);
    }
    csaw_samples *samples = nullptr;
    ASSERT_EQ(csaw_sample(plan, &csaw_biased, nullptr, nullptr, &run, &samples), CSAW_OK);
    csaw_samples_free(samples);

    csaw_negative_options options = {};
    options.size = sizeof options;
    options.power = .75;
    const std::vector<csaw_vertex> src(1000, 1);
    std::vector<csaw_vertex> dst(src.size() * 4);
    csaw_negatives *negatives = nullptr;
    stops("negatives_create", [&] {
        csaw_negatives *made = nullptr;
        const csaw_status status = csaw_negatives_create(graph, &options, &made);
        csaw_negatives_free(made);
        return status;
    });
    ASSERT_EQ(csaw_negatives_create(graph, &options, &negatives), CSAW_OK);
    stops("negatives_draw",
          [&] { return csaw_negatives_draw(negatives, 1, 0, src.data(), src.size(), 4, dst.data()); });
    csaw_negatives_free(negatives);

    const uint32_t fanout[] = {10};
    run.depth = 1;
    run.fanout = fanout;
    ASSERT_EQ(csaw_sample(plan, &csaw_neighbor, nullptr, nullptr, &run, &samples), CSAW_OK);
    for (const bool induced : {false, true})
        stops("subgraph", [&] {
            csaw_subgraph_options subgraph = {};
            subgraph.size = sizeof subgraph;
            subgraph.induced = induced;
            csaw_subgraph *made = nullptr;
            const csaw_status status = csaw_subgraph_create(graph, samples, &subgraph, &made);
            csaw_subgraph_free(made);
            return status;
        });
    csaw_samples_free(samples);
    csaw_plan_free(plan);
}

TEST_F(WatchTest, WalksAndSamples) {
    const uint32_t fanout[] = {3, 2};
    csaw_plan *plan = nullptr;
    csaw_plan_options options = {};
    options.size = sizeof options;
    options.threads = 1; // of several another may draw all
    ASSERT_EQ(csaw_plan_create(graph, &options, &plan), CSAW_OK);
    for (bool walk : {false, true}) {
        csaw_run_options run = {};
        run.size = sizeof run;
        run.depth = 2;
        run.fanout = walk ? nullptr : fanout;
        stops(walk ? "walks" : "samples", [&] {
            csaw_samples *samples = nullptr;
            const csaw_status status =
                csaw_sample(plan, walk ? &csaw_uniform : &csaw_neighbor, nullptr, nullptr, &run, &samples);
            EXPECT_EQ(samples != nullptr, status == CSAW_OK);
            csaw_samples_free(samples);
            return status;
        });
    }
    csaw_plan_free(plan);
}

TEST_F(WatchTest, HoldsUntilTheNextAndForItsThreadAlone) {
    Asked asked;
    asked.stop_at = 1;
    csaw_watch(answer, &asked);
    csaw_graph *made = nullptr;
    EXPECT_EQ(csaw_graph_transpose(graph, &made), CSAW_ESTOPPED);
    EXPECT_EQ(csaw_graph_transpose(graph, &made), CSAW_ESTOPPED);
    EXPECT_EQ(asked.times, 1u);
    std::thread([&] { EXPECT_EQ(csaw_graph_transpose(graph, &made), CSAW_OK); }).join();
    csaw_graph_free(made);
    csaw_watch(nullptr, nullptr);
    EXPECT_EQ(csaw_graph_transpose(graph, &made), CSAW_OK);
    csaw_graph_free(made);
}

TEST_F(WatchTest, TenTimesASecondAtMost) {
    csaw__watch_every(3600ll * 1000000000);
    Asked asked;
    const Watch watch(&asked);
    csaw_graph_free(rmat(12, false));
    EXPECT_EQ(asked.times, 1u);
}

} // namespace

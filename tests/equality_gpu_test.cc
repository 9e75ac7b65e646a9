/* SPDX-License-Identifier: MIT */
/* tests/equality_gpu_test.cc - the bits are the same (P2) on a GPU: what tests/reference gives, seen from the host. */
#include "tests/equality.h"

using namespace equality;

namespace {

const csaw_plan_options gpu = plan_on("cuda:0", 0, 0);

#define SKIP_WITHOUT_GPU(CSR) \
    if (const std::string why = reference::no_gpu_because(CSR); !why.empty()) GTEST_SKIP() << "no GPU: " << why

class OnGpu : public ::testing::TestWithParam<std::string> {};

TEST_P(OnGpu, GivesTheReferencesBits) {
    const Graph graph = reference::small_graph(GetParam());
    SKIP_WITHOUT_GPU(graph.csr());
    expect_equal(graph.csr(), request_on(graph.csr(), 21), {gpu});
}

INSTANTIATE_TEST_SUITE_P(EqualityOnGpu, OnGpu, ::testing::ValuesIn(reference::small_graph_names()),
                         [](const auto &info) { return info.param; });

TEST(EqualityOnGpu, OnAHub) {
    const Graph hub = reference::hub_graph();
    SKIP_WITHOUT_GPU(hub.csr());
    expect_equal(hub.csr(), request_on_hub(), {gpu});
}

TEST(EqualityOnGpu, OnRmat) {
    for (bool weighted : {false, true}) {
        const OwnedGraph graph = rmat_graph(weighted);
        const csaw_csr csr = csaw_graph_csr(graph.get());
        SKIP_WITHOUT_GPU(csr);
        expect_equal(csr, one_walk_each(csr, 9), {gpu});
    }
}

TEST(EqualityOnGpu, OnVerticesByFallingDegree) { // rows are found by degree classes
    for (bool weighted : {false, true}) {
        const OwnedGraph graph = rmat_graph(weighted);
        SKIP_WITHOUT_GPU(csaw_graph_csr(graph.get()));
        csaw_graph *ordered = nullptr;
        ASSERT_EQ(CSAW_OK, csaw_graph_by_degree(graph.get(), &ordered)) << csaw_last_error();
        const csaw_csr csr = csaw_graph_csr(ordered);
        expect_equal(csr, one_walk_each(csr, 9), {gpu});
        csaw_graph_free(ordered);
    }
}

TEST(EqualityOnGpu, OnMoreDegreesThanThereAreClasses) { // row v: 0 .. steps - 1 - v; so each degree once, and 0
    const csaw_vertex steps = 1200;
    std::vector<csaw_edge> rowptr = {0};
    std::vector<csaw_vertex> col;
    for (csaw_vertex v = 0; v <= steps; v++) {
        for (csaw_vertex dst = 0; dst < steps - v; dst++) col.push_back(dst);
        rowptr.push_back(col.size());
    }
    csaw_csr csr = {};
    csr.num_vertices = rowptr.size() - 1;
    csr.num_edges = col.size();
    csr.rowptr = rowptr.data();
    csr.col = col.data();
    SKIP_WITHOUT_GPU(csr);
    expect_equal(csr, one_walk_each(csr, 3), {gpu});
}

TEST(EqualityOnGpu, OnRealGraphs) {
    for (const char *file : data_files) {
        const OwnedGraph graph = data_graph(file);
        if (!graph) GTEST_SKIP() << "set CSAW_DATA to the data folder, for " << file;
        const csaw_csr csr = csaw_graph_csr(graph.get());
        SKIP_WITHOUT_GPU(csr);
        expect_equal(csr, one_walk_each(csr, 6), {gpu});
    }
}

TEST(EqualityOnGpu, RejectMakes64Attempts) {
    SKIP_WITHOUT_GPU(reference::small_graph("star").csr());
    expect_64_attempts(gpu);
}

TEST(EqualityOnGpu, OfTheOtherWalks) {
    SKIP_WITHOUT_GPU(reference::small_graph("star").csr());
    expect_walks_equal({gpu});
}

TEST(EqualityOnGpu, OfSamplersWithEveryHook) {
    SKIP_WITHOUT_GPU(reference::small_graph("star").csr());
    expect_hooks_equal({gpu});
}

TEST(EqualityOnGpu, BatchesOfAnySizeHoldTheSameWalks) {
    const Graph graph = reference::small_graph("multi_weighted");
    SKIP_WITHOUT_GPU(graph.csr());
    const Request request = request_on(graph.csr(), 6); // 30 walks of 28 bytes
    const Library library(graph.csr(), gpu);
    for (const Law &law : laws()) {
        const Walks expected = reference_walks(graph.csr(), law, Method::automatic, request);
        for (uint64_t batch_bytes : {1, 29, 7 * 28 + 1, 17 * 28, 0}) {
            int batches = 0;
            const Walks walks = library.walks_in_batches(law, Method::automatic, request, batch_bytes, &batches);
            EXPECT_TRUE(same(expected, walks)) << law.name() << ", " << batch_bytes << " bytes";
            EXPECT_GE(batches, 1);
        }
    }
}

} // namespace

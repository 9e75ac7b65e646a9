/* SPDX-License-Identifier: MIT */
/* tests/training_gpu_test.cc - GraphSAINT's subgraphs and visit counts from a plan on a GPU are those of the CPU's; the
 * law of visit counts with 100 times the seeds of visits_test.cc, wrong laws rejected. Skipped without a GPU. The
 * loader: loader_gpu_test.cc; negative samples: negatives_gpu_test.cc. */
#include "tests/graph_cases.h"
#include "tests/saint_cases.h"
#include "tests/share.h"
#include "tests/visits_cases.h"

using namespace saint_cases;
using namespace visits_cases;

namespace {

class Training : public ::testing::Test {
  protected:
    void SetUp() override {
        const std::string why = reference::no_gpu_because(csr);
        if (!why.empty()) GTEST_SKIP() << why;
        cpu = std::make_unique<reference::Library>(csr, law::plan_on("cpu", 0, 0));
        gpu = std::make_unique<reference::Library>(csr, law::plan_on("cuda:0", 0, 0));
    }
    Graph graph = reference::small_graph("karate");
    csaw_csr csr = graph.csr();
    std::unique_ptr<reference::Library> cpu, gpu;
};

template <typename T> std::vector<T> list(const T *array, uint64_t count) { return {array, array + count}; }

TEST_F(Training, SubgraphsAreTheCpus) {
    for (const Options &o : {Options{CSAW_SAINT_NODE, 7, 0, 5, 3, 9}, Options{CSAW_SAINT_EDGE, 6, 0, 5, 3, 9},
                             Options{CSAW_SAINT_WALK, 4, 3, 5, 3, 9}, Options{CSAW_SAINT_FRONTIER, 3, 9, 5, 3, 9}}) {
        const Subgraph a = draw(cpu->get(), o), b = draw(gpu->get(), o);
        const csaw_subgraph_view u = csaw_subgraph_look(a.get()), v = csaw_subgraph_look(b.get());
        ASSERT_EQ(list(v.vertex_offset, 10), list(u.vertex_offset, 10)) << "kind " << o.kind;
        const uint64_t vertices = u.vertex_offset[9];
        EXPECT_EQ(list(v.vertex, vertices), list(u.vertex, vertices));
        ASSERT_EQ(list(v.rowptr, vertices + 1), list(u.rowptr, vertices + 1));
        EXPECT_EQ(list(v.edge, u.rowptr[vertices]), list(u.edge, u.rowptr[vertices]));
    }
}

TEST_F(Training, VisitsAreTheCpus) {
    const csaw_restart_params often = {.4f};
    std::vector<csaw_vertex> seeds;
    for (csaw_vertex i = 0; i < 500; i++) seeds.push_back(i * 5 % 34);
    for (const Ask &ask : {Ask{nullptr, nullptr, 0, 0, 0, 4}, Ask{&csaw_uniform, nullptr, 3, 9, 100, 2, 7},
                           Ask{&csaw_restart, &often, 200, 50, 5, 9}}) // the last in several chunks
        EXPECT_TRUE(visits(gpu->get(), seeds, ask) == visits(cpu->get(), seeds, ask));
    EXPECT_TRUE(visits(gpu->get(), {}, {}) == visits(cpu->get(), {}, {}));
}

TEST_F(Training, VisitsHaveTheLaw) { expect_law("cuda:0", reference::share_of(2000000)); }

} // namespace

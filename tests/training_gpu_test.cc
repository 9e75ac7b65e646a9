/* SPDX-License-Identifier: MIT */
/* tests/training_gpu_test.cc - GraphSAINT's subgraphs and visit counts from a plan on a GPU are those of the CPU's.
 * Skipped without a GPU. The loader: loader_gpu_test.cc. */
#include "tests/graph_cases.h"
#include "tests/saint_cases.h"

using namespace saint_cases;

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
    csaw_visit_options o = {};
    o.size = sizeof o;
    o.seed = 4;
    csaw_visits *a = nullptr, *b = nullptr;
    ASSERT_EQ(csaw_visits_create(cpu->get(), nullptr, &o, &a), CSAW_OK);
    ASSERT_EQ(csaw_visits_create(gpu->get(), nullptr, &o, &b), CSAW_OK) << csaw_last_error();
    const csaw_visits_view u = csaw_visits_look(a), v = csaw_visits_look(b);
    ASSERT_EQ(list(v.offset, 35), list(u.offset, 35));
    EXPECT_EQ(list(v.vertex, u.offset[34]), list(u.vertex, u.offset[34]));
    EXPECT_EQ(list(v.count, u.offset[34]), list(u.count, u.offset[34]));
    csaw_visits_free(a);
    csaw_visits_free(b);
}

} // namespace

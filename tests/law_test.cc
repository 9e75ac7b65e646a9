/* SPDX-License-Identifier: MIT */
/* tests/law_test.cc - the law is right (P1): every built-in sampler under every selection method, by the reference and
 * by the library on a CPU, against exact enumeration; and the facts about graphs and chi-squares that this rests on.
 * That the tests reject wrong samplers is shown in law_wrong_test.cc. */
#include "tests/law.h"

#include <algorithm>

using namespace law;

namespace {

class OnGraph : public ::testing::TestWithParam<std::string> {};

TEST_P(OnGraph, ReferenceHasTheLaw) {
    const Graph graph = reference::small_graph(GetParam());
    expect_laws(graph, 20000, reference_walker(graph.csr()));
}

TEST_P(OnGraph, LibraryHasTheLaw) {
    const Graph graph = reference::small_graph(GetParam());
    expect_laws(graph, 100000, library_walker(graph.csr(), plan_on("cpu", 0, 0)));
}

INSTANTIATE_TEST_SUITE_P(Law, OnGraph, ::testing::ValuesIn(reference::small_graph_names()),
                         [](const auto &info) { return info.param; });

TEST(LawOnHub, ReferenceHasTheLaw) {
    const Graph hub = reference::hub_graph();
    expect_laws_on_hub(hub, 100000, 24, reference_walker(hub.csr()));
}

TEST(LawOnHub, LibraryHasTheLaw) {
    const Graph hub = reference::hub_graph();
    expect_laws_on_hub(hub, 400000, 100, library_walker(hub.csr(), plan_on("cpu", 0, 0)));
}

TEST(Independence, OfReference) {
    const Graph graph = reference::small_graph("complete");
    expect_independence(50000, reference_walker(graph.csr()));
}

TEST(Independence, OfLibrary) {
    const Graph graph = reference::small_graph("complete");
    expect_independence(200000, library_walker(graph.csr(), plan_on("cpu", 0, 0)));
}

// ---- the facts that the tests above rest on ------------------------------------------

TEST(Graphs, KarateIsZacharysClub) {
    const Graph karate = reference::small_graph("karate");
    EXPECT_EQ(karate.vertices().size(), 34u);
    EXPECT_EQ(karate.col.size(), 2 * 78u);
    EXPECT_FALSE(reference::has_parallel_arcs(karate.csr()));
    EXPECT_EQ(karate.degree(0), 16u);  // the instructor
    EXPECT_EQ(karate.degree(33), 17u); // the president
    EXPECT_EQ(karate.degree(32), 12u);
    EXPECT_EQ(karate.degree(2), 10u);
    EXPECT_EQ(karate.degree(1), 9u);
    EXPECT_EQ(karate.degree(11), 1u); // the one member with one friend
    uint64_t corners = 0;             // 6 of each triangle
    for (csaw_vertex a : karate.vertices())
        for (uint64_t i = karate.rowptr[a]; i < karate.rowptr[a + size_t{1}]; i++)
            for (csaw_vertex c : karate.vertices())
                corners += reference::is_arc(karate.csr(), karate.col[i], c) && reference::is_arc(karate.csr(), c, a);
    EXPECT_EQ(corners, 6 * 45u);
}

TEST(Graphs, HaveWhatTheirNamesSay) {
    for (const auto &[name, dead_ends] : {std::pair<const char *, int>{"directed", 3}, {"isolated", 6}}) {
        const Graph graph = reference::small_graph(name);
        int found = 0;
        for (csaw_vertex v : graph.vertices()) found += graph.degree(v) == 0;
        EXPECT_EQ(found, dead_ends) << name;
    }
    for (const char *name : {"multi", "multi_weighted"}) {
        const Graph graph = reference::small_graph(name);
        EXPECT_TRUE(reference::has_parallel_arcs(graph.csr()));
        bool loop = false;
        for (csaw_vertex v : graph.vertices()) loop |= reference::is_arc(graph.csr(), v, v);
        EXPECT_TRUE(loop);
    }
    const Graph extreme = reference::small_graph("extreme");
    EXPECT_LT(*std::min_element(extreme.weight.begin(), extreme.weight.end()), 1e-43f);
    EXPECT_GT(*std::max_element(extreme.weight.begin(), extreme.weight.end()), 1e37f);
}

TEST(StepLaw, IsGroverAndLeskovecs) { // path 0 - 1 - 2, by hand: back 1/4, onward 1
    const Graph path = reference::small_graph("path");
    const std::vector<long double> onward = reference::step_law(path.csr(), {true, 4, 1}, 0, 1);
    EXPECT_NEAR(static_cast<double>(onward[0]), .2, 1e-15);
    EXPECT_NEAR(static_cast<double>(onward[1]), .8, 1e-15);
    const Graph complete = reference::small_graph("complete"); // back 1/p = 2, the other four are neighbours of prev
    EXPECT_NEAR(static_cast<double>(reference::step_law(complete.csr(), {true, .5f, 7}, 0, 1)[0]), 2. / 6, 1e-15);
}

TEST(ChiSquareTest, KnowsTheNormalScore) {
    // 16 + 4 + 4 + 0 of 3 degrees of freedom: upper tail 2.5e-5, z = 4.06; 3.95 by the approximation
    ChiSquare fit;
    fit.add({140, 80, 80, 100}, {.25L, .25L, .25L, .25L});
    EXPECT_EQ(fit.freedom(), 3);
    EXPECT_NEAR(fit.z(), (2 - (1 - 2. / 27)) / std::sqrt(2. / 27), 1e-6);
    EXPECT_NEAR(fit.z(), 4.06, .15);
    ChiSquare pooled; // 4 + 4 expected in the two small cells, pooled to one
    pooled.add({92, 3, 5}, {.92L, .04L, .04L});
    EXPECT_EQ(pooled.freedom(), 1);
    ChiSquare impossible;
    impossible.add({1, 99}, {0, 1});
    EXPECT_TRUE(std::isinf(impossible.z()));
}

// ---- dead ends ------------------------------------------------------------------------

// The walks of every sampler and method from these roots end after 0 steps, or none does.
void expect_end(const Graph &graph, const std::vector<csaw_vertex> &roots, const std::vector<Law> &which, bool ends) {
    const csaw_csr csr = graph.csr();
    Request request = request_on(graph, 1000, 1);
    request.roots = roots;
    for (const Walker &walker : {reference_walker(csr), library_walker(csr, plan_on("cpu", 0, 0))}) {
        for (const Law &law : which) {
            for (Method method : reference::methods_of(law)) {
                SCOPED_TRACE(graph.name + ", " + law.name() + ", " + reference::name_of(method));
                const Walks walks = walker(law, method, request);
                for (uint64_t w = 0; w < walks.count; w++) ASSERT_EQ(walks.path[w * 9 + 1] == CSAW_NONE, ends);
                EXPECT_TRUE(are_walks(csr, law, request, walks)); // so nothing follows an end
            }
        }
    }
}

TEST(DeadEnds, IsolatedVerticesGivePathsOfOne) {
    expect_end(reference::small_graph("isolated"), {0, 8, 2}, laws(), true);
    expect_end(reference::small_graph("isolated"), {1, 4, 5}, laws(), false);
}

TEST(DeadEnds, SinksEndWalks) {
    expect_end(reference::small_graph("directed"), {21, 22, 23}, laws(), true);
    expect_end(reference::small_graph("directed_weighted"), {23, 22, 21}, laws(), true);
}

TEST(DeadEnds, RowsOfZerosEndWeightedWalksAlone) {
    const std::vector<Law> all = laws();
    const Graph graph = reference::small_graph("zero_rows");
    expect_end(graph, {0, 5, 10, 15, 20, 25}, {all.begin(), all.begin() + 1}, false);
    expect_end(graph, {0, 5, 10, 15, 20, 25}, {all.begin() + 1, all.end()}, true);
}

} // namespace

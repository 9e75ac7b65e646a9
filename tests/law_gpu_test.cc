/* SPDX-License-Identifier: MIT */
/* tests/law_gpu_test.cc - the law is right (P1) on a GPU, with 100 times the steps that law_test.cc gives the
 * reference. */
#include "tests/law.h"

using namespace law;

namespace {

class OnGpu : public ::testing::TestWithParam<std::string> {};

#define SKIP_WITHOUT_GPU(CSR) \
    if (const std::string why = reference::no_gpu_because(CSR); !why.empty()) GTEST_SKIP() << "no GPU: " << why

TEST_P(OnGpu, LibraryHasTheLaw) {
    const Graph graph = reference::small_graph(GetParam());
    SKIP_WITHOUT_GPU(graph.csr());
    expect_laws(graph, 2000000, library_walker(graph.csr(), plan_on("cuda:0", 0, 0)));
}

INSTANTIATE_TEST_SUITE_P(Law, OnGpu, ::testing::ValuesIn(reference::small_graph_names()),
                         [](const auto &info) { return info.param; });

TEST(LawOnHubOnGpu, LibraryHasTheLaw) {
    const Graph hub = reference::hub_graph();
    SKIP_WITHOUT_GPU(hub.csr());
    expect_laws_on_hub(hub, 4000000, 2400, library_walker(hub.csr(), plan_on("cuda:0", 0, 0)));
}

TEST(IndependenceOnGpu, OfLibrary) {
    const Graph graph = reference::small_graph("complete");
    SKIP_WITHOUT_GPU(graph.csr());
    expect_independence(5000000, library_walker(graph.csr(), plan_on("cuda:0", 0, 0)));
}

} // namespace

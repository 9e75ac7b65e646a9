/* SPDX-License-Identifier: MIT */
/* tests/walks_law_gpu_test.cc - the law is right (P1) on a GPU for every built-in walk beside uniform and node2vec,
 * under every method that it allows, with ten times the walks of walks_law_test.cc. */
#include "tests/walks_law.h"

using namespace walks_law;

namespace {

class OfWalkOnGpu : public ::testing::TestWithParam<size_t> {};

TEST_P(OfWalkOnGpu, LibraryHasTheLaw) {
    const Named each = named()[GetParam()];
    uint64_t seed = 0x5a5a5a5a00000000;
    for (const Graph &graph : walk_cases::graphs()) {
        const csaw_csr csr = graph.csr();
        if (const std::string why = reference::no_gpu_because(csr); !why.empty()) GTEST_SKIP() << "no GPU: " << why;
        const reference::Library library(csr, law::plan_on("cuda:0", 0, 0));
        for (Method method : walk_cases::methods_of(each.walk, csr)) {
            const Request request = law::request_on(graph, 1000000, ++seed);
            const Fit fit = fit_of(csr, each.law, library_walks(library, each.walk, method, request), request);
            const std::string what = each.walk.name + ", " + reference::name_of(method) + ", " + graph.name;
            EXPECT_LT(std::fabs(fit.first.z()), law::threshold) << what << ", first steps";
            EXPECT_LT(std::fabs(fit.later.z()), law::threshold) << what << ", later steps";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(WalksLaw, OfWalkOnGpu, ::testing::Range(size_t{0}, walk_cases::cases().size()),
                         [](const auto &info) {
                             std::string name = walk_cases::cases()[info.param].name;
                             std::replace(name.begin(), name.end(), ' ', '_');
                             return name;
                         });

} // namespace

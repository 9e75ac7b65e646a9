/* SPDX-License-Identifier: MIT */
/* tests/walks_law_gpu_test.cu - the law is right (P1) on a GPU for every built-in walk beside uniform and node2vec,
 * under every method that it allows, with 100 times the walks of walks_law_test.cc; and wrong walks, drawn and counted
 * alike, are rejected.
 *
 * Threshold as in tests/law.h: |z| < 4, both ways; wrong walks must reach z > 10. There are 760 values of z, so 0.05
 * false alarms were to be expected; the seeds are fixed. */
#include "tests/law_tally.cuh"
#include "tests/share.h"

#include <cstring>

using namespace law_tally;

namespace {

#define SKIP_WITHOUT_GPU(CSR) \
    if (const std::string why = reference::no_gpu_because(CSR); !why.empty()) GTEST_SKIP() << "no GPU: " << why

Look look_of(const std::string &name) {
    if (name == "restart") return Look::root;
    if (name.find("metapath") == 0) return Look::place;
    return name.find("temporal") == 0 ? Look::arc : Look::nothing;
}

uint32_t period_of(const walk_cases::Case &walk) {
    uint32_t length = 1; // the first field of csaw_metapath_params
    if (walk.sampler == &csaw_metapath) std::memcpy(&length, walk.params.data(), sizeof length);
    return length;
}

const void *params_of(const std::vector<char> &params) { return params.empty() ? nullptr : params.data(); }

class OfWalkOnGpu : public ::testing::TestWithParam<size_t> {};

TEST_P(OfWalkOnGpu, LibraryHasTheLaw) {
    const walks_law::Named each = walks_law::named()[GetParam()];
    uint64_t seed = 0x5a5a5a5a00000000 + (GetParam() << 16);
    for (const Graph &graph : walk_cases::graphs()) {
        const csaw_csr csr = graph.csr();
        SKIP_WITHOUT_GPU(csr);
        const Device device(csr);
        for (Method method : walk_cases::methods_of(each.walk, csr)) {
            if (method == Method::automatic) continue; // one of the others
            if (!reference::takes_case()) continue;
            const Request request = law::request_on(graph, reference::share_of(10000000), ++seed);
            const Drawn drawn = draw_and_count(device, csr, each.law, look_of(each.walk.name), period_of(each.walk),
                                               each.walk.sampler, params_of(each.walk.params), method, request);
            const std::string what = each.walk.name + ", " + reference::name_of(method) + ", " + graph.name;
            EXPECT_EQ(drawn.strange, 0u) << what;
            EXPECT_GE(drawn.steps, request.roots.size() * request.walks_per_seed) << what;
            EXPECT_LT(std::fabs(drawn.fit.first.z()), law::threshold)
                << what << ", first steps: z = " << drawn.fit.first.z();
            EXPECT_LT(std::fabs(drawn.fit.later.z()), law::threshold)
                << what << ", later steps: z = " << drawn.fit.later.z();
        }
    }
}

INSTANTIATE_TEST_SUITE_P(WalksLaw, OfWalkOnGpu, ::testing::Range(size_t{0}, walk_cases::cases().size()),
                         [](const auto &info) {
                             std::string name = walk_cases::cases()[info.param].name;
                             std::replace(name.begin(), name.end(), ' ', '_');
                             return name;
                         });

// ---- wrong walks ----------------------------------------------------------------

struct Wrong {
    const char *right; // name of the case whose law it is held against
    const csaw_sampler *sampler;
    std::vector<char> params;
    Graph graph;
};

template <typename Params> std::vector<char> bytes_of(const Params &params) {
    const char *bytes = reinterpret_cast<const char *>(&params);
    return {bytes, bytes + sizeof params};
}

// Other walks, or the same with a parameter that is a little off.
std::vector<Wrong> wrong_walks() {
    const int64_t any = std::numeric_limits<int64_t>::min();
    const Graph weighted = reference::small_graph("weighted"), star = reference::small_graph("star");
    const Graph events = reference::event_graph(true);
    return {{"biased", &csaw_uniform, {}, weighted},
            {"biased_by_degree", &csaw_uniform, {}, reference::small_graph("directed")},
            {"metropolis_hastings", &csaw_uniform, {}, star},
            {"jump", &csaw_jump, bytes_of(csaw_jump_params{.31f}), weighted},
            {"restart", &csaw_restart, bytes_of(csaw_restart_params{.26f}), weighted},
            {"ppr", &csaw_ppr, bytes_of(csaw_ppr_params{.21f}), weighted},
            {"metapath of three", &csaw_metapath, bytes_of(csaw_metapath_params{3, 0, 2, 1, 7, 7, 7, 7, 7}), events},
            {"temporal from 0", &csaw_temporal, bytes_of(csaw_temporal_params{any, 0}), events},
            {"temporal in a window", &csaw_temporal, bytes_of(csaw_temporal_params{-3, 3}), events}};
}

class WrongOnGpu : public ::testing::TestWithParam<size_t> {};

TEST_P(WrongOnGpu, WalkIsRejected) {
    const Wrong wrong = wrong_walks()[GetParam()];
    const csaw_csr csr = wrong.graph.csr();
    SKIP_WITHOUT_GPU(csr);
    const Device device(csr);
    for (const walks_law::Named &each : walks_law::named()) {
        if (each.walk.name != wrong.right) continue;
        const Drawn drawn =
            draw_and_count(device, csr, each.law, look_of(each.walk.name), period_of(each.walk), wrong.sampler,
                           params_of(wrong.params), Method::its, law::request_on(wrong.graph, 10000000, 4711));
        EXPECT_GT(std::max(drawn.fit.first.z(), drawn.fit.later.z()), law::wrong) << wrong.right;
        return;
    }
    FAIL() << wrong.right << " is no case";
}

INSTANTIATE_TEST_SUITE_P(WalksLaw, WrongOnGpu, ::testing::Range(size_t{0}, wrong_walks().size()), [](const auto &info) {
    std::string name = wrong_walks()[info.param].right;
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
});

} // namespace

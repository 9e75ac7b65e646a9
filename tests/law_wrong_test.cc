/* SPDX-License-Identifier: MIT */
/* tests/law_wrong_test.cc - the test of the law tests: wrong samplers, most of them found in the field (DESIGN, section
 * 10), whose walks the same chi-squares must reject with z > 10 at the numbers of steps that law_test.cc spends. */
#include "tests/law.h"

#include <algorithm>
#include <random>

using namespace law;

namespace {

const uint64_t steps = 50000;

double z_of_later(const Graph &graph, const Law &law, const Walks &walks) {
    return fit_of(graph.csr(), law, walks).later.z();
}

TEST(WrongSampler, SwappedPAndQIsRejected) { // NextDoor's
    const Law law = {true, .25f, 4}, swapped = {true, 4, .25f};
    for (const char *name : {"karate", "weighted", "directed"}) {
        const Graph graph = reference::small_graph(name);
        const Walks walks = reference_walker(graph.csr())(swapped, Method::its, request_on(graph, steps, 1));
        EXPECT_GT(z_of_later(graph, law, walks), wrong) << name;
    }
}

TEST(WrongSampler, FallThroughChainIsRejected) { // torch_cluster's: a test that fails falls through to the next
    const Law law = {true, 4, 1};
    reference::Sampler chain = reference::node2vec(law.p, law.q);
    chain.edge_bias = [=](const reference::Site &site, const reference::Arc &arc) {
        if (site.prev == CSAW_NONE) return 1.0f;
        float out = 1 / law.q;
        if (reference::is_arc(*site.graph, site.prev, arc.dst)) out = std::max(out, 1.0f);
        if (arc.dst == site.prev) out = std::max(out, 1 / law.p);
        return out;
    };
    const Graph path = reference::graph_of("path", 3, {{0, 1, 1}, {1, 0, 1}, {1, 2, 1}, {2, 1, 1}}, false);
    Request request;
    request.roots = {0};
    request.depth = 2;
    request.walks_per_seed = 4000;
    const Walks walks = reference::walks(path.csr(), chain, Method::its, request, false);
    uint64_t returns = 0;
    for (uint64_t w = 0; w < walks.count; w++) returns += walks.path[3 * w + 2] == 0;
    EXPECT_NEAR(static_cast<double>(returns) / static_cast<double>(walks.count), .5, .05); // 0.2 is exact
    EXPECT_GT(z_of_later(path, law, walks), wrong);
    EXPECT_LT(std::fabs(z_of_later(path, law, reference_walker(path.csr())(law, Method::its, request))), threshold);
}

// Inverse transform sampling of the hub's row over running sums of type Real.
template <typename Real> Walks walks_by_running_sums(const Graph &hub) {
    std::vector<Real> prefix;
    for (uint64_t i = 0; i < hub.degree(0); i++) prefix.push_back((i ? prefix.back() : 0) + hub.weight[i]);
    std::mt19937_64 random(5);
    Walks walks;
    walks.count = 1000000;
    walks.length = 1;
    for (uint64_t w = 0; w < walks.count; w++) {
        const double x = std::ldexp(static_cast<double>(random() >> 11), -53) * static_cast<double>(prefix.back());
        const auto rank = std::upper_bound(prefix.begin(), prefix.end(), x) - prefix.begin();
        walks.path.insert(walks.path.end(), {0, hub.col[static_cast<size_t>(rank)]});
        walks.edge.push_back(static_cast<csaw_edge>(rank));
    }
    return walks;
}

TEST(WrongSampler, FloatPrefixSumsAreRejected) { // C-SAW's: the hub's sum outgrows 24 bits
    const Graph hub = reference::hub_graph();
    const Law law = {true, 1, 1};
    EXPECT_GT(fit_of(hub.csr(), law, walks_by_running_sums<float>(hub)).first.z(), wrong);
    EXPECT_LT(std::fabs(fit_of(hub.csr(), law, walks_by_running_sums<double>(hub)).first.z()), threshold);
}

TEST(WrongSampler, FoldOnAMultigraphIsRejected) { // the fold knows one arc back where there are several
    const Law law = {true, .25f, 4};
    for (const char *name : {"multi", "multi_weighted"}) {
        const Graph graph = reference::small_graph(name);
        const Request request = request_on(graph, steps, 1);
        const Walks walks = reference::walks(graph.csr(), sampler_of(law), Method::reject, request, false);
        EXPECT_GT(z_of_later(graph, law, walks), wrong) << name;
    }
}

TEST(WrongSampler, IgnoredWeightsAreRejected) { // cuGraph's
    const Graph weighted = reference::small_graph("weighted");
    csaw_csr plain = weighted.csr();
    plain.weight = nullptr;
    const Law law = {true, 2, .5f};
    const Walks walks = reference_walker(plain)(law, Method::its, request_on(weighted, steps, 1));
    EXPECT_GT(fit_of(weighted.csr(), law, walks).first.z(), wrong);
    EXPECT_GT(z_of_later(weighted, law, walks), wrong);
}

TEST(WrongSampler, SharedNumbersAreRejected) { // C-SAW's and torch_cluster's: one stream for two walks, or two steps
    const Graph complete = reference::small_graph("complete");
    const Walks walks = reference_walker(complete.csr())({false, 1, 1}, Method::uniform, request_of_paths(20000));
    Walks twins = walks, repeats = walks;
    for (uint64_t w = 0; w < walks.count; w += 2) std::copy_n(&walks.path[w * 6], 6, &twins.path[(w + 1) * 6]);
    EXPECT_GT(pair_fit(twins).z(), wrong);
    for (uint64_t w = 0; w < walks.count; w++) { // the last step takes the first one's rank
        csaw_vertex *path = &repeats.path[w * 6];
        const csaw_vertex rank = path[1] - 1;
        path[5] = rank >= path[4] ? rank + 1 : rank;
    }
    EXPECT_GT(path_fit(repeats).z(), wrong);
}

} // namespace

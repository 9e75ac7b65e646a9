/* SPDX-License-Identifier: MIT */
/* tests/adversarial_gpu_test.cc - graphs and requests that break samplers, on a GPU as by the CPU engine: equal bits,
 * or the same status with the same message. A hub of 10^6 arcs; rows whose weights are all 0, vertices without arcs,
 * loops and parallel arcs; one vertex; no vertex; weights that are negative, infinite or no numbers; hooks that break
 * their rules; seeds that are not in the graph; more picks than a row has arcs; no weights where a sampler asks for
 * them. */
#include "tests/gpu_cases.h"

#include <cmath>
#include <numeric>

using namespace gpu_cases;
using reference::Graph;

namespace {

// ---- small graphs -----------------------------------------------------------------

Graph every_weight_0() {
    Graph out = reference::small_graph("weighted");
    out.name = "every weight 0";
    std::fill(out.weight.begin(), out.weight.end(), 0.0f);
    return out;
}

std::vector<Graph> graphs() {
    std::vector<Graph> out = {
        every_weight_0(),
        reference::graph_of("no vertex", 0, {}, false),
        reference::graph_of("one vertex", 1, {}, false),
        reference::graph_of("no arcs", 5, {}, false),
        reference::graph_of("a loop", 1, {{0, 0, 1}}, false),
        reference::graph_of("a loop of weight 0", 1, {{0, 0, 0}}, true),
        reference::graph_of("three loops", 1, {{0, 0, 2, 0, 4}, {0, 0, 0, 1, 5}, {0, 0, 1, 2, 6}}, true),
        reference::graph_of("parallel arcs", 2, {{0, 1, 1}, {0, 1, 0}, {0, 1, 3}, {1, 1, 1}}, true),
        reference::graph_of("a sink", 2, {{0, 1, 1}}, false),
        reference::graph_of("smallest weights", 3, {{0, 1, 1e-45f}, {0, 2, 2e-45f}, {1, 0, 1e-45f}, {2, 0, 3e38f}},
                            true),
        reference::event_graph(true),
        reference::epoch_graph(),
    };
    for (const char *name : {"isolated", "zero_rows", "multi", "multi_weighted", "extreme", "directed_weighted"})
        out.push_back(reference::small_graph(name));
    return out;
}

class OnSmallGraph : public ::testing::TestWithParam<size_t> {};

// Every vertex alone; with other seeds, some of them equal; nothing at all. Each vertex twice, by two instances.
std::vector<Ask> asks_of(const Case &each, const csaw_csr &csr) {
    const auto n = static_cast<csaw_vertex>(csr.num_vertices);
    Pools alone, mixed = {{}};
    for (csaw_vertex v = 0; v < n; v++) alone.push_back({v});
    if (n > 0) mixed = {{0}, {0, n - 1, 0}, {}, {n - 1, 0}};
    std::vector<Ask> out;
    for (const Pools &pools : {alone, mixed}) {
        if (each.walk) {
            for (uint32_t depth : {1u, 9u}) out.push_back(ask_of(each, pools, depth, {}));
        } else {
            out.push_back(ask_of(each, pools, 0, each.fanout));
            if (each.reference.fanout || each.reference.replace_pool) continue;
            out.push_back(ask_of(each, pools, 0, {n + 3, 0, 1, 2}));          // more than any row has
            out.push_back(ask_of(each, pools, 0, {CSAW_ALL, 2, n ? n : 1u})); // all of it
        }
    }
    for (Ask &ask : out) ask.each = 2;
    return out;
}

TEST_P(OnSmallGraph, GpuHasTheBitsOfTheCpu) {
    SKIP_WITHOUT_GPU();
    const Graph graph = graphs()[GetParam()];
    Pair pair(graph.csr());
    for (const Case &each : all()) {
        for (Method method : methods_of(each, pair.csr)) {
            const std::vector<Ask> asks = asks_of(each, pair.csr);
            for (const Ask &ask : asks) {
                if (!reference::takes_case()) continue;
                EXPECT_TRUE(pair.same(each, method, ask))
                    << each.name << ", " << reference::name_of(method) << ", request " << &ask - asks.data();
            }
        }
    }
    if (reference::every_case() > 1) return;
    EXPECT_EQ(graph.vertices().empty(), pair.items == 0); // of walks the seed at least
}

INSTANTIATE_TEST_SUITE_P(Adversarial, OnSmallGraph, ::testing::Range(size_t{0}, graphs().size()), [](const auto &info) {
    std::string name = graphs()[info.param].name;
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
});

// ---- a hub of 10^6 arcs -------------------------------------------------------------

TEST(Adversarial, HubOfAMillion) {
    SKIP_WITHOUT_GPU();
    const Graph hub = reference::hub_graph();
    Pair pair(hub.csr());
    for (const Case &each : all()) {
        if (each.name == "random_node" || each.name == "random_edge") continue; // which have the whole graph as a pool
        const Pools pools = {{0}, {31415}, {1000000}};
        std::vector<Ask> asks = {ask_of(each, pools, 3, each.fanout)};
        if (each.name == "snowball") asks = {ask_of(each, {{0}}, 0, {CSAW_ALL})};
        if (each.name == "neighbor" || each.name == "neighbor_biased") {
            asks.push_back(ask_of(each, {{0}}, 0, {1000})); // more than a warp's lanes and its shared memory
            asks.push_back(ask_of(each, {{0}}, 0, {CSAW_ALL}));
            asks.push_back(ask_of(each, {{0}}, 0, {1000001})); // and one more than there are
        }
        if (each.name == "neighbor") asks.push_back(ask_of(each, {{0}}, 0, {50000}));
        for (Method method : methods_of(each, pair.csr)) {
            if (method == Method::automatic) continue; // one of the others
            for (const Ask &ask : asks) {
                if (!reference::takes_case()) continue;
                EXPECT_TRUE(pair.same(each, method, ask))
                    << each.name << ", " << reference::name_of(method) << ", request " << &ask - asks.data();
                EXPECT_EQ(CSAW_OK, pair.last_status) << each.name << ": " << pair.last_message;
            }
        }
    }
    if (reference::every_case() > 1) return;
    EXPECT_GT(pair.items, 4000000u); // four times all arcs of the hub, by each method of two samplers
}

// ---- biases that break their rules --------------------------------------------------

const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

class OfWeight : public ::testing::TestWithParam<float> {};

// One arc of vertex 7 is bad. What looks at it says so, and names sampler, instance, depth and edge.
TEST_P(OfWeight, IsTheErrorOfTheCpu) {
    SKIP_WITHOUT_GPU();
    Graph graph = reference::small_graph("weighted");
    graph.weight[graph.rowptr[7] + 1] = GetParam();
    Pair pair(graph.csr());
    const std::string edge = "edge " + std::to_string(graph.rowptr[7] + 1) + " (7 -> ";
    Pools alone;
    for (csaw_vertex v : graph.vertices()) alone.push_back({v});
    for (const Case &each : all()) {
        for (Method method : methods_of(each, pair.csr)) {
            if (!reference::takes_case()) continue;
            EXPECT_TRUE(pair.same(each, method, ask_of(each, alone, 6, each.fanout)))
                << each.name << ", " << reference::name_of(method);
            if (!each.reference.static_is_weight) continue;
            EXPECT_EQ(CSAW_EBIAS, pair.last_status) << each.name << ", " << reference::name_of(method);
            std::vector<std::string> words = {std::string("sampler '") + csaw_sampler_name(each.sampler) + "'", edge,
                                              "static_bias is "};
            if (pair.last_message.find("tabulating") == std::string::npos) { // else for no instance in particular
                words.push_back("', instance ");
                words.push_back(", depth ");
            }
            for (const std::string &word : words)
                EXPECT_NE(std::string::npos, pair.last_message.find(word)) << pair.last_message;
            // and the plans draw on
            const Case uniform = {"uniform", &csaw_uniform, {}, reference::uniform(), true};
            EXPECT_TRUE(pair.same(uniform, Method::uniform, ask_of(uniform, alone, 3, {})));
            EXPECT_EQ(CSAW_OK, pair.last_status);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Adversarial, OfWeight, ::testing::Values(-1.0f, inf, -inf, nan, -1e-45f),
                         [](const auto &info) { return std::to_string(info.index); });

struct FaultyParams { // as in tests/samplers/faulty.c
    uint32_t rule, vertex, depth;
};

// Hooks of a sampler compiled at run time; sample_gpu_test.cu has the same file built in.
TEST(Adversarial, HooksThatBreakTheirRulesAreNamedAsOnTheCpu) {
    SKIP_WITHOUT_GPU();
    const csaw_sampler *faulty = nullptr;
    reference::require(csaw_sampler_compile(CSAW_SOURCE_DIR "/tests/samplers/faulty.c", &faulty));
    const Graph graph = reference::small_graph("directed_weighted"); // with sinks: 21 .. 23
    {
        Pair pair(graph.csr());
        Pools alone, mixed = {{3, 5, 3}, {22}, {0, 1}};
        for (csaw_vertex v : graph.vertices()) alone.push_back({v});
        for (uint32_t rule : {0u, 1u, 2u, 3u, 6u, 7u, 8u}) {
            for (uint32_t vertex : {4u, 22u}) {
                for (uint32_t depth : {0u, 2u}) {
                    const FaultyParams params = {rule, vertex, depth};
                    Case walk = {"faulty", faulty, sample_cases::bytes_of(params), {}, true};
                    Case sample = walk;
                    sample.walk = false;
                    for (Method method : {Method::its, Method::reject, Method::race}) {
                        if (!reference::takes_case()) continue;
                        const std::string what = "rule " + std::to_string(rule) + ", vertex " + std::to_string(vertex) +
                                                 ", depth " + std::to_string(depth) + ", " + reference::name_of(method);
                        Ask ask = ask_of(walk, alone, 6, {});
                        ask.each = 40; // so many that some walk meets the fault
                        EXPECT_TRUE(pair.same(walk, method, ask)) << what;
                        EXPECT_EQ(rule == 0 || (rule == 7 && vertex == 4),
                                  pair.last_status == CSAW_OK) // 4 is no dead end
                            << what << ": " << pair.last_message;
                        EXPECT_TRUE(pair.same(sample, method, ask_of(sample, mixed, 0, {3, 2, 4}))) << what;
                    }
                }
            }
        }
    }
    csaw_sampler_unload(faulty);
}

// ---- requests that are refused -----------------------------------------------------

TEST(Adversarial, RequestsAreRefusedAsOnTheCpu) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph("karate"); // 34 vertices, no weights
    Pair pair(graph.csr());
    const Case walk = walks()[0], sample = samples()[0];
    const auto refuse = [&](const Case &each, Method method, const Ask &ask, const char *word) {
        EXPECT_TRUE(pair.same(each, method, ask)) << word;
        EXPECT_EQ(CSAW_EINVAL, pair.last_status) << word;
        EXPECT_NE(std::string::npos, pair.last_message.find(word)) << pair.last_message;
    };
    refuse(walk, Method::automatic, ask_of(walk, {{1}, {34}}, 4, {}), "vertex 34");
    refuse(walk, Method::automatic, ask_of(walk, {{CSAW_NONE}}, 4, {}), "vertex 4294967295");
    refuse(sample, Method::automatic, ask_of(sample, {{1, 2, 34}}, 0, {2}), "vertex 34");
    refuse(walk, Method::reject, ask_of(walk, {{1}}, 4, {}), "reject");
    refuse(walk, Method::automatic, ask_of(walk, {{1}}, 1 << 24, {}), "16777215");
    Ask many = ask_of(sample, {{1}}, 0, {8388609});
    EXPECT_TRUE(pair.same(sample, Method::its, many)); // all arcs of a row
    EXPECT_EQ(CSAW_OK, pair.last_status);
    many.replace = true;
    refuse(sample, Method::its, many, "8388608");
    // no depth is the default of 80, not a walk of no steps
    pair.items = 0;
    EXPECT_TRUE(pair.same(walk, Method::automatic, ask_of(walk, {{1}, {2}}, 0, {})));
    EXPECT_EQ(2 * 81u, pair.items);
}

// A graph without weights: samplers by weight take every arc as weight 1, on the GPU too.
TEST(Adversarial, NoWeightsMeansEveryWeightIs1) {
    SKIP_WITHOUT_GPU();
    Graph ones = reference::small_graph("directed"), none = ones;
    ones.weight.assign(ones.col.size(), 1);
    Pair with(ones.csr()), without(none.csr());
    Pools alone;
    for (csaw_vertex v : ones.vertices()) alone.push_back({v});
    for (const Case &each : all()) {
        for (Method method : {Method::its, Method::race}) {
            if ((each.replace || each.reference.layer) && method == Method::race) continue;
            if (!reference::takes_case()) continue;
            const Ask ask = ask_of(each, alone, 7, each.fanout);
            const Outcome a = draw(with.gpu_plan(), each, method, ask), b = draw(without.gpu_plan(), each, method, ask);
            ASSERT_EQ(CSAW_OK, a.status) << each.name << ": " << a.message;
            ASSERT_EQ(CSAW_OK, b.status) << each.name << ": " << b.message;
            uint64_t items = 0;
            EXPECT_TRUE(each.walk ? same_walks(a.samples.get(), b.samples.get(), &items)
                                  : same_arcs(a.samples.get(), b.samples.get(), &items))
                << each.name;
        }
    }
}

} // namespace

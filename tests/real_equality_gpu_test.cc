/* SPDX-License-Identifier: MIT */
/* tests/real_equality_gpu_test.cc - the bits are the same (P2) on real graphs: every built-in sampler under every
 * method that it allows, on a GPU and by the CPU engine, paths, arcs, edges and depths included. Six graphs of
 * different kinds; needs CSAW_DATA, the optional data folder, and says so where it is not set.
 *
 * Instances begin at the largest hubs, at dead ends, and at vertices spread over the graph. */
#include "tests/data_folder.h"
#include "tests/gpu_cases.h"

#include <cstdlib>
#include <numeric>

using namespace gpu_cases;

namespace {

enum { UNDIRECTED = 1, AS_IT_STANDS = 2 }; // the latter keeps loops and parallel arcs

struct Source {
    const char *name, *file, *columns;
    int how;
    bool typed; // types are made up: the number of an arc, mixed, modulo 3
};

const Source sources[] = {
    {"web", "edge-lists/web-cnr-2000.txt.xz", nullptr, AS_IT_STANDS, false},            // loops, hubs, dead ends
    {"hub", "edge-lists/web-uk-2007-100k.txt.xz", nullptr, UNDIRECTED, false},          // a row of 55,000 arcs
    {"social", "edge-lists/ego-twitter.txt.xz", nullptr, UNDIRECTED, true},             // symmetric, typed
    {"road", "road/USA-road-d.NY.gr.gz", nullptr, AS_IT_STANDS, false},                 // weights, low degrees
    {"peers", "formats/p2p-31-weighted.e.gz", nullptr, 0, true},                        // weights, many dead ends
    {"answers", "temporal/sx-mathoverflow.txt.gz", "src,dst,time", AS_IT_STANDS, true}, // times, parallel arcs
};

class OnRealGraph : public ::testing::TestWithParam<size_t> {};

struct Loaded {
    std::unique_ptr<csaw_graph, reference::Free> graph;
    std::vector<uint32_t> type;
    csaw_csr csr;
};

Loaded load(const Source &source, const std::string &folder) {
    csaw_load_options options = {};
    options.size = sizeof options;
    options.columns = source.columns;
    options.undirected = source.how & UNDIRECTED;
    options.keep_loops = options.keep_duplicates = source.how & AS_IT_STANDS;
    csaw_graph *graph = nullptr;
    reference::require(csaw_graph_load((folder + "/" + source.file).c_str(), &options, &graph));
    Loaded out = {std::unique_ptr<csaw_graph, reference::Free>(graph), {}, csaw_graph_csr(graph)};
    if (source.typed) {
        for (uint64_t e = 0; e < out.csr.num_edges; e++)
            out.type.push_back(static_cast<uint32_t>((e * 0x9e3779b97f4a7c15 >> 32) % 3));
        out.csr.type = out.type.data();
    }
    return out;
}

// ---- where instances begin ------------------------------------------------------

struct Places {
    std::vector<csaw_vertex> hubs, dead_ends, spread; // hubs: the largest first
};

Places places_of(const csaw_csr &csr) {
    const auto degree = [&](csaw_vertex v) { return csr.rowptr[v + uint64_t{1}] - csr.rowptr[v]; };
    std::vector<csaw_vertex> by_degree(csr.num_vertices);
    std::iota(by_degree.begin(), by_degree.end(), 0);
    std::partial_sort(by_degree.begin(), by_degree.begin() + 8, by_degree.end(), [&](csaw_vertex a, csaw_vertex b) {
        return degree(a) != degree(b) ? degree(a) > degree(b) : a < b;
    });
    Places out;
    out.hubs.assign(by_degree.begin(), by_degree.begin() + 8);
    for (csaw_vertex v = 0; v < csr.num_vertices && out.dead_ends.size() < 8; v++)
        if (degree(v) == 0) out.dead_ends.push_back(v);
    for (uint64_t i = 0; i < 1000; i++)
        out.spread.push_back(static_cast<csaw_vertex>(i * 0x9e3779b9 % csr.num_vertices));
    return out;
}

Pools alone(const std::vector<csaw_vertex> &vertices, size_t most) {
    Pools out;
    for (csaw_vertex v : vertices)
        if (out.size() < most) out.push_back({v});
    return out;
}

Pools joined(Pools a, const Pools &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

Pools whole(const csaw_csr &csr) {
    std::vector<csaw_vertex> pool(csr.num_vertices);
    std::iota(pool.begin(), pool.end(), 0);
    return {pool};
}

// ---- what is asked for -------------------------------------------------------------

// As everywhere, but with an interval of time that half of the arcs of "answers" are in, and those without times too.
std::vector<Case> real_cases() {
    std::vector<Case> out = all();
    for (Case &each : out)
        if (each.name == "temporal_neighbor")
            each.params = sample_cases::bytes_of(csaw_temporal_neighbor_params{0, 1362630132});
    return out;
}

std::vector<Ask> asks_of(const Case &each, const csaw_csr &csr) {
    const Places at = places_of(csr);
    const Pools ends = alone(at.dead_ends, 8);
    const Pools few = joined(joined(alone(at.hubs, 2), alone(at.dead_ends, 2)), alone(at.spread, 4));
    const Pools many = joined(joined(alone(at.hubs, 8), ends), alone(at.spread, 300));
    Pools mixed = many; // pools of several seeds as well
    mixed.push_back(std::vector<csaw_vertex>(at.spread.begin(), at.spread.begin() + 60));
    mixed.push_back({at.hubs[1], at.hubs[0], at.hubs[1]});
    if (each.walk) {
        const Pools all = joined(joined(alone(at.hubs, 8), ends), alone(at.spread, 1000));
        return {ask_of(each, all, 10, {})};
    }
    if (each.name == "random_node" || each.name == "random_edge") return {ask_of(each, whole(csr), 0, {200})};
    if (each.name == "snowball") return {ask_of(each, few, 0, {CSAW_ALL, CSAW_ALL})};
    if (each.reference.replace_pool) return {ask_of(each, mixed, 0, std::vector<uint32_t>(20, 1))};
    if (each.reference.fanout) return {ask_of(each, mixed, 0, {0, 0, 0})};
    return {ask_of(each, mixed, 0, {15, 4, 2}),      // more than most degrees
            ask_of(each, few, 0, {1000, 1}),         // more than a warp's lanes at once
            ask_of(each, few, 0, {CSAW_ALL, 1, 2})}; // the whole row of a hub
}

TEST_P(OnRealGraph, GpuHasTheBitsOfTheCpu) {
    const Source &source = sources[GetParam()];
    const char *folder = data_folder();
    if (!folder) GTEST_SKIP() << "set CSAW_DATA to the data folder, for " << source.file;
    SKIP_WITHOUT_GPU();
    const Loaded loaded = load(source, folder);
    Pair pair(loaded.csr);
    for (const Case &each : real_cases()) {
        const std::vector<Ask> runs = asks_of(each, loaded.csr);
        const uint64_t before = pair.items;
        for (Method method : methods_of(each, loaded.csr)) {
            for (const Ask &run : runs) {
                EXPECT_TRUE(pair.same(each, method, run))
                    << each.name << ", " << reference::name_of(method) << ", run " << &run - runs.data();
                EXPECT_EQ(CSAW_OK, pair.last_status) << each.name << ": " << pair.last_message;
            }
        }
        if (each.name != "random_node") { // which has seeds and no arcs
            EXPECT_GT(pair.items, before + 100) << each.name << " went nowhere";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(RealEquality, OnRealGraph, ::testing::Range(size_t{0}, std::size(sources)),
                         [](const auto &info) { return std::string(sources[info.param].name); });

// The comparisons above fail where one number of the two is another.
TEST(Comparison, SeesOneOtherNumber) {
    const reference::Graph graph = reference::small_graph("karate");
    const auto borrowed = reference::borrow(graph.csr());
    csaw_plan *made = nullptr;
    reference::require(csaw_plan_create(borrowed.get(), nullptr, &made));
    const std::unique_ptr<csaw_plan, reference::Free> plan(made);
    for (const Case &each : {walks()[0], samples()[0]}) {
        Ask ask = ask_of(each, {{0}, {33}}, 9, {3, 2});
        const Outcome a = draw(plan.get(), each, Method::its, ask), b = draw(plan.get(), each, Method::its, ask);
        const auto same = [&](const Outcome &x, const Outcome &y) {
            uint64_t items = 0;
            return static_cast<bool>(each.walk ? same_walks(x.samples.get(), y.samples.get(), &items)
                                               : same_arcs(x.samples.get(), y.samples.get(), &items));
        };
        EXPECT_TRUE(same(a, b));
        csaw_walks walk = {};
        csaw_arcs arcs = {};
        if (each.walk) {
            reference::require(csaw_samples_walks(b.samples.get(), CSAW_HOST, &walk));
            const_cast<csaw_edge *>(walk.edge)[17] ^= 1; // the last step of the second walk
        } else {
            reference::require(csaw_samples_arcs(b.samples.get(), CSAW_HOST, &arcs));
            const_cast<uint32_t *>(arcs.depth)[arcs.offset[2] - 1] ^= 1;
        }
        EXPECT_FALSE(same(a, b));
    }
}

// A built-in sampler that is in no case would go untested.
TEST(Cases, HoldEveryBuiltInSampler) {
    std::set<const csaw_sampler *> covered;
    for (const Case &each : all()) covered.insert(each.sampler);
    const csaw_sampler *sampler = nullptr;
    for (uint32_t i = 0; (sampler = csaw_sampler_at(i)) != nullptr; i++)
        EXPECT_TRUE(covered.count(sampler)) << csaw_sampler_name(sampler);
    std::set<std::string> names;
    for (const Case &each : all()) EXPECT_TRUE(names.insert(each.name).second) << each.name << " is there twice";
}

} // namespace

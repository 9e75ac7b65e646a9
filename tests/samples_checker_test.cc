/* SPDX-License-Identifier: MIT */
/* tests/samples_checker_test.cc - samples of two real graphs, wiki-Vote and soc-Epinions1, replayed by plain code that
 * knows the rules and nothing of csaw: every arc exists under its id, depths grow, every vertex of the pool has the
 * arcs that its fanout asks for and in its turn, no arc comes twice where nothing is put back, and the next pool is
 * what the sampler's comment says. Mangled samples must be noticed. Needs CSAW_DATA. */
#include "tests/data_folder.h"
#include "tests/reference/public_api.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

namespace {

using reference::Sample;
using reference::SampledArc;
using reference::SampleRequest;
using Vertices = std::vector<csaw_vertex>;

enum class Next { reached, unvisited, keep, list, nothing };
enum class Count { fanout, every_arc, some, some_unvisited }; // arcs of a unit

struct Rule {
    std::string name;
    const csaw_sampler *sampler;
    Next next;
    Count count;
    bool layer = false, replace = false;
    std::vector<uint32_t> fanout = {10, 5, 3};
};

std::vector<Rule> rules() {
    return {
        {"neighbor", &csaw_neighbor, Next::reached, Count::fanout},
        {"neighbor, with replacement", &csaw_neighbor, Next::reached, Count::fanout, false, true},
        {"neighbor_biased", &csaw_neighbor_biased, Next::reached, Count::fanout},
        {"neighbor_once", &csaw_neighbor_once, Next::unvisited, Count::fanout},
        {"neighbor_again", &csaw_neighbor_again, Next::keep, Count::fanout},
        {"neighbor_again, a long way", &csaw_neighbor_again, Next::keep, Count::fanout, false, false, {2, 1, 1, 2, 1}},
        {"temporal_neighbor", &csaw_temporal_neighbor, Next::reached, Count::fanout},
        {"forest_fire", &csaw_forest_fire, Next::reached, Count::some_unvisited},
        {"forest_fire_all", &csaw_forest_fire_all, Next::unvisited, Count::some},
        {"snowball", &csaw_snowball, Next::unvisited, Count::every_arc, false, false, {CSAW_ALL, CSAW_ALL}},
        {"layer", &csaw_layer, Next::reached, Count::fanout, true, false, {200, 500, 1}},
        {"layer, with replacement", &csaw_layer, Next::reached, Count::fanout, true, true, {200, 500, 1}},
        {"multidimensional", &csaw_multidimensional, Next::list, Count::fanout, true, false,
         std::vector<uint32_t>(60, 1)},
        {"random_edge", &csaw_random_edge, Next::nothing, Count::fanout, true},
        {"saint_node", &csaw_saint_node, Next::nothing, Count::fanout, true, true, {300}},
        {"saint_edge", &csaw_saint_edge, Next::nothing, Count::fanout, true, true, {300}},
        {"shadow", &csaw_shadow, Next::unvisited, Count::fanout}};
}

class Checker {
  public:
    Checker(const csaw_csr &csr, const Rule &rule) : csr(csr), rule(rule) {}

    // What is wrong with the sample, or "".
    std::string check(const Vertices &seeds, const Sample &sample) {
        arcs = &sample.arcs;
        at = 0;
        wrong.clear();
        Vertices pool;
        for (csaw_vertex v : seeds) enter(&pool, v);
        if (!is_first_frontier(pool, sample.frontier)) return "first frontier";
        visited = std::set<csaw_vertex>(pool.begin(), pool.end());
        for (depth = 0; depth < rule.fanout.size() && wrong.empty(); depth++) {
            const size_t first = at;
            if (rule.layer) {
                unit(pool);
            } else {
                for (csaw_vertex v : pool) unit({v});
            }
            pool = next_pool(pool, first);
            visited.insert(pool.begin(), pool.end());
        }
        if (wrong.empty() && at < arcs->size()) say("arcs left over");
        return wrong;
    }

  private:
    void say(const std::string &what) {
        if (wrong.empty()) wrong = rule.name + ", depth " + std::to_string(depth) + ": " + what;
    }

    // The pool; of a list one vertex that has arcs, if there is one.
    bool is_first_frontier(const Vertices &pool, const Vertices &frontier) const {
        if (rule.next != Next::list) return frontier == pool;
        const auto has_arcs = [&](csaw_vertex v) { return degree(v) > 0; };
        if (std::none_of(pool.begin(), pool.end(), has_arcs)) return frontier.empty();
        return frontier.size() == 1 && has_arcs(frontier[0]) &&
               std::find(pool.begin(), pool.end(), frontier[0]) != pool.end();
    }

    uint64_t degree(csaw_vertex v) const { return csr.rowptr[v + uint64_t{1}] - csr.rowptr[v]; }

    void enter(Vertices *pool, csaw_vertex v) {
        if (rule.next != Next::list && std::find(pool->begin(), pool->end(), v) != pool->end()) return;
        pool->push_back(v);
    }

    // The arcs of the vertices of one selection.
    void unit(const Vertices &vertices) {
        const std::set<csaw_vertex> sources(vertices.begin(), vertices.end());
        std::set<csaw_edge> seen;
        uint64_t count = 0, most = 0;
        for (csaw_vertex v : vertices) most += degree(v);
        for (; at < arcs->size() && (*arcs)[at].depth == depth; at++, count++) {
            const SampledArc &arc = (*arcs)[at];
            if (!sources.count(arc.src)) {
                if (rule.layer) say("an arc from outside the pool");
                break;
            }
            const bool exists = arc.edge >= csr.rowptr[arc.src] && arc.edge < csr.rowptr[arc.src + uint64_t{1}];
            if (!exists || csr.col[arc.edge] != arc.dst) say("an arc that is not there");
            if (!seen.insert(arc.edge).second && !rule.replace) say("an arc twice");
            if (rule.count == Count::some_unvisited && visited.count(arc.dst)) say("a visited vertex burns");
        }
        const uint64_t k = rule.fanout[depth];
        const uint64_t exactly = rule.count == Count::every_arc ? most
                                 : rule.replace                 ? (most > 0 ? k : 0)
                                                                : std::min(k, most);
        if (rule.count == Count::fanout || rule.count == Count::every_arc) {
            if (count != exactly) say(std::to_string(count) + " arcs, not " + std::to_string(exactly));
        } else if (count > most) {
            say("more arcs than there are");
        }
    }

    Vertices next_pool(const Vertices &pool, size_t first) {
        Vertices out;
        if (rule.next == Next::nothing) return out;
        if (rule.next == Next::keep || rule.next == Next::list) out = pool;
        std::set<csaw_vertex> has(out.begin(), out.end());
        for (size_t i = first; i < at; i++) {
            const SampledArc &arc = (*arcs)[i];
            if (rule.next == Next::list) {
                *std::find(out.begin(), out.end(), arc.src) = arc.dst;
            } else if (!(rule.next == Next::unvisited && visited.count(arc.dst)) && has.insert(arc.dst).second) {
                out.push_back(arc.dst);
            }
        }
        return out;
    }

    const csaw_csr &csr;
    const Rule &rule;
    const std::vector<SampledArc> *arcs = nullptr;
    size_t at = 0;
    uint32_t depth = 0;
    std::set<csaw_vertex> visited;
    std::string wrong;
};

struct Real {
    std::unique_ptr<csaw_graph, reference::Free> graph;
    csaw_csr csr;
};

Real load(const std::string &name) {
    const std::string path = std::string(data_folder()) + "/edge-lists/" + name + ".txt.gz";
    csaw_graph *graph = nullptr;
    reference::require(csaw_graph_load(path.c_str(), nullptr, &graph));
    return {std::unique_ptr<csaw_graph, reference::Free>(graph), csaw_graph_csr(graph)};
}

// Seeds of every size; some of them are dead ends, since the graphs are directed, and some are given twice.
SampleRequest request_of(const csaw_csr &csr, const Rule &rule) {
    std::mt19937_64 random(17);
    SampleRequest out;
    out.seed = 1234567;
    for (int j = 0; j < 60; j++) {
        Vertices pool;
        for (size_t size = std::vector<size_t>{1, 2, 5, 40}[j % 4]; pool.size() < size;)
            pool.push_back(static_cast<csaw_vertex>(random() % csr.num_vertices));
        if (j % 4 == 1) pool[1] = pool[0];
        out.pools.push_back(pool);
    }
    out.samples_per_pool = 2;
    out.depth = static_cast<uint32_t>(rule.fanout.size());
    if (rule.count == Count::fanout) out.fanout = rule.fanout;
    out.replace = rule.replace;
    return out;
}

std::vector<reference::Method> methods_of(const Rule &rule) {
    using reference::Method;
    if (rule.layer && rule.next != Next::list) return {Method::automatic, Method::its};
    if (rule.replace) return {Method::automatic, Method::its, Method::alias};
    if (rule.count == Count::some_unvisited) return {Method::automatic, Method::its, Method::race};
    return {Method::automatic, Method::its, Method::race, Method::alias};
}

class SamplesOf : public ::testing::TestWithParam<const char *> {};

TEST_P(SamplesOf, KeepTheRules) {
    if (!data_folder()) GTEST_SKIP() << "CSAW_DATA is not set: no real graphs";
    const Real real = load(GetParam());
    const reference::Library library(real.csr, reference::plan_on("cpu", 0, 0));
    for (const Rule &rule : rules()) {
        const SampleRequest request = request_of(real.csr, rule);
        Checker checker(real.csr, rule);
        for (reference::Method method : methods_of(rule)) {
            const std::vector<Sample> samples = library.samples(rule.sampler, nullptr, method, request);
            ASSERT_EQ(samples.size(), request.pools.size() * request.samples_per_pool);
            size_t arcs = 0;
            for (size_t i = 0; i < samples.size(); i++) {
                ASSERT_EQ(checker.check(request.pools[i % request.pools.size()], samples[i]), "")
                    << "instance " << i << ", " << reference::name_of(method);
                arcs += samples[i].arcs.size();
            }
            EXPECT_GT(arcs, 500u) << rule.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(RealGraphs, SamplesOf, ::testing::Values("wiki-Vote", "soc-Epinions1"), [](const auto &info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST(RandomNodes, AreDifferentVerticesOfTheWholeGraph) {
    if (!data_folder()) GTEST_SKIP() << "CSAW_DATA is not set: no real graphs";
    const Real real = load("wiki-Vote");
    const reference::Library library(real.csr, reference::plan_on("cpu", 0, 0));
    SampleRequest request;
    request.pools.resize(1);
    for (csaw_vertex v = 0; v < real.csr.num_vertices; v++) request.pools[0].push_back(v);
    request.samples_per_pool = 3;
    for (const Sample &sample :
         library.samples(&csaw_random_node, nullptr, reference::Method::automatic, request)) { // 1000 by default
        const std::set<csaw_vertex> different(sample.frontier.begin(), sample.frontier.end());
        EXPECT_EQ(sample.frontier.size(), 1000u);
        EXPECT_EQ(different.size(), 1000u);
        EXPECT_LT(*different.rbegin(), real.csr.num_vertices);
        EXPECT_TRUE(sample.arcs.empty());
    }
}

// ---- the checker itself ---------------------------------------------------------------

using Mangle = std::function<void(Sample *)>;

TEST(Checker, NoticesMangledSamples) {
    // 0 -> 1, 2, 3; 1 -> 0, 2; 2 -> 3; 3 has none
    const std::vector<csaw_edge> rowptr = {0, 3, 5, 6, 6};
    const Vertices col = {1, 2, 3, 0, 2, 3};
    csaw_csr csr = {};
    csr.num_vertices = 4;
    csr.num_edges = 6;
    csr.rowptr = rowptr.data();
    csr.col = col.data();
    const Rule rule = {"neighbor", nullptr, Next::reached, Count::fanout, false, false, {2, 1}};
    Checker checker(csr, rule);
    const Sample right = {{0}, {{0, 2, 1, 0}, {0, 1, 0, 0}, {2, 3, 5, 1}, {1, 0, 3, 1}}};
    EXPECT_EQ(checker.check({0, 0}, right), "");
    const std::vector<std::pair<const char *, Mangle>> mangled = {
        {"another id", [](Sample *s) { s->arcs[0].edge = 2; }},
        {"another row's id", [](Sample *s) { s->arcs[0].edge = 4; }},
        {"another destination", [](Sample *s) { s->arcs[1].dst = 3; }},
        {"an arc twice", [](Sample *s) { s->arcs[1] = s->arcs[0]; }},
        {"an arc too few", [](Sample *s) { s->arcs.erase(s->arcs.begin()); }},
        {"an arc too many",
         [](Sample *s) {
             s->arcs.insert(s->arcs.begin(), {0, 3, 2, 0});
         }},
        {"a vertex before its turn", [](Sample *s) { std::swap(s->arcs[2], s->arcs[3]); }},
        {"a vertex that is not in the pool",
         [](Sample *s) {
             s->arcs[2] = {0, 3, 2, 1};
         }},
        {"a vertex of the pool left out", [](Sample *s) { s->arcs.pop_back(); }},
        {"depth too early", [](Sample *s) { s->arcs[2].depth = 0; }},
        {"depth too late", [](Sample *s) { s->arcs[3].depth = 2; }},
        {"another frontier", [](Sample *s) { s->frontier = {1}; }}};
    for (const auto &[what, mangle] : mangled) {
        Sample wrong = right;
        mangle(&wrong);
        EXPECT_NE(checker.check({0, 0}, wrong), "") << what;
    }
    for (Next next : {Next::unvisited, Next::keep, Next::nothing}) { // the pool has other rules
        Rule other = rule;
        other.next = next;
        EXPECT_EQ(Checker(csr, other).check({0}, right) == "", next == Next::unvisited) << static_cast<int>(next);
    }
    Sample twice = right; // 0 is reached again, and expanded again
    const Rule deep = {"neighbor", nullptr, Next::reached, Count::fanout, false, false, {2, 1, 1}};
    Rule once = deep;
    once.next = Next::unvisited;
    twice.arcs.push_back({0, 1, 0, 2});
    EXPECT_EQ(Checker(csr, deep).check({0}, twice), "");
    EXPECT_NE(Checker(csr, once).check({0}, twice), "");
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* tests/visits_test.cc - neighbours by visit counts: equal to a plain count of the same walks; their law, by
 * enumeration of all walks from a seed (|z| < 4 for each of 8 fits, wrong laws z > 10: tests/law.h); any number of
 * threads; seeds in one list and in two; ends, repeated seeds, what is refused. */
#include "tests/failing_allocations.h"
#include "tests/graph_cases.h"
#include "tests/visits_cases.h"

using graph_cases::message_has;
using namespace visits_cases;

namespace {

// The same walks by csaw_sample(): walk w of seed i is instance i * walks + w.
std::vector<Kept> by_hand(const reference::Library &library, const std::vector<csaw_vertex> &seeds, const Ask &ask) {
    reference::Request request;
    request.seed = ask.seed;
    request.depth = ask.depth;
    for (csaw_vertex v : seeds) request.roots.insert(request.roots.end(), ask.walks, v);
    const reference::Walks walks = library.walks(ask.sampler, ask.params, reference::Method::automatic, request);
    std::vector<Kept> out;
    for (size_t i = 0; i < seeds.size(); i++) {
        std::map<csaw_vertex, uint32_t> count;
        for (size_t w = i * ask.walks; w < (i + 1) * ask.walks; w++)
            for (uint32_t s = 1; s <= ask.depth; s++) {
                const csaw_vertex v = walks.path[w * (ask.depth + 1) + s];
                if (v != CSAW_NONE && v != seeds[i]) count[v]++;
            }
        out.push_back(top_of(count, ask.top));
    }
    return out;
}

TEST(Visits, AreThoseOfTheWalks) {
    const csaw_restart_params often = {.4f};
    const csaw_ppr_params ppr = {.2f};
    for (const char *name : {"karate", "directed_weighted", "multi_weighted", "isolated", "zero_rows"}) {
        const Graph graph = reference::small_graph(name);
        const csaw_csr csr = graph.csr();
        const reference::Library library(csr, law::plan_on("cpu", 0, 0));
        std::vector<csaw_vertex> seeds = graph.vertices();
        seeds.insert(seeds.end(), {3, 3, 0});
        for (const Ask &ask : {Ask{&csaw_restart, &often, 7, 5, 4, 1}, Ask{&csaw_uniform, nullptr, 3, 9, 100, 2},
                               Ask{&csaw_ppr, &ppr, 20, 6, 1, 3}})
            EXPECT_TRUE(visits(library.get(), seeds, ask) == by_hand(library, seeds, ask)) << name;
        const Ask usual = {nullptr, nullptr, 0, 0, 0, 5}, said = {&csaw_restart, nullptr, 10, 10, 10, 5};
        EXPECT_TRUE(visits(library.get(), {}, usual) == by_hand(library, graph.vertices(), said)) << name;
    }
}

// More seeds than a chunk of them: 2^21 / (200 * 51) = 205.
TEST(Visits, AreTheSameInChunksOnAnyThreads) {
    const Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const reference::Library one(csr, law::plan_on("cpu", 1, 0)), three(csr, law::plan_on("cpu", 3, 0));
    std::vector<csaw_vertex> seeds;
    for (csaw_vertex i = 0; i < 500; i++) seeds.push_back(i % 34);
    const Ask ask = {&csaw_restart, nullptr, 200, 50, 5, 9};
    const std::vector<Kept> got = visits(one.get(), seeds, ask);
    EXPECT_TRUE(got == by_hand(one, seeds, ask));
    EXPECT_TRUE(visits(three.get(), seeds, ask) == got);
    EXPECT_NE(got[0], got[34]);           // walks of their own
    for (size_t cut : {1u, 205u, 300u}) { // two lists, each with the number of its first seed
        Ask front = ask, back = ask;
        back.first = cut;
        std::vector<Kept> pieces = visits(three.get(), {seeds.begin(), seeds.begin() + cut}, front);
        const std::vector<Kept> rest = visits(one.get(), {seeds.begin() + cut, seeds.end()}, back);
        pieces.insert(pieces.end(), rest.begin(), rest.end());
        EXPECT_TRUE(pieces == got) << cut;
        front.first = cut;
        EXPECT_FALSE(visits(one.get(), {seeds.begin(), seeds.begin() + cut}, front) ==
                     std::vector<Kept>(got.begin(), got.begin() + cut));
    }
}

// Told of 0 seeds, and of those done after each chunk; stopped there, nothing is made. The plan is not to be drawn from
// meanwhile, and is as before afterwards.
TEST(Visits, TellHowFarTheyAreAndStop) {
    const Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const reference::Library library(csr, law::plan_on("cpu", 2, 0));
    std::vector<csaw_vertex> seeds;
    for (csaw_vertex i = 0; i < 500; i++) seeds.push_back(i % 34);
    struct Told {
        csaw_plan *plan;
        uint64_t most; /* seeds, until it stops */
        std::vector<uint64_t> done;
    };
    const auto tell = [](void *user, uint64_t done, uint64_t total) {
        auto *told = static_cast<Told *>(user);
        csaw_visits *inside = nullptr;
        EXPECT_EQ(csaw_visits_create(told->plan, nullptr, nullptr, &inside), CSAW_EINVAL);
        EXPECT_EQ(total, 500u);
        told->done.push_back(done);
        return done < told->most;
    };
    const Ask ask = {&csaw_restart, nullptr, 200, 50, 5, 9};
    csaw_visit_options given = ask.given();
    const csaw_seeds view = {seeds.data(), seeds.size(), nullptr};
    for (uint64_t most : {0u, 1u, 206u, 501u}) {
        Told told = {library.get(), most, {}};
        given.progress = tell;
        given.user = &told;
        csaw_visits *made = nullptr;
        const csaw_status status = csaw_visits_create(library.get(), &view, &given, &made);
        std::vector<uint64_t> want = {0, 205, 410, 500}; // chunks of 2^21 / (200 * 51)
        while (want.size() > 1 && want[want.size() - 2] >= most) want.pop_back();
        EXPECT_EQ(told.done, want) << most;
        EXPECT_EQ(status, most > 500 ? CSAW_OK : CSAW_ESTOPPED) << most;
        EXPECT_EQ(made != nullptr, most > 500) << most;
        csaw_visits_free(made);
        if (status) {
            EXPECT_TRUE(message_has({"progress", std::to_string(want.back()), "500 seeds"})) << most;
        }
    }
    EXPECT_EQ(visits(library.get(), {3}, ask), by_hand(library, {3}, ask));
}

// ---- law ---------------------------------------------------------------------

TEST(VisitsLaw, AllWalksFromASeed) { expect_law("cpu", 20000); }

// ---- subgraphs of neighbours ----------------------------------------------------

// docs/training.md, "ShaDow": each seed and what is kept of it, as a pool whose sample has no arcs.
TEST(Visits, NeighboursMakeSubgraphs) {
    const Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const reference::Library library(csr, law::plan_on("cpu", 0, 0));
    const std::vector<Kept> kept = visits(library.get(), {}, {&csaw_ppr, nullptr, 30, 6, 5, 8});
    std::vector<std::vector<csaw_vertex>> pools;
    for (csaw_vertex v = 0; v < 34; v++) {
        pools.push_back({v});
        for (const auto &[neighbour, count] : kept[v]) pools.back().push_back(neighbour);
    }
    const reference::Seeds seeds(pools);
    const csaw_seeds view = seeds.view();
    const uint32_t none[] = {0};
    csaw_run_options run = {};
    run.size = sizeof run;
    run.depth = 1;
    run.fanout = none;
    csaw_samples *samples = nullptr;
    reference::require(csaw_sample(library.get(), &csaw_shadow, nullptr, &view, &run, &samples));
    csaw_subgraph_options how = {};
    how.size = sizeof how;
    how.per_instance = how.induced = true;
    csaw_subgraph *subgraph = nullptr;
    const auto borrowed = reference::borrow(csr);
    reference::require(csaw_subgraph_create(borrowed.get(), samples, &how, &subgraph));
    csaw_samples_free(samples);
    const csaw_subgraph_view look = csaw_subgraph_look(subgraph);
    ASSERT_EQ(look.num_graphs, 34u);
    for (csaw_vertex v = 0; v < 34; v++) {
        const std::vector<csaw_vertex> got(look.vertex + look.vertex_offset[v],
                                           look.vertex + look.vertex_offset[v + 1]);
        ASSERT_EQ(got, pools[v]); // the seed first
        for (size_t i = 0; i < got.size(); i++) {
            std::vector<csaw_vertex> arcs, expected;
            for (uint64_t k = look.rowptr[look.vertex_offset[v] + i]; k < look.rowptr[look.vertex_offset[v] + i + 1];
                 k++)
                arcs.push_back(csr.col[look.edge[k]]);
            for (csaw_edge e = csr.rowptr[got[i]]; e < csr.rowptr[got[i] + 1]; e++)
                if (std::count(got.begin(), got.end(), csr.col[e])) expected.push_back(csr.col[e]);
            std::sort(arcs.begin(), arcs.end());
            std::sort(expected.begin(), expected.end());
            EXPECT_EQ(arcs, expected);
        }
    }
    csaw_subgraph_free(subgraph);
}

// ---- ends and errors -----------------------------------------------------------

TEST(Visits, NowhereToGo) {
    const csaw_edge none[] = {0, 0, 0};
    const csaw_csr lonely = {2, 0, none, nullptr, nullptr, nullptr, nullptr},
                   empty = {0, 0, none, nullptr, nullptr, nullptr, nullptr};
    const reference::Library on_lonely(lonely, law::plan_on("cpu", 0, 0)), on_empty(empty, law::plan_on("cpu", 0, 0));
    EXPECT_EQ(visits(on_lonely.get(), {}, {}), (std::vector<Kept>{{}, {}}));
    EXPECT_EQ(visits(on_empty.get(), {}, {}), std::vector<Kept>{});
}

TEST(Visits, RefusesWhatCannotBe) {
    const Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const reference::Library library(csr, law::plan_on("cpu", 0, 0));
    csaw_visits *out = nullptr;
    const auto refused = [&](const Ask &ask, const csaw_seeds *seeds, const std::vector<std::string> &parts) {
        const csaw_visit_options given = ask.given();
        EXPECT_EQ(csaw_visits_create(library.get(), seeds, &given, &out), CSAW_EINVAL);
        EXPECT_TRUE(message_has(parts));
        EXPECT_EQ(out, nullptr);
    };
    const csaw_vertex beyond[] = {0, 34};
    const uint64_t offset[] = {0, 2};
    const csaw_seeds wrong = {beyond, 2, nullptr}, pools = {beyond, 1, offset}, many = {nullptr, 35, nullptr},
                     endless = {nullptr, 34, nullptr};
    refused({}, &wrong, {"seed 1 is vertex 34", "34 vertices"});
    refused({}, &pools, {"without offset"});
    refused({}, &many, {"35 seeds", "34"});
    refused({nullptr, nullptr, 1u << 17, 1u << 16}, &endless, {"131072 walks of 65536 steps", "2^32 - 2"});
    refused({nullptr, nullptr, 1, 1u << 24}, nullptr, {"16777216", "2^24 - 1"});
    Ask late;
    late.first = (uint64_t{1} << 40) / 10 - 33; // of 34 seeds with 10 walks
    refused(late, nullptr, {"34 seeds from number 109951162744", "2^40"});
    refused({&csaw_neighbor_once}, nullptr, {"no walks"});
    const csaw_restart_params params = {2};
    refused({&csaw_restart, &params}, nullptr, {"restart"});
    EXPECT_EQ(csaw_visits_create(nullptr, nullptr, nullptr, &out), CSAW_EINVAL);
    EXPECT_EQ(csaw_visits_create(library.get(), nullptr, nullptr, nullptr), CSAW_EINVAL);
    csaw_visits_free(nullptr);
}

TEST(Visits, EveryAllocationMayFail) {
    const Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const auto borrowed = reference::borrow(csr);
    EXPECT_GT(fail_every_allocation([&] {
                  csaw_plan *plan = nullptr;
                  csaw_visits *out = nullptr;
                  csaw_status status = csaw_plan_create(borrowed.get(), nullptr, &plan);
                  if (status == CSAW_OK) status = csaw_visits_create(plan, nullptr, nullptr, &out);
                  csaw_visits_free(out);
                  csaw_plan_free(plan);
                  return status;
              }),
              8u);
}

} // namespace

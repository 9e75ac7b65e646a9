/* SPDX-License-Identifier: MIT */
/* tests/walks_law_test.cc - the law is right (P1) for every built-in walk beside uniform and node2vec, under every
 * method that it allows, by the reference and by the library on a CPU; and for each a wrong walk that the same test
 * rejects.
 *
 * There are some 1,900 values of z here: 0.12 false alarms were to be expected, and fixed seeds repeat the answer. */
#include "tests/walks_law.h"

using namespace walks_law;

namespace {

void expect_law(const Graph &graph, const Named &each, Method method, const Request &request, const Walks &walks) {
    const Fit fit = fit_of(graph.csr(), each.law, walks, request);
    const std::string what = each.walk.name + ", " + reference::name_of(method) + ", " + graph.name;
    EXPECT_LT(std::fabs(fit.first.z()), law::threshold) << what << ": z = " << fit.first.z() << " on first steps";
    EXPECT_LT(std::fabs(fit.later.z()), law::threshold) << what << ": z = " << fit.later.z() << " on later steps";
}

class OfWalk : public ::testing::TestWithParam<size_t> {};

TEST_P(OfWalk, ReferenceHasTheLaw) {
    const Named each = named()[GetParam()];
    uint64_t seed = 0x1234567800000000;
    for (const Graph &graph : walk_cases::graphs()) {
        const csaw_csr csr = graph.csr();
        for (Method method : walk_cases::methods_of(each.walk, csr)) {
            const Request request = law::request_on(graph, 10000, ++seed);
            expect_law(graph, each, method, request,
                       reference::walks(csr, each.walk.reference, method, request, reference::has_parallel_arcs(csr)));
        }
    }
}

TEST_P(OfWalk, LibraryHasTheLaw) {
    const Named each = named()[GetParam()];
    uint64_t seed = 0x8765432100000000;
    for (const Graph &graph : walk_cases::graphs()) {
        const csaw_csr csr = graph.csr();
        const reference::Library library(csr, law::plan_on("cpu", 0, 0));
        for (Method method : walk_cases::methods_of(each.walk, csr)) {
            const Request request = law::request_on(graph, 100000, ++seed);
            expect_law(graph, each, method, request, library_walks(library, each.walk, method, request));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(WalksLaw, OfWalk, ::testing::Range(size_t{0}, walk_cases::cases().size()),
                         [](const auto &info) {
                             std::string name = walk_cases::cases()[info.param].name;
                             std::replace(name.begin(), name.end(), ' ', '_');
                             return name;
                         });

// ---- what follows from the steps' laws, tested on its own ----------------------------------

// Walks from every vertex in turn are uniform over the vertices at every depth; at the last one, independent draws.
double z_of_places(const Graph &graph, const reference::Sampler &sampler) {
    Request request = law::request_on(graph, 200000, 77);
    const Walks walks = reference::walks(graph.csr(), sampler, Method::uniform, request, false);
    std::vector<uint64_t> seen(graph.vertices().size());
    for (uint64_t w = 0; w < walks.count; w++) seen[walks.path[w * 9 + 8]]++;
    ChiSquare fit;
    fit.add(seen, std::vector<long double>(seen.size(), 1.0L / seen.size()));
    return fit.z();
}

// Roots in turn are less random than draws, so that the fit may be too good: one side alone.
TEST(MetropolisHastings, KeepsTheUniformDistribution) {
    const Graph karate = reference::small_graph("karate");
    EXPECT_LT(z_of_places(karate, reference::metropolis_hastings()), law::threshold);
    EXPECT_GT(z_of_places(karate, reference::uniform()), law::wrong);
}

// Where there are no dead ends: P(L = k) = alpha (1 - alpha)^k, k < 8, and the rest at 8.
double z_of_lengths(const Walks &walks, long double alpha) {
    std::vector<uint64_t> seen(walks.length + size_t{1});
    std::vector<long double> probability;
    for (uint64_t w = 0; w < walks.count; w++) {
        uint32_t steps = 0;
        while (steps < walks.length && walks.path[w * (walks.length + uint64_t{1}) + steps + 1] != CSAW_NONE) steps++;
        seen[steps]++;
    }
    long double goes_on = 1;
    for (uint32_t k = 0; k < walks.length; k++, goes_on *= 1 - alpha) probability.push_back(alpha * goes_on);
    probability.push_back(goes_on);
    ChiSquare fit;
    fit.add(seen, probability);
    return fit.z();
}

TEST(PersonalisedPageRank, HasGeometricLengths) {
    const Graph karate = reference::small_graph("karate");
    const reference::Library library(karate.csr(), law::plan_on("cpu", 0, 0));
    const Request request = law::request_on(karate, 400000, 78);
    const csaw_ppr_params params = {.2f};
    EXPECT_LT(std::fabs(z_of_lengths(library.walks(&csaw_ppr, &params, Method::automatic, request), .2f)),
              law::threshold);
    const Walks stop_later = reference::walks(karate.csr(), reference::ppr(.25f), Method::its, request, false);
    EXPECT_GT(z_of_lengths(stop_later, .2f), law::wrong);
}

// ---- wrong walks ---------------------------------------------------------------------------

double worse_z(const Graph &graph, const Law &law, const reference::Sampler &sampler) {
    const csaw_csr csr = graph.csr();
    const Request request = law::request_on(graph, 50000, 79);
    const Walks walks = reference::walks(csr, sampler, Method::its, request, reference::has_parallel_arcs(csr));
    const Fit fit = fit_of(csr, law, walks, request);
    return std::max(fit.first.z(), fit.later.z());
}

TEST(WrongWalk, IgnoredWeightsAreRejected) {
    const Graph graph = reference::small_graph("weighted");
    EXPECT_GT(worse_z(graph, biased(), reference::uniform()), law::wrong);
    EXPECT_GT(worse_z(graph, jump(0), reference::uniform()), law::wrong);
}

TEST(WrongWalk, DegreeOfTheWrongEndIsRejected) {
    reference::Sampler wrong = reference::biased_by_degree();
    wrong.static_bias = [](const csaw_csr &graph, const reference::Arc &arc) {
        return static_cast<float>(graph.rowptr[arc.src + uint64_t{1}] - graph.rowptr[arc.src]);
    };
    EXPECT_GT(worse_z(reference::small_graph("karate"), biased_by_degree(), wrong), law::wrong);
}

TEST(WrongWalk, MetropolisHastingsThatNeverStaysIsRejected) {
    EXPECT_GT(worse_z(reference::small_graph("karate"), metropolis_hastings(), reference::uniform()), law::wrong);
}

TEST(WrongWalk, MetropolisHastingsThatProposesAgainIsRejected) { // in place of staying
    reference::Sampler wrong;
    wrong.edge_bias = [](const reference::Site &site, const reference::Arc &arc) {
        const auto here = static_cast<float>(site.degree(site.at)), there = static_cast<float>(site.degree(arc.dst));
        return there <= here ? 1.0f : here / there;
    };
    EXPECT_GT(worse_z(reference::small_graph("karate"), metropolis_hastings(), wrong), law::wrong);
}

TEST(WrongWalk, JumpsToNeighboursOfTheRootAreRejected) {
    reference::Sampler wrong = reference::jump(.3f);
    wrong.update = [](const reference::Site &site, const reference::Arc &arc) {
        if (static_cast<double>(site.random(0)) >= .3 * 0x1p64) return arc.dst;
        return site.graph->col[site.graph->rowptr[site.root]];
    };
    EXPECT_GT(worse_z(reference::small_graph("karate"), jump(.3f), wrong), law::wrong);
}

TEST(WrongWalk, DeadEndsThatEndAreRejected) {
    const Graph graph = reference::small_graph("directed"); // three sinks
    reference::Sampler jumps = reference::jump(.3f), restarts = reference::restart(.25f);
    jumps.dead_end = restarts.dead_end = nullptr;
    EXPECT_GT(worse_z(graph, jump(.3f), jumps), law::wrong);
    EXPECT_GT(worse_z(graph, restart(.25f), restarts), law::wrong);
}

TEST(WrongWalk, RestartAtThePreviousVertexIsRejected) {
    reference::Sampler wrong = reference::restart(.25f);
    wrong.update = [](const reference::Site &site, const reference::Arc &arc) {
        if (static_cast<double>(site.random(0)) >= .25 * 0x1p64) return arc.dst;
        return site.prev == CSAW_NONE ? site.root : site.prev;
    };
    EXPECT_GT(worse_z(reference::small_graph("karate"), restart(.25f), wrong), law::wrong);
}

TEST(WrongWalk, PageRankThatStopsAfterTheStepIsRejected) { // so that no walk has length 0
    reference::Sampler wrong = reference::ppr(.2f);
    const auto right = wrong.update;
    wrong.update = [=](const reference::Site &site, const reference::Arc &arc) {
        return site.depth == 0 ? arc.dst : right(site, arc);
    };
    EXPECT_GT(worse_z(reference::small_graph("karate"), ppr(.2f), wrong), law::wrong);
}

TEST(WrongWalk, MetapathOneStepOffIsRejected) {
    EXPECT_GT(worse_z(reference::event_graph(true), metapath({1, 0, 2}), reference::metapath({0, 2, 1})), law::wrong);
}

TEST(WrongWalk, StrictTimesAreRejected) { // ties are allowed
    reference::Sampler wrong = reference::temporal(-3, 0);
    wrong.edge_bias = [](const reference::Site &site, const reference::Arc &arc) {
        return (site.depth == 0 ? arc.time >= -3 : arc.time > site.own) ? 1.0f : 0.0f;
    };
    EXPECT_GT(worse_z(reference::event_graph(false), temporal(-3, 0), wrong), law::wrong);
}

TEST(WrongWalk, TimesMeasuredFromTheFirstArcAreRejected) { // the last time is never updated
    reference::Sampler wrong = reference::temporal(-3, 2);
    wrong.update = [](const reference::Site &site, const reference::Arc &arc) {
        if (site.depth == 0) site.own = arc.time;
        return arc.dst;
    };
    EXPECT_GT(worse_z(reference::event_graph(false), temporal(-3, 2), wrong), law::wrong);
}

} // namespace

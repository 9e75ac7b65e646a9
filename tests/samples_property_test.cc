/* SPDX-License-Identifier: MIT */
/* tests/samples_property_test.cc - what follows from the laws of samples, tested on its own: random nodes and edges of
 * a whole pool, the number of vertices that a fire burns, and that frontier sampling sees edges uniformly; with
 * samplers that the same tests reject. Thresholds as in tests/law.h. */
#include "tests/sample_cases.h"

using namespace sample_cases;

namespace {

TEST(TemporalNeighbor, AdmitsEveryTimeByDefault) {
    csaw_temporal_neighbor_params params = {0, 0};
    csaw_sampler_defaults(&csaw_temporal_neighbor, &params);
    EXPECT_EQ(params.since, std::numeric_limits<int64_t>::min());
    EXPECT_EQ(params.until, std::numeric_limits<int64_t>::max());
}

// ---- random nodes: the first frontier is all of it --------------------------------

ChiSquare frontier_fit(const std::vector<Sample> &samples, const Vertices &pool, uint32_t size) {
    Frontiers seen;
    for (const Sample &sample : samples) {
        EXPECT_TRUE(sample.arcs.empty());
        seen[Sequence(sample.frontier.begin(), sample.frontier.end())]++;
    }
    return sample_cases::frontier_fit(std::move(seen), pool, size);
}

SampleRequest request_of_nodes(const Vertices &pool, uint32_t samples, uint64_t seed) {
    SampleRequest out;
    out.seed = seed;
    out.pools = {pool};
    out.samples_per_pool = samples;
    out.depth = 3; // the run ends after the first all the same
    return out;
}

TEST(RandomNode, EverySequenceIsEquallyLikely) {
    const Graph graph = reference::small_graph("isolated"); // arcs do not matter
    const csaw_csr csr = graph.csr();
    const reference::Library library(csr, law::plan_on("cpu", 0, 0));
    for (const Vertices &pool : {graph.vertices(), Vertices{7, 1, 3, 4}}) {
        for (uint32_t size : {1u, 3u, 4u, 1000u}) {
            const csaw_random_node_params params = {size};
            const std::string what = std::to_string(size) + " of " + std::to_string(pool.size());
            const SampleRequest request = request_of_nodes(pool, 60000, size);
            expect_small(
                frontier_fit(library.samples(&csaw_random_node, &params, Method::automatic, request), pool, size),
                what);
            expect_small(frontier_fit(reference::samples(csr, reference::random_node(size), Method::automatic,
                                                         request_of_nodes(pool, 20000, size + 9), false),
                                      pool, size),
                         what + ", reference");
        }
    }
}

TEST(RandomNode, DrawnByDegreeIsRejected) {
    const Graph graph = reference::small_graph("path");
    reference::Sampler wrong = reference::random_node(2);
    wrong.vertex_bias = reference::multidimensional().vertex_bias;
    EXPECT_GT(frontier_fit(reference::samples(graph.csr(), wrong, Method::automatic,
                                              request_of_nodes(graph.vertices(), 20000, 5), false),
                           graph.vertices(), 2)
                  .z(),
              law::wrong);
}

TEST(RandomEdge, OfTheWholeGraph) {
    const Graph graph = reference::small_graph("directed"); // 24 vertices
    const csaw_csr csr = graph.csr();
    const reference::Library library(csr, law::plan_on("cpu", 0, 0));
    const Law law = together(law_of(alike, Next::nothing));
    for (uint32_t fanout : {1u, 2u}) {
        SampleRequest request = request_of_nodes(graph.vertices(), 400000, 6);
        request.depth = 1;
        request.fanout = {fanout};
        expect_small(whole_fit(csr, law, request, {fanout},
                               library.samples(&csaw_random_edge, nullptr, Method::automatic, request)),
                     std::to_string(fanout) + " arcs");
    }
}

// ---- forest fire: how many burn, on rows too long to write every sequence down ------

// Sizes of first burns, min(x, degree) with P(x = j) = (1 - p) p^j. Nothing but the seed is visited then.
ChiSquare burn_fit(const Graph &graph, const std::vector<Sample> &samples, long double p) {
    ChiSquare fit;
    for (csaw_vertex v : graph.vertices()) {
        std::vector<uint64_t> seen(graph.degree(v) + 2);
        std::vector<long double> probability;
        for (uint32_t j = 0; j < graph.degree(v); j++) probability.push_back(geometric(p)(j));
        probability.push_back(std::pow(p, static_cast<long double>(graph.degree(v))));
        probability.push_back(0); // more than there are
        for (size_t i = v; i < samples.size(); i += graph.vertices().size()) {
            const size_t burned = static_cast<size_t>(std::count_if(
                samples[i].arcs.begin(), samples[i].arcs.end(), [](const SampledArc &arc) { return arc.depth == 0; }));
            seen[std::min(burned, seen.size() - 1)]++;
        }
        fit.add(seen, probability);
    }
    return fit;
}

SampleRequest request_of_burns(const Graph &graph, uint32_t samples) {
    SampleRequest out;
    out.seed = 31;
    for (csaw_vertex v : graph.vertices()) out.pools.push_back({v});
    out.samples_per_pool = samples;
    return out;
}

TEST(ForestFire, BurnsAGeometricNumber) {
    const Graph karate = reference::small_graph("karate");
    const reference::Library library(karate.csr(), law::plan_on("cpu", 0, 0));
    for (float p : {0.0f, .3f, .7f, .9f}) {
        const csaw_forest_fire_params params = {p};
        const csaw_forest_fire_all_params all = {p};
        const SampleRequest request = request_of_burns(karate, 5000);
        for (Method method : {Method::automatic, Method::its, Method::reject, Method::race})
            expect_small(burn_fit(karate, library.samples(&csaw_forest_fire, &params, method, request), p),
                         "p = " + std::to_string(p));
        expect_small(burn_fit(karate, library.samples(&csaw_forest_fire_all, &all, Method::automatic, request), p),
                     "all, p = " + std::to_string(p));
    }
}

TEST(ForestFire, OneMoreOrOneFewerIsRejected) { // p^(j + 1), and a count that begins at one
    const Graph karate = reference::small_graph("karate");
    const SampleRequest request = request_of_burns(karate, 500);
    reference::Sampler more = reference::forest_fire(.7f), fewer = more;
    const auto right = more.fanout;
    more.fanout = [=](const reference::Site &site) { return right(site) + 1; };
    fewer.fanout = [=](const reference::Site &site) { return std::max(1u, right(site)) - 1; };
    EXPECT_LT(std::fabs(burn_fit(karate,
                                 reference::samples(karate.csr(), reference::forest_fire(.7f), Method::automatic,
                                                    request, false),
                                 .7f)
                            .z()),
              law::threshold);
    for (const reference::Sampler &wrong : {more, fewer})
        EXPECT_GT(burn_fit(karate, reference::samples(karate.csr(), wrong, Method::automatic, request, false), .7f).z(),
                  law::wrong);
}

// ---- frontier sampling: edges are seen uniformly --------------------------------------

// Lists of two vertices, each as often as the stationary law P(list) proportional to the sum of its degrees says.
SampleRequest stationary_lists(const Graph &graph, uint32_t samples, bool alike) {
    SampleRequest out;
    out.seed = 41;
    for (csaw_vertex a : graph.vertices())
        for (csaw_vertex b : graph.vertices())
            for (uint64_t i = 0; i < (alike ? 1 : graph.degree(a) + graph.degree(b)); i++) out.pools.push_back({a, b});
    out.samples_per_pool = samples;
    out.depth = 4;
    return out;
}

// Arcs of one step against the uniform distribution; samples are independent of each other.
double z_of_arcs(const Graph &graph, const std::vector<Sample> &samples, size_t step) {
    std::vector<uint64_t> seen(graph.col.size());
    for (const Sample &sample : samples)
        if (step < sample.arcs.size()) seen[sample.arcs[step].edge]++;
    ChiSquare fit;
    fit.add(seen, std::vector<long double>(seen.size(), 1.0L / static_cast<long double>(seen.size())));
    return fit.z();
}

std::vector<Sample> walked(const Graph &graph, const reference::Sampler &sampler, const SampleRequest &request) {
    return reference::samples(graph.csr(), sampler, Method::automatic, request, false);
}

// Lists in turn are less random than draws, so that the fit may be too good: one side alone.
TEST(Multidimensional, SeesEdgesUniformly) {
    for (const char *name : {"karate", "isolated", "multi"}) { // isolated: in many lists one vertex never moves
        const Graph graph = reference::small_graph(name);
        const reference::Library library(graph.csr(), law::plan_on("cpu", 0, 0));
        const std::vector<Sample> samples =
            library.samples(&csaw_multidimensional, nullptr, Method::automatic, stationary_lists(graph, 40, false));
        for (size_t step : {0, 3}) EXPECT_LT(z_of_arcs(graph, samples, step), law::threshold) << name << ", " << step;
    }
}

TEST(Multidimensional, PickingPlacesUniformlyIsRejected) {
    const Graph karate = reference::small_graph("karate");
    reference::Sampler wrong = reference::multidimensional();
    wrong.vertex_bias = nullptr;
    const SampleRequest request = stationary_lists(karate, 2, false);
    EXPECT_LT(z_of_arcs(karate, walked(karate, reference::multidimensional(), request), 0), law::threshold);
    EXPECT_GT(z_of_arcs(karate, walked(karate, wrong, request), 0), law::wrong);
}

TEST(Multidimensional, FromListsAllAlikeItIsNotStationaryYet) {
    const Graph star = reference::small_graph("star");
    const SampleRequest request = stationary_lists(star, 400, true);
    EXPECT_GT(z_of_arcs(star, walked(star, reference::multidimensional(), request), 0), law::wrong);
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* tests/out_of_memory_layer_test.cc - layers whose rows come and go, in 1, 2, 4 and 17 partitions of which 1, 2 and all
 * are resident: the bits and the errors are those in memory, no bias is kept, and what is not hit is not brought. */
#include "runtime/base/memory.h"
#include "tests/out_of_memory_cases.h"

CSAW_DECLARE_SAMPLER(faulty_layer);

using namespace out_of_memory;
using reference::Graph;
using reference::Method;
using reference::Sample;
using sample_equality::SampleRequest;

namespace {

// The seeds of one instance are all vertices, those of the others some.
SampleRequest over_all(const csaw_csr &csr, std::vector<uint32_t> fanout, bool replace) {
    const auto depth = static_cast<uint32_t>(fanout.size());
    SampleRequest out = sample_equality::request_on(csr, std::move(fanout), depth, replace);
    out.pools.emplace_back();
    for (csaw_vertex v = 0; v < csr.num_vertices; v++) out.pools.back().push_back(v);
    return out;
}

// A hub whose row is longer than all others together, to leaves that lead back; leaves without arcs; weights that are
// alike, far apart, and 0 in all of some rows.
Graph hubs(bool far_apart) {
    std::vector<reference::WeightedArc> arcs;
    for (csaw_vertex leaf = 1; leaf <= 90; leaf++) {
        const float weight = far_apart ? std::ldexp(1.0f, static_cast<int>(leaf % 40)) : 1;
        arcs.push_back({0, leaf, leaf % 4 ? weight : 0, 0, 0});
        if (leaf % 3 == 0) arcs.push_back({leaf, 0, leaf % 2 ? 1.0f : 0.0f, 0, 0});
    }
    arcs.push_back({95, 0, 1, 0, 0});
    return reference::graph_of("hubs", 97, arcs, true);
}

void expect_the_same(const csaw_csr &csr, const csaw_sampler *sampler, const std::vector<SampleRequest> &requests) {
    const Library whole(csr, reference::plan_on("cpu", 1, 0));
    for (const csaw_plan_options &plan : plans()) {
        const Library parted(csr, plan);
        inside(parted)->queue_room = 5;
        inside(parted)->spill_room = 4;
        for (const SampleRequest &request : requests)
            EXPECT_TRUE(sample_equality::same(whole.samples(sampler, nullptr, Method::its, request),
                                              parted.samples(sampler, nullptr, Method::its, request)))
                << csaw_sampler_name(sampler) << ", " << equality::name_of(plan) << ", "
                << sample_equality::name_of(request);
    }
}

// stratum: a bias of each site's own, second order, fanouts of each layer's own, so that of a batch some layers take
// all and others not; tide: visited vertices and pools that grow; strata: distinct vertices.
TEST(OutOfMemoryLayers, HaveTheBitsOfMemory) {
    const csaw_sampler *const samplers[] = {csaw_sampler_find("layer"), sample_equality::compile("stratum"),
                                            sample_equality::compile("tide"), sample_equality::compile("strata")};
    for (const Graph &graph :
         {hubs(false), hubs(true), reference::small_graph("multi_weighted"), reference::small_graph("weighted")})
        for (const csaw_sampler *sampler : samplers) {
            SCOPED_TRACE(graph.name);
            const csaw_csr csr = graph.csr();
            expect_the_same(csr, sampler,
                            {over_all(csr, {7, 3}, false), over_all(csr, {60, 2, 40}, false),
                             over_all(csr, {5, 0, 90}, true), over_all(csr, {CSAW_ALL, 2, 1}, false)});
        }
}

// ---- faults --------------------------------------------------------------------------

struct FaultyLayerParams { // as in tests/samplers/faulty_layer.h
    uint32_t rule, vertex, depth;
};

std::string refusal(const Library &library, const FaultyLayerParams &params, const SampleRequest &request) {
    try {
        library.samples(&faulty_layer, &params, Method::its, request);
    } catch (const std::runtime_error &error) {
        return error.what();
    }
    return "";
}

// The lowest (instance, depth, edge), whatever partition comes first.
TEST(OutOfMemoryLayers, NameTheFaultThatIsNamedInMemory) {
    const Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const Library whole(csr, reference::plan_on("cpu", 1, 0));
    for (uint32_t rule = 1; rule <= 6; rule++)
        for (uint32_t depth : {0, 1}) {
            const SampleRequest request = over_all(csr, {4, 3}, rule == 6); // of too many picks
            const FaultyLayerParams params = {rule, 2, depth};
            const std::string expected = refusal(whole, params, request);
            ASSERT_FALSE(expected.empty()) << "rule " << rule << " is not broken at depth " << depth;
            for (const csaw_plan_options &plan : plans())
                EXPECT_EQ(expected, refusal(Library(csr, plan), params, request)) << equality::name_of(plan);
            if (rule != 1) continue;
            SampleRequest none = request; // picks nothing; biases are asked for nonetheless
            none.fanout[depth] = 0;
            const std::string of_none = refusal(whole, params, none);
            EXPECT_FALSE(of_none.empty());
            for (const csaw_plan_options &plan : plans())
                EXPECT_EQ(of_none, refusal(Library(csr, plan), params, none)) << equality::name_of(plan);
        }
}

// ---- memory, transfers -----------------------------------------------------------------

// 300 vertices of 299 arcs each are 90,000 candidates, whose biases alone would be 718 kB.
TEST(OutOfMemoryLayers, KeepNoBiasOfEveryCandidate) {
    std::vector<reference::WeightedArc> arcs;
    const csaw_vertex n = 300;
    for (csaw_vertex v = 0; v < n; v++)
        for (csaw_vertex u = 0; u < n; u++)
            if (u != v) arcs.push_back({v, u, static_cast<float>(1 + (u ^ v) % 7), 0, 0});
    const Graph graph = reference::graph_of("complete", n, arcs, true);
    const csaw_csr csr = graph.csr();
    SampleRequest request = over_all(csr, {200}, false);
    request.pools.erase(request.pools.begin(), request.pools.end() - 1);
    const std::vector<Sample> expected = Library(csr, reference::plan_on("cpu", 1, 0))
                                             .samples(csaw_sampler_find("layer"), nullptr, Method::its, request);
    const Library parted(csr, simulated(4, 1));
    SampleRequest few = request;
    few.pools = {{0}};
    parted.samples(csaw_sampler_find("layer"), nullptr, Method::its, few); // what a run takes anyway is there
    const uint64_t before = inside(parted)->device.copied_bytes;
    csaw__fail_allocations_from(0); // counts anew
    EXPECT_TRUE(
        sample_equality::same(expected, parted.samples(csaw_sampler_find("layer"), nullptr, Method::its, request)));
    const uint64_t brought = inside(parted)->device.copied_bytes - before; // to memory that is the host's, too
    EXPECT_LT(csaw__bytes_counted(), brought + csr.num_edges * sizeof(double) / 4);
}

// Of 6 partitions 2 stay from pass to pass: 6 transfers for the largest bias, 4 for sums, 4 for draws, if all are hit.
// A frontier in one partition brings that one alone, once.
TEST(OutOfMemoryLayers, BringWhatIsNeeded) {
    const equality::OwnedGraph graph = equality::rmat(8, true);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    SampleRequest all = over_all(csr, {200}, true), one = all;
    all.pools.erase(all.pools.begin(), all.pools.end() - 1);
    all.samples_per_pool = one.samples_per_pool = 1;
    one.pools = {{0, 1}};
    for (const SampleRequest &request : {all, one}) {
        const Library parted(csr, simulated(6, 2));
        parted.samples(csaw_sampler_find("layer"), nullptr, Method::its, request);
        EXPECT_EQ(inside(parted)->device.copies, request.pools[0].size() == 2 ? 1u : 14u);
        const std::string said = csaw_plan_explain(parted.get());
        EXPECT_NE(said.find("\nlayers      6 partitions, 2 resident: "), std::string::npos) << said;
        EXPECT_NE(said.find(": about 14 transfers = "), std::string::npos) << said;
    }
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* tests/pools_gpu_test.cc - frontiers that are chosen, pools that stay and pools that are lists, on a GPU: large ones,
 * over many depths, the bits of the CPU; faults of vertex_bias; batches; memory that runs out.
 * tests/sample_equality_gpu_test.cc compares small ones with tests/reference. */
#include "runtime/base/memory.h"
#include "tests/sample_cases.h"
#include "tests/sample_equality.h"

CSAW_DECLARE_SAMPLER(barren_list);
CSAW_DECLARE_SAMPLER(barren_set);
CSAW_DECLARE_SAMPLER(porter);

using namespace sample_equality;

namespace {

const csaw_plan_options gpu = plan_on("cuda:0", 0, 0), cpu = plan_on("cpu", 1, 0);

#define SKIP_WITHOUT_GPU()                                                                                     \
    if (const std::string why = reference::no_gpu_because(reference::small_graph("star").csr()); !why.empty()) \
    GTEST_SKIP() << "no GPU: " << why

struct BarrenParams { // as in tests/samplers/barren.h
    uint32_t rule, vertex, size;
};

// One of tests/reference/samplers, with so many places to go on from.
struct Sized {
    Sized(const std::string &name, uint32_t size) : name(name), sampler(compile(name)) {
        params.resize(csaw_sampler_params_size(sampler));
        csaw_sampler_defaults(sampler, params.data());
        reference::require(csaw_sampler_set(sampler, params.data(), "size", std::to_string(size).c_str()));
    }
    std::string name;
    const csaw_sampler *sampler;
    std::vector<char> params;
};

SampleRequest request_of(const csaw_csr &csr, std::vector<size_t> sizes, uint32_t depth, uint32_t samples) {
    std::mt19937_64 random(11);
    SampleRequest out;
    out.seed = 0x9e3779b97f4a7c15;
    out.depth = depth;
    out.samples_per_pool = samples;
    for (size_t size : sizes) {
        out.pools.emplace_back();
        while (out.pools.back().size() < size)
            out.pools.back().push_back(static_cast<csaw_vertex>(random() % csr.num_vertices));
    }
    return out;
}

// Not a test of nothing: there are arcs to compare.
void expect_as_on_cpu(const csaw_csr &csr, const csaw_sampler *sampler, const void *params, Method method,
                      const SampleRequest &request, const std::string &what) {
    SCOPED_TRACE(what + ", " + reference::name_of(method));
    EXPECT_NO_THROW({
        const std::vector<Sample> expected = Library(csr, cpu).samples(sampler, params, method, request);
        EXPECT_TRUE(same(expected, Library(csr, gpu).samples(sampler, params, method, request)));
        size_t arcs = 0;
        for (const Sample &sample : expected) arcs += sample.arcs.size();
        EXPECT_GT(arcs, expected.size());
    });
}

// Every case of samples that is no layer, by the contract: each vertex as a pool, several of them, one given twice.
TEST(PoolsOnGpu, CasesGiveTheReferencesBits) {
    SKIP_WITHOUT_GPU();
    std::vector<sample_cases::Case> cases = sample_cases::cases();
    cases.push_back({"random_node",
                     &csaw_random_node,
                     sample_cases::bytes_of(csaw_random_node_params{2}),
                     reference::random_node(2),
                     {},
                     {1, 1},
                     {}});
    for (const sample_cases::Case &each : cases) {
        if (each.reference.layer) continue;
        for (const Graph &graph : sample_cases::graphs_of(each)) {
            const csaw_csr csr = graph.csr();
            const Library library(csr, gpu);
            SampleRequest request = request_of(csr, {1, 3, 7, 0}, static_cast<uint32_t>(each.fanout.size()), 3);
            request.pools.push_back({1, 2, 1});
            if (!each.reference.fanout) request.fanout = each.fanout;
            request.replace = each.replace;
            for (Method method : sample_cases::methods_of(each.reference, each.replace, csr)) {
                if (!reference::takes_case()) continue;
                SCOPED_TRACE(each.name + ", " + graph.name + ", " + reference::name_of(method));
                const void *params = each.params.empty() ? nullptr : each.params.data();
                EXPECT_NO_THROW(EXPECT_TRUE(
                    same(reference::samples(csr, each.reference, method, request, reference::has_parallel_arcs(csr)),
                         library.samples(each.sampler, params, method, request))));
            }
        }
    }
}

// Fewer places go on than there are, but more than a warp keeps at hand; and nearly all of them, which exceeds rounds.
TEST(PoolsOnGpu, ManyPlacesGoOn) {
    SKIP_WITHOUT_GPU();
    const equality::OwnedGraph graph = equality::rmat_graph(true);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    for (uint32_t size : {31u, 32u, 33u, 100u, 190u}) {
        for (const char *name : {"moss", "meadow", "herd", "drove"}) {
            if (!reference::takes_case()) continue;
            const Sized sized(name, size);
            const std::string what = std::string(name) + " of " + std::to_string(size);
            expect_as_on_cpu(csr, sized.sampler, sized.params.data(), Method::its,
                             request_of(csr, {200, 40, 1000, 1}, 3, 2), what);
        }
    }
}

// A few heavy vertices among many light ones: rounds fail, and what is left is picked by sums of what is left.
TEST(PoolsOnGpu, HeavyVerticesExceedTheRounds) {
    SKIP_WITHOUT_GPU();
    const Graph hub = small_hub(300);
    SampleRequest request = request_of(hub.csr(), {301}, 2, 8);
    for (csaw_vertex v = 0; v <= 300; v++) request.pools[0][v] = v;
    for (uint32_t size : {5u, 40u, 190u}) {
        for (const char *name : {"meadow", "herd"}) {
            const Sized sized(name, size);
            expect_as_on_cpu(hub.csr(), sized.sampler, sized.params.data(), Method::its, request, name);
        }
    }
}

TEST(PoolsOnGpu, MultidimensionalOfTwoThousand) {
    SKIP_WITHOUT_GPU();
    const equality::OwnedGraph graph = equality::rmat_graph(false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    expect_as_on_cpu(csr, &csaw_multidimensional, nullptr, Method::automatic, request_of(csr, {2000, 1999}, 1000, 2),
                     "multidimensional");
}

TEST(PoolsOnGpu, UserBytesOfAList) {
    SKIP_WITHOUT_GPU();
    for (const char *name : {"karate", "directed_weighted", "zero_rows"}) {
        const Graph graph = reference::small_graph(name);
        for (Method method : {Method::its, Method::reject, Method::race})
            expect_as_on_cpu(graph.csr(), &porter, nullptr, method, request_of(graph.csr(), {5, 1, 20}, 40, 5), name);
    }
}

// Places for a million depths are more than one launch holds of these, though the lists close long before.
TEST(PoolsOnGpu, InstancesOfSeveralLaunches) {
    SKIP_WITHOUT_GPU();
    const Graph chain = reference::graph_of("chain", 4, {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}}, false);
    SampleRequest request;
    request.seed = 7;
    request.depth = 1000000;
    request.pools = {{0, 1}, {2}, {}, {3, 0, 0}};
    request.samples_per_pool = 40;
    expect_as_on_cpu(chain.csr(), &csaw_multidimensional, nullptr, Method::automatic, request, "multidimensional");
}

TEST(PoolsOnGpu, BatchesHoldTheSameSamples) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph("multi_weighted");
    const Library library(graph.csr(), gpu);
    const SampleRequest request = request_on(graph.csr(), {}, 5, false);
    for (const Compiled &sampler : compiled()) {
        if (sampler.reference.layer || !reference::takes_case()) continue;
        SCOPED_TRACE(sampler.name);
        const std::vector<Sample> all = reference_samples(graph.csr(), sampler, Method::automatic, request);
        for (uint64_t first : {uint64_t{0}, uint64_t{7}}) {
            int batches = 0;
            EXPECT_NO_THROW({
                const std::vector<Sample> samples = library.samples_in_batches(
                    sampler.sampler, params_of(sampler), Method::automatic, request, first, 1000, &batches);
                EXPECT_TRUE(
                    same(std::vector<Sample>(all.begin() + static_cast<std::ptrdiff_t>(first), all.end()), samples));
            });
            EXPECT_GE(batches, 1);
        }
    }
}

// ---- faults -------------------------------------------------------------------

std::string failure_on(const csaw_csr &csr, const csaw_plan_options &options, const csaw_sampler *sampler,
                       const BarrenParams &params, const SampleRequest &request) {
    try {
        Library(csr, options).samples(sampler, &params, Method::automatic, request);
    } catch (const std::runtime_error &error) {
        return error.what();
    }
    return "";
}

// At a seed, and at a vertex that is reached later on; in several instances, of which the lowest is named.
TEST(PoolsOnGpu, FaultsAreNamedAsOnTheCpu) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph("karate");
    SampleRequest request = request_of(graph.csr(), {1, 3, 5, 20}, 12, 3);
    int faults = 0;
    for (const csaw_sampler *sampler : {&barren_set, &barren_list}) {
        for (uint32_t rule : {1u, 2u, 3u, 4u}) {
            for (csaw_vertex v : {request.pools[1][2], csaw_vertex{33}, csaw_vertex{0}, csaw_vertex{16}}) {
                for (uint32_t size : {0u, 1u, 4u, uint32_t{CSAW_ALL}}) {
                    if (!reference::takes_case()) continue;
                    SCOPED_TRACE(std::string(csaw_sampler_name(sampler)) + ", rule " + std::to_string(rule) +
                                 ", vertex " + std::to_string(v) + ", size " + std::to_string(size));
                    const BarrenParams params = {rule, v, size};
                    const std::string want = failure_on(graph.csr(), cpu, sampler, params, request);
                    EXPECT_EQ(want, failure_on(graph.csr(), gpu, sampler, params, request));
                    faults += !want.empty();
                }
            }
        }
    }
    if (reference::every_case() > 1) return;
    EXPECT_GT(faults, 50);
}

TEST(PoolsOnGpu, MoreArcsOfAnInstanceThanItsRegionHolds) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph("karate");
    const SampleRequest request = request_of(graph.csr(), {300}, 16777215, 1);
    std::string message;
    try {
        Library(graph.csr(), gpu).samples(compile("parade"), nullptr, Method::automatic, request);
    } catch (const std::runtime_error &error) {
        message = error.what();
    }
    EXPECT_NE(std::string::npos, message.find("5033164500 arcs")) << message; // 300 * 16777215
    EXPECT_NE(std::string::npos, message.find("fewer depths")) << message;
}

// ---- memory -------------------------------------------------------------------

// Each request for memory of a run that begins with pools of such sizes fails in turn; how many there are.
uint64_t fail_in_turn(const csaw_sampler *sampler, const void *params, const std::vector<size_t> &sizes) {
    const Graph graph = reference::small_graph("karate");
    const Library library(graph.csr(), gpu);
    const SampleRequest request = request_of(graph.csr(), sizes, 3, 1);
    uint64_t asked = 0;
    const std::vector<Sample> expected = library.samples(sampler, params, Method::its, request);
    for (uint64_t n = 1;; n++) {
        if (!reference::takes_case()) continue;
        std::vector<Sample> samples;
        std::string message;
        csaw__fail_allocations_from(n);
        try {
            samples = library.samples(sampler, params, Method::its, request);
        } catch (const std::runtime_error &error) {
            message = error.what();
        }
        asked = csaw__allocations_counted();
        csaw__fail_allocations_from(0);
        if (message.empty()) {
            EXPECT_LT(asked, n);
            EXPECT_TRUE(same(expected, samples));
            break;
        }
        EXPECT_NE(std::string::npos, message.find("memory")) << message;
        EXPECT_LT(n, 1000u);
        if (::testing::Test::HasFailure()) break;
    }
    EXPECT_TRUE(same(expected, library.samples(sampler, params, Method::its, request))) << "the plan draws on";
    return asked;
}

// Of instances that blocks run by themselves, and of one that has more seeds than a block has places for.
void expect_every_allocation_to_fail(const csaw_sampler *sampler, const void *params) {
    const uint64_t alone = fail_in_turn(sampler, params, {3, 50, 1});
    const uint64_t by_depth = fail_in_turn(sampler, params, {3, 2000, 1});
    EXPECT_LT(5u, alone);
    EXPECT_LT(10u, by_depth);
    EXPECT_LT(20u, alone + by_depth);
}

TEST(PoolsOnGpu, EveryAllocationFails) {
    SKIP_WITHOUT_GPU();
    for (const char *name : {"moss", "meadow", "herd"}) {
        SCOPED_TRACE(name);
        const Sized sized(name, 40);
        expect_every_allocation_to_fail(sized.sampler, sized.params.data());
    }
    expect_every_allocation_to_fail(&csaw_multidimensional, nullptr);
    expect_every_allocation_to_fail(compile("pilgrim"), nullptr); // user bytes
    expect_every_allocation_to_fail(compile("parade"), nullptr);  // a list all of which goes on
}

} // namespace

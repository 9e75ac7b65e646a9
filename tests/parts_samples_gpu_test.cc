/* SPDX-License-Identifier: MIT */
/* tests/parts_samples_gpu_test.cc - samples have the same bits (P2) where partitions of the graph come to a GPU and go:
 * those that depend on one row at a time, which includes pools that stay, visited vertices and chosen frontiers, and
 * layers, which are exchanged, layers of distinct vertices, second order and pools that are lists, which read the graph
 * where it lies. */
#include "runtime/engine/parts.h"
#include "tests/sample_equality.h"

#include <algorithm>

extern "C" {
#include "runtime/base/memory.h"
}

using namespace sample_equality;

namespace {

csaw_plan_options on_gpu(int partitions, int resident) {
    csaw_plan_options out = plan_on("cuda:0", 0, partitions);
    out.resident = resident;
    return out;
}

// One for each graph.
std::vector<csaw_plan_options> plans() {
    return {on_gpu(2, 1), on_gpu(4, 1), on_gpu(4, 2), on_gpu(17, 2), on_gpu(17, 0)};
}

#define SKIP_WITHOUT_GPU()                                                                                     \
    if (const std::string why = reference::no_gpu_because(reference::small_graph("star").csr()); !why.empty()) \
    GTEST_SKIP() << "no GPU: " << why

const std::vector<std::string> names = {"karate", "isolated", "directed_weighted", "multi_weighted", "zero_rows"};

class PartsOnGpu : public ::testing::TestWithParam<std::string> {};

TEST_P(PartsOnGpu, SamplesHaveTheReferencesBits) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph(GetParam());
    const csaw_csr csr = graph.csr();
    const auto number = static_cast<size_t>(std::find(names.begin(), names.end(), GetParam()) - names.begin());
    expect_equal(csr, built_in(csr), requests_on(csr), {plans()[number]});
    expect_equal(csr, samplers_for(GetParam()), requests_on(csr), {on_gpu(4, 2)});
}

INSTANTIATE_TEST_SUITE_P(PartsGpu, PartsOnGpu, ::testing::ValuesIn(names), [](const auto &info) { return info.param; });

TEST(PartsGpu, SamplesOnAHub) {
    SKIP_WITHOUT_GPU();
    const Graph hub = small_hub(300), large = small_hub(20000); // the last is scanned by a block
    expect_equal(hub.csr(), built_in(hub.csr()), requests_on_hub(hub.csr(), {1, 33, 299}),
                 {on_gpu(4, 1), on_gpu(5, 2)});
    const auto built = built_in(large.csr());
    expect_equal(large.csr(), {built[0], built[1]}, requests_on_hub(large.csr(), {20}), {on_gpu(4, 1)});
}

// Samples of a batch take the memory of those of the batch before; of partitions, and in place.
TEST(PartsGpu, SamplesInBatches) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const Library cpu(csr, plan_on("cpu", 0, 0)), gpu(csr, on_gpu(4, 2));
    SampleRequest request = request_on(csr, {3, 2}, 2, false);
    for (const char *name : {"neighbor", "layer", "snowball"}) {
        const csaw_sampler *sampler = csaw_sampler_find(name);
        int batches = 0;
        EXPECT_TRUE(same(cpu.samples(sampler, nullptr, Method::automatic, request),
                         gpu.samples_in_batches(sampler, nullptr, Method::automatic, request, 0, 500, &batches)))
            << name;
        EXPECT_GT(batches, 2) << name;
    }
}

// Layers by weight bring partitions, unless the graph is to stay; the arcs are the same. On the CPU:
// tests/emulated_parts_layer_test.cc.
TEST(PartsGpu, LayersAreExchanged) {
    SKIP_WITHOUT_GPU();
    const equality::OwnedGraph graph = equality::rmat_graph(true);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    SampleRequest request = request_on(csr, {2000, 500}, 2, false);
    request.pools.emplace_back();
    for (csaw_vertex v = 0; v < csr.num_vertices; v++) request.pools.back().push_back(v);
    const auto expected = Library(csr, plan_on("cpu", 0, 0)).samples(&csaw_layer, nullptr, Method::its, request);
    for (const csaw__parts_way way : {CSAW__PARTS_CHOOSE, CSAW__PARTS_STAY}) {
        const Library gpu(csr, on_gpu(6, 2));
        csaw__parts *const parts = gpu.get()->parts;
        parts->way = way;
        EXPECT_TRUE(same(expected, gpu.samples(&csaw_layer, nullptr, Method::its, request)));
        const uint64_t least = way == CSAW__PARTS_STAY ? 0 : 14; // 6 for the largest bias, 4 each for sums and draws
        EXPECT_GE(parts->kind->use(parts).copies, least);
        EXPECT_EQ(parts->kind->use(parts).copies == 0, way == CSAW__PARTS_STAY);
    }
}

// Several batches are under way: what is brought serves all of them. Of 8 or 9 batches of 2 depths the graph comes 2 or
// 3 times, and one after the other 16 or 18 times. On the CPU: tests/emulated_parts_neighbor_test.cc.
TEST(PartsGpu, BatchesShareWhatIsBrought) {
    SKIP_WITHOUT_GPU();
    const equality::OwnedGraph graph = equality::rmat_graph(false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    SampleRequest request = request_on(csr, {15, 10}, 2, false);
    request.pools.clear();
    for (uint64_t i = 0; i < csr.num_vertices; i++) { // all over the graph
        const auto v = static_cast<csaw_vertex>(i * 2654435761u % csr.num_vertices);
        if (csr.rowptr[v] < csr.rowptr[v + 1]) request.pools.push_back({v});
    }
    request.samples_per_pool = 1;
    const auto expected =
        Library(csr, plan_on("cpu", 0, 0)).samples(&csaw_neighbor, nullptr, Method::automatic, request);
    uint64_t bytes[2] = {0, 0};
    for (bool in_turn : {false, true}) {
        const Library gpu(csr, on_gpu(6, 2));
        csaw__parts *const parts = gpu.get()->parts;
        int batches = 0;
        parts->schedule.in_turn = in_turn;
        EXPECT_TRUE(same(expected, gpu.samples_in_batches(&csaw_neighbor, nullptr, Method::automatic, request, 0,
                                                          request.pools.size() / 16 * 24 * 166, &batches)));
        EXPECT_GE(batches, 8);
        bytes[in_turn] = parts->kind->use(parts).copied_bytes;
    }
    EXPECT_LE(4 * bytes[0], bytes[1]);
}

std::unique_ptr<csaw_graph, reference::Free> rmat_19() {
    csaw_rmat_options rmat = {};
    rmat.size = sizeof rmat;
    rmat.scale = 19;
    rmat.weighted = true;
    csaw_graph *made = nullptr;
    reference::require(csaw_graph_rmat(&rmat, &made));
    return std::unique_ptr<csaw_graph, reference::Free>(made);
}

// Two hops of many instances on a graph that is larger than the memory for it, against the CPU engine.
TEST(PartsGpu, SamplesStayWithinTheBudget) {
    SKIP_WITHOUT_GPU();
    const auto graph = rmat_19();
    const csaw_csr csr = csaw_graph_csr(graph.get());
    csaw_plan_options options = on_gpu(0, 0);
    options.gpu_memory = 120u << 20;
    SampleRequest request = request_on(csr, {10, 5}, 2, false);
    request.pools.clear();
    for (csaw_vertex v = 0; v < 3000; v++) request.pools.push_back({v * 97});
    request.samples_per_pool = 1;
    const Library cpu(csr, plan_on("cpu", 0, 0)), gpu(csr, options);
    ASSERT_NE(gpu.get()->parts, nullptr);
    for (const char *name : {"neighbor", "neighbor_biased", "layer"}) {
        const csaw_sampler *sampler = csaw_sampler_find(name);
        EXPECT_TRUE(same(cpu.samples(sampler, nullptr, Method::its, request),
                         gpu.samples(sampler, nullptr, Method::its, request)))
            << name;
    }
    const reference::Law uniform = {false, 1, 1};
    const reference::Request walk = equality::one_walk_each(csr, 10); // in the memory that samples had
    EXPECT_TRUE(
        equality::same(cpu.walks(uniform, Method::automatic, walk), gpu.walks(uniform, Method::automatic, walk)));
    const csaw_sampler *neighbor = csaw_sampler_find("neighbor");
    EXPECT_TRUE(same(cpu.samples(neighbor, nullptr, Method::its, request),
                     gpu.samples(neighbor, nullptr, Method::its, request)));
    EXPECT_GT(gpu.get()->parts->fit.parts, 1u);
    EXPECT_LE(gpu.get()->parts->kind->use(gpu.get()->parts).peak, options.gpu_memory);
}

// All neighbours of all neighbours: nobody knows how many before they are drawn. They are too many for one call, whose
// message says what would do; csaw_sample_each takes fewer instances until they fit.
TEST(PartsGpu, BatchesAreDividedUntilTheyFit) {
    SKIP_WITHOUT_GPU();
    const auto graph = rmat_19();
    const csaw_csr csr = csaw_graph_csr(graph.get());
    csaw_plan_options options = on_gpu(0, 0);
    options.gpu_memory = 120u << 20;
    SampleRequest request = request_on(csr, {}, 2, false);
    request.pools.clear();
    for (csaw_vertex v = 0; request.pools.size() < 3000; v++)
        if (csr.rowptr[v + 1] - csr.rowptr[v] <= 8) request.pools.push_back({v});
    request.samples_per_pool = 1;
    const Library cpu(csr, plan_on("cpu", 0, 0)), gpu(csr, options);
    const csaw_sampler *snowball = csaw_sampler_find("snowball");
    std::string said;
    try {
        gpu.samples(snowball, nullptr, Method::automatic, request);
    } catch (const std::runtime_error &error) {
        said = error.what();
    }
    EXPECT_NE(said.find("csaw_sample_each"), std::string::npos) << said;
    int batches = 0, alone = 0;
    EXPECT_TRUE(same(cpu.samples_in_batches(snowball, nullptr, Method::automatic, request, 0, 0, &alone),
                     gpu.samples_in_batches(snowball, nullptr, Method::automatic, request, 0, 0, &batches)));
    EXPECT_GT(batches, 1);
    EXPECT_LE(gpu.get()->parts->kind->use(gpu.get()->parts).peak, options.gpu_memory);
}

// ---- failures ------------------------------------------------------------------------

csaw_status no_more(void *, csaw_samples *samples) {
    csaw_arcs arcs;
    return csaw_samples_arcs(samples, CSAW_HOST, &arcs);
}

// In batches, two of which are under way together where partitions come, on a plan of its own. Every copy that fails in
// turn, and every launch: on the CPU, tests/emulated_parts_neighbor_test.cc.
TEST(PartsGpu, EveryAllocationOfSamplesFailsInTurn) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const auto borrowed = reference::borrow(csr);
    const uint32_t fanout[] = {3, 2};
    for (const char *name : {"neighbor", "layer", "snowball"}) {
        uint64_t n = 1;
        for (bool done = false; !done && n < 1000; n++) {
            const csaw_plan_options options = on_gpu(3, 1);
            csaw_run_options run = {};
            run.size = sizeof run;
            run.depth = 2;
            run.fanout = fanout;
            run.batch_bytes = 12 * 24 * 10;
            csaw_plan *plan = nullptr;
            csaw__fail_allocations_from(n);
            csaw_status status = csaw_plan_create(borrowed.get(), &options, &plan);
            if (status == CSAW_OK)
                status = csaw_sample_each(plan, csaw_sampler_find(name), nullptr, nullptr, &run, no_more, nullptr);
            const uint64_t asked = csaw__allocations_counted();
            csaw__fail_allocations_from(0);
            const std::string message = status == CSAW_OK ? "" : csaw_last_error();
            done = status == CSAW_OK && asked < n;
            // pages that cannot be locked are copied another way, or the CPU draws
            EXPECT_TRUE(status == CSAW_OK || status == CSAW_ENOMEM || status == CSAW_EDEVMEM)
                << name << ": " << csaw_status_text(status) << ": " << message;
            csaw_plan_free(plan);
        }
        EXPECT_GT(n, 50u) << name;
        EXPECT_LT(n, 1000u) << name;
    }
}

} // namespace

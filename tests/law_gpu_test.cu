/* SPDX-License-Identifier: MIT */
/* tests/law_gpu_test.cu - the law is right (P1) on a GPU for uniform and node2vec, under every method that they allow,
 * with 100 times the steps that law_test.cc gives the library on a CPU; on small graphs, on a hub of 10^6 arcs, and for
 * whole paths and pairs of walks; and wrong walks, drawn and counted alike, are rejected.
 *
 * Threshold as in tests/law.h: |z| < 4, both ways; wrong walks must reach z > 10. There are 630 or so values of z: 0.04
 * false alarms were to be expected; the seeds are fixed. */
#include "tests/law_tally.cuh"
#include "tests/share.h"

using namespace law_tally;

namespace {

#define SKIP_WITHOUT_GPU(CSR) \
    if (const std::string why = reference::no_gpu_because(CSR); !why.empty()) GTEST_SKIP() << "no GPU: " << why

const uint64_t steps_on_small_graph = reference::share_of(10000000);

const csaw_sampler *sampler_of(const law::Law &law) { return law.node2vec ? &csaw_node2vec : &csaw_uniform; }

// In the terms of walks_law.h: arcs, then nothing else, but an end at a dead end.
walks_law::Law law_of(const law::Law &given) {
    walks_law::Law out;
    out.cells = [=](const csaw_csr &csr, const walks_law::State &state) {
        walks_law::Cells cells = reference::step_law(csr, given, state.prev, state.at);
        cells.resize(cells.size() + csr.num_vertices + 1, 0);
        return walks_law::or_end(std::move(cells));
    };
    return out;
}

Drawn draw_and_count(const Device &device, const Graph &graph, const law::Law &law, const csaw_sampler *sampler,
                     const csaw_node2vec_params &params, Method method, uint64_t seed) {
    return law_tally::draw_and_count(device, graph.csr(), law_of(law), Look::prev, 1, sampler, &params, method,
                                     law::request_on(graph, steps_on_small_graph, seed));
}

std::vector<Method> methods(const law::Law &law) {
    std::vector<Method> out = reference::methods_of(law);
    out.erase(std::remove(out.begin(), out.end(), Method::automatic), out.end()); // one of the others
    return out;
}

class OnGpu : public ::testing::TestWithParam<std::string> {};

TEST_P(OnGpu, LibraryHasTheLaw) {
    const Graph graph = reference::small_graph(GetParam());
    const csaw_csr csr = graph.csr();
    SKIP_WITHOUT_GPU(csr);
    const Device device(csr);
    uint64_t seed = 0x9e3779b900000000; // both halves of the key are in use
    for (const law::Law &law : law::laws()) {
        for (Method method : methods(law)) {
            if (!reference::takes_case()) continue;
            const Drawn drawn = draw_and_count(device, graph, law, sampler_of(law), {law.p, law.q}, method, ++seed);
            const std::string what = law.name() + ", " + reference::name_of(method);
            EXPECT_EQ(drawn.strange, 0u) << what;
            EXPECT_GE(drawn.steps, steps_on_small_graph / 8) << what;
            EXPECT_LT(std::fabs(drawn.fit.first.z()), law::threshold)
                << what << ", first steps: z = " << drawn.fit.first.z();
            EXPECT_LT(std::fabs(drawn.fit.later.z()), law::threshold)
                << what << ", later steps: z = " << drawn.fit.later.z();
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Law, OnGpu, ::testing::ValuesIn(reference::small_graph_names()),
                         [](const auto &info) { return info.param; });

struct Wrong {
    law::Law law; // that it is held against
    const csaw_sampler *sampler;
    csaw_node2vec_params params;
    const char *graph;
};

TEST(WrongOnGpu, WalksAreRejected) {
    SKIP_WITHOUT_GPU(reference::small_graph("star").csr());
    for (const Wrong &wrong : {Wrong{{true, .25f, 4}, &csaw_node2vec, {.26f, 4}, "karate"},
                               Wrong{{true, .25f, 4}, &csaw_node2vec, {.25f, 4.2f}, "karate"},
                               Wrong{{true, .25f, 4}, &csaw_node2vec, {4, .25f}, "weighted"},
                               Wrong{{true, 1, 1}, &csaw_node2vec, {1.05f, 1}, "multi_weighted"},
                               Wrong{{true, 1, 1}, &csaw_uniform, {1, 1}, "weighted"},
                               Wrong{{false, 1, 1}, &csaw_biased_by_degree, {1, 1}, "directed"}}) {
        const Graph graph = reference::small_graph(wrong.graph);
        const csaw_csr csr = graph.csr();
        const Drawn drawn = draw_and_count(Device(csr), graph, wrong.law, wrong.sampler, wrong.params, Method::its, 5);
        EXPECT_GT(drawn.fit.later.z(), law::wrong) << wrong.law.name() << " on " << wrong.graph;
    }
}

// ---- a hub ------------------------------------------------------------------------

// Steps from the hub by the seed that the walk began at: by class of the arc (law::Cells), which a table gives, but one
// cell for the arc back.
struct HubTally {
    csaw_walks walks;
    const csaw_vertex *col; // device: [num_edges]
    const uint8_t *cell;    // of each arc of the hub, without the arc back: [degree]
    const csaw_vertex *roots;
    uint64_t num_roots, degree, cells, back;
    Counter *count; // [num_roots][cells]
    Counter *strange;

    __device__ void operator()(uint64_t w) const {
        const csaw_vertex *path = walks.path + w * walks.path_walk_stride;
        const csaw_edge *edge = walks.edge + w * walks.edge_walk_stride;
        const uint64_t root = w % num_roots;
        bool right = path[0] == roots[root];
        for (uint32_t s = 0; right && s < walks.length; s++) {
            const csaw_vertex at = path[s * walks.path_step_stride], next = path[(s + 1) * walks.path_step_stride];
            const csaw_edge e = edge[s * walks.edge_step_stride];
            if (at != 0) { // a leaf: its one arc
                right = next == 0 && e == degree + at - 1;
                continue;
            }
            right = e < degree && col[e] == next;
            if (!right) break;
            const bool goes_back = s > 0 && next == path[(s - 1) * walks.path_step_stride];
            add_one(count + root * cells + (goes_back ? back : cell[e]));
        }
        if (!right) add_one(strange);
    }
};

struct HubFit {
    Fit fit;
    uint64_t strange;
};

HubFit draw_on_hub(const Device &device, const csaw_csr &csr, const law::Law &law, const csaw_sampler *sampler,
                   const csaw_node2vec_params &params, Method method, const Request &request) {
    const law::Cells cells(csr, CSAW_NONE, 0);
    HubTally tally = {};
    tally.degree = csr.rowptr[1];
    tally.cells = cells.count();
    tally.back = cells.count() - 2; // law::Cells has the arc back and the heaviest arc last
    tally.num_roots = request.roots.size();
    std::vector<uint8_t> cell(tally.degree);
    for (csaw_edge e = 0; e < tally.degree; e++) cell[e] = static_cast<uint8_t>(cells.of(e));
    const Buffer<csaw_vertex> col(csr.col, csr.num_edges), roots(request.roots.data(), request.roots.size());
    const Buffer<uint8_t> cell_of(cell.data(), cell.size());
    const Buffer<Counter> count(tally.num_roots * tally.cells), strange(1);
    tally.col = col.get();
    tally.cell = cell_of.get();
    tally.roots = roots.get();
    tally.count = count.get();
    tally.strange = strange.get();
    device.draw(sampler, &params, method, request, true, [&](const csaw_walks &walks) {
        tally.walks = walks;
        for_each_walk(walks, tally);
    });
    HubFit out = {{}, strange.host()[0]};
    const std::vector<Counter> counted = count.host();
    for (uint64_t r = 0; r < tally.num_roots; r++) {
        const auto begin = counted.begin() + static_cast<std::ptrdiff_t>(r * tally.cells);
        const std::vector<uint64_t> seen(begin, begin + static_cast<std::ptrdiff_t>(tally.cells));
        const csaw_vertex root = request.roots[r];
        (root ? out.fit.later : out.fit.first).add(seen, law::Cells(csr, root ? root : CSAW_NONE, 0).law(law, 0));
    }
    return out;
}

// Few where a step looks at the whole row.
uint64_t walks_on_hub(Method method) {
    return method == Method::its ? 10000 : method == Method::race ? 2500 : reference::share_of(40000000);
}

TEST(LawOnHubOnGpu, LibraryHasTheLaw) {
    const Graph hub = reference::hub_graph();
    const csaw_csr csr = hub.csr();
    SKIP_WITHOUT_GPU(csr);
    const Device device(csr);
    for (const law::Law &law : {law::Law{false, 1, 1}, {true, .25f, 4}, {true, 1e-3f, 1}}) {
        for (Method method : methods(law)) {
            if (!reference::takes_case()) continue;
            const HubFit drawn = draw_on_hub(device, csr, law, sampler_of(law), {law.p, law.q}, method,
                                             law::request_on_hub(hub, walks_on_hub(method), 22));
            const std::string what = law.name() + ", " + reference::name_of(method);
            EXPECT_EQ(drawn.strange, 0u) << what;
            EXPECT_LT(std::fabs(drawn.fit.first.z()), law::threshold) << what << ": z = " << drawn.fit.first.z();
            EXPECT_LT(std::fabs(drawn.fit.later.z()), law::threshold) << what << ": z = " << drawn.fit.later.z();
        }
    }
    const law::Law weighted = {true, 1, 1};
    const HubFit wrong =
        draw_on_hub(device, csr, weighted, &csaw_uniform, {1, 1}, Method::its, law::request_on_hub(hub, 10000, 22));
    EXPECT_GT(wrong.fit.first.z(), law::wrong);
    EXPECT_GT(wrong.fit.later.z(), law::wrong);
}

// ---- steps and walks are independent ----------------------------------------------------

// As law::path_fit() and law::pair_fit(), on the complete graph of 6 vertices: whole paths of 5 steps, and the first
// two steps of walks 2i and 2i + distance.
struct PathTally {
    csaw_walks walks;
    uint64_t distance;
    Counter *whole;   // [3125]
    Counter *pair;    // [625]
    Counter *strange; // steps that stay or leave the graph

    __device__ uint32_t go_on(uint32_t cell, uint64_t w, uint32_t from, uint32_t to) const {
        const csaw_vertex *path = walks.path + w * walks.path_walk_stride;
        for (uint32_t s = from; s < to; s++) {
            const csaw_vertex at = path[s * walks.path_step_stride], next = path[(s + 1) * walks.path_step_stride];
            if (at > 5 || next > 5 || at == next) {
                add_one(strange);
                return 0;
            }
            cell = cell * 5 + (next > at ? next - 1 : next);
        }
        return cell;
    }
    __device__ void operator()(uint64_t w) const {
        add_one(whole + go_on(0, w, 0, 5));
        if (w % 2 == 0 && w + 1 < walks.num_walks) add_one(pair + go_on(go_on(0, w, 0, 2), w + distance, 0, 2));
    }
};

struct PathFit {
    double whole, pair;
    uint64_t strange;
};

PathFit draw_paths(const Device &device, const csaw_sampler *sampler, const csaw_node2vec_params &params, Method method,
                   uint64_t distance) {
    const Buffer<Counter> whole(3125), pair(625), strange(1);
    PathTally tally = {{}, distance, whole.get(), pair.get(), strange.get()};
    device.draw(sampler, &params, method, law::request_of_paths(20000000), false, [&](const csaw_walks &walks) {
        tally.walks = walks;
        for_each_walk(walks, tally);
    });
    const std::vector<Counter> a = whole.host(), b = pair.host();
    ChiSquare of_whole, of_pair;
    of_whole.add({a.begin(), a.end()}, std::vector<long double>(3125, 1.0L / 3125));
    of_pair.add({b.begin(), b.end()}, std::vector<long double>(625, 1.0L / 625));
    return {of_whole.z(), of_pair.z(), strange.host()[0]};
}

TEST(IndependenceOnGpu, OfLibrary) {
    const Graph graph = reference::small_graph("complete");
    const csaw_csr csr = graph.csr();
    SKIP_WITHOUT_GPU(csr);
    const Device device(csr);
    for (const law::Law &law : {law::Law{false, 1, 1}, law::Law{true, 1, 1}}) { // the same walk, by other methods
        for (Method method : methods(law)) {
            SCOPED_TRACE(law.name() + ", " + reference::name_of(method));
            const PathFit fit = draw_paths(device, sampler_of(law), {1, 1}, method, 1);
            EXPECT_EQ(fit.strange, 0u);
            EXPECT_LT(std::fabs(fit.whole), law::threshold) << "whole paths";
            EXPECT_LT(std::fabs(fit.pair), law::threshold) << "pairs of walks";
        }
    }
    EXPECT_GT(draw_paths(device, &csaw_node2vec, {1.03f, 1}, Method::its, 1).whole, law::wrong); // goes back less
    EXPECT_GT(draw_paths(device, &csaw_uniform, {1, 1}, Method::uniform, 0).pair, law::wrong);   // with itself
}

} // namespace

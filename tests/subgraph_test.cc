/* SPDX-License-Identifier: MIT */
/* tests/subgraph_test.cc - subgraphs of samples against a plain construction from the arcs that were
 * delivered (ordered sets, no hashing, no counting sort), on graphs with loops, parallel arcs, weights and names; small
 * ones drawn by hand; misuse; every allocation failed in turn. */
#include "sampled_cases.h"

namespace {

using namespace sampled_cases;
using Subgraph = std::unique_ptr<csaw_subgraph, decltype(&csaw_subgraph_free)>;
using Blocks = std::unique_ptr<csaw_blocks, decltype(&csaw_blocks_free)>;

csaw_subgraph_options options_of(bool per_instance, bool induced, bool arcs_only) {
    return {sizeof(csaw_subgraph_options), per_instance, induced, arcs_only};
}

Subgraph subgraph(const csaw_graph *graph, csaw_samples *samples, const csaw_subgraph_options &options) {
    csaw_subgraph *out = nullptr;
    EXPECT_EQ(csaw_subgraph_create(graph, samples, &options, &out), CSAW_OK) << csaw_last_error();
    return Subgraph(out, csaw_subgraph_free);
}

csaw_vertex row_of(const csaw_csr &csr, csaw_edge e) {
    csaw_vertex v = 0;
    while (csr.rowptr[v + 1] <= e) v++;
    return v;
}

Plain plain_of(const csaw_csr &csr, const csaw_arcs &arcs, uint64_t first, uint64_t end,
               const csaw_subgraph_options &options) {
    Plain out;
    for (uint64_t i = first; i < end && !options.arcs_only; i++)
        for (uint64_t s = arcs.seed_offset[i]; s < arcs.seed_offset[i + 1]; s++) out.visit(arcs.seed[s]);
    for (uint64_t k = arcs.offset[first]; k < arcs.offset[end]; k++) {
        out.visit(arcs.src[k]);
        out.visit(arcs.dst[k]);
        if (!options.induced) out.edges.insert(arcs.edge[k]);
    }
    const std::set<csaw_vertex> there(out.vertex.begin(), out.vertex.end());
    for (csaw_edge e = 0; options.induced && e < csr.num_edges; e++)
        if (there.count(row_of(csr, e)) && there.count(csr.col[e])) out.edges.insert(e);
    return out;
}

void compare(const csaw_graph *graph, csaw_samples *samples, const csaw_subgraph_options &options) {
    const csaw_csr csr = csaw_graph_csr(graph);
    const csaw_arcs arcs = arcs_of(samples);
    const Subgraph made = subgraph(graph, samples, options);
    ASSERT_TRUE(made);
    const csaw_subgraph_view view = csaw_subgraph_look(made.get());
    ASSERT_EQ(view.num_graphs, options.per_instance ? arcs.num_instances : 1);
    EXPECT_EQ(view.vertex_offset[0], 0u);
    for (uint64_t g = 0; g < view.num_graphs; g++) {
        const Plain plain = plain_of(csr, arcs, options.per_instance ? g : 0,
                                     options.per_instance ? g + 1 : arcs.num_instances, options);
        const uint64_t first = view.vertex_offset[g], end = view.vertex_offset[g + 1];
        ASSERT_EQ(std::vector<csaw_vertex>(view.vertex + first, view.vertex + end), plain.vertex);
        std::set<csaw_edge> seen;
        for (uint64_t i = first; i < end; i++)
            for (uint64_t k = view.rowptr[i]; k < view.rowptr[i + 1]; k++) {
                EXPECT_EQ(row_of(csr, view.edge[k]), view.vertex[i]);
                EXPECT_EQ(plain.number(csr.col[view.edge[k]]), view.col[k]);
                EXPECT_TRUE(seen.insert(view.edge[k]).second) << "edge " << view.edge[k] << " twice";
                if (k > view.rowptr[i]) {
                    EXPECT_LT(std::make_pair(view.col[k - 1], view.edge[k - 1]),
                              std::make_pair(view.col[k], view.edge[k]));
                }
            }
        EXPECT_EQ(seen, plain.edges);
        // and as a graph: the same arcs, by name, with all they carry
        csaw_graph *one = nullptr;
        ASSERT_EQ(csaw_subgraph_graph(made.get(), g, &one), CSAW_OK) << csaw_last_error();
        const Graph holder(one, csaw_graph_free);
        std::vector<Arc> wanted;
        for (csaw_edge e : plain.edges)
            wanted.emplace_back(name_of(graph, row_of(csr, e)), name_of(graph, csr.col[e]),
                                csr.weight ? csr.weight[e] : 1, csr.type ? csr.type[e] : 0, csr.time ? csr.time[e] : 0);
        EXPECT_EQ(in_order_of_names(arcs_by_name(one)), in_order_of_names(wanted));
        EXPECT_EQ(csaw_graph_csr(one).num_vertices, plain.vertex.size());
        const csaw_csr built = csaw_graph_csr(one);
        EXPECT_EQ(csaw__csr_check(&built), CSAW_OK) << csaw_last_error();
        for (csaw_vertex v = 0; v < plain.vertex.size(); v++) {
            csaw_vertex found = CSAW_NONE;
            ASSERT_EQ(csaw_graph_find(one, name_of(graph, plain.vertex[v]).c_str(), &found), CSAW_OK);
            EXPECT_EQ(found, v);
        }
    }
}

TEST(Subgraph, as_constructed_by_hand_from_the_arcs) {
    for (const int columns : {0, WEIGHT | TYPE | TIME})
        for (const Names names : {NONE, NUMBERS, WORDS}) {
            const Graph graph = make(columns, names);
            for (const Request &run : runs) {
                const Samples samples = sample(graph.get(), run);
                for (int o = 0; o < 8; o++) {
                    SCOPED_TRACE(csaw_sampler_name(run.sampler) + (" " + std::to_string(o)));
                    compare(graph.get(), samples.get(), options_of(o & 1, o & 2, o & 4));
                    if (HasFatalFailure()) return;
                }
            }
        }
}

// 0 -> 1, 2; 1 -> 2, 3; 2 -> 0; 3 -> 0, everything sampled from 2 on: seeds 2, then 2's, 0's, 1's neighbours.
Graph small() {
    Edges edges;
    edges.src = {0, 0, 1, 1, 2, 3};
    edges.dst = {1, 2, 2, 3, 0, 0};
    return build(edges, {});
}

TEST(Subgraph, small_one_by_eye) {
    const Graph graph = small();
    const Samples samples = sample(graph.get(), {&csaw_neighbor_once, {CSAW_ALL, CSAW_ALL}, 0, {2}});
    const Subgraph made = subgraph(graph.get(), samples.get(), options_of(false, false, false));
    const csaw_subgraph_view view = csaw_subgraph_look(made.get());
    EXPECT_EQ(std::vector<csaw_vertex>(view.vertex, view.vertex + view.vertex_offset[1]),
              (std::vector<csaw_vertex>{2, 0, 1}));
    EXPECT_EQ(std::vector<uint64_t>(view.rowptr, view.rowptr + 4), (std::vector<uint64_t>{0, 1, 3, 3}));
    EXPECT_EQ(std::vector<csaw_vertex>(view.col, view.col + 3), (std::vector<csaw_vertex>{1, 0, 2}));
    EXPECT_EQ(std::vector<csaw_edge>(view.edge, view.edge + 3), (std::vector<csaw_edge>{4, 1, 0}));
    const Subgraph induced = subgraph(graph.get(), samples.get(), options_of(false, true, false));
    const csaw_subgraph_view all = csaw_subgraph_look(induced.get());
    EXPECT_EQ(std::vector<uint64_t>(all.rowptr, all.rowptr + 4), (std::vector<uint64_t>{0, 1, 3, 4})); /* 1 -> 2 too */
}

TEST(Subgraph, whole_graph_comes_back) { /* everything sampled from every vertex, in order */
    for (const Names names : {NONE, WORDS}) {
        const Graph graph = make(WEIGHT | TYPE, names);
        Request run = {&csaw_neighbor, {CSAW_ALL}};
        const Samples samples = sample(graph.get(), run);
        const Subgraph made = subgraph(graph.get(), samples.get(), options_of(false, false, false));
        csaw_graph *again = nullptr;
        ASSERT_EQ(csaw_subgraph_graph(made.get(), 0, &again), CSAW_OK) << csaw_last_error();
        const Graph holder(again, csaw_graph_free);
        EXPECT_EQ(arcs_by_name(again), arcs_by_name(graph.get()));
    }
}

TEST(Subgraph, one_pool_of_every_vertex) { /* random_edge: the ends of its arcs; random_node: vertices without arcs */
    const Graph graph = make(0, NONE);
    Request run = {&csaw_random_edge, {5}};
    run.seeds.resize(50);
    for (csaw_vertex v = 0; v < 50; v++) run.seeds[v] = v;
    run.pools = {0, 50};
    const Samples samples = sample(graph.get(), run);
    const Subgraph all = subgraph(graph.get(), samples.get(), options_of(false, false, false));
    const Subgraph ends = subgraph(graph.get(), samples.get(), options_of(false, false, true));
    EXPECT_EQ(csaw_subgraph_look(all.get()).vertex_offset[1], 50u);
    EXPECT_LE(csaw_subgraph_look(ends.get()).vertex_offset[1], 10u);
    EXPECT_EQ(csaw_subgraph_look(ends.get()).rowptr[csaw_subgraph_look(ends.get()).vertex_offset[1]], 5u);
    compare(graph.get(), samples.get(), options_of(false, true, true));
}

// ---- misuse, and no memory ----------------------------------------------------------

TEST(Subgraph, misuse_is_told) {
    const Graph graph = make(0, NONE), other = small();
    const Samples samples = sample(graph.get(), {&csaw_neighbor, {3, 3}, 0, {5, 0}});
    const Samples bare = sample(graph.get(), {&csaw_uniform, {}, 4, {5, 0}, {}, 1, false, false});
    csaw_subgraph *none = nullptr;
    csaw_blocks *no_blocks = nullptr;
    csaw_graph *no_graph = nullptr;
    csaw_block_view view = {};
    EXPECT_EQ(csaw_subgraph_create(nullptr, samples.get(), nullptr, &none), CSAW_EINVAL);
    EXPECT_EQ(csaw_subgraph_create(graph.get(), nullptr, nullptr, &none), CSAW_EINVAL);
    EXPECT_EQ(csaw_subgraph_create(graph.get(), samples.get(), nullptr, nullptr), CSAW_EINVAL);
    csaw_subgraph_options odd = {sizeof odd + 8, false, false, false};
    EXPECT_EQ(csaw_subgraph_create(graph.get(), samples.get(), &odd, &none), CSAW_EINVAL);
    EXPECT_EQ(csaw_subgraph_create(graph.get(), bare.get(), nullptr, &none), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"no edges", "option edges"}));
    EXPECT_EQ(csaw_subgraph_create(other.get(), samples.get(), nullptr, &none), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"vertex 5", "4 vertices", "graph that was sampled"}));
    const Graph renamed = make(WEIGHT, NONE); // as many vertices, other arcs
    EXPECT_EQ(csaw_subgraph_create(renamed.get(), samples.get(), nullptr, &none), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"which the graph does not have", "graph that was sampled"}));
    EXPECT_EQ(csaw_blocks_create(nullptr, &no_blocks), CSAW_EINVAL);
    EXPECT_EQ(csaw_blocks_create(samples.get(), nullptr), CSAW_EINVAL);
    EXPECT_EQ(csaw_blocks_create(bare.get(), &no_blocks), CSAW_EINVAL);
    EXPECT_EQ(none, nullptr);
    EXPECT_EQ(no_blocks, nullptr);
    const Subgraph made = subgraph(graph.get(), samples.get(), options_of(true, false, false));
    EXPECT_EQ(csaw_subgraph_graph(made.get(), 2, &no_graph), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"no graph 2", "has 2"}));
    EXPECT_EQ(csaw_subgraph_graph(nullptr, 0, &no_graph), CSAW_EINVAL);
    EXPECT_EQ(csaw_subgraph_graph(made.get(), 0, nullptr), CSAW_EINVAL);
    ASSERT_EQ(csaw_blocks_create(samples.get(), &no_blocks), CSAW_OK);
    const Blocks blocks(no_blocks, csaw_blocks_free);
    EXPECT_EQ(csaw_blocks_look(no_blocks, 2, 0, &view), CSAW_EINVAL);
    EXPECT_EQ(csaw_blocks_look(no_blocks, 0, 2, &view), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"instance 0, depth 2", "2 instances of depth 2"}));
    EXPECT_EQ(csaw_blocks_look(no_blocks, 0, 0, nullptr), CSAW_EINVAL);
    csaw_subgraph_free(nullptr);
    csaw_blocks_free(nullptr);
}

TEST(Subgraph, every_allocation_may_fail) {
    const Graph graph = make(WEIGHT | TYPE | TIME, WORDS);
    const Samples samples = sample(graph.get(), {&csaw_neighbor, {6, 6}, 0, {0, 1, 2, 3}, {}, 3});
    const csaw_subgraph_options options = options_of(true, true, false);
    for (uint64_t n = 1;; n++) {
        csaw_subgraph *made = nullptr;
        csaw_blocks *blocks = nullptr;
        csaw_graph *one = nullptr;
        csaw__fail_allocations_from(n);
        csaw_status status = csaw_subgraph_create(graph.get(), samples.get(), &options, &made);
        if (status == CSAW_OK) status = csaw_subgraph_graph(made, 3, &one);
        if (status == CSAW_OK) status = csaw_blocks_create(samples.get(), &blocks);
        csaw__fail_allocations_from(0);
        EXPECT_EQ(blocks != nullptr, status == CSAW_OK);
        csaw_blocks_free(blocks);
        csaw_graph_free(one);
        csaw_subgraph_free(made);
        if (status == CSAW_OK) {
            EXPECT_GT(n, 20u);
            break;
        }
        ASSERT_EQ(status, CSAW_ENOMEM) << csaw_last_error();
        ASSERT_LT(n, 1000u);
    }
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* tests/blocks_test.cc - minibatch blocks against a plain construction from the arcs that were delivered, and against
 * the batches of PyTorch Geometric and the blocks of DGL, built here as those libraries build them. */
#include <map>

#include "sampled_cases.h"

namespace {

using namespace sampled_cases;
using Blocks = std::unique_ptr<csaw_blocks, decltype(&csaw_blocks_free)>;

void compare_blocks(const csaw_graph *graph, csaw_samples *samples, uint32_t depth) {
    const csaw_csr csr = csaw_graph_csr(graph);
    const csaw_arcs arcs = arcs_of(samples);
    csaw_blocks *b = nullptr;
    ASSERT_EQ(csaw_blocks_create(samples, &b), CSAW_OK) << csaw_last_error();
    const Blocks blocks(b, csaw_blocks_free);
    ASSERT_EQ(csaw_blocks_instances(b), arcs.num_instances);
    ASSERT_EQ(csaw_blocks_depth(b), depth);
    for (uint64_t i = 0; i < arcs.num_instances; i++) {
        Plain plain;
        for (uint64_t s = arcs.seed_offset[i]; s < arcs.seed_offset[i + 1]; s++) plain.visit(arcs.seed[s]);
        for (uint32_t d = 0; d < depth; d++) {
            std::vector<uint64_t> picks; // of this depth, in order
            for (uint64_t k = arcs.offset[i]; k < arcs.offset[i + 1]; k++)
                if (arcs.depth[k] == d) picks.push_back(k);
            for (uint64_t k : picks) plain.visit(arcs.src[k]);
            const size_t before = plain.vertex.size();
            for (uint64_t k : picks) plain.visit(arcs.dst[k]);
            csaw_block_view block = {};
            ASSERT_EQ(csaw_blocks_look(b, i, d, &block), CSAW_OK) << csaw_last_error();
            ASSERT_EQ(block.num_dst, before);
            if (d + 1 == depth) {
                ASSERT_EQ(block.num_src, plain.vertex.size());
            }
            ASSERT_GE(block.num_src, plain.vertex.size());
            ASSERT_EQ(std::vector<csaw_vertex>(block.vertex, block.vertex + plain.vertex.size()), plain.vertex);
            ASSERT_EQ(block.num_edges, picks.size());
            ASSERT_EQ(block.rowptr[0], 0u);
            ASSERT_EQ(block.rowptr[before], picks.size());
            size_t at = 0;
            for (csaw_vertex row = 0; row < before; row++)
                for (uint64_t k : picks) { // each row's picks in their order
                    if (arcs.src[k] != plain.vertex[row]) continue;
                    ASSERT_GE(at, block.rowptr[row]);
                    ASSERT_LT(at, block.rowptr[row + 1]);
                    EXPECT_EQ(block.col[at], plain.number(arcs.dst[k]));
                    EXPECT_EQ(block.edge[at], arcs.edge[k]);
                    EXPECT_EQ(csr.col[block.edge[at]], block.vertex[block.col[at]]);
                    at++;
                }
            ASSERT_EQ(at, picks.size());
        }
    }
}

TEST(Blocks, as_constructed_by_hand_from_the_arcs) {
    const Graph graph = make(WEIGHT, NONE);
    for (const Request &run : runs) {
        SCOPED_TRACE(csaw_sampler_name(run.sampler));
        const Samples samples = sample(graph.get(), run);
        compare_blocks(graph.get(), samples.get(),
                       run.fanout.empty() ? run.depth : static_cast<uint32_t>(run.fanout.size()));
        if (HasFatalFailure()) return;
    }
}

/* The batch that PyTorch Geometric's NeighborLoader would build from these picks, constructed as its sampler does:
 * n_id starts with the seeds; hop by hop, each vertex that the hop before added is expanded and unknown neighbours are
 * appended; num_sampled_nodes and num_sampled_edges count per hop; edge_index is (neighbour, expanded), local. */
TEST(Blocks, correspond_to_pyg_batches) {
    const Graph graph = make(WEIGHT, NONE);
    const std::vector<uint32_t> fanout = {3, 2, 2};
    const Samples samples = sample(graph.get(), {&csaw_neighbor_once, fanout, 0, {7, 0, 2, 33}, {0, 4}, 1});
    const csaw_arcs arcs = arcs_of(samples.get());
    std::map<std::pair<uint32_t, csaw_vertex>, std::vector<uint64_t>> picked; // by hop and vertex
    for (uint64_t k = 0; k < arcs.offset[1]; k++) picked[{arcs.depth[k], arcs.src[k]}].push_back(k);
    std::vector<csaw_vertex> n_id = {7, 0, 2, 33}, row, col;
    std::map<csaw_vertex, csaw_vertex> local;
    for (csaw_vertex i = 0; i < n_id.size(); i++) local[n_id[i]] = i;
    std::vector<uint64_t> sampled_nodes = {n_id.size()}, sampled_edges;
    size_t begin = 0, used = 0;
    for (uint32_t hop = 0; hop < fanout.size(); hop++) {
        const size_t end = n_id.size(), edges = row.size();
        for (size_t i = begin; i < end; i++)
            for (uint64_t k : picked[{hop, n_id[i]}]) {
                if (local.emplace(arcs.dst[k], static_cast<csaw_vertex>(n_id.size())).second)
                    n_id.push_back(arcs.dst[k]);
                row.push_back(local[arcs.dst[k]]);
                col.push_back(static_cast<csaw_vertex>(i));
                used++;
            }
        sampled_nodes.push_back(n_id.size() - end);
        sampled_edges.push_back(row.size() - edges);
        begin = end;
    }
    ASSERT_EQ(used, arcs.offset[1]); // csaw_neighbor_once expands exactly what the loader expands
    ASSERT_GT(sampled_nodes[3], 0u); // the case is not trivial
    csaw_blocks *b = nullptr;
    ASSERT_EQ(csaw_blocks_create(samples.get(), &b), CSAW_OK);
    const Blocks blocks(b, csaw_blocks_free);
    size_t at = 0;
    for (uint32_t hop = 0; hop < fanout.size(); hop++) {
        csaw_block_view block = {};
        ASSERT_EQ(csaw_blocks_look(b, 0, hop, &block), CSAW_OK);
        EXPECT_EQ(block.num_src - block.num_dst, sampled_nodes[hop + 1]);
        EXPECT_EQ(block.num_edges, sampled_edges[hop]);
        for (csaw_vertex r = 0; r < block.num_dst; r++)
            for (uint64_t k = block.rowptr[r]; k < block.rowptr[r + 1]; k++, at++) {
                EXPECT_EQ(col[at], r);
                EXPECT_EQ(row[at], block.col[k]);
            }
        if (hop == 2) {
            EXPECT_EQ(std::vector<csaw_vertex>(block.vertex, block.vertex + block.num_src), n_id);
        }
    }
    EXPECT_EQ(at, row.size());
}

/* DGL's blocks of these picks: from the output layer inwards, a block's destinations are the sources of the one before,
 * in their order, and its sources are those followed by the new neighbours in the order of the sampled edges. */
TEST(Blocks, correspond_to_dgl_blocks) {
    const Graph graph = make(WEIGHT, NONE);
    const std::vector<uint32_t> fanout = {2, 3};
    const Samples samples = sample(graph.get(), {&csaw_neighbor_again, fanout, 0, {7, 0, 2}, {0, 3}, 1});
    const csaw_arcs arcs = arcs_of(samples.get());
    csaw_blocks *b = nullptr;
    ASSERT_EQ(csaw_blocks_create(samples.get(), &b), CSAW_OK);
    const Blocks blocks(b, csaw_blocks_free);
    std::vector<csaw_vertex> dst_nodes = {7, 0, 2};
    uint64_t k = 0;
    for (uint32_t layer = 0; layer < fanout.size(); layer++) {
        std::vector<csaw_vertex> src_nodes = dst_nodes;
        std::multiset<std::pair<csaw_vertex, csaw_vertex>> edges, found; // original (src, dst) of messages
        std::set<csaw_vertex> expanded;
        for (; k < arcs.offset[1] && arcs.depth[k] == layer; k++) {
            if (std::find(src_nodes.begin(), src_nodes.end(), arcs.dst[k]) == src_nodes.end())
                src_nodes.push_back(arcs.dst[k]);
            edges.emplace(arcs.dst[k], arcs.src[k]);
            expanded.insert(arcs.src[k]);
        }
        for (csaw_vertex v : dst_nodes) // every destination with a way on is expanded at every layer
            EXPECT_EQ(expanded.count(v),
                      csaw_graph_csr(graph.get()).rowptr[v + 1] > csaw_graph_csr(graph.get()).rowptr[v]);
        csaw_block_view block = {};
        ASSERT_EQ(csaw_blocks_look(b, 0, layer, &block), CSAW_OK);
        EXPECT_EQ(std::vector<csaw_vertex>(block.vertex, block.vertex + block.num_dst), dst_nodes);
        EXPECT_EQ(std::vector<csaw_vertex>(block.vertex, block.vertex + block.num_src), src_nodes);
        for (csaw_vertex r = 0; r < block.num_dst; r++)
            for (uint64_t e = block.rowptr[r]; e < block.rowptr[r + 1]; e++)
                found.emplace(block.vertex[block.col[e]], block.vertex[r]);
        EXPECT_EQ(found, edges);
        dst_nodes = src_nodes;
    }
}

} // namespace

/* SPDX-License-Identifier: MIT */
/* tests/blocks_cases.h - blocks as plain values, and samples of which they are made: on GPUs they are the CPU's. */
#ifndef CSAW_TESTS_BLOCKS_CASES_H
#define CSAW_TESTS_BLOCKS_CASES_H

#include "tests/sampled_cases.h"

#include "tests/loader_cases.h"

namespace blocks_cases {

using namespace sampled_cases;
using loader_cases::Block;
using Blocks = std::unique_ptr<csaw_blocks, decltype(&csaw_blocks_free)>;

// By a method that needs no tables.
inline Samples draw(const csaw_graph *graph, const char *device, const Request &run) {
    const csaw_plan_options of = reference::plan_on(device, 1, 0);
    return sample(graph, run, &of, CSAW_SELECT_ITS);
}

struct Value { // of all instances
    std::vector<std::vector<Block>> blocks;
    std::vector<std::vector<csaw_vertex>> vertices;
    bool operator==(const Value &o) const { return blocks == o.blocks && vertices == o.vertices; }
};

inline Value value_of(csaw_samples *samples, csaw_space space) {
    csaw_blocks *made = nullptr;
    Value out;
    reference::require(csaw_blocks_create_in(samples, space, &made));
    const Blocks blocks(made, csaw_blocks_free);
    for (uint64_t i = 0; i < csaw_blocks_instances(made); i++) {
        csaw_block_view last = {};
        reference::require(csaw_blocks_look(made, i, csaw_blocks_depth(made) - 1, &last));
        EXPECT_EQ(last.space, space);
        out.blocks.push_back(loader_cases::blocks_of(made, i));
        out.vertices.push_back(loader_cases::list(last.space, last.vertex, last.num_src));
    }
    return out;
}

struct Named {
    const char *what;
    Request run;
};

// Hubs that all lead to, isolated vertices, loops and parallel arcs.
inline Graph odd_graph() {
    const csaw_vertex num_vertices = 700;
    std::vector<csaw_vertex> src, dst;
    for (csaw_vertex v = 0; v < 600; v++)
        for (csaw_vertex to : {csaw_vertex{v % 3}, csaw_vertex{v % 3}, v, (v * 7 + 1) % 600}) {
            src.push_back(v);
            dst.push_back(to); // a parallel arc, a loop
            if (to == v % 3) src.push_back(to), dst.push_back(v);
        }
    const csaw_edges edges = {num_vertices, src.size(), src.data(), dst.data(), nullptr, nullptr, nullptr};
    csaw_load_options keep = {};
    keep.size = sizeof keep;
    keep.keep_loops = keep.keep_duplicates = true;
    csaw_graph *graph = nullptr;
    reference::require(csaw_graph_from_edges(&edges, &keep, &graph));
    return Graph(graph, csaw_graph_free);
}

// Vertices expanded twice at a depth, and out of order; fanouts beyond the degrees, and of nothing.
inline std::vector<Named> odd_runs() {
    const csaw_vertex num_vertices = 700;
    std::vector<csaw_vertex> all(num_vertices);
    for (csaw_vertex v = 0; v < num_vertices; v++) all[v] = num_vertices - 1 - v;
    const std::vector<csaw_vertex> isolated = {650, 699, 601};
    return {
        {"two pools and an empty one", {&csaw_neighbor_again, {3, 2}, 0, all, {0, 300, 300, 700}, 1}},
        {"three depths", {&csaw_neighbor_once, {15, 10, 5}, 0, all, {0, 20}, 2}},
        {"a hub whole", {&csaw_neighbor_again, {CSAW_ALL, 4}, 0, {0, 5, 650}, {0, 3}, 1}},
        {"with replacement", {&csaw_neighbor_again, {9, 9}, 0, {0, 1, 2, 3}, {0, 4}, 1, true}},
        {"a fanout of nothing", {&csaw_neighbor_again, {3, 0, 3}, 0, {7, 9}, {0, 2}, 1}},
        {"no arcs", {&csaw_neighbor_again, {3, 3}, 0, isolated, {0, 3}, 1}},
        {"empty pools", {&csaw_neighbor_again, {3, 3}, 0, {4}, {0, 0, 1, 1}, 1}},
        {"no pools", {&csaw_neighbor_again, {3, 3}, 0, {4}, {0}, 1}},
        {"out of order", {&csaw_layer, {40, 30}, 0, all, {0, 64}, 1}},
        {"the same vertex again", {&csaw_multidimensional, {}, 40, {5, 9, 5}, {0, 3}, 3}},
    };
}

} // namespace blocks_cases

#endif

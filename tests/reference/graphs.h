/* SPDX-License-Identifier: MIT */
/* tests/reference/graphs.h - small graphs with names, on which the laws can be written down. */
#ifndef CSAW_REFERENCE_GRAPHS_H
#define CSAW_REFERENCE_GRAPHS_H

#include <csaw/csaw.h>

#include <string>
#include <vector>

namespace reference {

struct Graph {
    std::string name;
    std::vector<csaw_edge> rowptr; // [vertices + 1]
    std::vector<csaw_vertex> col;
    std::vector<float> weight; // empty = none
    std::vector<uint32_t> type;
    std::vector<int64_t> time;
    csaw_csr csr() const; // borrowed
    uint64_t degree(csaw_vertex v) const { return rowptr[v + size_t{1}] - rowptr[v]; }
    std::vector<csaw_vertex> vertices() const;
};

struct WeightedArc {
    csaw_vertex src, dst;
    float weight;
    uint32_t type = 0;
    int64_t time = 0;
};
// Rows ascending, parallel arcs and loops kept, parallel arcs in input order. No types where all are 0, times likewise.
Graph graph_of(std::string name, csaw_vertex vertices, std::vector<WeightedArc> arcs, bool weighted);

// path, star, complete, karate, isolated; weighted, extreme (weights from 1e-45 to 1e38); directed and
// directed_weighted (with sinks); multi and multi_weighted (parallel arcs, loops); zero_rows (some weights, and all of
// some rows, are 0).
const std::vector<std::string> &small_graph_names();
Graph small_graph(const std::string &name);

// Directed, parallel arcs among 16 vertices (two of them sinks) with types 0 .. 2 and times -4 .. 8, so many ties.
Graph event_graph(bool weighted);
// A cycle of 4 with arcs at every pair of times of both ends of int64_t and around 0.
Graph epoch_graph();

// Vertex 0 joined both ways to 10^6 leaves, weights log-uniform from 1e-6 to 1e6.
Graph hub_graph();

} // namespace reference

#endif

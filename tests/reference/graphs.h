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
    csaw_csr csr() const;      // borrowed
    uint64_t degree(csaw_vertex v) const { return rowptr[v + size_t{1}] - rowptr[v]; }
    std::vector<csaw_vertex> vertices() const;
};

struct WeightedArc {
    csaw_vertex src, dst;
    float weight;
};
// Rows ascending, parallel arcs and loops kept, parallel arcs in input order.
Graph graph_of(std::string name, csaw_vertex vertices, std::vector<WeightedArc> arcs, bool weighted);

// path, star, complete, karate, isolated; weighted, extreme (weights from 1e-45 to 1e38); directed and
// directed_weighted (with sinks); multi and multi_weighted (parallel arcs, loops); zero_rows (some weights, and all of
// some rows, are 0).
const std::vector<std::string> &small_graph_names();
Graph small_graph(const std::string &name);

// Vertex 0 joined both ways to 10^6 leaves, weights log-uniform from 1e-6 to 1e6.
Graph hub_graph();

} // namespace reference

#endif

/* SPDX-License-Identifier: MIT */
/* tests/reference/walk.h - walks by docs/stream.md, as plainly as possible: one walk after the other, one step after
 * the other, every bias of the row looked at where the method allows no shortcut. */
#ifndef CSAW_REFERENCE_WALK_H
#define CSAW_REFERENCE_WALK_H

#include <csaw/csaw.h>

#include <functional>
#include <set>
#include <vector>

namespace reference {

struct Arc {
    csaw_vertex src, dst;
    float weight;
    uint32_t rank;
    csaw_edge id;
    uint32_t type;
    int64_t time;
};

struct Site {
    const csaw_csr *graph;
    csaw_vertex at, prev, root;
    uint32_t depth;
    uint64_t instance, seed;
    mutable int64_t own; // the instance's own bytes, which update alone writes; 0 at the root
    // A hook's own numbers: of the site, and of one of its arcs.
    uint64_t random(uint32_t number) const;
    uint64_t random_arc(const Arc &arc, uint32_t number) const;
    uint32_t degree(csaw_vertex v) const;
    // Of samples alone.
    uint32_t place = CSAW_NONE;                                      // in a pool that is a list; else none
    uint32_t fanout = 1;                                             // the run's, at this depth
    const std::set<csaw_vertex> *visited = nullptr;                  // in the pool at this depth or before
    uint32_t key() const { return place == CSAW_NONE ? at : place; } // stands for the vertex in a counter
};

// Each function may be empty: bias 1, update to the destination, dead end ends the walk.
struct Sampler {
    std::function<float(const csaw_csr &, const Arc &)> static_bias;
    bool static_is_weight = false; // so constant on a graph without weights
    std::function<float(const Site &, const Arc &)> edge_bias;
    std::function<csaw_vertex(const Site &, const Arc &)> update;
    std::function<csaw_vertex(const Site &)> dead_end;
    bool has_bounds = false;
    float lo = 1, hi = 1, back = 1; // of edge_bias
    bool second_order = false;
    // Of samples alone.
    std::function<float(const csaw_csr &, csaw_vertex)> vertex_bias;
    std::function<uint32_t(const Site &)> fanout;
    bool has_frontier_size = false;
    uint32_t frontier_size = 0;
    bool layer = false, distinct = false, replace_pool = false, keep_pool = false, with_replacement = false;
};

enum class Method { automatic, uniform, its, alias, reject, race };

struct Request {
    uint64_t seed = 0;
    std::vector<csaw_vertex> roots;
    uint32_t walks_per_seed = 1;
    uint32_t depth = 1;
};

struct Walks {
    uint64_t count = 0;
    uint32_t length = 0;
    std::vector<csaw_vertex> path; // [count][length + 1]
    std::vector<csaw_edge> edge;   // [count][length]
};

bool has_parallel_arcs(const csaw_csr &graph);
bool is_arc(const csaw_csr &graph, csaw_vertex from, csaw_vertex to);

// parallel_arcs: whether some row holds a destination twice; a law test lies here to see that it is noticed.
Walks walks(const csaw_csr &graph, const Sampler &sampler, Method method, const Request &request, bool parallel_arcs);

} // namespace reference

#endif

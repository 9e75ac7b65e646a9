/* SPDX-License-Identifier: MIT */
/* tests/walks_law.h - the laws of the built-in walks beside uniform and node2vec, by exact enumeration, and how far
 * walks are from them.
 *
 * Method: what a step does has one cell per arc of the row (the step followed it), one per vertex (the walk went there
 * along no arc) and one for an end. The probability of every cell is written down here from the formula in the
 * sampler's own comment, in long double. Steps are counted per context, which is all that the law looks at: the vertex
 * and, where it matters, the root, the place in the metapath, or the time of the arc before. Chi-square over all
 * contexts, first steps and later ones apart.
 *
 * Threshold as in tests/law.h: |z| < 4, both ways; wrong walks must reach z > 10. */
#ifndef CSAW_WALKS_LAW_H
#define CSAW_WALKS_LAW_H

#include "tests/law.h"
#include "tests/walk_cases.h"

#include <map>

namespace walks_law {

using law::ChiSquare;
using law::Graph;
using law::Method;
using law::Request;
using law::Walks;
using Cells = std::vector<long double>; // [degree of v] arcs, [num_vertices] vertices, [1] an end

struct State {
    csaw_vertex at, root;
    uint32_t depth;
    int64_t last; // time of the arc before; 0 on the first step
    csaw_vertex prev = CSAW_NONE;
};

struct Law {
    std::function<Cells(const csaw_csr &, const State &)> cells;
    std::function<int64_t(const State &)> context; // what cells looks at beside the vertex
};

// The arcs' shares of biases, then zeros; all zeros at a dead end.
template <typename Bias> Cells shares(const csaw_csr &csr, csaw_vertex at, const Bias &bias) {
    Cells out;
    long double sum = 0;
    for (csaw_edge e = csr.rowptr[at]; e < csr.rowptr[at + uint64_t{1}]; e++) sum += bias(e);
    for (csaw_edge e = csr.rowptr[at]; e < csr.rowptr[at + uint64_t{1}]; e++)
        out.push_back(sum > 0 ? static_cast<long double>(bias(e)) / sum : 0);
    out.resize(out.size() + csr.num_vertices + 1, 0);
    return out;
}

inline long double weight_of(const csaw_csr &csr, csaw_edge e) { return csr.weight ? csr.weight[e] : 1.0L; }

inline Cells by_weight(const csaw_csr &csr, csaw_vertex at) {
    return shares(csr, at, [&](csaw_edge e) { return weight_of(csr, e); });
}

inline long double sum_of(const Cells &cells) {
    long double sum = 0;
    for (long double p : cells) sum += p;
    return sum;
}

// Where arcs are all of it, a row without any chance ends the walk.
inline Cells or_end(Cells cells) {
    if (sum_of(cells) == 0) cells.back() = 1;
    return cells;
}

// Every step: with probability p to a vertex drawn by `to`, else along the arc. A step that lands on the destination of
// the arc that was picked counts as having followed it. At a dead end it is always by `to`.
template <typename To> Cells mixture(const csaw_csr &csr, csaw_vertex at, long double p, const To &to) {
    const uint64_t degree = csr.rowptr[at + uint64_t{1}] - csr.rowptr[at];
    const Cells arcs = by_weight(csr, at);
    Cells out = arcs;
    const bool dead_end = sum_of(arcs) == 0;
    for (uint64_t i = 0; i < degree; i++) out[i] *= 1 - p + p * to(csr.col[csr.rowptr[at] + i]);
    for (csaw_vertex u = 0; u < csr.num_vertices; u++) {
        long double elsewhere = 1;
        for (uint64_t i = 0; i < degree; i++)
            if (csr.col[csr.rowptr[at] + i] == u) elsewhere -= arcs[i];
        out[degree + u] = (dead_end ? 1 : p * elsewhere) * to(u);
    }
    return out;
}

inline int64_t nothing_else(const State &) { return 0; }

inline Law biased() {
    return {[](const csaw_csr &csr, const State &s) { return or_end(by_weight(csr, s.at)); }, nothing_else};
}

inline Law biased_by_degree() {
    return {[](const csaw_csr &csr, const State &s) {
                return or_end(shares(csr, s.at, [&](csaw_edge e) {
                    return csr.rowptr[csr.col[e] + uint64_t{1}] - csr.rowptr[csr.col[e]];
                }));
            },
            nothing_else};
}

inline Law metropolis_hastings() {
    return {[](const csaw_csr &csr, const State &s) {
                const auto degree = [&](csaw_vertex v) {
                    return static_cast<long double>(csr.rowptr[v + uint64_t{1}] - csr.rowptr[v]);
                };
                Cells out = or_end(shares(csr, s.at, [](csaw_edge) { return 1; }));
                const auto arcs = static_cast<uint64_t>(degree(s.at));
                for (uint64_t i = 0; i < arcs; i++) {
                    const csaw_vertex x = csr.col[csr.rowptr[s.at] + i];
                    if (degree(x) <= degree(s.at)) continue;
                    out[arcs + s.at] += out[i] * (1 - degree(s.at) / degree(x));
                    out[i] *= degree(s.at) / degree(x);
                }
                return out;
            },
            nothing_else};
}

inline Law jump(long double p) {
    return {[=](const csaw_csr &csr, const State &s) {
                return mixture(csr, s.at, p, [&](csaw_vertex) { return 1.0L / csr.num_vertices; });
            },
            nothing_else};
}

inline Law restart(long double p) {
    return {[=](const csaw_csr &csr, const State &s) {
                return mixture(csr, s.at, p, [&](csaw_vertex u) { return u == s.root ? 1.0L : 0.0L; });
            },
            [](const State &s) { return int64_t{s.root}; }};
}

inline Law ppr(long double alpha) {
    return {[=](const csaw_csr &csr, const State &s) {
                Cells out = by_weight(csr, s.at);
                for (long double &p : out) p *= 1 - alpha;
                out.back() = sum_of(out) == 0 && alpha < 1 ? 1 : alpha;
                return out;
            },
            nothing_else};
}

inline Law metapath(const std::vector<uint32_t> &types) {
    return {[=](const csaw_csr &csr, const State &s) {
                const uint32_t wanted = types[s.depth % types.size()];
                return or_end(shares(csr, s.at, [&](csaw_edge e) {
                    return (csr.type ? csr.type[e] : 0) == wanted ? weight_of(csr, e) : 0.0L;
                }));
            },
            [=](const State &s) { return static_cast<int64_t>(s.depth % types.size()); }};
}

inline Law temporal(int64_t start, int64_t window) {
    __extension__ typedef __int128 Wide;
    return {[=](const csaw_csr &csr, const State &s) {
                const auto admissible = [&](csaw_edge e) {
                    const Wide time = csr.time ? csr.time[e] : 0, last = s.last;
                    if (s.depth == 0) return time >= start;
                    return time >= last && (window == 0 || time <= last + window);
                };
                return or_end(shares(csr, s.at, [&](csaw_edge e) { return admissible(e) ? weight_of(csr, e) : 0.0L; }));
            },
            [](const State &s) { return s.last; }};
}

struct Fit {
    ChiSquare first, later;
};

// The cell of what a step did, by its next vertex and its edge; past the end if its edge is not one of the row to next.
inline size_t cell_of(const csaw_csr &csr, csaw_vertex at, csaw_vertex next, csaw_edge edge) {
    const uint64_t degree = csr.rowptr[at + uint64_t{1}] - csr.rowptr[at];
    if (edge == CSAW_NO_EDGE) return degree + (next == CSAW_NONE ? csr.num_vertices : next);
    const bool follows = edge >= csr.rowptr[at] && edge < csr.rowptr[at + uint64_t{1}] && csr.col[edge] == next;
    return follows ? edge - csr.rowptr[at] : degree + csr.num_vertices + 1;
}

inline Fit fit_of(const csaw_csr &csr, const Law &law, const Walks &walks, const Request &request) {
    struct Row {
        Cells probability;
        std::vector<uint64_t> seen;
    };
    std::map<std::tuple<bool, csaw_vertex, int64_t>, Row> rows; // by first step or not, vertex, context
    for (uint64_t w = 0; w < walks.count; w++) {
        const csaw_vertex *path = &walks.path[w * (walks.length + uint64_t{1})];
        const csaw_edge *edge = &walks.edge[w * walks.length];
        State state = {path[0], path[0], 0, 0};
        EXPECT_EQ(path[0], request.roots[w % request.roots.size()]);
        for (; state.depth < walks.length && state.at != CSAW_NONE; state.depth++) {
            Row &row = rows[{state.depth > 0, state.at, law.context(state)}];
            if (row.seen.empty()) {
                row.probability = law.cells(csr, state);
                row.probability.push_back(0); // of a step along an edge that does not lead there
                row.seen.resize(row.probability.size());
            }
            const csaw_vertex next = path[state.depth + 1];
            const csaw_edge e = edge[state.depth];
            row.seen[cell_of(csr, state.at, next, e)]++;
            state.last = e != CSAW_NO_EDGE && csr.time ? csr.time[e] : 0;
            state.prev = state.at;
            state.at = next;
        }
    }
    Fit fit;
    for (const auto &[context, row] : rows)
        (std::get<0>(context) ? fit.later : fit.first).add(row.seen, row.probability);
    return fit;
}

struct Named {
    walk_cases::Case walk;
    Law law;
};

// In the order of walk_cases::cases(), with the same parameters.
inline std::vector<Named> named() {
    const int64_t any = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
    const std::vector<Law> laws = {biased(),           biased_by_degree(),  metropolis_hastings(),
                                   jump(.3f),          restart(.25f),       ppr(.2f),
                                   metapath({0}),      metapath({1, 0, 2}), metapath({0, 1, 2, 0, 0, 1, 1, 2}),
                                   temporal(any, 0),   temporal(0, 0),      temporal(-3, 2),
                                   temporal(any, most)};
    const std::vector<walk_cases::Case> cases = walk_cases::cases();
    std::vector<Named> out;
    for (size_t i = 0; i < cases.size(); i++) out.push_back({cases[i], laws.at(i)});
    return out;
}

} // namespace walks_law

#endif

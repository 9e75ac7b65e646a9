/* SPDX-License-Identifier: MIT */
/* tests/samples_law.h - the laws of samples by exact enumeration, and how far drawn samples are from them.
 *
 * Method: a sample is replayed depth by depth. A unit is what one selection is made for: one vertex of the pool, or the
 * whole pool. What a unit picked is a sequence of arcs, and the probability of every sequence is written down here from
 * the formula in the sampler's own comment, in long double: successive draws, each proportional to bias among the arcs
 * left (or independent ones, with replacement), over all numbers of picks if that is random. The next pool follows from
 * the picks by the rule of the law. Sequences are counted per context, all that the law looks at: the unit and, where
 * it matters, which destinations are visited, and the depth. Chi-square over all contexts, first depth and later ones
 * apart. On very small graphs whole samples are counted as well, since their probabilities are products; so units and
 * depths must be independent of each other.
 *
 * Threshold as in tests/law.h: |z| < 4, both ways; wrong samplers must reach z > 10. */
#ifndef CSAW_SAMPLES_LAW_H
#define CSAW_SAMPLES_LAW_H

#include "tests/law.h"
#include "tests/reference/sample.h"

#include <map>
#include <set>

namespace samples_law {

using law::ChiSquare;
using law::Graph;
using law::Method;
using reference::Sample;
using reference::SampledArc;
using reference::SampleRequest;
using Sequence = std::vector<csaw_edge>;
using Outcomes = std::map<Sequence, long double>;
using Vertices = std::vector<csaw_vertex>;

struct State {
    uint32_t depth;
    Vertices pool;
    std::set<csaw_vertex> visited;
};

enum class Next { reached, unvisited, keep, list, walkers, nothing }; // the pool after: see next_pool()

struct Law {
    std::function<long double(const csaw_csr &, const State &, csaw_edge)> bias;
    Next next = Next::reached;
    bool together = false; // one selection for the whole pool
    bool distinct = false; // of vertices: all arcs to them
    bool replace = false;
    bool sees_visited = false, sees_depth = false;                // what bias looks at
    std::function<long double(uint32_t)> sizes = nullptr;         // P of so many picks, cut off at the degree
    std::function<uint32_t(uint64_t, uint32_t)> fanout = nullptr; // picks by the degree and the run's fanout
    // With neither so many as the run's fanout.
};

inline uint64_t degree_of(const csaw_csr &csr, csaw_vertex v) { return csr.rowptr[v + uint64_t{1}] - csr.rowptr[v]; }

inline csaw_vertex src_of(const csaw_csr &csr, csaw_edge e) {
    return static_cast<csaw_vertex>(std::upper_bound(csr.rowptr, csr.rowptr + csr.num_vertices + 1, e) - csr.rowptr -
                                    1);
}

// ---- one selection ----------------------------------------------------------

// Sequences of k candidates and their probabilities, times p, added to out.
inline void select(const std::vector<long double> &bias, uint32_t k, bool replace, long double p,
                   const Sequence &so_far, Outcomes *out) {
    long double sum = 0;
    for (long double b : bias) sum += b;
    if (so_far.size() == k || sum == 0) {
        (*out)[so_far] += p;
        return;
    }
    for (size_t i = 0; i < bias.size(); i++) {
        if (bias[i] == 0) continue;
        std::vector<long double> left = bias;
        if (!replace) left[i] = 0;
        Sequence longer = so_far;
        longer.push_back(i);
        select(left, k, replace, p * bias[i] / sum, longer, out);
    }
}

// The same where k covers all: every candidate that has a chance, in order.
inline Outcomes selection(const std::vector<long double> &bias, uint32_t k, bool replace) {
    Outcomes out;
    if (k != CSAW_ALL && (replace || k < bias.size())) {
        select(bias, k, replace, 1, {}, &out);
        return out;
    }
    Sequence all;
    for (size_t i = 0; i < bias.size(); i++)
        if (bias[i] > 0) all.push_back(i);
    return {{all, 1}};
}

// All arcs of the unit whose candidate was chosen: candidates are vertices.
inline Outcomes distinct_vertices(const csaw_csr &csr, const std::vector<csaw_edge> &arcs,
                                  const std::vector<long double> &bias, uint32_t k, bool replace) {
    std::map<csaw_vertex, long double> sums;
    for (size_t i = 0; i < arcs.size(); i++) sums[csr.col[arcs[i]]] += bias[i];
    Vertices vertex;
    std::vector<long double> of_vertex;
    for (const auto &[v, sum] : sums) {
        vertex.push_back(v);
        of_vertex.push_back(sum);
    }
    Outcomes out;
    for (const auto &[picks, p] : selection(of_vertex, k, replace)) {
        std::set<csaw_vertex> chosen;
        for (csaw_edge i : picks) chosen.insert(vertex[i]);
        Sequence edges;
        for (size_t i = 0; i < arcs.size(); i++)
            if (bias[i] > 0 && chosen.count(csr.col[arcs[i]])) edges.push_back(arcs[i]);
        out[edges] += p;
    }
    return out;
}

// What a unit picks.
inline Outcomes picks_of(const csaw_csr &csr, const Law &law, const State &state, const Vertices &unit,
                         uint32_t fanout) {
    std::vector<csaw_edge> arcs;
    std::vector<long double> bias;
    for (csaw_vertex v : unit) {
        for (csaw_edge e = csr.rowptr[v]; e < csr.rowptr[v + uint64_t{1}]; e++) {
            arcs.push_back(e);
            bias.push_back(law.bias(csr, state, e));
        }
    }
    if (law.distinct) return distinct_vertices(csr, arcs, bias, fanout, law.replace);
    std::map<uint32_t, long double> sizes = {{law.fanout ? law.fanout(arcs.size(), fanout) : fanout, 1}};
    if (law.sizes) {
        sizes.clear();
        long double rest = 1;
        for (uint32_t k = 0; k < arcs.size(); rest -= law.sizes(k), k++) sizes[k] = law.sizes(k);
        sizes[static_cast<uint32_t>(arcs.size())] = rest;
    }
    Outcomes out;
    for (const auto &[k, p] : sizes) {
        for (const auto &[picks, q] : selection(bias, k, law.replace)) {
            Sequence edges;
            for (csaw_edge i : picks) edges.push_back(arcs[i]);
            out[edges] += p * q;
        }
    }
    return out;
}

// ---- from one depth to the next -----------------------------------------------

inline std::vector<Vertices> units_of(const Law &law, const State &state) {
    if (law.together) return {state.pool};
    std::vector<Vertices> out;
    for (csaw_vertex v : state.pool) out.push_back({v});
    return out;
}

inline void enter(Vertices *pool, csaw_vertex v) {
    if (std::find(pool->begin(), pool->end(), v) == pool->end()) pool->push_back(v);
}

inline State first_state(const Law &law, const Vertices &seeds) {
    State out = {0, {}, {seeds.begin(), seeds.end()}};
    if (law.next == Next::list || law.next == Next::walkers) {
        out.pool = seeds;
        if (law.next == Next::list) std::sort(out.pool.begin(), out.pool.end()); // its order does not count
    } else {
        for (csaw_vertex v : seeds) enter(&out.pool, v);
    }
    return out;
}

inline State next_state(const csaw_csr &csr, const Law &law, const State &state, const Sequence &picked) {
    State out = {state.depth + 1, {}, state.visited};
    if (law.next == Next::walkers) { // a place each, whose vertex has at most one arc picked
        size_t at = 0;
        for (csaw_vertex v : state.pool)
            out.pool.push_back(at < picked.size() && src_of(csr, picked[at]) == v ? csr.col[picked[at++]] : v);
        return out;
    }
    if (law.next == Next::keep || law.next == Next::list) out.pool = state.pool;
    for (csaw_edge e : picked) {
        const csaw_vertex dst = csr.col[e];
        if (law.next == Next::list) {
            const auto place = std::find(out.pool.begin(), out.pool.end(), src_of(csr, e));
            if (place != out.pool.end()) *place = dst; // else the arc is impossible, and counted as such
        } else if (law.next != Next::nothing && !(law.next == Next::unvisited && state.visited.count(dst))) {
            enter(&out.pool, dst);
        }
    }
    if (law.next == Next::list) std::sort(out.pool.begin(), out.pool.end());
    if (law.next == Next::unvisited || law.sees_visited) out.visited.insert(out.pool.begin(), out.pool.end());
    return out;
}

// Whole samples: the edges of all depths, each followed by CSAW_NO_EDGE.
inline void enumerate(const csaw_csr &csr, const Law &law, const State &state, const std::vector<uint32_t> &fanout,
                      const Sequence &so_far, long double p, Outcomes *out) {
    if (state.depth == fanout.size()) {
        (*out)[so_far] += p;
        return;
    }
    Outcomes picked = {{{}, 1}};
    for (const Vertices &unit : units_of(law, state)) {
        Outcomes longer;
        const Outcomes of_unit = picks_of(csr, law, state, unit, fanout[state.depth]);
        for (const auto &[before, q] : picked)
            for (const auto &[edges, r] : of_unit) {
                Sequence both = before;
                both.insert(both.end(), edges.begin(), edges.end());
                longer[both] += q * r;
            }
        picked = std::move(longer);
    }
    for (const auto &[edges, q] : picked) {
        Sequence longer = so_far;
        longer.insert(longer.end(), edges.begin(), edges.end());
        longer.push_back(CSAW_NO_EDGE);
        enumerate(csr, law, next_state(csr, law, state, edges), fanout, longer, p * q, out);
    }
}

// ---- how far samples are from their law -----------------------------------------

struct Counted {
    Outcomes probability;
    std::map<Sequence, uint64_t> seen;

    void add_to(ChiSquare *fit) const {
        std::vector<uint64_t> counts;
        std::vector<long double> exact;
        for (const auto &[edges, p] : probability) {
            const auto found = seen.find(edges);
            counts.push_back(found == seen.end() ? 0 : found->second);
            exact.push_back(p);
        }
        uint64_t others = 0;
        for (const auto &[edges, count] : seen)
            if (!probability.count(edges)) others += count;
        counts.push_back(others);
        exact.push_back(0);
        fit->add(counts, exact);
    }
};

struct Fit {
    ChiSquare first, later;
};

// An arc that is not what it says is in no cell of any law.
inline csaw_edge checked(const csaw_csr &csr, const SampledArc &arc) {
    const bool right = arc.edge < csr.num_edges && csr.col[arc.edge] == arc.dst && src_of(csr, arc.edge) == arc.src;
    return right ? arc.edge : CSAW_NO_EDGE;
}

// What the unit picked, from place `at` on, which moves on.
inline Sequence taken_by(const csaw_csr &csr, const Law &law, const State &state, const Vertices &unit,
                         const std::vector<SampledArc> &arcs, size_t *at) {
    Sequence out;
    for (; *at < arcs.size() && arcs[*at].depth == state.depth; ++*at) {
        if (!law.together && arcs[*at].src != unit[0]) break;
        if (law.next == Next::walkers && !out.empty()) break; // the next one may stand there too
        out.push_back(checked(csr, arcs[*at]));
    }
    return out;
}

inline Vertices context_of(const csaw_csr &csr, const Law &law, const State &state, const Vertices &unit) {
    Vertices out = unit;
    if (law.sees_visited)
        for (csaw_vertex v : unit)
            for (csaw_edge e = csr.rowptr[v]; e < csr.rowptr[v + uint64_t{1}]; e++)
                out.push_back(state.visited.count(csr.col[e]) ? 1 : 0);
    if (law.sees_depth) out.push_back(state.depth);
    return out;
}

// Drawn samples; equal ones may stand there once, with their count.
struct Many {
    std::vector<Sample> samples;
    std::vector<uint64_t> count, pool; // of each: how often it was drawn, and from which pool
};

inline Many each_once(const SampleRequest &request, std::vector<Sample> samples) {
    Many out = {std::move(samples), {}, {}};
    for (size_t i = 0; i < out.samples.size(); i++) {
        out.count.push_back(1);
        out.pool.push_back(i % request.pools.size());
    }
    return out;
}

inline Fit fit_of(const csaw_csr &csr, const Law &law, const std::vector<Vertices> &pools,
                  const std::vector<uint32_t> &fanout, const Many &many) {
    std::map<std::tuple<bool, uint32_t, Vertices>, Counted> rows; // by first depth or not, fanout, context
    uint64_t strays = 0, all = 0;                                 // strays: arcs of vertices that are not in the pool
    for (size_t i = 0; i < many.samples.size(); i++) {
        const std::vector<SampledArc> &arcs = many.samples[i].arcs;
        State state = first_state(law, pools[many.pool[i]]);
        size_t at = 0;
        while (state.depth < fanout.size()) {
            Sequence picked;
            for (const Vertices &unit : units_of(law, state)) {
                const uint32_t k = fanout[state.depth];
                Counted &row = rows[{state.depth > 0, k, context_of(csr, law, state, unit)}];
                if (row.probability.empty()) row.probability = picks_of(csr, law, state, unit, k);
                const Sequence edges = taken_by(csr, law, state, unit, arcs, &at);
                row.seen[edges] += many.count[i];
                for (csaw_edge e : edges)
                    if (e != CSAW_NO_EDGE) picked.push_back(e);
            }
            state = next_state(csr, law, state, picked);
        }
        all += many.count[i];
        strays += (arcs.size() - at) * many.count[i];
    }
    Fit fit;
    for (const auto &[key, row] : rows) row.add_to(std::get<0>(key) ? &fit.later : &fit.first);
    fit.first.add({all, strays}, {1, 0});
    return fit;
}

inline Fit fit_of(const csaw_csr &csr, const Law &law, const SampleRequest &request,
                  const std::vector<uint32_t> &fanout, std::vector<Sample> samples) {
    return fit_of(csr, law, request.pools, fanout, each_once(request, std::move(samples)));
}

// Whole samples, those of every pool apart.
inline ChiSquare whole_fit(const csaw_csr &csr, const Law &law, const std::vector<Vertices> &pools,
                           const std::vector<uint32_t> &fanout, const Many &many) {
    std::vector<Counted> rows(pools.size());
    for (size_t j = 0; j < pools.size(); j++)
        enumerate(csr, law, first_state(law, pools[j]), fanout, {}, 1, &rows[j].probability);
    for (size_t i = 0; i < many.samples.size(); i++) {
        const std::vector<SampledArc> &arcs = many.samples[i].arcs;
        Sequence edges;
        size_t at = 0;
        for (uint32_t d = 0; d < fanout.size(); d++) {
            for (; at < arcs.size() && arcs[at].depth == d; at++) edges.push_back(checked(csr, arcs[at]));
            edges.push_back(CSAW_NO_EDGE);
        }
        if (at < arcs.size()) edges.push_back(CSAW_NO_EDGE);
        rows[many.pool[i]].seen[edges] += many.count[i];
    }
    ChiSquare fit;
    for (const Counted &row : rows) row.add_to(&fit);
    return fit;
}

inline ChiSquare whole_fit(const csaw_csr &csr, const Law &law, const SampleRequest &request,
                           const std::vector<uint32_t> &fanout, std::vector<Sample> samples) {
    return whole_fit(csr, law, request.pools, fanout, each_once(request, std::move(samples)));
}

} // namespace samples_law

#endif

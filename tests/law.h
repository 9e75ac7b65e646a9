/* SPDX-License-Identifier: MIT */
/* tests/law.h - law tests: walks by any walker against the exact law of every step.
 *
 * Method: every step that came from t and stands at v is one independent draw from step_law(t, v); chi-square over all
 * (t, v), first steps and later steps apart. One cell per arc, so that parallel arcs count apart; on rows of more than
 * 4096 arcs the cells are 60 classes of weight x 4 quarters of the row, the heaviest arc and the arc back.
 *
 * Threshold: |z| < 4 for each test, both ways, since a fit too good is wrong as well. A right sampler exceeds it with
 * probability 6e-5; among the 1,250 or so values of z in law_test.cc that is 0.08 false alarms on average, and with
 * fixed seeds the answer never changes. Wrong samplers must reach z > 10. */
#ifndef CSAW_LAW_H
#define CSAW_LAW_H

#include "tests/reference/graphs.h"
#include "tests/reference/public_api.h"
#include "tests/reference/samplers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace law {

using reference::ChiSquare;
using reference::Graph;
using reference::Law;
using reference::Method;
using reference::plan_on;
using reference::Request;
using reference::Walks;

const double threshold = 4, wrong = 10;

using Walker = std::function<Walks(const Law &, Method, const Request &)>;

inline reference::Sampler sampler_of(const Law &law) {
    return law.node2vec ? reference::node2vec(law.p, law.q) : reference::uniform();
}

inline Walker reference_walker(const csaw_csr &csr) {
    const bool parallel = reference::has_parallel_arcs(csr);
    return [=](const Law &law, Method method, const Request &request) {
        return reference::walks(csr, sampler_of(law), method, request, parallel);
    };
}

inline Walker library_walker(const csaw_csr &csr, const csaw_plan_options &options) {
    const auto library = std::make_shared<reference::Library>(csr, options);
    return [=](const Law &law, Method method, const Request &request) { return library->walks(law, method, request); };
}

// p = 1e-3 folds the return arc at 1000 times the bound of the others; p = q = 1 is a first-order walk.
inline std::vector<Law> laws() {
    return {{false, 1, 1},    {true, .25f, 4}, {true, 4, .25f}, {true, 2, .5f},
            {true, 1e-3f, 1}, {true, 1e3f, 1}, {true, 1, 1e3f}, {true, 1, 1}};
}

// ---- cells ------------------------------------------------------------------

class Cells {
  public:
    Cells(const csaw_csr &csr, csaw_vertex t, csaw_vertex v) : csr(csr), t(t), first(csr.rowptr[v]) {
        degree = csr.rowptr[v + 1] - first;
        for (uint64_t i = 1; coarse() && csr.weight && i < degree; i++)
            if (csr.weight[first + i] > csr.weight[first + heaviest]) heaviest = i;
    }
    size_t count() const { return coarse() ? 242 : degree; }
    size_t of(csaw_edge e) const {
        const uint64_t rank = e - first;
        if (!coarse()) return rank;
        if (csr.col[e] == t) return 240;
        if (rank == heaviest) return 241;
        const double decade = csr.weight ? std::log10(csr.weight[e]) + 6 : 0; // 0 .. 12 on the hub
        const int weight_class = std::min(59, std::max(0, static_cast<int>(5 * decade)));
        return static_cast<size_t>(weight_class) * 4 + rank * 4 / degree;
    }
    std::vector<long double> law(const Law &law, csaw_vertex v) const {
        const std::vector<long double> exact = reference::step_law(csr, law, t, v);
        std::vector<long double> out(count(), 0);
        for (uint64_t i = 0; i < degree; i++) out[of(first + i)] += exact[i];
        return out;
    }

  private:
    bool coarse() const { return degree > 4096; }
    const csaw_csr &csr;
    csaw_vertex t;
    csaw_edge first;
    uint64_t degree, heaviest = 0;
};

// ---- every walk is a walk -----------------------------------------------------

// Starts at its root, follows arcs, names their edges, ends at dead ends and nowhere else.
inline ::testing::AssertionResult are_walks(const csaw_csr &csr, const Law &law, const Request &request,
                                            const Walks &walks) {
    const auto wrong_at = [&](uint64_t w, uint32_t s) {
        return ::testing::AssertionFailure() << law.name() << ": walk " << w << ", step " << s << ": ";
    };
    if (walks.count != request.roots.size() * request.walks_per_seed)
        return ::testing::AssertionFailure() << walks.count << " walks";
    for (uint64_t w = 0; w < walks.count; w++) {
        const csaw_vertex *path = &walks.path[w * (walks.length + uint64_t{1})];
        const csaw_edge *edge = &walks.edge[w * walks.length];
        if (path[0] != request.roots[w % request.roots.size()]) return wrong_at(w, 0) << "starts at " << path[0];
        for (uint32_t s = 0; s < walks.length; s++) {
            const csaw_vertex at = path[s], next = path[s + 1];
            if (next == CSAW_NONE) {
                if (edge[s] != CSAW_NO_EDGE) return wrong_at(w, s) << "ended along edge " << edge[s];
                if (at == CSAW_NONE) continue;
                for (csaw_edge e = csr.rowptr[at]; e < csr.rowptr[at + 1]; e++)
                    if (!law.node2vec || !csr.weight || csr.weight[e] > 0)
                        return wrong_at(w, s) << "ended at " << at << ", which is no dead end";
                continue;
            }
            if (at == CSAW_NONE) return wrong_at(w, s) << "goes on after its end";
            if (edge[s] < csr.rowptr[at] || edge[s] >= csr.rowptr[at + 1] || csr.col[edge[s]] != next)
                return wrong_at(w, s) << "edge " << edge[s] << " does not lead from " << at << " to " << next;
            if (law.node2vec && csr.weight && !(csr.weight[edge[s]] > 0))
                return wrong_at(w, s) << "edge " << edge[s] << " has weight 0";
        }
    }
    return ::testing::AssertionSuccess();
}

// ---- every step has its law -----------------------------------------------------

struct Fit {
    ChiSquare first, later;
};

// A row of counts per arc that led to v, so that every (t, v) has rows of its own, and one per root.
inline Fit fit_of(const csaw_csr &csr, const Law &law, const Walks &walks) {
    struct Row {
        csaw_vertex v;
        Cells cells;
        std::vector<uint64_t> seen;
    };
    std::vector<std::unique_ptr<Row>> first(csr.num_vertices), later(csr.num_edges);
    for (uint64_t w = 0; w < walks.count; w++) {
        const csaw_vertex *path = &walks.path[w * (walks.length + uint64_t{1})];
        const csaw_edge *edge = &walks.edge[w * walks.length];
        for (uint32_t s = 0; s < walks.length && path[s + 1] != CSAW_NONE; s++) {
            const csaw_vertex v = path[s];
            if (csr.rowptr[v + 1] - csr.rowptr[v] < 2) continue;
            std::unique_ptr<Row> &row = s ? later[edge[s - 1]] : first[v];
            if (!row) {
                row.reset(new Row{v, Cells(csr, s ? path[s - 1] : CSAW_NONE, v), {}});
                row->seen.resize(row->cells.count());
            }
            row->seen[row->cells.of(edge[s])]++;
        }
    }
    Fit fit;
    for (const auto &row : first)
        if (row) fit.first.add(row->seen, row->cells.law(law, row->v));
    for (const auto &row : later)
        if (row) fit.later.add(row->seen, row->cells.law(law, row->v));
    return fit;
}

// About `steps` steps from every vertex in turn.
inline Request request_on(const Graph &graph, uint64_t steps, uint64_t seed) {
    Request request;
    request.seed = seed;
    request.depth = 8;
    request.roots = graph.vertices();
    request.walks_per_seed = static_cast<uint32_t>(steps / request.depth / request.roots.size() + 1);
    return request;
}

// On the hub: from it, and to it from three leaves, one of them the heaviest.
inline Request request_on_hub(const Graph &hub, uint64_t walks, uint64_t seed) {
    csaw_vertex heaviest = 1;
    for (csaw_vertex leaf = 1; leaf <= hub.degree(0); leaf++)
        if (hub.weight[leaf - size_t{1}] > hub.weight[heaviest - size_t{1}]) heaviest = leaf;
    Request request;
    request.seed = seed;
    request.depth = 2;
    request.roots = {0, 1, 777777, heaviest};
    request.walks_per_seed = static_cast<uint32_t>(walks / request.roots.size());
    return request;
}

inline void expect_law(const csaw_csr &csr, const Law &law, Method method, const Request &request,
                       const Walker &walker) {
    SCOPED_TRACE(law.name() + ", " + reference::name_of(method));
    const Walks walks = walker(law, method, request);
    ASSERT_TRUE(are_walks(csr, law, request, walks));
    const Fit fit = fit_of(csr, law, walks);
    EXPECT_LT(std::fabs(fit.first.z()), threshold) << "z = " << fit.first.z() << " on first steps";
    EXPECT_LT(std::fabs(fit.later.z()), threshold) << "z = " << fit.later.z() << " on later steps";
}

inline void expect_laws(const Graph &graph, uint64_t steps, const Walker &walker) {
    const csaw_csr csr = graph.csr();
    uint64_t seed = 0x9e3779b900000000; // both halves of the key are in use
    for (const Law &law : laws())
        for (Method method : reference::methods_of(law))
            expect_law(csr, law, method, request_on(graph, steps, ++seed), walker);
}

// The hub has 10^6 arcs: many walks where a step is O(1), few where it looks at the whole row.
inline void expect_laws_on_hub(const Graph &hub, uint64_t many, uint64_t few, const Walker &walker) {
    const csaw_csr csr = hub.csr();
    for (const Law &law : {Law{false, 1, 1}, Law{true, .25f, 4}, Law{true, 1e-3f, 1}})
        for (Method method : reference::methods_of(law))
            if (method != Method::automatic) {
                const uint64_t walks = method == Method::its ? few : method == Method::race ? few / 4 : many;
                expect_law(csr, law, method, request_on_hub(hub, walks, 21), walker);
            }
}

// ---- steps and walks are independent ----------------------------------------------

// Whole paths of 5 steps on the complete graph: 5^5 equally likely under the uniform law, so that numbers used twice
// within a walk are seen at any distance.
inline ChiSquare path_fit(const Walks &walks) {
    std::vector<uint64_t> seen(3125);
    for (uint64_t w = 0; w < walks.count; w++) {
        size_t cell = 0;
        for (uint32_t s = 0; s < 5; s++) {
            const csaw_vertex at = walks.path[w * 6 + s], next = walks.path[w * 6 + s + 1];
            cell = cell * 5 + (next > at ? next - 1 : next);
        }
        seen[cell]++;
    }
    ChiSquare fit;
    fit.add(seen, std::vector<long double>(3125, 1.0L / 3125));
    return fit;
}

// First two steps of walks 2i and 2i + 1 from the same vertex: 5^4 equally likely pairs.
inline ChiSquare pair_fit(const Walks &walks) {
    std::vector<uint64_t> seen(625);
    for (uint64_t w = 0; w + 1 < walks.count; w += 2) {
        size_t cell = 0;
        for (uint64_t i = w; i < w + 2; i++) {
            for (uint32_t s = 0; s < 2; s++) {
                const csaw_vertex at = walks.path[i * 6 + s], next = walks.path[i * 6 + s + 1];
                cell = cell * 5 + (next > at ? next - 1 : next);
            }
        }
        seen[cell]++;
    }
    ChiSquare fit;
    fit.add(seen, std::vector<long double>(625, 1.0L / 625));
    return fit;
}

inline Request request_of_paths(uint32_t walks) {
    Request request;
    request.seed = 11;
    request.roots = {0};
    request.walks_per_seed = walks;
    request.depth = 5;
    return request;
}

// node2vec with p = q = 1 is the uniform walk, by other methods.
inline void expect_independence(uint32_t walks, const Walker &walker) {
    for (const Law &law : {Law{false, 1, 1}, Law{true, 1, 1}}) {
        for (Method method : reference::methods_of(law)) {
            SCOPED_TRACE(law.name() + ", " + reference::name_of(method));
            const Walks drawn = walker(law, method, request_of_paths(walks));
            EXPECT_LT(std::fabs(path_fit(drawn).z()), threshold) << "whole paths";
            EXPECT_LT(std::fabs(pair_fit(drawn).z()), threshold) << "pairs of walks";
        }
    }
}

} // namespace law

#endif

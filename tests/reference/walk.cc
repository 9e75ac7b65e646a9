/* SPDX-License-Identifier: MIT */
/* tests/reference/walk.cc - see walk.h. A row's masses and alias table of the static bias are kept once built, since
 * they never change; nothing else is. */
#include "tests/reference/walk.h"

#include "tests/reference/philox.h"
#include "tests/reference/table.h"

#include <csaw/math.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace reference {

bool has_parallel_arcs(const csaw_csr &graph) {
    for (uint64_t v = 0; v < graph.num_vertices; v++)
        for (csaw_edge e = graph.rowptr[v] + 1; e < graph.rowptr[v + 1]; e++)
            if (graph.col[e] == graph.col[e - 1]) return true;
    return false;
}

bool is_arc(const csaw_csr &graph, csaw_vertex from, csaw_vertex to) {
    return std::binary_search(graph.col + graph.rowptr[from], graph.col + graph.rowptr[from + 1], to);
}

uint64_t Site::random(uint32_t number) const {
    return half(draw(seed, instance, depth, at, 3, number / 2), number % 2);
}

uint64_t Site::random_arc(const Arc &arc, uint32_t number) const {
    const uint32_t two28 = 1u << 28;
    return half(draw(seed, instance, depth, at, 8 + arc.rank / two28, arc.rank % two28), number);
}

uint32_t Site::degree(csaw_vertex v) const { return static_cast<uint32_t>(graph->rowptr[v + 1] - graph->rowptr[v]); }

namespace {

struct StaticRow {
    Masses masses;
    AliasTable table;
    double top = 0; // the largest static bias
};

const int64_t dead = -1; // in place of a rank

class Walker {
  public:
    Walker(const csaw_csr &graph, const Sampler &sampler, Method method, uint64_t seed, bool parallel_arcs)
        : graph(graph), sampler(sampler), method(method), seed(seed), parallel_arcs(parallel_arcs),
          constant(!sampler.static_bias || (sampler.static_is_weight && !graph.weight)) {
        if (method != Method::automatic) return;
        if (!sampler.edge_bias)
            this->method = constant ? Method::uniform : Method::alias;
        else
            this->method = sampler.has_bounds ? Method::reject : Method::its;
    }

    // One walk: path is [depth + 1], edge [depth].
    void walk(csaw_vertex root, uint64_t instance, uint32_t depth, csaw_vertex *path, csaw_edge *edge) {
        Site site = {&graph, root, CSAW_NONE, root, 0, instance, seed, 0};
        path[0] = root;
        for (uint32_t d = 0; d < depth; d++) {
            path[d + 1] = CSAW_NONE;
            edge[d] = CSAW_NO_EDGE;
            if (site.at == CSAW_NONE) continue;
            site.depth = d;
            const int64_t rank = pick(site);
            csaw_vertex next;
            if (rank == dead) {
                next = sampler.dead_end ? sampler.dead_end(site) : CSAW_NONE;
            } else {
                const Arc arc = arc_of(site.at, static_cast<uint32_t>(rank));
                next = sampler.update ? sampler.update(site, arc) : arc.dst;
                if (next == arc.dst) edge[d] = arc.id;
            }
            path[d + 1] = next;
            site.prev = site.at;
            site.at = next;
        }
    }

  private:
    uint32_t degree(csaw_vertex v) const { return static_cast<uint32_t>(graph.rowptr[v + 1] - graph.rowptr[v]); }

    Arc arc_of(csaw_vertex v, uint32_t rank) const {
        const csaw_edge id = graph.rowptr[v] + rank;
        return {v,
                graph.col[id],
                graph.weight ? graph.weight[id] : 1.0f,
                rank,
                id,
                graph.type ? graph.type[id] : 0,
                graph.time ? graph.time[id] : 0};
    }

    float static_of(const Arc &arc) const { return sampler.static_bias ? sampler.static_bias(graph, arc) : 1.0f; }
    float factor_of(const Site &site, const Arc &arc) const {
        return sampler.edge_bias ? sampler.edge_bias(site, arc) : 1.0f;
    }

    const StaticRow &static_row(csaw_vertex v) {
        const auto found = rows.find(v);
        if (found != rows.end()) return found->second;
        StaticRow row;
        std::vector<double> bias;
        for (uint32_t i = 0; i < degree(v); i++) bias.push_back(static_of(arc_of(v, i)));
        for (double b : bias) row.top = std::max(row.top, b);
        row.masses = masses_of(bias);
        row.table = alias_table_of(row.masses);
        return rows.emplace(v, std::move(row)).first->second;
    }

    int64_t pick(const Site &site) {
        if (degree(site.at) == 0) return dead;
        const uint64_t step = half(draw(seed, site.instance, site.depth >> 1, 0, 0, 0), site.depth & 1);
        switch (method) {
        case Method::uniform: return static_cast<int64_t>(below(step, degree(site.at)));
        case Method::alias: return propose(site.at, step);
        case Method::its: return pick_its(site);
        case Method::race: return pick_race(site);
        default: return pick_reject(site);
        }
    }

    // By static bias alone: UNIFORM's map if it is constant, else ALIAS's.
    int64_t propose(csaw_vertex v, uint64_t number) {
        const uint64_t n = degree(v);
        const uint64_t i = below(number, n);
        if (constant) return static_cast<int64_t>(i);
        const StaticRow &row = static_row(v);
        if (row.masses.sum == 0) return dead;
        const uint64_t fraction = (number * n) >> 32; // of the product modulo 2^64
        return static_cast<int64_t>(fraction < row.table.threshold[i] ? i : row.table.alias[i]);
    }

    std::vector<double> biases_of(const Site &site) const {
        std::vector<double> bias;
        for (uint32_t i = 0; i < degree(site.at); i++) {
            const Arc arc = arc_of(site.at, i);
            bias.push_back(static_cast<double>(static_of(arc)) * static_cast<double>(factor_of(site, arc)));
        }
        return bias;
    }

    int64_t pick_race(const Site &site) const {
        const std::vector<double> bias = biases_of(site);
        int64_t first = dead;
        double arrival = 0;
        for (uint32_t i = 0; i < bias.size(); i++) {
            if (bias[i] == 0) continue;
            const uint32_t word = 3u << 30 | i >> 1;
            const Block block = draw(seed, site.instance, site.depth, site.at, word >> 28, word & 0xfffffff);
            const double u = std::ldexp(static_cast<double>(half(block, i & 1)), -64);
            const double mine = -csaw_log1p(-u) / bias[i];
            if (first != dead && mine >= arrival) continue;
            first = i;
            arrival = mine;
        }
        return first;
    }

    int64_t pick_its(const Site &site) const {
        const Masses masses = masses_of(biases_of(site));
        if (masses.sum == 0) return dead;
        const uint64_t number = half(draw(seed, site.instance, site.depth, site.at, 1, 0), 0);
        return search(masses, below(number, masses.sum));
    }

    // The rank of the arc to prev in the row, or dead.
    int64_t find_back(const Site &site) const {
        for (uint32_t i = 0; i < degree(site.at); i++)
            if (arc_of(site.at, i).dst == site.prev) return i;
        return dead;
    }

    int64_t pick_reject(const Site &site) {
        double S = degree(site.at), top = 1;
        if (!constant) {
            const StaticRow &row = static_row(site.at);
            S = std::ldexp(static_cast<double>(row.masses.sum), -row.masses.exponent);
            top = row.top;
        }
        if (S == 0) return dead;
        const double lo = sampler.lo, hi = sampler.hi, back = sampler.back;
        const bool has_back = sampler.second_order && site.prev != CSAW_NONE;
        const bool folded = has_back && back > hi && !parallel_arcs;
        const double H = folded || !has_back ? hi : std::max(hi, back);
        const double B = folded ? (back - hi) * top : 0;
        const double A = H * S;
        for (uint32_t attempt = 0; attempt < 64; attempt++) {
            const Block block = draw(seed, site.instance, site.depth, site.at, 2, attempt);
            const double y = unit(half(block, 1)) * (A + B);
            if (y < B) {
                const int64_t rank = find_back(site);
                if (rank == dead) continue;
                const Arc arc = arc_of(site.at, static_cast<uint32_t>(rank));
                const double s = static_of(arc), f = factor_of(site, arc);
                if (y < (f - H) * s) return rank;
            } else {
                const double z = y - B;
                const int64_t rank = propose(site.at, half(block, 0));
                if (z < lo * S) return rank;
                const Arc arc = arc_of(site.at, static_cast<uint32_t>(rank));
                double f = factor_of(site, arc);
                if (folded && arc.dst == site.prev) f = std::min(f, H);
                if (z < f * S) return rank;
            }
        }
        return pick_its(site);
    }

    const csaw_csr &graph;
    const Sampler &sampler;
    Method method;
    uint64_t seed;
    bool parallel_arcs, constant;
    std::map<csaw_vertex, StaticRow> rows;
};

} // namespace

Walks walks(const csaw_csr &graph, const Sampler &sampler, Method method, const Request &request, bool parallel_arcs) {
    Walker walker(graph, sampler, method, request.seed, parallel_arcs);
    Walks out;
    out.count = request.roots.size() * request.walks_per_seed;
    out.length = request.depth;
    out.path.resize(out.count * (out.length + uint64_t{1}));
    out.edge.resize(out.count * out.length);
    for (uint64_t w = 0; w < request.walks_per_seed; w++) {
        for (uint64_t j = 0; j < request.roots.size(); j++) {
            const uint64_t instance = w * request.roots.size() + j;
            walker.walk(request.roots[j], instance, request.depth,
                        out.path.data() + instance * (out.length + uint64_t{1}),
                        out.edge.data() + instance * out.length);
        }
    }
    return out;
}

} // namespace reference

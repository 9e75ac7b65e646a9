/* SPDX-License-Identifier: MIT */
/* tests/reference/walk.cc - see walk.h. */
#include "tests/reference/walk.h"

#include "tests/reference/rows.h"

#include <csaw/math.h>

#include <algorithm>
#include <cmath>

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
    return half(draw(seed, instance, depth, key(), 3, number / 2), number % 2);
}

uint64_t Site::random_arc(const Arc &arc, uint32_t number) const {
    const uint32_t two28 = 1u << 28;
    return half(draw(seed, instance, depth, key(), 8 + arc.rank / two28, arc.rank % two28), number);
}

uint32_t Site::degree(csaw_vertex v) const { return static_cast<uint32_t>(graph->rowptr[v + 1] - graph->rowptr[v]); }

namespace {

class Walker {
  public:
    Walker(const csaw_csr &graph, const Sampler &sampler, Method method, uint64_t seed, bool parallel_arcs)
        : graph(graph), sampler(sampler), rows(graph, sampler, parallel_arcs), method(rows.method_of(method)),
          seed(seed) {}

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
            if (rank == no_arc) {
                next = sampler.dead_end ? sampler.dead_end(site) : CSAW_NONE;
            } else {
                const Arc arc = rows.arc_of(site.at, static_cast<uint32_t>(rank));
                next = sampler.update ? sampler.update(site, arc) : arc.dst;
                if (next == arc.dst) edge[d] = arc.id;
            }
            path[d + 1] = next;
            site.prev = site.at;
            site.at = next;
        }
    }

  private:
    int64_t pick(const Site &site) {
        const uint32_t n = rows.degree(site.at);
        if (n == 0) return no_arc;
        const uint64_t step = half(draw(seed, site.instance, site.depth >> 1, 0, 0, 0), site.depth & 1);
        switch (method) {
        case Method::uniform: return static_cast<int64_t>(below(step, n));
        case Method::alias: return rows.propose(site.at, step);
        case Method::its: return pick_its(site);
        case Method::race: return pick_race(site);
        default: return pick_reject(site);
        }
    }

    int64_t pick_race(const Site &site) const {
        const std::vector<double> bias = rows.biases_of(site);
        int64_t first = no_arc;
        double arrival = 0;
        for (uint32_t i = 0; i < bias.size(); i++) {
            if (bias[i] == 0) continue;
            const uint32_t word = 3u << 30 | i >> 1;
            const Block block = draw(seed, site.instance, site.depth, site.at, word >> 28, word & 0xfffffff);
            const double u = std::ldexp(static_cast<double>(half(block, i & 1)), -64);
            const double mine = -csaw_log1p(-u) / bias[i];
            if (first != no_arc && mine >= arrival) continue;
            first = i;
            arrival = mine;
        }
        return first;
    }

    int64_t pick_its(const Site &site) const {
        const Masses masses = masses_of(rows.biases_of(site));
        if (masses.sum == 0) return no_arc;
        const uint64_t number = half(draw(seed, site.instance, site.depth, site.at, 1, 0), 0);
        return search(masses, below(number, masses.sum));
    }

    int64_t pick_reject(const Site &site) {
        for (uint32_t attempt = 0; attempt < 64; attempt++) {
            const int64_t rank = rows.attempt(site, draw(seed, site.instance, site.depth, site.at, 2, attempt));
            if (rank != no_arc) return rank;
        }
        return pick_its(site);
    }

    const csaw_csr &graph;
    const Sampler &sampler;
    Rows rows;
    Method method;
    uint64_t seed;
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

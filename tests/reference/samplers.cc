/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers.cc - see samplers.h. */
#include "tests/reference/samplers.h"

#include "tests/reference/philox.h"

#include <algorithm>

namespace reference {

Sampler uniform() { return {}; }

Sampler node2vec(float p, float q) {
    const float back = 1.0f / p, away = 1.0f / q; // in float, as a sampler's parameters are
    Sampler out;
    out.static_is_weight = true;
    out.static_bias = [](const csaw_csr &, const Arc &arc) { return arc.weight; };
    out.edge_bias = [=](const Site &site, const Arc &arc) {
        if (site.prev == CSAW_NONE) return 1.0f;
        if (arc.dst == site.prev) return back;
        return is_arc(*site.graph, site.prev, arc.dst) ? 1.0f : away;
    };
    out.has_bounds = true;
    out.lo = std::min({1.0f, back, away});
    out.hi = std::max(1.0f, away);
    out.back = back;
    out.second_order = true;
    return out;
}

Sampler biased() {
    Sampler out;
    out.static_is_weight = true;
    out.static_bias = [](const csaw_csr &, const Arc &arc) { return arc.weight; };
    return out;
}

Sampler biased_by_degree() {
    Sampler out;
    out.static_bias = [](const csaw_csr &graph, const Arc &arc) {
        return static_cast<float>(graph.rowptr[arc.dst + uint64_t{1}] - graph.rowptr[arc.dst]);
    };
    return out;
}

Sampler metropolis_hastings() {
    Sampler out;
    out.update = [](const Site &site, const Arc &arc) {
        const uint64_t here = site.degree(site.at), there = site.degree(arc.dst);
        if (there <= here) return arc.dst;
        return below(site.random(0), there) < here ? arc.dst : site.at;
    };
    return out;
}

Sampler jump(float probability) {
    Sampler out = biased();
    const auto anywhere = [](const Site &site) {
        return static_cast<csaw_vertex>(below(site.random(1), site.graph->num_vertices));
    };
    out.update = [=](const Site &site, const Arc &arc) {
        return unit(site.random(0)) < static_cast<double>(probability) ? anywhere(site) : arc.dst;
    };
    out.dead_end = anywhere;
    return out;
}

Sampler restart(float probability) {
    Sampler out = biased();
    out.update = [=](const Site &site, const Arc &arc) {
        return unit(site.random(0)) < static_cast<double>(probability) ? site.root : arc.dst;
    };
    out.dead_end = [](const Site &site) { return site.root; };
    return out;
}

Sampler ppr(float alpha) {
    Sampler out = biased();
    out.update = [=](const Site &site, const Arc &arc) {
        return unit(site.random(0)) < static_cast<double>(alpha) ? CSAW_NONE : arc.dst;
    };
    return out;
}

Sampler metapath(std::vector<uint32_t> types) {
    Sampler out = biased();
    out.edge_bias = [=](const Site &site, const Arc &arc) {
        return arc.type == types[site.depth % types.size()] ? 1.0f : 0.0f;
    };
    out.has_bounds = true;
    out.lo = 0;
    return out;
}

Sampler temporal(int64_t start, int64_t window) {
    __extension__ typedef __int128 Wide;
    Sampler out = biased();
    out.edge_bias = [=](const Site &site, const Arc &arc) {
        if (site.depth == 0) return arc.time >= start ? 1.0f : 0.0f;
        const Wide passed = Wide{arc.time} - site.own;
        return passed >= 0 && (window == 0 || passed <= window) ? 1.0f : 0.0f;
    };
    out.update = [](const Site &site, const Arc &arc) {
        site.own = arc.time;
        return arc.dst;
    };
    out.has_bounds = true;
    out.lo = 0;
    return out;
}

namespace {

Sampler jumping() {
    Sampler out;
    out.static_bias = [](const csaw_csr &, const Arc &arc) {
        return static_cast<float>(arc.dst % 5) * (1 + static_cast<float>(arc.rank % 3)) * arc.weight;
    };
    out.update = [](const Site &site, const Arc &arc) { return unit(site.random(3)) < .25 ? site.root : arc.dst; };
    out.dead_end = [](const Site &site) -> csaw_vertex {
        if (site.depth % 4 == 3) return CSAW_NONE;
        return static_cast<csaw_vertex>(below(site.random(0), site.graph->num_vertices));
    };
    return out;
}

Sampler moody() {
    Sampler out;
    out.edge_bias = [](const Site &site, const Arc &arc) {
        if (arc.dst == site.prev) return site.depth % 2 ? .125f : 0.0f;
        const float whim = static_cast<float>(site.random_arc(arc, 1) >> 40) / 16777216.0f;
        const float size = static_cast<float>(site.degree(arc.dst) + site.degree(site.at));
        return arc.weight * whim * size / (1 + static_cast<float>((site.instance + site.root) % 3));
    };
    out.second_order = true;
    return out;
}

Sampler boomerang() {
    Sampler out;
    out.static_bias = [](const csaw_csr &, const Arc &arc) { return static_cast<float>(1 + arc.dst % 7) * arc.weight; };
    out.edge_bias = [](const Site &site, const Arc &arc) {
        if (arc.dst == site.prev) return 5.0f;
        return arc.dst % 2 ? 1.0f : .25f;
    };
    out.has_bounds = out.second_order = true;
    out.lo = .25f;
    out.back = 5;
    return out;
}

Sampler onward() {
    Sampler out;
    out.static_is_weight = true;
    out.static_bias = [](const csaw_csr &, const Arc &arc) { return arc.weight; };
    out.edge_bias = [](const Site &site, const Arc &arc) { return arc.dst == site.prev ? 0.0f : 1.0f; };
    out.has_bounds = out.second_order = true;
    out.lo = out.back = 0;
    return out;
}

} // namespace

std::vector<HookSampler> hook_samplers() {
    return {{"jumping", jumping(), {Method::automatic, Method::its, Method::alias, Method::race}},
            {"moody", moody(), {Method::automatic, Method::its, Method::race}},
            {"boomerang", boomerang(), {Method::automatic, Method::its, Method::reject, Method::race}},
            {"onward", onward(), {Method::automatic, Method::its, Method::reject, Method::race}}};
}

} // namespace reference

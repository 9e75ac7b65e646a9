/* SPDX-License-Identifier: MIT */
/* tests/reference/sample_samplers.cc - see sample_samplers.h. */
#include "tests/reference/sample_samplers.h"

#include "tests/reference/philox.h"

namespace reference {

namespace {

uint32_t degree_of(const csaw_csr &graph, csaw_vertex v) {
    return static_cast<uint32_t>(graph.rowptr[v + uint64_t{1}] - graph.rowptr[v]);
}

float weight(const csaw_csr &, const Arc &arc) { return arc.weight; }

float fraction(uint64_t number) { return static_cast<float>(number >> 40) / 16777216.0f; }

Sampler with_size(uint32_t size) {
    Sampler out;
    out.has_frontier_size = true;
    out.frontier_size = size;
    return out;
}

Sampler herd(uint32_t size, bool rest) {
    Sampler out = with_size(size);
    out.vertex_bias = [](const csaw_csr &graph, csaw_vertex v) {
        return static_cast<float>(degree_of(graph, v) % 4) + (v % 3 == 0 ? .5f : 0.0f);
    };
    out.static_is_weight = true;
    out.static_bias = weight;
    out.edge_bias = [](const Site &site, const Arc &arc) {
        if (site.prev == CSAW_NONE) return 1.0f;
        if (arc.dst == site.prev) return 3.0f;
        return is_arc(*site.graph, site.prev, arc.dst) ? .5f : 1.0f;
    };
    out.update = [](const Site &site, const Arc &arc) {
        const uint64_t die = site.random(0) % 8;
        if (die == 0) return CSAW_NONE;
        return die == 1 ? site.root : arc.dst;
    };
    out.fanout = [=](const Site &site) { return rest && site.random(5) % 4 == 0 ? 0u : 1u; };
    out.dead_end = [](const Site &site) {
        if (site.depth % 2) return CSAW_NONE;
        return static_cast<csaw_vertex>(below(site.random(1), site.graph->num_vertices));
    };
    out.has_bounds = out.second_order = out.replace_pool = true;
    out.lo = .5f;
    out.back = 3;
    return out;
}

Sampler drove(uint32_t size) {
    Sampler out = with_size(size);
    out.static_is_weight = out.replace_pool = true;
    out.static_bias = weight;
    return out;
}

Sampler ember() {
    Sampler out;
    out.edge_bias = [](const Site &site, const Arc &arc) {
        return site.visited->count(arc.dst) ? 0.0f : arc.weight * (1 + fraction(site.random_arc(arc, 0)));
    };
    out.fanout = [](const Site &site) {
        uint32_t k = site.fanout;
        if (k == CSAW_ALL || site.depth == 0) return k;
        while (k < 6 && site.random(k) % 10 < 6) k++;
        return k;
    };
    out.dead_end = [](const Site &site) { return site.root; };
    return out;
}

Sampler moss(uint32_t size) {
    Sampler out = with_size(size);
    out.update = [](const Site &site, const Arc &arc) {
        if (site.random(2) % 4 == 0) return CSAW_NONE;
        const csaw_vertex next = (arc.dst + 1) % static_cast<csaw_vertex>(site.graph->num_vertices);
        return site.visited->count(arc.dst) ? next : arc.dst;
    };
    out.keep_pool = true;
    return out;
}

Sampler ivy() {
    Sampler out;
    out.static_bias = [](const csaw_csr &graph, const Arc &arc) {
        return static_cast<float>((arc.dst + degree_of(graph, arc.dst)) % 4) * arc.weight;
    };
    out.keep_pool = true;
    return out;
}

Sampler loose() {
    Sampler out;
    out.static_is_weight = true;
    out.static_bias = weight;
    out.edge_bias = [](const Site &site, const Arc &arc) {
        if (arc.dst == site.prev) return 2.0f;
        if (arc.dst % 3 == 0) return 0.0f;
        return site.prev != CSAW_NONE && is_arc(*site.graph, site.prev, arc.dst) ? 1.0f : .03125f;
    };
    out.has_bounds = out.second_order = out.with_replacement = true;
    out.lo = 0;
    out.back = 2;
    return out;
}

Sampler meadow(uint32_t size) {
    Sampler out = with_size(size);
    out.vertex_bias = [](const csaw_csr &graph, csaw_vertex v) {
        return static_cast<float>(v % 3) * (1 + static_cast<float>(degree_of(graph, v)));
    };
    out.static_is_weight = true;
    out.static_bias = weight;
    return out;
}

Sampler parade() {
    Sampler out;
    out.vertex_bias = [](const csaw_csr &, csaw_vertex v) { return static_cast<float>(v % 2); };
    out.static_is_weight = out.replace_pool = true;
    out.static_bias = weight;
    return out;
}

Sampler pilgrim() {
    Sampler out = with_size(1);
    out.static_is_weight = out.has_bounds = out.keep_pool = true;
    out.static_bias = weight;
    out.edge_bias = [](const Site &site, const Arc &arc) {
        return arc.dst % 4 == static_cast<uint32_t>(site.own % 4) ? 2.0f : 1.0f;
    };
    out.update = [](const Site &site, const Arc &arc) {
        site.own += 1 + int64_t{arc.rank};
        return arc.dst;
    };
    out.dead_end = [](const Site &site) {
        site.own += 7;
        return site.root;
    };
    out.hi = out.back = 2;
    return out;
}

Sampler sheet() {
    Sampler out;
    out.layer = true;
    return out;
}

Sampler stratum() {
    Sampler out = sheet();
    out.edge_bias = [](const Site &site, const Arc &arc) {
        if (arc.dst == site.prev) return site.depth % 2 ? .125f : 0.0f;
        const bool adjacent = site.prev != CSAW_NONE && is_arc(*site.graph, site.prev, arc.dst);
        const float whim = fraction(site.random_arc(arc, 1)), near = adjacent ? 2.0f : 1.0f;
        return arc.weight * whim * near * static_cast<float>(1 + site.degree(site.at));
    };
    out.update = [](const Site &site, const Arc &arc) { return site.random(0) % 4 ? arc.dst : site.at; };
    out.fanout = [](const Site &site) {
        if (site.at != CSAW_NONE || site.prev != CSAW_NONE) return 1u;
        return site.fanout == CSAW_ALL ? CSAW_ALL : site.fanout + static_cast<uint32_t>(site.random(1) % 3);
    };
    out.dead_end = [](const Site &) { return csaw_vertex{0}; };
    out.second_order = true;
    return out;
}

Sampler strata() {
    Sampler out = sheet();
    out.static_bias = [](const csaw_csr &graph, const Arc &arc) {
        return static_cast<float>((arc.src + degree_of(graph, arc.dst)) % 3) * arc.weight;
    };
    out.distinct = true;
    return out;
}

Sampler terrace() {
    Sampler out = sheet();
    out.distinct = out.keep_pool = true;
    return out;
}

Sampler shoal() {
    Sampler out = sheet();
    out.static_is_weight = true;
    out.static_bias = weight;
    out.edge_bias = [](const Site &site, const Arc &arc) {
        return site.visited->count(arc.dst) ? 0.0f : static_cast<float>(1 + arc.rank % 3);
    };
    out.update = [](const Site &site, const Arc &arc) {
        const uint64_t whim = site.random(arc.rank % 4) % 5;
        if (whim == 0) return CSAW_NONE;
        return whim == 1 ? (arc.dst + 1) % static_cast<csaw_vertex>(site.graph->num_vertices) : arc.dst;
    };
    return out;
}

Sampler reef() {
    Sampler out = sheet();
    out.static_is_weight = true;
    out.static_bias = weight;
    out.edge_bias = [](const Site &site, const Arc &arc) {
        if (site.visited->count(arc.dst)) return 0.0f;
        const bool near = arc.dst == site.prev || (site.prev != CSAW_NONE && is_arc(*site.graph, site.prev, arc.dst));
        return near ? .5f : 3.0f;
    };
    out.update = [](const Site &site, const Arc &arc) { return site.random(3) % 3 ? arc.dst : site.root; };
    out.fanout = [](const Site &site) {
        return site.fanout == CSAW_ALL ? CSAW_ALL : site.fanout + static_cast<uint32_t>(site.random(0) % 2);
    };
    out.distinct = out.second_order = out.with_replacement = true;
    return out;
}

Sampler tide(uint32_t size) {
    Sampler out = with_size(size);
    out.vertex_bias = [=](const csaw_csr &graph, csaw_vertex v) {
        return static_cast<float>((v + size) % 5) * static_cast<float>(graph.num_vertices);
    };
    out.edge_bias = [](const Site &site, const Arc &arc) {
        return site.visited->count(arc.dst) ? .25f * arc.weight : arc.weight;
    };
    out.has_bounds = out.layer = out.keep_pool = true;
    out.lo = out.back = 0;
    out.hi = 1e38f;
    return out;
}

} // namespace

std::vector<SampleSampler> sample_samplers() {
    const Method automatic = Method::automatic, uniform = Method::uniform, its = Method::its, alias = Method::alias,
                 reject = Method::reject, race = Method::race;
    const std::string all = std::to_string(CSAW_ALL);
    return {{"herd", {{"size", "2"}}, herd(2, false), {automatic, its, reject, race}},
            {"herd", {{"size", "7"}, {"rest", "1"}}, herd(7, true), {automatic, its, race}},
            {"herd", {{"size", all}}, herd(CSAW_ALL, false), {automatic, its}},
            {"herd", {{"size", "0"}}, herd(0, false), {its}},
            {"drove", {{"size", "1"}}, drove(1), {automatic, its, alias, race}},
            {"drove", {{"size", "3"}}, drove(3), {automatic, its, alias}},
            {"ember", {}, ember(), {automatic, its, race}},
            {"moss", {{"size", "3"}}, moss(3), {automatic, uniform, its, alias, race}},
            {"moss", {{"size", "10"}}, moss(10), {automatic, its}},
            {"ivy", {}, ivy(), {automatic, its, alias, race}},
            {"loose", {}, loose(), {automatic, its, reject}},
            {"meadow", {{"size", "2"}}, meadow(2), {automatic, its}},
            {"meadow", {{"size", all}}, meadow(CSAW_ALL), {automatic, alias}},
            {"parade", {}, parade(), {automatic, its}},
            {"pilgrim", {}, pilgrim(), {automatic, its, reject, race}},
            {"sheet", {}, sheet(), {automatic, uniform, its}},
            {"stratum", {}, stratum(), {automatic, its}},
            {"strata", {}, strata(), {automatic, its}},
            {"terrace", {}, terrace(), {automatic, its}},
            {"shoal", {}, shoal(), {automatic, its}},
            {"reef", {}, reef(), {automatic, its}},
            {"tide", {{"size", "4"}}, tide(4), {automatic, its}}};
}

} // namespace reference

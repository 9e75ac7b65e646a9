/* SPDX-License-Identifier: MIT */
/* tests/reference/sample.cc - see sample.h. */
#include "tests/reference/sample.h"

#include "tests/reference/rows.h"
#include "tests/reference/select.h"

#include <algorithm>
#include <stdexcept>

namespace reference {

namespace {

struct Entry {          // of a pool
    csaw_vertex vertex; // CSAW_NONE: a closed place
    csaw_vertex prev;
};
using Pool = std::vector<Entry>;

struct Update {
    uint32_t place; // whose place it takes, if the pool is a list
    Entry entry;
};

class Sampling { // of one instance
  public:
    Sampling(const csaw_csr &graph, const Sampler &sampler, Rows &rows, Method method, const SampleRequest &request,
             uint64_t instance)
        : graph(graph), sampler(sampler), rows(rows), method(method), request(request), instance(instance) {}

    Sample run(const std::vector<csaw_vertex> &seeds) {
        std::set<csaw_vertex> held;
        for (csaw_vertex seed : seeds) enter(&pool, &held, {seed, CSAW_NONE});
        root = seeds.empty() ? CSAW_NONE : seeds[0];
        for (depth = 0; depth < request.depth; depth++) {
            for (const Entry &entry : pool)
                if (entry.vertex != CSAW_NONE) visited.insert(entry.vertex);
            const std::vector<uint32_t> frontier = frontier_of_pool();
            if (depth == 0)
                for (uint32_t place : frontier) out.frontier.push_back(pool[place].vertex);
            if (frontier.empty()) break;
            updates.clear();
            if (sampler.layer) {
                pick_from_layer(frontier);
            } else {
                for (uint32_t place : frontier) pick_from_row(place);
            }
            pool = next_pool();
        }
        return out;
    }

  private:
    // held: the vertices of the pool.
    void enter(Pool *to, std::set<csaw_vertex> *held, Entry entry) const {
        if (held->insert(entry.vertex).second || sampler.replace_pool) to->push_back(entry);
    }

    Site site_at(csaw_vertex at, csaw_vertex prev, uint32_t place) const {
        Site site = {&graph, at, prev, root, depth, instance, request.seed, own};
        if (sampler.replace_pool) site.place = place;
        site.fanout = request.fanout.empty() ? 1 : request.fanout[depth];
        site.visited = &visited;
        return site;
    }
    Site site_of(uint32_t place) const { return site_at(pool[place].vertex, pool[place].prev, place); }

    Numbers numbers(uint32_t key, uint32_t first) const { return {request.seed, instance, depth, key, first}; }

    uint32_t fanout_at(const Site &site) const { return sampler.fanout ? sampler.fanout(site) : site.fanout; }

    // Places of the pool.
    std::vector<uint32_t> frontier_of_pool() const {
        std::vector<double> bias;
        for (const Entry &entry : pool) {
            const bool closed = entry.vertex == CSAW_NONE;
            bias.push_back(closed ? 0.0 : sampler.vertex_bias ? double{sampler.vertex_bias(graph, entry.vertex)} : 1.0);
        }
        std::vector<uint32_t> frontier;
        if (!sampler.has_frontier_size) {
            for (uint32_t place = 0; place < pool.size(); place++)
                if (pool[place].vertex != CSAW_NONE) frontier.push_back(place);
            return frontier;
        }
        const bool uniform = !sampler.vertex_bias && !sampler.replace_pool;
        Candidates places = alike(static_cast<uint32_t>(pool.size()));
        if (!uniform) places.masses = masses_of(bias);
        for (const Pick &pick : select(uniform ? Method::uniform : Method::its, places, sampler.frontier_size, false,
                                       numbers(0, 1u << 27)))
            frontier.push_back(pick.candidate);
        return frontier;
    }

    void pick_from_row(uint32_t place) {
        const Site site = site_of(place);
        const uint32_t k = fanout_at(site);
        if (sampler.replace_pool && k > 1) throw std::invalid_argument("a fanout above 1 in a pool that is a list");
        Candidates arcs = alike(rows.degree(site.at));
        if (method != Method::uniform) arcs.bias = rows.biases_of(site);
        if (method != Method::uniform) arcs.masses = masses_of(arcs.bias);
        arcs.alias = [&](uint64_t number) { return rows.propose(site.at, number); };
        arcs.attempt = [&](const Block &block) { return rows.attempt(site, block); };
        const bool replace = request.replace || sampler.with_replacement;
        const std::vector<Pick> picks = select(method, arcs, k, replace, numbers(site.key(), 0));
        for (const Pick &pick : picks) record(site, rows.arc_of(site.at, pick.candidate));
        if (k > 0 && picks.empty())
            updates.push_back({place, {sampler.dead_end ? sampler.dead_end(site) : CSAW_NONE, site.at}});
        own = site.own;
    }

    void pick_from_layer(const std::vector<uint32_t> &frontier) {
        struct Candidate {
            Site site;
            Arc arc;
        };
        std::vector<Candidate> arcs;
        Candidates all;
        for (uint32_t place : frontier) {
            const Site site = site_of(place);
            for (uint32_t i = 0; i < rows.degree(site.at); i++) arcs.push_back({site, rows.arc_of(site.at, i)});
            for (double bias : rows.biases_of(site)) all.bias.push_back(bias);
        }
        const bool uniform = layer_method() == Method::uniform;
        if (uniform)
            all = alike(static_cast<uint32_t>(arcs.size()));
        else
            all.masses = masses_of(all.bias);
        const uint32_t k = fanout_at(site_at(CSAW_NONE, CSAW_NONE, CSAW_NONE));
        const bool replace = request.replace || sampler.with_replacement;
        if (!sampler.distinct) {
            for (const Pick &pick : select(layer_method(), all, k, replace, numbers(0, 0)))
                record(arcs[pick.candidate].site, arcs[pick.candidate].arc);
            return;
        }
        std::map<csaw_vertex, uint64_t> mass; // of each destination
        for (size_t i = 0; i < arcs.size(); i++) mass[arcs[i].arc.dst] += all.masses.mass[i];
        std::vector<csaw_vertex> destinations;
        Candidates vertices;
        for (const auto &[destination, sum] : mass) {
            destinations.push_back(destination);
            vertices.masses.mass.push_back(sum);
            vertices.masses.sum += sum;
        }
        std::set<csaw_vertex> chosen;
        for (const Pick &pick : select(Method::its, vertices, k, replace, numbers(0, 0)))
            chosen.insert(destinations[pick.candidate]);
        for (size_t i = 0; i < arcs.size(); i++)
            if (all.masses.mass[i] > 0 && chosen.count(arcs[i].arc.dst)) record(arcs[i].site, arcs[i].arc);
    }

    Method layer_method() const {
        if (method == Method::uniform && !sampler.distinct) return Method::uniform;
        return Method::its;
    }

    void record(const Site &site, const Arc &arc) {
        out.arcs.push_back({arc.src, arc.dst, arc.id, depth});
        updates.push_back({site.place, {sampler.update ? sampler.update(site, arc) : arc.dst, arc.src}});
    }

    Pool next_pool() const {
        Pool next = sampler.replace_pool || sampler.keep_pool ? pool : Pool();
        if (sampler.replace_pool) {
            for (const Update &update : updates) next[update.place] = update.entry;
            return next;
        }
        std::set<csaw_vertex> held;
        for (const Entry &entry : next) held.insert(entry.vertex);
        for (const Update &update : updates)
            if (update.entry.vertex != CSAW_NONE) enter(&next, &held, update.entry);
        return next;
    }

    const csaw_csr &graph;
    const Sampler &sampler;
    Rows &rows;
    Method method;
    const SampleRequest &request;
    uint64_t instance;
    uint32_t depth = 0;
    csaw_vertex root = CSAW_NONE;
    Pool pool;
    std::set<csaw_vertex> visited;
    int64_t own = 0;             // the instance's own bytes, where its frontiers are of one vertex
    std::vector<Update> updates; // of this depth
    Sample out;
};

} // namespace

std::vector<Sample> samples(const csaw_csr &graph, const Sampler &sampler, Method method, const SampleRequest &request,
                            bool parallel_arcs) {
    Rows rows(graph, sampler, parallel_arcs);
    std::vector<Sample> out;
    for (uint32_t w = 0; w < request.samples_per_pool; w++) {
        for (size_t j = 0; j < request.pools.size(); j++) {
            const uint64_t instance = uint64_t{w} * request.pools.size() + j;
            out.push_back(
                Sampling(graph, sampler, rows, rows.method_of(method), request, instance).run(request.pools[j]));
        }
    }
    return out;
}

} // namespace reference

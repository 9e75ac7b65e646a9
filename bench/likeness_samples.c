/* SPDX-License-Identifier: MIT */
/* bench/likeness_samples.c - samples of about one size: one number of each method grows (`n` of its `how`: seeds,
 * walks, steps, arcs) by doubling, then by halving, until the sample has the vertices that it should have. Vertices to
 * begin at are the first of one list of random vertices, another list for each seed. */
#include "bench/likeness_samples.h"

#include <csaw/samplers.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/measure.h"

enum { MOST_HOPS = 10, WALK_STEPS = 1000, LAYER_SEEDS = 100, WALKERS = 1000, SEED_OF_BEGIN = 1000000 };

static const csaw_node2vec_params outward = {.p = 4, .q = 0.25f};
static const method methods[] = {
    {&csaw_neighbor, GROWS_SEEDS, 3, 5, NULL, "n seeds, fanout 5, 5, 5"},
    {&csaw_neighbor_biased, GROWS_SEEDS, 3, 5, NULL, "n seeds, fanout 5, 5, 5"},
    {&csaw_neighbor_once, GROWS_SEEDS, 3, 5, NULL, "n seeds, fanout 5, 5, 5"},
    {&csaw_layer, GROWS_LAYER, 10, 0, NULL, "100 seeds, 10 layers of n arcs"},
    {&csaw_snowball, GROWS_SEEDS, 2, 1, NULL, "n seeds, 2 waves"},
    {&csaw_forest_fire, GROWS_SEEDS, 7, 1, NULL, "n seeds, p = 0.7, 7 hops"},
    {&csaw_forest_fire_all, GROWS_SEEDS, 7, 1, NULL, "n seeds, p = 0.7, 7 hops"},
    {&csaw_multidimensional, GROWS_STEPS, 0, 0, NULL, "1,000 walkers, n steps"},
    {&csaw_random_node, GROWS_VERTICES, 1, 0, NULL, "n vertices"},
    {&csaw_random_edge, GROWS_ARCS, 1, 0, NULL, "n arcs"},
    {&csaw_uniform, GROWS_WALKS, WALK_STEPS, 0, NULL, "n walks, 1,000 steps"},
    {&csaw_node2vec, GROWS_WALKS, WALK_STEPS, 0, &outward, "n walks, 1,000 steps, p = 4, q = 0.25"},
    {&csaw_metropolis_hastings, GROWS_WALKS, WALK_STEPS, 0, NULL, "n walks, 1,000 steps"},
    {&csaw_jump, GROWS_WALKS, WALK_STEPS, 0, NULL, "n walks, 1,000 steps, jump 0.15"},
    {&csaw_restart, GROWS_WALKS, WALK_STEPS, 0, NULL, "n walks, 1,000 steps, restart 0.15"},
};

static uint64_t at_most(uint64_t value, uint64_t limit) { return value < limit ? value : limit; }

/* A pool that a sample begins with is a tenth of it at most. */
static uint64_t pool(const sampled_graph *g, uint64_t size) { return at_most(size, (g->target + 9) / 10); }

csaw_samples *method_draw(const sampled_graph *g, const method *m, uint32_t seed, uint64_t n) {
    const bool from_all = m->grows == GROWS_VERTICES || m->grows == GROWS_ARCS;
    const uint64_t pool_size = from_all                  ? g->num_vertices
                               : m->grows == GROWS_LAYER ? pool(g, LAYER_SEEDS)
                               : m->grows == GROWS_STEPS ? pool(g, WALKERS)
                                                         : n;
    const uint64_t offset[2] = {0, pool_size};
    const bool walks = m->grows == GROWS_WALKS;
    const csaw_seeds seeds = {.vertex = from_all ? NULL : g->begin + (seed - 1) * (g->target + 1),
                              .count = walks ? n : 1,
                              .offset = walks ? NULL : offset};
    const csaw_random_node_params size = {.size = (uint32_t)n};
    uint32_t fanout[MOST_HOPS];
    for (uint32_t d = 0; d < MOST_HOPS; d++) fanout[d] = m->fanout ? m->fanout : (uint32_t)n;
    csaw_samples *samples = NULL;
    must(csaw_sample(g->plan, m->sampler, m->grows == GROWS_VERTICES ? &size : m->params, &seeds,
                     CSAW_RUN(.seed = seed, .depth = m->grows == GROWS_STEPS ? (uint32_t)n : m->hops,
                              .fanout = walks || m->grows == GROWS_STEPS ? NULL : fanout, .edges = true),
                     &samples));
    return samples;
}

csaw_subgraph *method_subgraph(const sampled_graph *g, const method *m, csaw_samples *samples, bool induced) {
    csaw_subgraph *made = NULL;
    must(csaw_subgraph_create(g->graph, samples, CSAW_SUBGRAPH(.induced = induced, .arcs_only = m->grows == GROWS_ARCS),
                              &made));
    return made;
}

static uint64_t vertices_of(const sampled_graph *g, const method *m, uint32_t seed, uint64_t n) {
    csaw_samples *samples = method_draw(g, m, seed, n);
    csaw_subgraph *made = method_subgraph(g, m, samples, false);
    const uint64_t count = csaw_subgraph_look(made).vertex_offset[1];
    csaw_subgraph_free(made);
    csaw_samples_free(samples);
    return count;
}

static uint64_t most_of(const sampled_graph *g, const method *m) {
    switch (m->grows) {
    case GROWS_STEPS: return ((uint64_t)1 << 24) - 1;
    case GROWS_LAYER:
    case GROWS_ARCS: return at_most(g->num_arcs, (uint64_t)1 << 23);
    case GROWS_VERTICES: return g->target;
    default: return g->target + 1; /* every seed is a vertex of the sample */
    }
}

uint64_t method_fit(const sampled_graph *g, const method *m, uint32_t seed) {
    const uint64_t most = most_of(g, m), slack = g->target / 1000;
    uint64_t low = 0, high = 1, at_low = 0, at_high;
    while ((at_high = vertices_of(g, m, seed, high)) < g->target && high < most) {
        low = high;
        at_low = at_high;
        high = at_most(2 * high, most);
    }
    while (high - low > 1 && at_low + slack < g->target && at_high > g->target + slack) {
        const uint64_t middle = low + (high - low) / 2, at = vertices_of(g, m, seed, middle);
        if (at < g->target) {
            low = middle;
            at_low = at;
        } else {
            high = middle;
            at_high = at;
        }
    }
    return low && at_high > g->target && g->target - at_low < at_high - g->target ? low : high;
}

const method *method_at(const sampled_graph *g, uint32_t place) {
    const uint32_t count = sizeof methods / sizeof *methods;
    for (uint32_t i = 0; i < count; i++) {
        if (methods[i].sampler == &csaw_neighbor_biased && !csaw_graph_csr(g->graph).weight) continue;
        if (!place--) return &methods[i];
    }
    return NULL;
}

/* Drawn by csaw itself, with a seed that no sample has. */
static void choose_begin(const sampled_graph *g, uint32_t seed) {
    const uint64_t offset[2] = {0, g->num_vertices};
    const csaw_random_node_params size = {.size = (uint32_t)(g->target + 1)};
    csaw_samples *samples = NULL;
    csaw_arcs arcs;
    must(csaw_sample(g->plan, &csaw_random_node, &size, &(csaw_seeds){.count = 1, .offset = offset},
                     CSAW_RUN(.seed = SEED_OF_BEGIN + seed, .depth = 1), &samples));
    must(csaw_samples_arcs(samples, CSAW_HOST, &arcs));
    for (uint64_t s = 0; s < arcs.seed_offset[1]; s++) g->begin[(seed - 1) * (g->target + 1) + s] = arcs.seed[s];
    csaw_samples_free(samples);
}

sampled_graph sampled_graph_of(const csaw_graph *graph, double share, uint32_t seeds) {
    const csaw_csr csr = csaw_graph_csr(graph);
    const uint64_t wanted = (uint64_t)(share * (double)csr.num_vertices + 0.5), limit = csr.num_vertices - 1;
    const uint64_t target = at_most(wanted ? wanted : 1, limit ? limit : 1);
    sampled_graph g = {
        .graph = graph, .num_vertices = csr.num_vertices, .num_arcs = csr.num_edges, .target = target, .seeds = seeds};
    g.begin = calloc(seeds * (g.target + 1), sizeof *g.begin);
    if (!g.begin) {
        fputs("likeness_bench: no memory left; lower --share or --seeds\n", stderr);
        exit(1);
    }
    must(csaw_plan_create(graph, NULL, &g.plan));
    for (uint32_t seed = 1; seed <= seeds; seed++) choose_begin(&g, seed);
    return g;
}

void sampled_graph_free(sampled_graph *g) {
    csaw_plan_free(g->plan);
    free(g->begin);
}

/* SPDX-License-Identifier: MIT */
/* bench/likeness_samples.h - samples of a graph, by every sampler, of about the same number of vertices. */
#ifndef CSAW_BENCH_LIKENESS_SAMPLES_H
#define CSAW_BENCH_LIKENESS_SAMPLES_H

#include <csaw/csaw.h>

typedef enum grows {
    GROWS_SEEDS,    /* one pool of n seeds */
    GROWS_LAYER,    /* one pool of 100 seeds, n arcs at each depth */
    GROWS_STEPS,    /* one pool of 1,000 walkers, n steps */
    GROWS_VERTICES, /* n vertices of all */
    GROWS_ARCS,     /* n arcs of all */
    GROWS_WALKS     /* n walks */
} grows;

typedef struct method {
    const csaw_sampler *sampler;
    grows grows;
    uint32_t hops, fanout;
    const void *params;
    const char *how;
} method;

typedef struct sampled_graph {
    const csaw_graph *graph; /* symmetric */
    csaw_plan *plan;
    uint64_t num_vertices, num_arcs;
    uint64_t target;    /* vertices that a sample should have */
    uint32_t seeds;     /* runs of each method, with the seeds 1 .. seeds */
    csaw_vertex *begin; /* [seeds, target + 1] row-major: vertices to begin at, random ones, another list each seed */
} sampled_graph;

/* Below: a failure ends the program with csaw's message. */
sampled_graph sampled_graph_of(const csaw_graph *graph, double share, uint32_t seeds);
void sampled_graph_free(sampled_graph *g);

/* The methods in turn; then NULL. csaw_neighbor_biased is left out of a graph without weights, where it has the law of
 * csaw_neighbor. */
const method *method_at(const sampled_graph *g, uint32_t place);

/* The n at which the sample's vertices pass the target, or the one before, whichever comes closer; one that is off by a
 * thousandth or less is taken as it is found. */
uint64_t method_fit(const sampled_graph *g, const method *m, uint32_t seed);
csaw_samples *method_draw(const sampled_graph *g, const method *m, uint32_t seed, uint64_t n);
csaw_subgraph *method_subgraph(const sampled_graph *g, const method *m, csaw_samples *samples, bool induced);

#endif

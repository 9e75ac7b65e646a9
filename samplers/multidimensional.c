/* SPDX-License-Identifier: MIT */
/* samplers/multidimensional.c - frontier sampling: m walkers that depend on each other, so that edges are seen
 * uniformly even where the graph falls into parts.
 *
 * Source: Ribeiro, Towsley, "Estimating and sampling graphs with multidimensional random walks", IMC 2010, algorithm 1;
 * C-SAW (Pandey et al., SC'20, Table I), multi-dimensional random walk.
 * Law: the pool is a list of m vertices, the seeds. A step picks one of its places with probability degree(v) / sum of
 * the degrees of the list, follows an arc of that vertex, all alike, and the neighbour takes the place. So every arc
 * that leaves the list is equally likely. Where arcs go both ways P(list) proportional to the sum of its degrees is
 * stationary. The run ends when every vertex of the list is a dead end. */
#include <csaw/sampler.h>

CSAW_FN float degree_of(const csaw_site *site, csaw_vertex v) { return (float)csaw_degree(site, v); }

CSAW_FN uint32_t one(const void *params) {
    (void)params;
    return 1;
}

CSAW_SAMPLER(csaw_multidimensional, csaw_no_params, .vertex_bias = degree_of, .flags = CSAW_REPLACE_POOL,
             .frontier_size = one);

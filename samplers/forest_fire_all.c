/* SPDX-License-Identifier: MIT */
/* samplers/forest_fire_all.c - forest fire that picks among all neighbours, burned or not: neighbour sampling with a
 * random number of neighbours.
 *
 * Source: C-SAW (Pandey et al., SC'20, Table I and section II), after Leskovec, Kleinberg, Faloutsos, KDD 2005.
 * Law: P(x = j) = (1 - p) p^j, counted by Bernoulli draws; then min(x, n) of the row's n arcs are picked, every
 * sequence of different ones equally likely. Arcs to visited vertices are part of the sample, but those vertices do not
 * burn again. Counting ends at the degree, beyond which more changes nothing, and at 2^23. */
#include <csaw/sampler.h>

CSAW_PARAMS(csaw_forest_fire_all_params, (float, p, 0.7, p >= 0 && p < 1, "probability that one more neighbour burns"));

CSAW_FN uint32_t burned(const csaw_site *site) {
    const csaw_forest_fire_all_params *n = (const csaw_forest_fire_all_params *)csaw_params(site);
    const uint32_t degree = csaw_degree(site, csaw_at(site)), most = degree < 8388608u ? degree : 8388608u;
    uint32_t count = 0;
    while (count < most && csaw_unit(csaw_random(site, count)) < n->p) count++;
    return count;
}

CSAW_FN csaw_vertex if_new(const csaw_site *site, const csaw_arc *arc) {
    return csaw_visited(site, arc->dst) ? CSAW_NONE : arc->dst;
}

CSAW_SAMPLER(csaw_forest_fire_all, csaw_forest_fire_all_params, .update = if_new, .fanout = burned,
             .flags = CSAW_VISITED);

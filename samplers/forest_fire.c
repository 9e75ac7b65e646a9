/* SPDX-License-Identifier: MIT */
/* samplers/forest_fire.c - a fire that spreads from the seeds: every burning vertex sets a random number of its
 * neighbours on fire that have not burned yet, and is burned out.
 *
 * Source: Leskovec, Kleinberg, Faloutsos, "Graphs over time", KDD 2005, section 4.2 (forward burning); as a way to
 * sample Leskovec, Faloutsos, "Sampling from large graphs", KDD 2006, section 3.3, where p = 0.7 is advised.
 * Law: P(x = j) = (1 - p) p^j, counted by Bernoulli draws; then min(x, arcs to unvisited vertices) of the arcs to
 * unvisited vertices are picked, every sequence of different ones equally likely. Unvisited: not in the pool at this
 * depth or earlier, so two vertices of one depth may burn the same neighbour, which then burns once. Counting ends at
 * the degree, beyond which more changes nothing, and at 2^23: for p <= 0.99999 x gets there with probability below
 * 1e-36. */
#include <csaw/sampler.h>

CSAW_PARAMS(csaw_forest_fire_params, (float, p, 0.7, p >= 0 && p < 1, "probability that one more neighbour burns"));

CSAW_FN uint32_t burned(const csaw_site *site) {
    const csaw_forest_fire_params *n = (const csaw_forest_fire_params *)csaw_params(site);
    const uint32_t degree = csaw_degree(site, csaw_at(site)), most = degree < 8388608u ? degree : 8388608u;
    uint32_t count = 0;
    while (count < most && csaw_unit(csaw_random(site, count)) < n->p) count++;
    return count;
}

CSAW_FN float unburned(const csaw_site *site, const csaw_arc *arc) {
    return csaw_visited(site, arc->dst) ? 0.0f : 1.0f;
}

CSAW_FN csaw_bounds zero_or_one(const void *params) {
    const csaw_bounds bounds = {0, 1, 1};
    (void)params;
    return bounds;
}

CSAW_SAMPLER(csaw_forest_fire, csaw_forest_fire_params, .edge_bias = unburned, .fanout = burned, .bounds = zero_or_one,
             .flags = CSAW_VISITED);

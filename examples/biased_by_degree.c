/* SPDX-License-Identifier: MIT */
/* examples/biased_by_degree.c - a walk drawn to hubs, or away from them: the probability of a neighbour is proportional
 * to a power of its degree.
 *
 *   csaw walk graph.txt --sampler examples/biased_by_degree.c --power 0.75 */
#include <csaw/sampler.h>

CSAW_PARAMS(degree_params,
            (float, power, 1, power >= -8 && power <= 8, "1 = by degree, 0 = uniform, -1 = by its inverse"));

/* A neighbour without arcs of its own counts as if it had one, so that a negative power stays finite. */
CSAW_FN float by_degree(const csaw_site *site, const csaw_arc *arc) {
    const degree_params *n = (const degree_params *)csaw_params(site);
    uint32_t degree = csaw_degree(site, arc->dst);
    return (float)csaw_pow(degree > 0 ? degree : 1, n->power);
}

CSAW_SAMPLER(biased_by_degree, degree_params, .static_bias = by_degree);

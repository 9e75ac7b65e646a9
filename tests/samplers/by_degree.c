/* SPDX-License-Identifier: MIT */
/* tests/samplers/by_degree.c - dynamic bias without bounds: the degree of the neighbour, doubled where the arc closes a
 * triangle with prev, times a random factor of the arc. Only ITS can run it. */
#include <csaw/sampler.h>

CSAW_FN float pull(const csaw_site *site, const csaw_arc *arc) {
    float jitter = 1 + (float)(csaw_random_arc(site, arc, 1) >> 40) * (1.0f / 16777216.0f);
    float near = csaw_prev(site) != CSAW_NONE && csaw_adjacent(site, arc) ? 2 : 1;
    return (float)csaw_pow((double)csaw_degree(site, arc->dst), 0.75) * near * jitter;
}

CSAW_SAMPLER(by_degree, csaw_no_params, .edge_bias = pull, .flags = CSAW_SECOND_ORDER);

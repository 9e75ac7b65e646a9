/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/moody.c - an edge bias without bounds, from all that a hook may ask: a number of each arc's
 * own, degrees, depth, instance, the vertex before. */
#include <csaw/sampler.h>

CSAW_FN float mood(const csaw_site *site, const csaw_arc *arc) {
    if (arc->dst == csaw_prev(site)) return csaw_depth(site) % 2 ? 0.125f : 0;
    float whim = (float)(csaw_random_arc(site, arc, 1) >> 40) / 16777216.0f;
    float size = (float)(csaw_degree(site, arc->dst) + csaw_degree(site, csaw_at(site)));
    return arc->weight * whim * size / (1 + (float)((csaw_instance(site) + csaw_root(site)) % 3));
}

CSAW_SAMPLER(moody, csaw_no_params, .edge_bias = mood, .flags = CSAW_SECOND_ORDER);

/* SPDX-License-Identifier: MIT */
/* my_walk.c - a user's sampler: walks only to larger vertices, by `stride` at most. */
#include <csaw/sampler.h>

CSAW_PARAMS(my_params, (uint32_t, stride, 1, stride >= 1, "longest hop"));

CSAW_FN float upward(const csaw_site *site, const csaw_arc *arc) {
    const my_params *n = (const my_params *)csaw_params(site);
    return arc->dst > arc->src && arc->dst - arc->src <= n->stride ? 1.0f : 0.0f;
}

CSAW_SAMPLER(my_walk, my_params, .edge_bias = upward);

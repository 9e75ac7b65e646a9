/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/boomerang.c - bounds with an outlier back to where the walk came from, over a static bias
 * other than the weight. */
#include <csaw/sampler.h>

CSAW_FN float by_number(const csaw_site *site, const csaw_arc *arc) {
    (void)site;
    return (float)(1 + arc->dst % 7) * arc->weight;
}

CSAW_FN float back_or_odd(const csaw_site *site, const csaw_arc *arc) {
    if (arc->dst == csaw_prev(site)) return 5;
    return arc->dst % 2 ? 1 : 0.25f;
}

CSAW_FN csaw_bounds bounds(const void *params) {
    csaw_bounds out = {0.25f, 1, 5};
    (void)params;
    return out;
}

CSAW_SAMPLER(boomerang, csaw_no_params, .static_bias = by_number, .edge_bias = back_or_odd, .bounds = bounds,
             .flags = CSAW_SECOND_ORDER);

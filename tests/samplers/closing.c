/* SPDX-License-Identifier: MIT */
/* tests/samplers/closing.c - a walk that goes back to its root whenever the arc picked closes a triangle: update asks
 * csaw_adjacent(). With bounds, so that every method that takes an edge_bias runs it. */
#include <csaw/sampler.h>

CSAW_FN float twice(const csaw_site *site, const csaw_arc *arc) {
    return csaw_prev(site) != CSAW_NONE && arc->dst == csaw_prev(site) ? 1.0f : 2.0f;
}

CSAW_FN csaw_vertex go(const csaw_site *site, const csaw_arc *arc) {
    return csaw_prev(site) != CSAW_NONE && csaw_adjacent(site, arc) ? csaw_root(site) : arc->dst;
}

CSAW_FN csaw_bounds twice_bounds(const void *params) {
    (void)params;
    csaw_bounds bounds = {1, 2, 2};
    return bounds;
}

CSAW_SAMPLER(closing, csaw_no_params, .static_bias = csaw_weight, .edge_bias = twice, .update = go,
             .bounds = twice_bounds, .flags = CSAW_SECOND_ORDER);

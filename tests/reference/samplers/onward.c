/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/onward.c - never back: at a vertex with no other arc every attempt of REJECT fails, and ITS
 * finds the dead end. */
#include <csaw/sampler.h>

CSAW_FN float not_back(const csaw_site *site, const csaw_arc *arc) { return arc->dst == csaw_prev(site) ? 0 : 1; }

CSAW_FN csaw_bounds bounds(const void *params) {
    csaw_bounds out = {0, 1, 0};
    (void)params;
    return out;
}

CSAW_SAMPLER(onward, csaw_no_params, .static_bias = csaw_weight, .edge_bias = not_back, .bounds = bounds,
             .flags = CSAW_SECOND_ORDER);

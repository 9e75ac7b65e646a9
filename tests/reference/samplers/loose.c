/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/loose.c - picks with replacement, second order, with bounds: attempts often fail, and the
 * arc back is an outlier. */
#include <csaw/sampler.h>

CSAW_FN float pull(const csaw_site *site, const csaw_arc *arc) {
    if (arc->dst == csaw_prev(site)) return 2;
    if (arc->dst % 3 == 0) return 0;
    return csaw_adjacent(site, arc) ? 1 : 0.03125f;
}

CSAW_FN csaw_bounds bounds(const void *params) {
    csaw_bounds out = {0, 1, 2};
    (void)params;
    return out;
}

CSAW_SAMPLER(loose, csaw_no_params, .static_bias = csaw_weight, .edge_bias = pull, .bounds = bounds,
             .flags = CSAW_WITH_REPLACEMENT | CSAW_SECOND_ORDER);

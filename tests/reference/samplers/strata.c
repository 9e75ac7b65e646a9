/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/strata.c - vertices of a layer, by the sum of a static bias that is 0 for some arcs. */
#include <csaw/sampler.h>

CSAW_FN float by_degree(const csaw_site *site, const csaw_arc *arc) {
    return (float)((arc->src + csaw_degree(site, arc->dst)) % 3) * arc->weight;
}

CSAW_SAMPLER(strata, csaw_no_params, .static_bias = by_degree, .flags = CSAW_LAYER | CSAW_LAYER_DISTINCT);

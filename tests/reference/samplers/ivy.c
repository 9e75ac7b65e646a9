/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/ivy.c - a pool that grows, all of it the frontier, by a static bias that is 0 for some arcs.
 */
#include <csaw/sampler.h>

CSAW_FN float by_number(const csaw_site *site, const csaw_arc *arc) {
    return (float)((arc->dst + csaw_degree(site, arc->dst)) % 4) * arc->weight;
}

CSAW_SAMPLER(ivy, csaw_no_params, .static_bias = by_number, .flags = CSAW_KEEP_POOL);

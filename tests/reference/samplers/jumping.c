/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/jumping.c - a static bias other than the weight, 0 for some arcs; updates that return to the
 * root; dead ends that jump anywhere. */
#include <csaw/sampler.h>

CSAW_FN float by_number(const csaw_site *site, const csaw_arc *arc) {
    (void)site;
    return (float)(arc->dst % 5) * (1 + (float)(arc->rank % 3)) * arc->weight;
}

CSAW_FN csaw_vertex go(const csaw_site *site, const csaw_arc *arc) {
    return csaw_unit(csaw_random(site, 3)) < 0.25 ? csaw_root(site) : arc->dst;
}

CSAW_FN csaw_vertex jump(const csaw_site *site) {
    if (csaw_depth(site) % 4 == 3) return CSAW_NONE;
    return (csaw_vertex)csaw_below(csaw_random(site, 0), csaw_num_vertices(site));
}

CSAW_SAMPLER(jumping, csaw_no_params, .static_bias = by_number, .update = go, .dead_end = jump, .flags = 0);

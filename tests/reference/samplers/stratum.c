/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/stratum.c - arcs of a layer by a bias of each site's own, as many as the layer draws;
 * updates that stay or go; a dead_end that no layer asks. */
#include <csaw/sampler.h>

CSAW_FN float mood(const csaw_site *site, const csaw_arc *arc) {
    if (arc->dst == csaw_prev(site)) return csaw_depth(site) % 2 ? 0.125f : 0;
    float whim = (float)(csaw_random_arc(site, arc, 1) >> 40) / 16777216.0f;
    float near = csaw_adjacent(site, arc) ? 2 : 1;
    return arc->weight * whim * near * (float)(1 + csaw_degree(site, csaw_at(site)));
}

CSAW_FN csaw_vertex go(const csaw_site *site, const csaw_arc *arc) {
    return csaw_random(site, 0) % 4 ? arc->dst : csaw_at(site);
}

CSAW_FN uint32_t thickness(const csaw_site *site) {
    uint32_t k = csaw_fanout(site);
    if (csaw_at(site) != CSAW_NONE || csaw_prev(site) != CSAW_NONE) return 1;
    return k == CSAW_ALL ? k : k + (uint32_t)(csaw_random(site, 1) % 3);
}

CSAW_FN csaw_vertex first(const csaw_site *site) {
    (void)site;
    return 0;
}

CSAW_SAMPLER(stratum, csaw_no_params, .edge_bias = mood, .update = go, .fanout = thickness, .dead_end = first,
             .flags = CSAW_LAYER | CSAW_SECOND_ORDER);

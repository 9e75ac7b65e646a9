/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/reef.c - vertices of a layer by the sum of biases that depend on the site, visited ones not
 * at all; as many as the layer draws, with replacement. */
#include <csaw/sampler.h>

CSAW_FN float pull(const csaw_site *site, const csaw_arc *arc) {
    if (csaw_visited(site, arc->dst)) return 0;
    return arc->dst == csaw_prev(site) || csaw_adjacent(site, arc) ? 0.5f : 3.0f;
}

CSAW_FN uint32_t width(const csaw_site *site) {
    const uint32_t k = csaw_fanout(site);
    return k == CSAW_ALL ? k : k + (uint32_t)(csaw_random(site, 0) % 2);
}

CSAW_FN csaw_vertex settle(const csaw_site *site, const csaw_arc *arc) {
    return csaw_random(site, 3) % 3 ? arc->dst : csaw_root(site);
}

CSAW_SAMPLER(reef, csaw_no_params, .static_bias = csaw_weight, .edge_bias = pull, .update = settle, .fanout = width,
             .flags = CSAW_LAYER | CSAW_LAYER_DISTINCT | CSAW_VISITED | CSAW_SECOND_ORDER | CSAW_WITH_REPLACEMENT);

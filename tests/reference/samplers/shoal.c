/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/shoal.c - arcs of a layer, visited vertices not at all; updates that leave the pool, or lead
 * elsewhere. */
#include <csaw/sampler.h>

CSAW_FN float fresh(const csaw_site *site, const csaw_arc *arc) {
    if (csaw_visited(site, arc->dst)) return 0;
    return (float)(1 + arc->rank % 3);
}

CSAW_FN csaw_vertex drift(const csaw_site *site, const csaw_arc *arc) {
    const uint64_t whim = csaw_random(site, arc->rank % 4) % 5;
    if (whim == 0) return CSAW_NONE;
    return whim == 1 ? (arc->dst + 1) % csaw_num_vertices(site) : arc->dst;
}

CSAW_SAMPLER(shoal, csaw_no_params, .static_bias = csaw_weight, .edge_bias = fresh, .update = drift,
             .flags = CSAW_LAYER | CSAW_VISITED);

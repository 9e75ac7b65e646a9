/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/tide.c - arcs of a layer over part of a pool that grows: its places by vertex_bias, 0 for
 * some; visited vertices draw less. */
#include <csaw/sampler.h>

CSAW_PARAMS(tide_params, (uint32_t, size, 4, 1, "places to go on from"));

CSAW_FN uint32_t size(const void *params) { return ((const tide_params *)params)->size; }

CSAW_FN float by_number(const csaw_site *site, csaw_vertex v) {
    const tide_params *p = (const tide_params *)csaw_params(site);
    return (float)((v + p->size) % 5) * (float)csaw_num_vertices(site);
}

CSAW_FN float fresh(const csaw_site *site, const csaw_arc *arc) {
    return csaw_visited(site, arc->dst) ? 0.25f * arc->weight : arc->weight;
}

CSAW_FN csaw_bounds bounds(const void *params) {
    csaw_bounds out = {0, 1e38f, 0};
    (void)params;
    return out;
}

CSAW_SAMPLER(tide, tide_params, .vertex_bias = by_number, .edge_bias = fresh, .bounds = bounds,
             .flags = CSAW_LAYER | CSAW_KEEP_POOL | CSAW_VISITED, .frontier_size = size);

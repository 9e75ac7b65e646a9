/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/herd.c - a pool that is a list: places are picked by vertex_bias, which is 0 for some
 * vertices; updates and dead ends go anywhere or close the place; some places rest where that is asked for. */
#include <csaw/sampler.h>

CSAW_PARAMS(herd_params, (uint32_t, size, 2, 1, "places to go on from"), (uint32_t, rest, 0, 1, "1: a fourth rests"));

CSAW_FN uint32_t size(const void *params) { return ((const herd_params *)params)->size; }

CSAW_FN float by_degree(const csaw_site *site, csaw_vertex v) {
    return (float)(csaw_degree(site, v) % 4) + (v % 3 == 0 ? 0.5f : 0);
}

CSAW_FN float hop(const csaw_site *site, const csaw_arc *arc) {
    if (csaw_prev(site) == CSAW_NONE) return 1;
    if (arc->dst == csaw_prev(site)) return 3;
    return csaw_adjacent(site, arc) ? 0.5f : 1;
}

CSAW_FN csaw_vertex go(const csaw_site *site, const csaw_arc *arc) {
    uint64_t die = csaw_random(site, 0) % 8;
    if (die == 0) return CSAW_NONE;
    return die == 1 ? csaw_root(site) : arc->dst;
}

CSAW_FN uint32_t one_or_none(const csaw_site *site) {
    const herd_params *p = (const herd_params *)csaw_params(site);
    return p->rest && csaw_random(site, 5) % 4 == 0 ? 0 : 1;
}

CSAW_FN csaw_vertex jump(const csaw_site *site) {
    if (csaw_depth(site) % 2) return CSAW_NONE;
    return (csaw_vertex)csaw_below(csaw_random(site, 1), csaw_num_vertices(site));
}

CSAW_FN csaw_bounds bounds(const void *params) {
    csaw_bounds out = {0.5f, 1, 3};
    (void)params;
    return out;
}

CSAW_SAMPLER(herd, herd_params, .vertex_bias = by_degree, .static_bias = csaw_weight, .edge_bias = hop, .update = go,
             .fanout = one_or_none, .dead_end = jump, .bounds = bounds, .flags = CSAW_REPLACE_POOL | CSAW_SECOND_ORDER,
             .frontier_size = size);

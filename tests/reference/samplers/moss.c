/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/moss.c - a pool that grows and is an ordered set; places alike, arcs alike; updates that ask
 * what was visited, and lead to vertices other than the arc's. */
#include <csaw/sampler.h>

CSAW_PARAMS(moss_params, (uint32_t, size, 3, 1, "places to go on from"));

CSAW_FN uint32_t size(const void *params) { return ((const moss_params *)params)->size; }

CSAW_FN csaw_vertex settle(const csaw_site *site, const csaw_arc *arc) {
    if ((csaw_random(site, 2) & 3) == 0) return CSAW_NONE;
    return csaw_visited(site, arc->dst) ? (arc->dst + 1) % csaw_num_vertices(site) : arc->dst;
}

CSAW_SAMPLER(moss, moss_params, .update = settle, .flags = CSAW_KEEP_POOL | CSAW_VISITED, .frontier_size = size);

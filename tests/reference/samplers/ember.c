/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/ember.c - a fanout that each vertex draws for itself; arcs to visited vertices weigh
 * nothing; dead ends lead back to the root. */
#include <csaw/sampler.h>

CSAW_FN uint32_t spread(const csaw_site *site) {
    uint32_t k = csaw_fanout(site);
    if (k == CSAW_ALL || csaw_depth(site) == 0) return k;
    while (k < 6 && csaw_random(site, k) % 10 < 6) k++;
    return k;
}

CSAW_FN float fresh(const csaw_site *site, const csaw_arc *arc) {
    if (csaw_visited(site, arc->dst)) return 0;
    return arc->weight * (1 + (float)(csaw_random_arc(site, arc, 0) >> 40) / 16777216.0f);
}

CSAW_FN csaw_vertex home(const csaw_site *site) { return csaw_root(site); }

CSAW_SAMPLER(ember, csaw_no_params, .edge_bias = fresh, .fanout = spread, .dead_end = home, .flags = CSAW_VISITED);

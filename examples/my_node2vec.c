/* SPDX-License-Identifier: MIT */
/* examples/my_node2vec.c - node2vec (Grover, Leskovec, KDD 2016) as a sampler file:
 *   csaw walk graph.txt --sampler examples/my_node2vec.c --p 4 --q 0.5 */
#include <csaw/sampler.h>

CSAW_PARAMS(my_params, (float, p, 1, p > 0, "return parameter"), (float, q, 1, q > 0, "in-out parameter"));

CSAW_FN float hop(const csaw_site *site, const csaw_arc *arc) {
    const my_params *n = (const my_params *)csaw_params(site);
    if (csaw_prev(site) == CSAW_NONE) return 1;       /* the first step */
    if (arc->dst == csaw_prev(site)) return 1 / n->p; /* back */
    return csaw_adjacent(site, arc) ? 1 : 1 / n->q;   /* near, or away */
}

/* Lowest and highest of what hop() returns, and of the arc back: an arc is then found by trial, without reading the
 * row. */
CSAW_FN csaw_bounds hop_bounds(const void *params) {
    const my_params *n = (const my_params *)params;
    float away = 1 / n->q, back = 1 / n->p, low = away < 1 ? away : 1;
    csaw_bounds bounds = {low < back ? low : back, away > 1 ? away : 1, back};
    return bounds;
}

CSAW_SAMPLER(my_node2vec, my_params, .static_bias = csaw_weight, .edge_bias = hop, .bounds = hop_bounds,
             .flags = CSAW_SECOND_ORDER);

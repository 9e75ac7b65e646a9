/* SPDX-License-Identifier: MIT */
/* samplers/node2vec.c - second-order walk, weighted where the graph is.
 *
 * Source: Grover, Leskovec, "node2vec: scalable feature learning for networks", KDD 2016, section 3.2.
 * Law: coming from t, P(v -> x) is proportional to weight(v, x) * a, where a = 1/p if x = t, 1 if x is a neighbour of t
 * (the arc t -> x exists), 1/q otherwise; on the first step a = 1. */
#include <csaw/sampler.h>

CSAW_PARAMS(csaw_node2vec_params,
            (float, p, 1, p >= 1e-30 && p <= 1e30f, "return parameter: large p avoids going back"),
            (float, q, 1, q >= 1e-30 && q <= 1e30f, "in-out parameter: small q moves outward"));

CSAW_FN float hop(const csaw_site *site, const csaw_arc *arc) {
    const csaw_node2vec_params *n = (const csaw_node2vec_params *)csaw_params(site);
    if (csaw_prev(site) == CSAW_NONE) return 1;
    if (arc->dst == csaw_prev(site)) return 1 / n->p;
    return csaw_adjacent(site, arc) ? 1 : 1 / n->q;
}

CSAW_FN csaw_bounds hop_bounds(const void *params) {
    const csaw_node2vec_params *n = (const csaw_node2vec_params *)params;
    float out = 1 / n->q, back = 1 / n->p, far = out < 1 ? out : 1;
    csaw_bounds bounds = {far < back ? far : back, out > 1 ? out : 1, back};
    return bounds;
}

CSAW_SAMPLER(csaw_node2vec, csaw_node2vec_params, .static_bias = csaw_weight, .edge_bias = hop, .bounds = hop_bounds,
             .flags = CSAW_SECOND_ORDER);

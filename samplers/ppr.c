/* SPDX-License-Identifier: MIT */
/* samplers/ppr.c - walk of personalised PageRank: before each step it stops with probability alpha, and the vertex
 * where it stops is drawn from the PageRank vector of its root.
 *
 * Source: Fogaras, Racz, Csalogany, Sarlos, "Towards scaling fully personalized PageRank", Internet Mathematics 2,
 * 2005, section 2; Avrachenkov, Litvak, Nemirovsky, Osipova, SIAM J. Numer. Anal. 45, 2007. Law: the number of steps is
 * geometric, P(L = k) = alpha (1 - alpha)^k, cut off at the run's depth d, where P(L = d) = (1 - alpha)^d; a walk that
 * reaches a dead end stops there. Given that it goes on, P(v -> x) is weight(v, x) / sum of the weights of v's row. */
#include <csaw/sampler.h>

CSAW_PARAMS(csaw_ppr_params,
            (float, alpha, 0.15, alpha >= 0 && alpha <= 1, "probability of stopping before each step"));

CSAW_FN csaw_vertex go_or_stop(const csaw_site *site, const csaw_arc *arc) {
    const csaw_ppr_params *n = (const csaw_ppr_params *)csaw_params(site);
    return csaw_unit(csaw_random(site, 0)) < n->alpha ? CSAW_NONE : arc->dst;
}

CSAW_SAMPLER(csaw_ppr, csaw_ppr_params, .static_bias = csaw_weight, .update = go_or_stop);

/* SPDX-License-Identifier: MIT */
/* samplers/restart.c - random walk with restart: now and then back to its root, so that it stays near.
 *
 * Source: Tong, Faloutsos, Pan, "Fast random walk with restart and its applications", ICDM 2006.
 * Law: P(v -> x) = restart * [x is the root] + (1 - restart) * weight(v, x) / sum of the weights of v's row; from a
 * dead end the root, always. Such a walk never ends; from an isolated root it stays there. */
#include <csaw/sampler.h>

CSAW_PARAMS(csaw_restart_params,
            (float, restart, 0.15, restart >= 0 && restart <= 1, "probability of a step back to the root"));

CSAW_FN csaw_vertex go_or_return(const csaw_site *site, const csaw_arc *arc) {
    const csaw_restart_params *n = (const csaw_restart_params *)csaw_params(site);
    return csaw_unit(csaw_random(site, 0)) < n->restart ? csaw_root(site) : arc->dst;
}

CSAW_FN csaw_vertex back(const csaw_site *site) { return csaw_root(site); }

CSAW_SAMPLER(csaw_restart, csaw_restart_params, .static_bias = csaw_weight, .update = go_or_return, .dead_end = back);

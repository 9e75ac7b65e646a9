/* SPDX-License-Identifier: MIT */
/* tests/samplers/restart.c - walk with restart (Tong, Faloutsos, Pan, ICDM 2006): with probability r, and at a dead
 * end, back to the root. Uses random numbers in a hook, update and dead_end. */
#include <csaw/sampler.h>

CSAW_PARAMS(restart_params, (double, r, 0.25, r >= 0 && r <= 1, "probability of going back to the root"));

CSAW_FN csaw_vertex go(const csaw_site *site, const csaw_arc *arc) {
    const restart_params *n = (const restart_params *)csaw_params(site);
    return csaw_unit(csaw_random(site, 0)) < n->r ? csaw_root(site) : arc->dst;
}

CSAW_FN csaw_vertex back(const csaw_site *site) { return csaw_root(site); }

CSAW_SAMPLER(restart, restart_params, .update = go, .dead_end = back);

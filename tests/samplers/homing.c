/* SPDX-License-Identifier: MIT */
/* tests/samplers/homing.c - a pool that stays and grows, whose vertices are drawn back to where they were first reached
 * from. */
#include <csaw/sampler.h>

CSAW_FN float back(const csaw_site *site, const csaw_arc *arc) {
    const csaw_vertex prev = csaw_prev(site);
    if (prev == CSAW_NONE) return 1;
    return arc->dst == prev ? 4 : 1 + (float)((prev + arc->dst) % 3);
}

CSAW_SAMPLER(homing, csaw_no_params, .edge_bias = back, .flags = CSAW_KEEP_POOL | CSAW_SECOND_ORDER);

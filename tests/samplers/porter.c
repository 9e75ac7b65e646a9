/* SPDX-License-Identifier: MIT */
/* tests/samplers/porter.c - one place of a list at a time, with bytes of the instance's own that every arc picked, and
 * every dead end, changes, and that biases, updates and fanouts look at. */
#include <csaw/sampler.h>

CSAW_FN uint32_t one(const void *params) {
    (void)params;
    return 1;
}

CSAW_FN int64_t *load(const csaw_site *site) { return (int64_t *)csaw_user(site); }

CSAW_FN float in_turn(const csaw_site *site, const csaw_arc *arc) {
    return arc->dst % 4 == (uint32_t)(load(site)[0] % 4) ? 2.0f : 0.5f;
}

CSAW_FN csaw_vertex carry(const csaw_site *site, const csaw_arc *arc) {
    load(site)[0] += 1 + arc->rank;
    load(site)[3]++;
    return load(site)[0] % 5 == 0 ? csaw_root(site) : arc->dst;
}

CSAW_FN uint32_t unless_tired(const csaw_site *site) { return load(site)[3] % 7 == 6 && csaw_depth(site) % 2 ? 0 : 1; }

CSAW_FN csaw_vertex turn(const csaw_site *site) {
    load(site)[0] += 7;
    return csaw_root(site);
}

CSAW_FN csaw_bounds bounds(const void *params) {
    csaw_bounds out = {0.5f, 2, 2};
    (void)params;
    return out;
}

CSAW_SAMPLER(porter, csaw_no_params, .static_bias = csaw_weight, .edge_bias = in_turn, .update = carry,
             .fanout = unless_tired, .dead_end = turn, .bounds = bounds, .flags = CSAW_REPLACE_POOL,
             .user_bytes = 4 * sizeof(int64_t), .frontier_size = one);

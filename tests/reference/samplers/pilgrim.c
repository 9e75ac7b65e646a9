/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/pilgrim.c - one vertex at a time out of a pool that grows, with bytes of the instance's own
 * that every arc picked, and every dead end, changes. */
#include <csaw/sampler.h>

CSAW_FN uint32_t one(const void *params) {
    (void)params;
    return 1;
}

CSAW_FN float in_turn(const csaw_site *site, const csaw_arc *arc) {
    int64_t counted = *(const int64_t *)csaw_user(site);
    return arc->dst % 4 == (uint32_t)(counted % 4) ? 2 : 1;
}

CSAW_FN csaw_vertex count(const csaw_site *site, const csaw_arc *arc) {
    *(int64_t *)csaw_user(site) += 1 + arc->rank;
    return arc->dst;
}

CSAW_FN csaw_vertex turn(const csaw_site *site) {
    *(int64_t *)csaw_user(site) += 7;
    return csaw_root(site);
}

CSAW_FN csaw_bounds bounds(const void *params) {
    csaw_bounds out = {1, 2, 2};
    (void)params;
    return out;
}

CSAW_SAMPLER(pilgrim, csaw_no_params, .static_bias = csaw_weight, .edge_bias = in_turn, .update = count,
             .dead_end = turn, .bounds = bounds, .flags = CSAW_KEEP_POOL, .user_bytes = sizeof(int64_t),
             .frontier_size = one);

/* SPDX-License-Identifier: MIT */
/* samplers/temporal.c - walk that respects time: the times of its arcs never fall.
 *
 * Source: Nguyen, Lee, Rossi, Ahmed, Koh, Kim, "Continuous-time dynamic network embeddings", WWW 2018 companion,
 * definition 2, unbiased; arcs of equal time may follow one another.
 * Law: P(v -> x) is proportional to weight(v, x) among the arcs with time >= start on the first step, and with last <=
 * time <= last + window later, last being the time of the arc that the walk came by; window = 0 sets no limit. The walk
 * ends where there is none. On a graph without times every arc has time 0. */
#include <csaw/sampler.h>

CSAW_PARAMS(csaw_temporal_params,
            (int64_t, start, -9223372036854775808.0, 1, "earliest time of the first step; the least of all admits any"),
            (int64_t, window, 0, window >= 0, "longest time from one step to the next; 0 = no limit"));

CSAW_FN float in_time(const csaw_site *site, const csaw_arc *arc) {
    const csaw_temporal_params *n = (const csaw_temporal_params *)csaw_params(site);
    if (csaw_depth(site) == 0) return arc->time >= n->start ? 1.0f : 0.0f;
    const int64_t last = *(const int64_t *)csaw_user(site);
    if (arc->time < last) return 0;
    return n->window == 0 || (uint64_t)arc->time - (uint64_t)last <= (uint64_t)n->window ? 1.0f : 0.0f;
}

CSAW_FN csaw_bounds zero_or_one(const void *params) {
    const csaw_bounds bounds = {0, 1, 1};
    (void)params;
    return bounds;
}

CSAW_FN csaw_vertex remember(const csaw_site *site, const csaw_arc *arc) {
    *(int64_t *)csaw_user(site) = arc->time;
    return arc->dst;
}

CSAW_SAMPLER(csaw_temporal, csaw_temporal_params, .static_bias = csaw_weight, .edge_bias = in_time, .update = remember,
             .bounds = zero_or_one, .user_bytes = 8);

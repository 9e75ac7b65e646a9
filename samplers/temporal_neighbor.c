/* SPDX-License-Identifier: MIT */
/* samplers/temporal_neighbor.c - neighbour sampling among the arcs of an interval of time; by weight where the graph
 * has weights.
 *
 * Source: Xu, Ruan, Korpeoglu, Kumar, Achan, "Inductive representation learning on temporal graphs", ICLR 2020, section
 * 3.3, neighbourhoods N(v; t); Rossi et al., "Temporal graph networks", 2020, uniform sampling.
 * Law: picks as of csaw_neighbor_biased among the arcs with since <= time <= until; none if since > until. On a graph
 * without times every arc has time 0. */
#include <csaw/sampler.h>

CSAW_PARAMS(csaw_temporal_neighbor_params,
            (int64_t, since, -9223372036854775808.0, 1, "earliest time; the least of all admits any"),
            (int64_t, until, 9223372036854775808.0, 1, "latest time; the greatest of all admits any"));

CSAW_FN float weight_in_time(const csaw_site *site, const csaw_arc *arc) {
    const csaw_temporal_neighbor_params *n = (const csaw_temporal_neighbor_params *)csaw_params(site);
    return arc->time >= n->since && arc->time <= n->until ? arc->weight : 0.0f;
}

CSAW_SAMPLER(csaw_temporal_neighbor, csaw_temporal_neighbor_params, .static_bias = weight_in_time);

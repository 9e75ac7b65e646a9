/* SPDX-License-Identifier: MIT */
/* samplers/metropolis_hastings.c - random walk that visits every vertex of an undirected graph equally often: it may
 * stay where it is.
 *
 * Source: Metropolis et al., J. Chem. Phys. 21, 1953; on graphs Gjoka, Kurant, Butts, Markopoulou, "Walking in
 * Facebook", INFOCOM 2010, section III-C. Law: a neighbour x is proposed with arcs(v, x) / degree(v); the walk goes
 * there with probability min(1, degree(v) / degree(x)) and otherwise stays at v for this step. The uniform distribution
 * is stationary where arcs go both ways. Weights do not count. A step that stays follows no arc. */
#include <csaw/sampler.h>

CSAW_FN csaw_vertex go_or_stay(const csaw_site *site, const csaw_arc *arc) {
    const uint32_t here = csaw_degree(site, csaw_at(site)), there = csaw_degree(site, arc->dst);
    return there <= here || csaw_below(csaw_random(site, 0), there) < here ? arc->dst : csaw_at(site);
}

CSAW_SAMPLER(csaw_metropolis_hastings, csaw_no_params, .update = go_or_stay);

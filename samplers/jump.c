/* SPDX-License-Identifier: MIT */
/* samplers/jump.c - random walk with jumps: now and then to any vertex, so that it sees every part of the graph.
 *
 * Source: Avrachenkov, Ribeiro, Towsley, "Improving random walk estimation accuracy with uniform restarts", WAW 2010;
 * C-SAW (Pandey et al., SC'20, Table I).
 * Law: P(v -> x) = jump / num_vertices + (1 - jump) * weight(v, x) / sum of the weights of v's row; from a dead end
 * 1 / num_vertices. Such a walk never ends. */
#include <csaw/sampler.h>

CSAW_PARAMS(csaw_jump_params, (float, jump, 0.15, jump >= 0 && jump <= 1, "probability of a step to any vertex"));

CSAW_FN csaw_vertex anywhere(const csaw_site *site) {
    return (csaw_vertex)csaw_below(csaw_random(site, 1), csaw_num_vertices(site));
}

CSAW_FN csaw_vertex go_or_jump(const csaw_site *site, const csaw_arc *arc) {
    const csaw_jump_params *n = (const csaw_jump_params *)csaw_params(site);
    return csaw_unit(csaw_random(site, 0)) < n->jump ? anywhere(site) : arc->dst;
}

CSAW_SAMPLER(csaw_jump, csaw_jump_params, .static_bias = csaw_weight, .update = go_or_jump, .dead_end = anywhere);

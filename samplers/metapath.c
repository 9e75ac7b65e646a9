/* SPDX-License-Identifier: MIT */
/* samplers/metapath.c - walk along a repeating sequence of edge types, such as author-paper, paper-author.
 *
 * Source: Dong, Chawla, Swami, "metapath2vec", KDD 2017, section 3.2, with the types on the edges.
 * Law: on step d (0, 1, ...) P(v -> x) is proportional to weight(v, x) among the arcs of type t[d mod length], and the
 * walk ends where there is none. On a graph without types every arc has type 0. With a fanout it is metapath neighbour
 * sampling: at depth d so many arcs of that type are picked, successively by weight, and their ends are expanded next.
 */
#include <csaw/sampler.h>

CSAW_PARAMS(csaw_metapath_params,
            (uint32_t, length, 1, length >= 1 && length <= 8, "edge types in the sequence, which then repeats"),
            (uint32_t, t0, 0, 1, "edge type of the first step"), (uint32_t, t1, 0, 1, "edge type of the second step"),
            (uint32_t, t2, 0, 1, "edge type of the third step"), (uint32_t, t3, 0, 1, "edge type of the fourth step"),
            (uint32_t, t4, 0, 1, "edge type of the fifth step"), (uint32_t, t5, 0, 1, "edge type of the sixth step"),
            (uint32_t, t6, 0, 1, "edge type of the seventh step"),
            (uint32_t, t7, 0, 1, "edge type of the eighth step"));

CSAW_FN float of_the_type(const csaw_site *site, const csaw_arc *arc) {
    const csaw_metapath_params *n = (const csaw_metapath_params *)csaw_params(site);
    const uint32_t type[8] = {n->t0, n->t1, n->t2, n->t3, n->t4, n->t5, n->t6, n->t7};
    return arc->type == type[csaw_depth(site) % n->length] ? 1.0f : 0.0f;
}

CSAW_FN csaw_bounds zero_or_one(const void *params) {
    const csaw_bounds bounds = {0, 1, 1};
    (void)params;
    return bounds;
}

CSAW_SAMPLER(csaw_metapath, csaw_metapath_params, .static_bias = csaw_weight, .edge_bias = of_the_type,
             .bounds = zero_or_one);

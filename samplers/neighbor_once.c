/* SPDX-License-Identifier: MIT */
/* samplers/neighbor_once.c - neighbour sampling that expands each vertex once, at the depth where it is first reached;
 * by weight where the graph has weights.
 *
 * Source: Hamilton, Ying, Leskovec, NIPS 2017, in the manner of PyTorch Geometric's NeighborLoader (Fey, Lenssen, "Fast
 * graph representation learning with PyTorch Geometric", 2019).
 * Law: picks as of csaw_neighbor_biased. Arcs to vertices reached before are part of the sample, but those vertices do
 * not enter the next pool: it holds the ones reached at this depth for the first time. */
#include <csaw/sampler.h>

CSAW_FN csaw_vertex if_new(const csaw_site *site, const csaw_arc *arc) {
    return csaw_visited(site, arc->dst) ? CSAW_NONE : arc->dst;
}

CSAW_SAMPLER(csaw_neighbor_once, csaw_no_params, .static_bias = csaw_weight, .update = if_new, .flags = CSAW_VISITED);

/* SPDX-License-Identifier: MIT */
/* examples/ladies.c - layer sampling of LADIES (Zou, Hu, Wang, Jiang, Sun, Gu, NeurIPS 2019, algorithm 1): a layer is
 * drawn among the neighbours of the layer above, u with probability proportional to the sum over its vertices v of
 * A(v,u)^2.
 *
 * A is the normalised adjacency, A(v,u) = 1 / sqrt(degree(v) degree(u)) for each arc v -> u of an undirected graph (add
 * loops to the graph for that of GCN, so that a layer may hold vertices of the one above). Vertices are picked without
 * replacement, and all arcs from the layer above to them are part of the sample. Give the batch as one pool, and the
 * sizes of the layers as fanout. */
#include <csaw/sampler.h>

CSAW_FN float squared_entry(const csaw_site *site, const csaw_arc *arc) {
    const uint32_t here = csaw_degree(site, arc->src), there = csaw_degree(site, arc->dst);
    return 1.0f / ((float)here * (float)(there > 0 ? there : 1));
}

CSAW_SAMPLER(ladies, csaw_no_params, .static_bias = squared_entry, .flags = CSAW_LAYER | CSAW_LAYER_DISTINCT);

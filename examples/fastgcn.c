/* SPDX-License-Identifier: MIT */
/* examples/fastgcn.c - layer sampling of FastGCN (Chen, Ma, Xiao, ICLR 2018, section 3.2): every layer is drawn anew
 * from all vertices, vertex u with probability q(u) = |A(:,u)|^2 / sum over x of |A(:,x)|^2.
 *
 * A is the normalised adjacency, A(v,u) = 1 / sqrt(degree(v) degree(u)) for each arc v -> u of an undirected graph (add
 * loops to the graph for that of GCN). One pick among the arcs of all vertices, each with bias A(v,u)^2 = 1 /
 * (degree(v) degree(u)), ends at u with probability q(u) exactly, so the hook needs no column norms. Picks are
 * independent, as in the paper: the destinations at depth d are layer d. Give every vertex as one pool, and the sizes
 * of the layers as fanout. */
#include <csaw/sampler.h>

CSAW_FN float squared_entry(const csaw_site *site, const csaw_arc *arc) {
    const uint32_t here = csaw_degree(site, arc->src), there = csaw_degree(site, arc->dst);
    return 1.0f / ((float)here * (float)(there > 0 ? there : 1));
}

CSAW_SAMPLER(fastgcn, csaw_no_params, .static_bias = squared_entry,
             .flags = CSAW_LAYER | CSAW_KEEP_POOL | CSAW_WITH_REPLACEMENT);

/* SPDX-License-Identifier: MIT */
/* samplers/neighbor_again.c - neighbour sampling that expands every vertex reached so far again at every depth; by
 * weight where the graph has weights.
 *
 * Source: Hamilton, Ying, Leskovec, NIPS 2017, algorithm 2, where each layer's vertices contain those of the layer
 * before; in the manner of DGL's blocks (Wang et al., "Deep graph library", 2019).
 * Law: picks as of csaw_neighbor_biased, fresh at every depth. The next pool is the pool and, behind it, the vertices
 * that the picks reach and that are not in it. */
#include <csaw/sampler.h>

CSAW_SAMPLER(csaw_neighbor_again, csaw_no_params, .static_bias = csaw_weight, .flags = CSAW_KEEP_POOL);

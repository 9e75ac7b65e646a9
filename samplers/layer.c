/* SPDX-License-Identifier: MIT */
/* samplers/layer.c - layer sampling: a constant number of arcs per depth, among those of all its vertices together; by
 * weight where the graph has weights.
 *
 * Source: C-SAW (Pandey et al., SC'20, Table I and section II), layer sampling; Gao, Wang, Ji, "Large-scale learnable
 * graph convolutional networks", KDD 2018, section 3.3.
 * Law: of all arcs that leave the pool fanout are picked, successively, each proportional to weight among those not yet
 * picked (with replacement: independently). Their destinations are the next pool. */
#include <csaw/sampler.h>

CSAW_SAMPLER(csaw_layer, csaw_no_params, .static_bias = csaw_weight, .flags = CSAW_LAYER);

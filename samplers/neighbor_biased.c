/* SPDX-License-Identifier: MIT */
/* samplers/neighbor_biased.c - neighbour sampling by weight; without weights it is the uniform one.
 *
 * Source: C-SAW (Pandey et al., SC'20, Table I), biased neighbor sampling; Hamilton, Ying, Leskovec, NIPS 2017.
 * Law: the picks of a row are successive: each is proportional to weight among the arcs of positive weight not yet
 * picked, until fanout are picked or none is left; with replacement fanout independent picks. A vertex that is reached
 * again at a later depth is expanded again. */
#include <csaw/sampler.h>

CSAW_SAMPLER(csaw_neighbor_biased, csaw_no_params, .static_bias = csaw_weight);

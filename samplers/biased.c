/* SPDX-License-Identifier: MIT */
/* samplers/biased.c - random walk by weight; without weights it is the uniform one.
 *
 * Source: C-SAW (Pandey et al., SC'20, Table I), biased random walk; Lovasz, "Random walks on graphs: a survey", 1993.
 * Law: P(v -> x) = weight(v, x) / sum of the weights of v's row. A row whose weights are all 0 is a dead end. */
#include <csaw/sampler.h>

CSAW_SAMPLER(csaw_biased, csaw_no_params, .static_bias = csaw_weight);

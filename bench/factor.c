/* SPDX-License-Identifier: MIT */
/* bench/factor.c - neighbour sampling by weight where the weight is a dynamic factor, of which nothing can be
 * tabulated: ITS scans every row, as bench/hand_weighted.cuh does. Same law as neighbor_biased. */
#include <csaw/sampler.h>

CSAW_SAMPLER(neighbor_factor, csaw_no_params, .edge_bias = csaw_weight);

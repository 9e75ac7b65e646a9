/* SPDX-License-Identifier: MIT */
/* tests/samplers/barren_list.c - see barren.h; its pool is a list. */
#include "barren.h"

CSAW_SAMPLER(barren_list, barren_params, .vertex_bias = bias_of, .fanout = one_or_two, .flags = CSAW_REPLACE_POOL,
             .frontier_size = size_of);

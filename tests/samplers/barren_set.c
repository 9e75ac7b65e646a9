/* SPDX-License-Identifier: MIT */
/* tests/samplers/barren_set.c - see barren.h; its pool is a set. */
#include "barren.h"

CSAW_SAMPLER(barren_set, barren_params, .vertex_bias = bias_of, .fanout = one_or_two, .frontier_size = size_of);

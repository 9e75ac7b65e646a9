/* SPDX-License-Identifier: MIT */
/* tests/samplers/faulty_distinct.c - vertices of a layer. */
#include "faulty_layer.h"

CSAW_SAMPLER(faulty_distinct, faulty_layer_params, .edge_bias = factor, .update = go, .fanout = thickness,
             .flags = CSAW_LAYER | CSAW_LAYER_DISTINCT);

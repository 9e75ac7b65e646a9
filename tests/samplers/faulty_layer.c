/* SPDX-License-Identifier: MIT */
/* tests/samplers/faulty_layer.c - arcs of a layer. */
#include "faulty_layer.h"

CSAW_SAMPLER(faulty_layer, faulty_layer_params, .edge_bias = factor, .update = go, .fanout = thickness,
             .flags = CSAW_LAYER);

/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/terrace.c - vertices of a layer, arcs alike, in a pool that grows. */
#include <csaw/sampler.h>

CSAW_SAMPLER(terrace, csaw_no_params, .flags = CSAW_LAYER | CSAW_LAYER_DISTINCT | CSAW_KEEP_POOL);

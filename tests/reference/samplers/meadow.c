/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/meadow.c - a pool that is a set, from which vertex_bias leaves some vertices out, also where
 * all of it may be taken. */
#include <csaw/sampler.h>

CSAW_PARAMS(meadow_params, (uint32_t, size, 2, 1, "vertices to go on from"));

CSAW_FN uint32_t size(const void *params) { return ((const meadow_params *)params)->size; }

CSAW_FN float grass(const csaw_site *site, csaw_vertex v) { return (float)(v % 3) * (1 + (float)csaw_degree(site, v)); }

CSAW_SAMPLER(meadow, meadow_params, .vertex_bias = grass, .static_bias = csaw_weight, .frontier_size = size);

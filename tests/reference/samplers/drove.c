/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/drove.c - a pool that is a list without vertex_bias: its places are alike until they close,
 * at dead ends. */
#include <csaw/sampler.h>

CSAW_PARAMS(drove_params, (uint32_t, size, 2, 1, "places to go on from"));

CSAW_FN uint32_t size(const void *params) { return ((const drove_params *)params)->size; }

CSAW_SAMPLER(drove, drove_params, .static_bias = csaw_weight, .flags = CSAW_REPLACE_POOL, .frontier_size = size);

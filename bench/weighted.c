/* SPDX-License-Identifier: MIT */
/* bench/weighted.c - walk by arc weight alone, as a user would write it. Law: P(v -> x) = weight(v, x) / sum of v's
 * row. */
#include <csaw/sampler.h>

CSAW_SAMPLER(weighted, csaw_no_params, .static_bias = csaw_weight);

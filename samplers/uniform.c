/* SPDX-License-Identifier: MIT */
/* samplers/uniform.c - simple random walk: every arc of the row is equally likely.
 *
 * Source: Perozzi, Al-Rfou, Skiena, "DeepWalk: online learning of social representations", KDD 2014.
 * Law: P(v -> x) = arcs(v, x) / degree(v). */
#include <csaw/sampler.h>

CSAW_SAMPLER(csaw_uniform, csaw_no_params, .flags = 0);

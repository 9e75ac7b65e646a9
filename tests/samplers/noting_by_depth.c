/* SPDX-License-Identifier: MIT */
/* tests/samplers/noting_by_depth.c - notes, where the flag asks for one depth after the other. */
#include "noting.h"

CSAW_SAMPLER(noting_by_depth, noting_params, .fanout = noted, .flags = CSAW_VISITED);

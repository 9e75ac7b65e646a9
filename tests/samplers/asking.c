/* SPDX-License-Identifier: MIT */
/* tests/samplers/asking.c - asks without any flag. */
#include "asking.h"

CSAW_SAMPLER(asking, asking_params, .edge_bias = twice, .update = stay_or_go, .fanout = one_more, .dead_end = home);

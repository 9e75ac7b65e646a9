/* SPDX-License-Identifier: MIT */
/* tests/samplers/asking_declared.c - asks with the flags for it. */
#include "asking.h"

CSAW_SAMPLER(asking_declared, asking_params, .edge_bias = twice, .update = stay_or_go, .fanout = one_more,
             .dead_end = home, .flags = CSAW_SECOND_ORDER | CSAW_VISITED);

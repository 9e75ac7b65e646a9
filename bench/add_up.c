/* SPDX-License-Identifier: MIT */
/* bench/add_up.c - a sum as a user would write it, csaw/reducer.h: what it costs to bring one's own reduction. */
#include <csaw/reducer.h>

CSAW_FN float nothing(void) { return 0; }
CSAW_FN float plus(float so_far, float product) { return so_far + product; }

CSAW_REDUCER(add_up, nothing, plus);

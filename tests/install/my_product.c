/* SPDX-License-Identifier: MIT */
/* my_product.c - the product of a row. */
#include <csaw/reducer.h>

CSAW_FN float one(void) { return 1; }
CSAW_FN float times(float so_far, float product) { return so_far * product; }

CSAW_REDUCER(my_product, one, times);

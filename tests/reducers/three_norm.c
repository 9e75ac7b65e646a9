/* SPDX-License-Identifier: MIT */
/* tests/reducers/three_norm.c - the 3-norm of what came so far: a power and a root with every edge. */
#include <csaw/math.h>
#include <csaw/reducer.h>

CSAW_FN float nothing(void) { return 0; }
CSAW_FN float cube_root(float so_far, float product) {
    const double size = product < 0 ? -product : product;
    return (float)csaw_pow((double)so_far * so_far * so_far + size * size * size, 1.0 / 3);
}

CSAW_REDUCER(three_norm, nothing, cube_root);

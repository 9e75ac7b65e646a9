/* SPDX-License-Identifier: MIT */
/* tests/reducers/log_sum_exp.c - log of the sum of exp, by the larger of two; an empty row is log 0. */
#include <csaw/math.h>
#include <csaw/reducer.h>

CSAW_FN float log_of_zero(void) { return (float)csaw_log(0); }
CSAW_FN float log_add_exp(float so_far, float product) {
    const float high = so_far > product ? so_far : product, low = so_far > product ? product : so_far;
    return (float)(high + csaw_log1p(csaw_exp((double)low - high)));
}

CSAW_REDUCER(log_sum_exp, log_of_zero, log_add_exp);

/* SPDX-License-Identifier: MIT */
/* spmm/scatter_f64.c - gradients of MAX and MIN in float64. */
#define REAL double
#define SCATTER_FEATURES csaw__scatter_features_f64
#define SCATTER_WEIGHTS csaw__scatter_weights_f64
#include "spmm/scatter_rows.h"

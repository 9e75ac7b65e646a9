/* SPDX-License-Identifier: MIT */
/* spmm/scatter_f32.c - gradients of MAX and MIN in float32. */
#define REAL float
#define SCATTER_FEATURES csaw__scatter_features_f32
#define SCATTER_WEIGHTS csaw__scatter_weights_f32
#include "spmm/scatter_rows.h"

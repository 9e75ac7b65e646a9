/* SPDX-License-Identifier: MIT */
/* spmm/reduce_f64.c - rows reduced in float64. */
#define REAL double
#define REDUCE csaw__reduce_f64
#include "spmm/reduce_rows.h"

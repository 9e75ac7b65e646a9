/* SPDX-License-Identifier: MIT */
/* spmm/reduce_f32.c - rows reduced in float32. */
#define REAL float
#define REDUCE csaw__reduce_f32
#include "spmm/reduce_rows.h"

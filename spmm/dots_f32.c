/* SPDX-License-Identifier: MIT */
/* spmm/dots_f32.c - dot products of edges in float32. */
#define REAL float
#define DOTS csaw__dots_f32
#include "spmm/dots_rows.h"

/* SPDX-License-Identifier: MIT */
/* spmm/dots_f64.c - dot products of edges in float64. */
#define REAL double
#define DOTS csaw__dots_f64
#include "spmm/dots_rows.h"

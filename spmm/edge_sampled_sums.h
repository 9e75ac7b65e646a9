/* SPDX-License-Identifier: MIT */
/* spmm/edge_sampled_sums.h - the loops over columns: sums of weighted rows, and dot products of rows. Rows of matrices
 * are addressed in 64 bits. */
#ifndef CSAW_SPMM_EDGE_SAMPLED_SUMS_H
#define CSAW_SPMM_EDGE_SAMPLED_SUMS_H

#include "spmm/element.h"

/* sums: [m->cols] of float, or of double if exact. Adds weight[i] * (row index[i] of m) for i = 0 .. count - 1, one
 * after the other. */
void csaw__sums_add(const csaw_dense *m, const csaw_vertex *index, const float *weight, uint32_t count, bool exact,
                    void *sums);
/* sums += other, element by element. */
void csaw__sums_join(uint64_t cols, bool exact, void *sums, const void *other);
/* Row r of m = sums, rounded once to m's storage. */
void csaw__sums_store(const csaw_dense *m, uint64_t r, bool exact, const void *sums);

/* Row r of m in float32. out: [m->cols] */
void csaw__row_widen(const csaw_dense *m, uint64_t r, float *out);
/* <g, row r of m> by 32 lanes, as csaw/edge_sampled.h says. g: [m->cols] */
double csaw__row_dot(const csaw_dense *m, uint64_t r, const float *g, bool exact);

#endif

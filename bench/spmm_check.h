/* SPDX-License-Identifier: MIT */
/* bench/spmm_check.h - rows of an aggregation, and the loop that anyone would write for it. */
#ifndef CSAW_BENCH_SPMM_CHECK_H
#define CSAW_BENCH_SPMM_CHECK_H

#include <csaw/spmm.h>

/* The element of a matrix in any storage. */
double element_of(const csaw_dense *m, uint64_t row, uint64_t col);
void set_element(const csaw_dense *m, uint64_t row, uint64_t col, float value);

/* Elements of y = a x, SUM, that are out of the bound of csaw/spmm.h (and of y's storage) against sums in float64: of
 * about `rows` rows spread over the matrix, about as many of those longer than CSAW_CHUNK, and the longest one. */
uint64_t wrong_products(const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y, bool mean, uint64_t rows);
/* The same of MAX, of products in float32, to the bit, and of arg: the first edge with the largest product. */
uint64_t wrong_largest(const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y, const csaw_edge *arg,
                       uint64_t rows);
/* The same of y = a^T x; with arg of the edges alone that it names, column by column. Reads all edges once. */
uint64_t wrong_transposed(const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y, const csaw_edge *arg,
                          uint64_t rows);
/* The same of dweight[e] = <x[row of e], x[column of e]>, of about `edges` edges. */
uint64_t wrong_dots(const csaw_sparse *a, const csaw_dense *x, const float *dweight, uint64_t edges);
/* The same over the columns where arg names the edge, of all edges of about `rows` rows. */
uint64_t wrong_picked_dots(const csaw_sparse *a, const csaw_dense *x, const csaw_edge *arg, const float *dweight,
                           uint64_t rows);

/* Numbers of out that are not the softmax of score over the edges of their row to 2^-20 of it, of about `rows` rows and
 * of the longest one. */
uint64_t wrong_softmax(const csaw_sparse *a, const float *score, const float *out, uint64_t rows);
/* Numbers of dscore that are not out * (dout - <out, dout> of their row) to 2^-20 of the terms, likewise. */
uint64_t wrong_softmax_gradient(const csaw_sparse *a, const float *out, const float *dout, const float *dscore,
                                uint64_t rows);

/* y = a x in float32: for every row, every edge, every column. Rows are shared out in blocks of 64. */
void hand_spmm(const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/product.h - the features of csaw spmm, and the check of its results: products in double, row by row. */
#ifndef CSAW_CLI_PRODUCT_H
#define CSAW_CLI_PRODUCT_H

#include <csaw/spmm.h>

/* A matrix of rows x cols, taken from allocate(), and how many bytes it has. */
csaw_dense features_new(uint64_t rows, uint64_t cols, csaw_dtype dtype);
uint64_t features_bytes(const csaw_dense *m);
/* Multiples of 1/64 within [-1, 1), which every storage has; the same for the same seed. */
void features_fill(const csaw_dense *m, uint64_t seed);
/* NaN throughout. */
void features_poison(const csaw_dense *m);

typedef struct verdict {
    uint64_t checked, wrong; /* rows of the result */
    uint64_t beyond;         /* rows, not among these, with elements or sums of them that their storage does not hold */
    double worst;            /* of all elements, error as a share of its bound */
} verdict;

/* y = a x reduced, against double: about `rows` rows, spread evenly, and the longest one. The bound is that of
 * csaw/spmm.h, 2 n 2^-24 sum |weight x|, and half a unit of y's storage. arg: of MAX and MIN, the edges that were
 * picked, [rows, cols] of y, each the first whose product in float32 none exceeds; NULL = not looked at. */
verdict product_check(const csaw_sparse *a, const csaw_dense *x, csaw_reduce reduce, const csaw_dense *y,
                      const csaw_edge *arg, uint64_t rows);
/* dx = a^T dy. MEAN: each row of a divided by the number of its edges; MAX and MIN: of the edges alone that arg names,
 * column by column. */
verdict transposed_check(const csaw_sparse *a, const csaw_dense *dy, csaw_reduce reduce, const csaw_edge *arg,
                         const csaw_dense *dx, uint64_t rows);

#endif

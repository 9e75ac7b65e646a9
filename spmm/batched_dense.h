/* SPDX-License-Identifier: MIT */
/* spmm/batched_dense.h - the dense side of a batch: checks, and slices of columns of one graph's matrix as float32.
 *
 * Kernels see float32 alone. A slice of a matrix of float32 is where it stands; one of 16 bits is converted to scratch
 * memory and back, once for all the entries that read it. */
#ifndef CSAW_SPMM_BATCHED_DENSE_H
#define CSAW_SPMM_BATCHED_DENSE_H

#include "spmm/batched.h"

typedef enum csaw__side { CSAW__ROWS, CSAW__COLS } csaw__side; /* whether a matrix has a graph's rows or its columns */

typedef struct csaw__batched_dense {
    const csaw_batch *batch;
    csaw__side side;
    csaw_batched_dense d; /* its stride is never 0 by default */
} csaw__batched_dense;

/* Checks given, called name in messages. */
csaw_status csaw__batched_dense_check(const csaw_batch *batch, csaw__side side, const char *name,
                                      const csaw_batched_dense *given, csaw__batched_dense *out);

/* CSAW_EINVAL if a graph's matrix begins at the same place in both. */
csaw_status csaw__batched_apart_check(const csaw__batched_dense *out, const char *out_name,
                                      const csaw__batched_dense *in, const char *in_name);

/* Element (row, column) of graph g's matrix. */
void *csaw__batched_element(const csaw__batched_dense *m, uint64_t g, uint64_t row, uint64_t column);

typedef struct csaw__slice { /* element (i, c) is at[i * stride + c] */
    float *at;
    uint64_t stride, rows, cols;
} csaw__slice;

/* cols columns of graph g's matrix, from column `begin` on; scratch is used if they are of 16 bits. */
csaw__slice csaw__slice_read(const csaw__batched_dense *m, uint64_t g, uint64_t begin, uint64_t cols, float *scratch);

/* The same to be written: first open, then fill, then close. Nothing is filled in. */
csaw__slice csaw__slice_open(const csaw__batched_dense *m, uint64_t g, uint64_t begin, uint64_t cols, float *scratch);
void csaw__slice_close(const csaw__batched_dense *m, uint64_t g, uint64_t begin, const csaw__slice *slice);

/* n elements to and from float32. */
void csaw__load(csaw_dtype dtype, const void *from, uint64_t n, float *to);
void csaw__store(csaw_dtype dtype, const float *from, uint64_t n, void *to);

#endif

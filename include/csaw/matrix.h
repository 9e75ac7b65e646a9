/* SPDX-License-Identifier: MIT */
/* csaw/matrix.h - the matrices of aggregation, and what becomes of a row: types alone, which functions (csaw/spmm.h and
 * the headers beside it) share with kernels compiled at run time. */
#ifndef CSAW_MATRIX_H
#define CSAW_MATRIX_H

#include "types.h"

typedef enum csaw_dtype { /* how an element is stored */
                          CSAW_F32,
                          CSAW_F16, /* IEEE 754 binary16 */
                          CSAW_BF16 /* the upper half of a float32 */
} csaw_dtype;

typedef struct csaw_dense { /* row-major */
    uint64_t rows, cols;
    uint64_t stride; /* elements from one row to the next; 0 = cols */
    csaw_dtype dtype;
    void *data; /* [rows, stride] */
} csaw_dense;

typedef struct csaw_sparse { /* CSR: rows receive, columns send */
    uint64_t rows, cols;     /* cols at most 2^32 - 1 */
    uint64_t num_edges;
    const uint64_t *rowptr; /* [rows + 1], begins with 0 */
    const csaw_vertex *col; /* [num_edges]: any order within a row, repeated ones count apart */
    const float *weight;    /* [num_edges], NULL = all 1 */
} csaw_sparse;

/* Of the products of a row. */
typedef enum csaw_reduce {
    CSAW_SUM,
    CSAW_MEAN, /* the sum divided by the number of the row's edges */
    CSAW_MAX,  /* of equal products (-0 equals 0) the row's first; a NaN beats all, the first NaN of several */
    CSAW_MIN   /* likewise */
} csaw_reduce;

#endif

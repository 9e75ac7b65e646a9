/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk.h - MaxK on a GPU: the calls, what kernels are given, and how the work is laid out.
 *
 * Top-k: 1 to 32 lanes take a row, 64 columns each; above 2,048 columns the warps of a block do. Products: units of
 * work as in device_product.h, a row of at most CSAW_CHUNK edges or a chunk of a longer one; a group of lanes takes
 * one, and results of chunks are merged in order, without atomics. The paper's edge groups (MaxK-GNN, section 4.1, Fig.
 * 6) are these units, its two cases groups of fewer lanes than a warp and of a warp. Arguments were checked as far as
 * that can be done without looking at device memory; strides are as given. Without CUDA: no_device.c. */
#ifndef CSAW_SPMM_DEVICE_MAXK_H
#define CSAW_SPMM_DEVICE_MAXK_H

#include <csaw/maxk.h>

#include "spmm/check.h"
#include "spmm/device_product.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- calls; rows and cols of maxk's x are not 0 ---- */

csaw_status csaw__device_maxk(const csaw__where *where, const csaw_dense *x, const csaw_cbsr *out);
csaw_status csaw__device_maxk_dense(const csaw__where *where, const csaw_cbsr *m, const csaw_dense *out);
csaw_status csaw__device_maxk_gather(const csaw__where *where, const csaw_dense *x, const csaw_cbsr *out);
csaw_status csaw__device_maxk_spmm(const csaw__where *where, const csaw_sparse *a, const csaw_cbsr *x,
                                   const csaw_maxk_spmm_options *options, const csaw_dense *y);
csaw_status csaw__device_maxk_backward(const csaw__where *where, const csaw_sparse *a, const csaw_dense *dy,
                                       const csaw_maxk_spmm_options *options, const csaw_cbsr *dx);
csaw_status csaw__device_maxk_weight(const csaw__where *where, const csaw_sparse *a, const csaw_dense *dy,
                                     const csaw_cbsr *x, csaw_reduce reduce, float *dweight);

/* ---- tunables ---- */

enum {
    CSAW__MAXK_THREADS = 128,  /* of a block */
    CSAW__MAXK_NARROW = 256,   /* columns of a row of sums in shared memory, of an index of a byte; all there are */
    CSAW__MAXK_WIDE = 1024,    /* of an index of two bytes; more columns go in slices */
    CSAW__MAXK_IN_WARP = 2048, /* columns up to which a warp finds the k largest */
    CSAW__MAXK_FEW = 8,        /* elements of a row that are compared with each other */
    CSAW__MAXK_FAR = 3,        /* pivots of the search by the spacing of the rows before */
    CSAW__MAXK_ENTRIES = 4,    /* that a lane loads at once, where k and addresses allow */
    CSAW__MAXK_TRANSPOSE = 64  /* entries of a column whose additions take as long as making a transpose */
};

/* ---- which way back ---- */

typedef enum csaw__maxk_way {
    CSAW__MAXK_ATOMIC,   /* by rows of a, into the result by atomic additions */
    CSAW__MAXK_GATHERED, /* by rows of the transpose, entries alone */
    CSAW__MAXK_DENSE     /* by rows of the transpose, all columns, of which the entries are then taken */
} csaw__maxk_way;

/* turned: whether a transpose is at hand. On an H200, of 256 columns, float32 (ms; 110 million edges, 233,000 rows),
 * k = 8, 16, 32, 64, 96, 128, 192: atomic 2.14, 2.79, 4.86, 11.1, 17.8, 25.0, 37.6; gathered 11.0, 14.0, 17.0, 19.0 up
 * to 64; all columns 15.4 to 15.7, to which the entries add what reading them takes; 26.4 with a transpose that is
 * made. Additions cost 0.17 to 0.2 an entry, so deterministic is the default where it costs less than a quarter more:
 * from k = 128 of these 256 on. The transpose's 11 are 64 entries' at any number of columns, and the product's 0.06 a
 * column a quarter of an entry's. */
static inline csaw__maxk_way csaw__maxk_backward_way(const csaw_cbsr *dx, bool deterministic, bool turned) {
    if (deterministic) return dx->k * 8 >= dx->cols ? CSAW__MAXK_DENSE : CSAW__MAXK_GATHERED;
    if (turned) return dx->k * 4 > dx->cols ? CSAW__MAXK_DENSE : CSAW__MAXK_ATOMIC;
    return dx->k >= dx->cols / 4 + CSAW__MAXK_TRANSPOSE ? CSAW__MAXK_DENSE : CSAW__MAXK_ATOMIC;
}

/* By that way, whatever is the default: tests and benchmarks compare them. */
csaw_status csaw__device_maxk_backward_by(const csaw__where *where, csaw__maxk_way way, const csaw_sparse *a,
                                          const csaw_dense *dy, const csaw_maxk_spmm_options *options,
                                          const csaw_cbsr *dx);

/* ---- what kernels are given; device memory ---- */

typedef struct csaw__maxk_rows { /* rows of x to or from CBSR */
    csaw_dense x;                /* stride filled in */
    csaw_cbsr m;
} csaw__maxk_rows;

typedef void csaw__maxk_rows_kernel(csaw__maxk_rows);

typedef struct csaw__maxk_blocks { /* of a launch of one */
    unsigned threads;
    uint64_t rows;   /* of a block, at least */
    uint64_t shared; /* bytes */
    bool resident;   /* no more blocks than there can be at once: each takes its share of all rows */
} csaw__maxk_blocks;

typedef struct csaw__maxk_product {
    csaw__product p;               /* x: not of the forward product; y: what comes of it; heads 1 */
    csaw_cbsr m;                   /* the matrix of the columns of p's: read, or of the outer product added to */
    bool mean;                     /* of the outer product: weights are divided by the edges of their row */
    uint32_t entries, first_entry; /* of each row of m a launch takes so many, or what is left, from this one on */
    uint32_t span, steps;          /* entries that a group takes at once, and how often it does for an edge */
    uint32_t groups, width;        /* of a block; columns of its row in shared memory, or entries of a slice */
    float *sums;                   /* of the outer product: [rows, k] of m */
} csaw__maxk_product;

typedef void csaw__maxk_kernel(csaw__maxk_product);

#ifdef __cplusplus
}
#endif

#endif

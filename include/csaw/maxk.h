/* SPDX-License-Identifier: MIT */
/* csaw/maxk.h - MaxK: of every row of features the k largest, kept as a sparse matrix with k entries a row (CBSR), and
 * the two products that training needs of it.
 *
 *   csaw_cbsr h = {.rows = n, .cols = 256, .k = 32, .values = values, .index = index};   uint8 index: 256 columns
 *   csaw_maxk(&x, NULL, &h);                                      h = MaxK(x)
 *   csaw_maxk_spmm(&a, &h, NULL, &y);                             y = A h
 *   csaw_maxk_spmm_backward(&a, &dy, NULL, &dh);                  dh = A^T dy at the entries of h; dh.index = h.index
 *   csaw_maxk_dense(&dh, NULL, &dx);                              dx, the gradient of x
 *
 * Source: Peng et al., MaxK-GNN, ASPLOS 2024, sections 3 and 4. Errors, options, matrices and sums are as csaw.h and
 * spmm.h say. An index is not read before it is used, nor is a column of a or of the transpose given with it: check
 * what comes from elsewhere once, a CBSR matrix by csaw_cbsr_check(), a and its transpose by csaw_sparse_check(), or a
 * number out of range reads and writes outside.
 *
 * On a GPU, with device "cuda:N", as spmm.h says: arrays are memory of that GPU, nothing there is checked, nothing
 * waits, and the bits are the CPU's, with one exception: csaw_maxk_spmm_backward(), where it adds as `deterministic`
 * below says. The two checks read the host's memory. */
#ifndef CSAW_MAXK_H
#define CSAW_MAXK_H

#include "spmm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw_cbsr { /* "compressed balanced sparse row": k entries in every row, the other columns are 0 */
    uint64_t rows, cols;   /* cols: of the dense matrix that it stands for, at most 65,536 */
    uint64_t k;            /* 1 .. cols; 0 if cols is 0 */
    csaw_dtype dtype;      /* of values */
    void *values;          /* [rows, k] */
    void *index;           /* [rows, k] columns, ascending in each row: uint8 if cols is 256 or less, else uint16 */
} csaw_cbsr;

/* Bytes of one index: 1 for 256 columns or fewer, else 2. */
CSAW_API size_t csaw_cbsr_index_bytes(uint64_t cols);
/* Reads the index in full: CSAW_EINVAL names the first row that does not ascend below cols. */
CSAW_API csaw_status csaw_cbsr_check(const csaw_cbsr *m);

typedef struct csaw_maxk_options {
    size_t size;
    const char *device; /* NULL or "cpu"; "cuda:N": see above */
    void *stream;       /* a cudaStream_t of the device; NULL = the default stream */
} csaw_maxk_options;

/* The out->k largest of each row of x: [rows, cols], same shape and dtype as out, whose values and index are written.
 * Of equal elements the lowest columns are kept; -0 equals +0; NaN is larger than any number, and NaNs equal each
 * other. Entries stand by ascending column, values as they are in x, bit for bit. */
CSAW_API csaw_status csaw_maxk(const csaw_dense *x, const csaw_maxk_options *options, const csaw_cbsr *out);

/* The dense matrix that m stands for: out, same shape and dtype, is m->values at the entries and +0 elsewhere. With the
 * gradient of csaw_maxk()'s output in m, out is the gradient of its input (section 3.1, ii). */
CSAW_API csaw_status csaw_maxk_dense(const csaw_cbsr *m, const csaw_maxk_options *options, const csaw_dense *out);

/* The other way: out->values are the elements of x at the entries that out->index names; same shape and dtype. For a
 * gradient that comes dense, as that of GIN's own vertex does, beside the one that comes over the edges. */
CSAW_API csaw_status csaw_maxk_gather(const csaw_dense *x, const csaw_maxk_options *options, const csaw_cbsr *out);

typedef struct csaw_maxk_spmm_options {
    size_t size;
    const char *device;           /* NULL or "cpu"; "cuda:N": see above */
    csaw_reduce reduce;           /* CSAW_SUM, or CSAW_MEAN: each sum divided by the number of edges of its row of a */
    const csaw_sparse *transpose; /* csaw_maxk_spmm_backward(): a transposed, weights too, rows by ascending row of a
                                     (of an undirected graph, a itself); default: the plan's; without one made by the
                                     call, 4 bytes an edge, 8 with weights, and 8 a column (on a GPU 12 an edge, 16
                                     with weights or CSAW_MEAN, more while it is made, and of one that is given 4 with
                                     CSAW_MEAN). Atomic additions (see `deterministic`) make none. The other functions
                                     do not read it */
    void *stream;                 /* a cudaStream_t of the device; NULL = the default stream */
    bool deterministic; /* csaw_maxk_spmm_backward() on a GPU: the CPU's bits, by rows of the transpose: entries alone
                           for k below cols / 8, else a dense gradient of which they are taken, which is rows x cols
                           elements of dx's storage in work memory (CSAW_EDEVMEM where there is no room for it).
                           Default: algorithm 2 of the paper, by atomic additions, whose sums run in an order that
                           changes from call to call, and with it their last bits; the bound below holds. It is the
                           faster the smaller k is (docs/maxk.md): for k above cols / 4 where a transpose is at hand,
                           given or a plan's, and for k from cols / 4 + 64 on without one, the dense gradient is taken
                           by default, too, with the transpose made, unless its memory is refused. All else is
                           deterministic anyway */
    const csaw_spmm_plan *plan; /* of a and this device; NULL = none. csaw_maxk_spmm_backward() takes its transpose:
                                   weights in its order are 4 bytes an edge (on a GPU with CSAW_MEAN too), unless
                                   they are fixed. On a GPU work memory comes from its pool. CSAW_EINVAL: a plan of
                                   another matrix or device, or, in that function, with a transpose */
} csaw_maxk_spmm_options;

/* Sums below: of the edges of a row of a (backward: of the transpose), in chunks of 256 from its start; the products of
 * a chunk are added to +0 one by one, the sums of the chunks to the first of them. With n edges, |error| <= 2 n 2^-24
 * sum |weight x|, beside the rounding of the storage. Where weights are finite, y is bit for bit what adding up the
 * dense rows of csaw_maxk_dense() in that order gives. */

/* Forward (section 4.1), row-wise SpGEMM: y[i, :] = sum over the edges e of row i, from column j: weight[e] * x[j, :].
 * x: [a->cols, n]; y: [a->rows, n], of any storage, written whole; rows without edges are 0. */
CSAW_API csaw_status csaw_maxk_spmm(const csaw_sparse *a, const csaw_cbsr *x, const csaw_maxk_spmm_options *options,
                                    const csaw_dense *y);

/* Backward (section 4.2), SSpMM: dx->values[j, t] = sum over the edges e into column j, from row i ascending:
 * weight[e] * dy[i, dx->index[j, t]]; with mean, weight[e] / (edges of row i) in place of weight[e].
 * dy: [a->rows, n], of any storage; dx: [a->cols, n], its index given, its values written. a: at most 2^32 - 1 rows. */
CSAW_API csaw_status csaw_maxk_spmm_backward(const csaw_sparse *a, const csaw_dense *dy,
                                             const csaw_maxk_spmm_options *options, const csaw_cbsr *dx);

/* Gradient of the weights: dweight[e] = sum over t of dy[i, x->index[j, t]] * x->values[j, t], for each edge e of row
 * i, from column j; with mean, divided by the edges of row i. Product t goes to sum t mod 16; the sixteen are added in
 * halves: 8 to 8, 4 to 4, 2 to 2, 1 to 1. dy: [a->rows, n], x: [a->cols, n]; dweight: [num_edges]. */
CSAW_API csaw_status csaw_maxk_spmm_backward_weight(const csaw_sparse *a, const csaw_dense *dy, const csaw_cbsr *x,
                                                    const csaw_maxk_spmm_options *options, float *dweight);

/* Options without ceremony (C): CSAW_MAXK_SPMM(.reduce = CSAW_MEAN). */
#define CSAW_MAXK(...) (&(csaw_maxk_options){.size = sizeof(csaw_maxk_options), __VA_ARGS__})
#define CSAW_MAXK_SPMM(...) (&(csaw_maxk_spmm_options){.size = sizeof(csaw_maxk_spmm_options), __VA_ARGS__})

#ifdef __cplusplus
}
#endif
#endif

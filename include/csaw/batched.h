/* SPDX-License-Identifier: MIT */
/* csaw/batched.h - many small graphs, each times its own dense features, in one call: molecules, samples one by one.
 *
 *   csaw_batch_list() or csaw_batch_join()  ->  csaw_batched_spmm()  ->  csaw_batched_spmm_backward()
 *
 * Source: Nagasaka, Nukada, Kojima, Matsuoka, "Batched Sparse Matrix Multiplication for Accelerating Graph
 * Convolutional Networks", CCGrid 2019. COO (TensorFlow's SparseTensor) and CSR are read as they stand, backward too;
 * on a GPU a batch copies its entries by row and by column once. What csaw/spmm.h says of errors, outputs and threads
 * holds here. Sums are taken in float32, in an order that is stated at each function; entries of a graph that stand in
 * the same order within each row give the same y from COO and from CSR, to the bit.
 *
 * On a GPU: a batch of device "cuda:N" has all arrays that its structs name, and all that its products are given, in
 * the memory of that GPU, csaw_batched_dense.each and what it points to included; structs stay on the host. The bits
 * are the CPU's, but for sign and payload of a NaN. csaw_batch_list(), csaw_batch_join() and csaw_batch_free() wait for
 * the GPU. Products do not, and take no memory, so that they can be recorded in a CUDA graph; entries of arg that are
 * no entry of their row count as CSAW_NONE there. exact is for the CPU: CSAW_EUNSUPPORTED. */
#ifndef CSAW_BATCHED_H
#define CSAW_BATCHED_H

#include "spmm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a batch: which graphs ------------------------------------------------- */

typedef enum csaw_format {
    CSAW_COO, /* (row, column) of every entry, in any order */
    CSAW_CSR  /* rowptr and columns */
} csaw_format;

typedef struct csaw_small { /* a sparse matrix of rows x cols: rows receive, columns send */
    uint64_t rows, cols;    /* at most 2^32 - 2 each */
    uint64_t num_edges;     /* at most 2^32 - 2; repeated ones count apart */
    csaw_format format;
    const csaw_vertex *row; /* COO: entry k's row is row[k * index_stride] */
    const uint64_t *rowptr; /* CSR: [rows + 1], begins with 0, ends with num_edges */
    const csaw_vertex *col; /* entry k's column is col[k * index_stride] */
    uint64_t index_stride;  /* 0 = 1; 2 = pairs as in a SparseTensor: row = ids, col = ids + 1 */
    const float *weight;    /* [num_edges], NULL = all 1 */
} csaw_small;

typedef struct csaw_small_graphs { /* graph after graph in shared arrays */
    uint64_t num_graphs;
    csaw_format format;
    const uint64_t *row_offset;  /* [num_graphs + 1]: graph g has rows row_offset[g] .. row_offset[g + 1] - 1 */
    const uint64_t *col_offset;  /* [num_graphs + 1]: likewise columns; NULL = row_offset: square matrices */
    const uint64_t *edge_offset; /* COO: [num_graphs + 1]: likewise entries */
    const csaw_vertex *row;      /* COO: [edge_offset[num_graphs]], with index_stride */
    const uint64_t *rowptr;      /* CSR: [row_offset[num_graphs] + 1]: one through all rows, as csaw_subgraph_view */
    const csaw_vertex *col;      /* one per entry, with index_stride */
    uint64_t index_stride;       /* as in csaw_small */
    const float *weight;         /* one per entry, NULL = all 1 */
    bool global;                 /* row and col count through the batch (PyTorch Geometric); default: from 0 in each */
} csaw_small_graphs;

typedef struct csaw_batch csaw_batch; /* immutable: threads may share it */

typedef struct csaw_batch_options {
    size_t size;
    const char *device; /* NULL or "cpu"; "cuda:N": where the arrays are and products run */
    void *stream;       /* a cudaStream_t of the device, in which the arrays are ready; NULL = the default stream */
} csaw_batch_options;

/* Both borrow the arrays of the graphs, which outlive the batch and stay as they are, and keep one array of
 * descriptors. Both read every offset and index once, so that products need not: CSAW_EINVAL names the graph and the
 * entry. The structs are read during the call alone. Batches of up to 2^32 - 2 graphs; on a GPU also of up to 2^32 - 2
 * rows in sum, as many columns and as many entries, times features of up to 2^30 - 1 columns, whose rows are no farther
 * apart. There weights are copied: those that change are given to each product (csaw_batched_options.weight). */
CSAW_API csaw_status csaw_batch_list(const csaw_small *graphs, uint64_t num_graphs, const csaw_batch_options *options,
                                     csaw_batch **out); /* graphs: [num_graphs] */
CSAW_API csaw_status csaw_batch_join(const csaw_small_graphs *graphs, const csaw_batch_options *options,
                                     csaw_batch **out);
CSAW_API void csaw_batch_free(csaw_batch *batch);

/* Sums over the graphs: the sizes of what the functions below take. */
typedef struct csaw_batch_totals {
    uint64_t graphs, rows, cols, edges;
} csaw_batch_totals;
CSAW_API csaw_batch_totals csaw_batch_count(const csaw_batch *batch);

/* ---- products --------------------------------------------------------------- */

typedef struct csaw_batched_dense { /* a dense matrix for every graph, row-major, all of the same width */
    uint64_t rows;                  /* of data: the sum over the graphs; not read where each is given */
    uint64_t cols;
    uint64_t stride; /* elements from one row to the next; 0 = cols */
    csaw_dtype dtype;
    void *data;        /* [rows, stride]: graph after graph; or NULL, and */
    void *const *each; /* [num_graphs]: graph g's matrix, [its rows, stride] */
} csaw_batched_dense;

typedef struct csaw_batched_options {
    size_t size;
    csaw_reduce reduce;
    uint32_t *arg; /* MAX and MIN: [sum of rows, cols], graph after graph: which entry of the graph won, counted from
                      0 in each graph; CSAW_NONE in empty rows. Written by csaw_batched_spmm() unless NULL; read by
                      csaw_batched_spmm_backward() */
    void *stream;  /* a cudaStream_t of the batch's GPU; NULL = the default stream */
    const float *weight; /* [sum of edges], graph after graph, each graph's in the order in which its entries were
                            given: of this call, in place of the batch's, so that weights that are trained need no new
                            batch. On a GPU in its memory. NULL = the batch's */
    bool exact;          /* sums and products in float64, rounded once when stored: a reference, and slower */
} csaw_batched_options;

/* y_g[i, :] = REDUCE over the entries (i, j) of graph g of w * x_g[j, :], for every g.
 * x has a matrix of [cols, N] for every graph, y one of [rows, N]; their storage may differ. SUM and MEAN add to 0 one
 * product after the other, in the order of entries; "first" of MAX and MIN is by that order too. Empty rows give 0. */
CSAW_API csaw_status csaw_batched_spmm(const csaw_batch *batch, const csaw_batched_dense *x,
                                       const csaw_batched_options *options, const csaw_batched_dense *y);

/* Gradients, from dy, that of y, with the options of the forward product. Outputs may be NULL: not wanted. CSAW_EINVAL
 * names an element of arg that is no entry of its row.
 *
 * dx, that of x, is written whole: dx_g[j, :] = sum over the entries (i, j) of w * dy_g[i, :], for MEAN with w divided
 * by the number of the row's entries, for MAX and MIN of those places where the entry won; added to 0 in the order of
 * entries.
 *
 * dw: [sum of edges] float32, graph after graph, that of each weight: the dot product of dy_g[i, :] and x_g[j, :], for
 * MEAN then divided by that number, for MAX and MIN of the places where the entry won. Product c goes to sum c mod 16;
 * the sixteen are added in halves: 8 to 8, 4 to 4, 2 to 2, 1 to 1.
 *
 * x is read for dw alone and may else be NULL. */
CSAW_API csaw_status csaw_batched_spmm_backward(const csaw_batch *batch, const csaw_batched_dense *x,
                                                const csaw_batched_dense *dy, const csaw_batched_options *options,
                                                const csaw_batched_dense *dx, float *dw);

/* Options without ceremony (C): CSAW_BATCHED(.reduce = CSAW_MEAN). */
#define CSAW_BATCHED(...) (&(csaw_batched_options){.size = sizeof(csaw_batched_options), __VA_ARGS__})

#ifdef __cplusplus
}
#endif
#endif

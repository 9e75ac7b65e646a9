/* SPDX-License-Identifier: MIT */
/* csaw/spmm.h - aggregation: a sparse matrix times dense features, and what training needs of it.
 *
 *   csaw_sparse a = csaw_graph_sparse(graph);
 *   csaw_spmm(&a, &x, CSAW_SPMM(.reduce = CSAW_MEAN), &y);                forward
 *   csaw_spmm_backward(&a, &x, &dy, CSAW_SPMM(.reduce = CSAW_MEAN), &dx, NULL);
 *
 * Said once for all functions here: errors, ownership and options are as in csaw.h. Matrices are borrowed for the call;
 * outputs are written whole, whatever stood there, and may not overlap inputs. Sums are taken in float32 whatever the
 * storage, in an order that hangs on the matrix alone: equal inputs give equal bits, whatever the number of threads.
 *
 * On a GPU: with device "cuda:N" every array named here, of matrices and options alike, is memory of that GPU; structs
 * and plans stay on the host. The bits are the CPU's, but for sign and payload of a NaN. Calls put their work into the
 * stream and return before it is done; arrays and reducers must stay until it is. None waits for the GPU but
 * csaw_spmm_prepare() and csaw_spmm_plan_free(), and the former alone checks what stands in rowptr and col: check what
 * comes from elsewhere. Entries of arg that are no edge of their row count as CSAW_NO_EDGE in a backward pass. Work
 * memory is taken and released in the stream's order, with a plan from a pool of the plan's, which keeps it, else from
 * one of the process, which keeps up to a 64th of each GPU's memory. exact is for the CPU: CSAW_EUNSUPPORTED. */
#ifndef CSAW_SPMM_H
#define CSAW_SPMM_H

#include "csaw.h"
#include "matrix.h" /* csaw_dense, csaw_sparse, csaw_dtype, csaw_reduce */
#include "reducer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A graph as a matrix: row v holds the arcs out of v. Borrowed from the graph; of one that a rank holds a part of
 * (csaw_graph_load_split()) a matrix without rows. */
CSAW_API csaw_sparse csaw_graph_sparse(const csaw_graph *graph);
/* A block as a matrix, [num_dst, num_src]. weight: [num_edges] of the block, NULL = all 1. Borrowed from both. */
CSAW_API csaw_sparse csaw_block_sparse(const csaw_block_view *block, const float *weight);
/* The weights of a block's arcs in the graph that was sampled, 1 where it has none: out [block->num_edges], the weight
 * of csaw_block_sparse(). CSAW_EINVAL: the block names an edge past the graph's last; that is all that shows a graph to
 * be another one than was sampled. CSAW_EUNSUPPORTED: the block is in a GPU's memory; csaw_plan_weights()
 * (csaw/training.h) takes it. */
CSAW_API csaw_status csaw_block_weights(const csaw_graph *graph, const csaw_block_view *block, float *out);
/* Reads the matrix in full: rowptr ascends from 0 to num_edges, every column is below cols. Functions below check
 * rowptr alone, so a column out of range makes them read or write outside x: check what comes from elsewhere. */
CSAW_API csaw_status csaw_sparse_check(const csaw_sparse *a);

/* ---- what is found out beforehand ------------------------------------------ */

/* The long rows of a matrix, and its transpose with the place of each edge: 12 bytes an edge, 8 a column; on a GPU
 * the lengths of rows too, 4 bytes each, where they are 32 edges on average, the order of dot products, a byte an edge,
 * where stretches begin, 4 bytes for 16 rows and edges of the matrix and of its transpose, and of each of these two
 * that has 16 edges a row on average its rows listed by length, 16 bytes each, and as many for each 256 edges of a
 * longer one. On a GPU a matrix of up to 2^22 edges, and no more rows or columns than edges, and its transpose are kept
 * a second time, each where its rows can be reordered so that those that name the same columns stand near each other: 4
 * bytes an edge and 16 a row, and what is kept of long rows again. Belongs to rowptr and col of the matrix, which must
 * stay as they are while it lives; weights may change, unless fixed. May be shared between threads. */
typedef struct csaw_spmm_plan csaw_spmm_plan;

typedef struct csaw_prepare_options {
    size_t size;
    const char *device; /* NULL or "cpu"; "cuda:N": see above */
    bool fixed_weights; /* the weights stay as they are too: the plan keeps a copy of them in the transpose's order, and
                           backward passes with the same array of weights need not look them up. 4 bytes an edge and
                           head; where a plan on a GPU reorders rows, up to 8 more, and products read copies too */
    uint32_t heads;     /* of fixed weights, [num_edges, heads]; default 1 */
    void *stream;       /* a cudaStream_t of the device; NULL = the default stream */
    bool hubs;  /* finds the columns that most edges name, whose features CSAW_SPMM_HUBS keeps in shared memory, of
                   the matrix and of its transpose: 8 bytes an edge. CSAW_EUNSUPPORTED on the CPU */
    bool means; /* for dx of MEAN on a GPU, without weights or with fixed ones: keeps them in the transpose's order,
                   divided by the number of edges of each row, which such calls else do each time. 4 bytes an edge
                   and head. CSAW_EINVAL with weights that are not fixed */
} csaw_prepare_options;

/* Checks the matrix as csaw_sparse_check() does. a: at most 2^32 - 1 rows. */
CSAW_API csaw_status csaw_spmm_prepare(const csaw_sparse *a, const csaw_prepare_options *options, csaw_spmm_plan **out);
CSAW_API void csaw_spmm_plan_free(csaw_spmm_plan *plan);

/* ---- SpMM -------------------------------------------------------------------- */

/* Kernels of csaw_spmm() on a GPU; all give the same bits. Lanes take a row of at most CSAW_CHUNK edges, or one chunk
 * of so many edges of a longer row, so that hubs are shared out whatever the method. A lane holds a vector of columns,
 * 16 bytes of x where strides and addresses allow; with more columns than the lanes hold, slices of columns go one
 * after the other. CRC and CWM are of GE-SpMM (Huang et al., SC'20), whose coarsening factor is CF. */
typedef enum csaw_spmm_method {
    CSAW_SPMM_AUTO,      /* by columns, storage and lengths of rows: docs/aggregation.md has the table */
    CSAW_SPMM_CRC,       /* Coalesced Row Caching, CF = 1: a warp takes a row, each lane has one vector */
    CSAW_SPMM_CWM2,      /* Coarse-grained Warp Merging, CF = 2: each lane has two vectors */
    CSAW_SPMM_CWM4,      /* CF = 4 */
    CSAW_SPMM_SUBWARP16, /* 16 lanes take a row: two rows a warp */
    CSAW_SPMM_SUBWARP8,  /* four rows a warp */
    CSAW_SPMM_SUBWARP4,  /* eight */
    CSAW_SPMM_HUBS,      /* as SUBWARP8, but hubs' features stay in shared memory, and blocks take rows until none is
                            left: with a plan that was prepared with hubs */
    CSAW_SPMM_STRETCHES  /* a warp takes as many rows and edges as any other, a lane as few columns as hold the row: for
                            matrices of few edges. 2^31 rows, and rows of x of 4 GiB are as by CRC */
} csaw_spmm_method;
CSAW_API const char *csaw_spmm_method_name(csaw_spmm_method method); /* "auto", "crc", ...; NULL if out of range */

typedef struct csaw_spmm_options {
    size_t size;
    csaw_reduce reduce;
    const char *device; /* NULL or "cpu"; "cuda:N": see above */
    uint32_t heads; /* default 1. Head h is columns h * cols / heads up to those of head h + 1 and has weights of its
                       own: weight and dweight are [num_edges, heads]. heads divides cols. */
    bool exact;     /* sums and products in float64, rounded once when stored: a reference, and slower */
    csaw_edge *arg; /* [rows, cols] of MAX and MIN: the edge that each element came from, CSAW_NO_EDGE in empty rows.
                       csaw_spmm() writes it (NULL = not wanted), csaw_spmm_backward() reads it */
    const csaw_spmm_plan *plan;  /* of this matrix and device; NULL = each call finds out by itself */
    void *stream;                /* a cudaStream_t of the device; NULL = the default stream */
    const csaw_reducer *reducer; /* yours (csaw/reducer.h), in place of reduce: forward, in float32. Its order of edges
                                    is not that of chunks, and an empty row is its init() */
    csaw_spmm_method method; /* on a GPU, of the product and of the product with the transpose, which is the gradient
                                dx of SUM and MEAN. CSAW_EUNSUPPORTED on the CPU, but for AUTO */
} csaw_spmm_options;

/* y[i, c] = reduce over the edges e of row i, from column j: weight[e] * x[j, c]; 0 in an empty row.
 * x: [a->cols, n], y: [a->rows, n], of any storage each.
 * Order of a sum: chunks of CSAW_CHUNK edges from the row's start; the products of a chunk are added to 0 one by one,
 * the sums of the chunks to the first of them. With n edges in a row, |y - exact| <= 2 n 2^-24 sum |weight x|, beside
 * the rounding of the storage. */
#define CSAW_CHUNK 256
CSAW_API csaw_status csaw_spmm(const csaw_sparse *a, const csaw_dense *x, const csaw_spmm_options *options,
                               const csaw_dense *y);

/* Gradients of csaw_spmm() with the same options, from dy: [a->rows, n], the gradient of y:
 *   dx        [a->cols, n], of any storage; NULL = not wanted
 *   dweight   [num_edges, heads] float32; NULL = not wanted. SUM and MEAN need x for it, and so do MAX and MIN
 * x may be NULL where dweight is. dx of SUM and MEAN is csaw_spmm() of the transpose, whose rows hold their edges by
 * ascending row of a, with weights divided by the number of edges for MEAN; without a plan each call transposes. MAX
 * and MIN need arg as csaw_spmm() wrote it and send each element of dy to one place; sums of dx run in the same order
 * and chunks as those of SUM, of what won, and sums of dweight by ascending column. On a GPU they transpose
 * too, a matrix of at most 2^32 - 1 rows. CSAW_EINVAL: an entry of arg is no edge of its row, on the CPU. */
CSAW_API csaw_status csaw_spmm_backward(const csaw_sparse *a, const csaw_dense *x, const csaw_dense *dy,
                                        const csaw_spmm_options *options, const csaw_dense *dx, float *dweight);

/* The bytes of work memory that csaw_spmm() and csaw_spmm_backward() take with the same arguments, which are looked at
 * as they are there, but neither read nor written on a GPU. On a GPU it comes from a pool (see above), which rounds
 * each of a few pieces up. On the CPU the gradient dx without a plan takes at most so much, every other call exactly so
 * much. */
CSAW_API csaw_status csaw_spmm_work_bytes(const csaw_sparse *a, const csaw_dense *x, const csaw_spmm_options *options,
                                          const csaw_dense *y, uint64_t *bytes);
CSAW_API csaw_status csaw_spmm_backward_work_bytes(const csaw_sparse *a, const csaw_dense *x, const csaw_dense *dy,
                                                   const csaw_spmm_options *options, const csaw_dense *dx,
                                                   const float *dweight, uint64_t *bytes);

/* Compiles a reducer file (csaw/reducer.h) as csaw_sampler_compile() does a sampler file, and loads it. Kernels for the
 * GPU are compiled one by one when csaw_spmm() first needs them, and cached: CSAW_ECOMPILE if the file is C, but not
 * CUDA C++. */
CSAW_API csaw_status csaw_reducer_compile(const char *path, const csaw_reducer **out);
CSAW_API void csaw_reducer_unload(const csaw_reducer *reducer); /* of csaw_reducer_compile(), when no call with it runs
                                                                   any more, on a GPU either; NULL is fine */

/* ---- attention ----------------------------------------------------------------- */

typedef struct csaw_edge_options {
    size_t size;
    const char *device; /* NULL or "cpu"; "cuda:N": see above */
    uint32_t heads;     /* default 1; divides the columns of csaw_sddmm() */
    bool exact;         /* csaw_sddmm(): products and sums in float64. The others refuse it: CSAW_EINVAL */
    void *stream;       /* a cudaStream_t of the device; NULL = the default stream */
} csaw_edge_options;

/* SDDMM: out[e, h] = <x[i, head h], y[j, head h]> for every edge e from column j to row i; the weights of a are not
 * read. x: [a->rows, n], y: [a->cols, n], out: [num_edges, heads]. Product c of a head goes to sum c mod 32; the 32
 * are added in halves: 16 to 16, 8 to 8, 4 to 4, 2 to 2, 1 to 1. Its gradients are csaw_spmm() (dx) and
 * csaw_spmm_backward() (dy) with the gradient of out for weights. */
CSAW_API csaw_status csaw_sddmm(const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y,
                                const csaw_edge_options *options, float *out);

/* Softmax over the edges of each row, by head: out[e, h] = exp(score[e, h] - m) / sum exp(score - m), m the largest of
 * the row. All [num_edges, heads] float32; the weights of a are not read. Exponentials and sums are taken in float64.
 * An edge with -infinity gets 0; a row with NaN, with +infinity, or with -infinity alone becomes NaN, as in PyTorch. */
CSAW_API csaw_status csaw_edge_softmax(const csaw_sparse *a, const float *score, const csaw_edge_options *options,
                                       float *out);
/* dscore[e, h] = out[e, h] * (dout[e, h] - sum over the row of out * dout); out as csaw_edge_softmax() wrote it. */
CSAW_API csaw_status csaw_edge_softmax_backward(const csaw_sparse *a, const float *out, const float *dout,
                                                const csaw_edge_options *options, float *dscore);

/* Options without ceremony (C): CSAW_SPMM(.reduce = CSAW_MAX, .arg = arg). */
#define CSAW_SPMM(...) (&(csaw_spmm_options){.size = sizeof(csaw_spmm_options), __VA_ARGS__})
#define CSAW_PREPARE(...) (&(csaw_prepare_options){.size = sizeof(csaw_prepare_options), __VA_ARGS__})
#define CSAW_EDGES(...) (&(csaw_edge_options){.size = sizeof(csaw_edge_options), __VA_ARGS__})

#ifdef __cplusplus
}
#endif
#endif

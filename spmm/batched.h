/* SPDX-License-Identifier: MIT */
/* spmm/batched.h - what a batch of small graphs consists of, and how its work is dealt out.
 *
 * One array of descriptors holds all that a product needs to know of a graph, so that a GPU can be given it as it is.
 * Graphs that follow each other are grouped in pieces of about equal work; a graph that is no longer small is a piece
 * of its own, and its columns are dealt out in slices. Pieces and slices hang on the batch and the width alone, and no
 * two of them write to one place, so no number of threads changes a bit. */
#ifndef CSAW_SPMM_BATCHED_H
#define CSAW_SPMM_BATCHED_H

#include <csaw/batched.h>

typedef struct csaw__small {
    const uint64_t *rowptr;       /* [rows + 1], CSR: entry k of the graph is place rowptr[0] + k; or NULL */
    const csaw_vertex *row, *col; /* place k is row[k * index_stride], if COO, and col[k * index_stride] */
    const float *weight;          /* place k is weight[k]; NULL = all 1 */
    uint64_t index_stride;        /* at least 1 */
    uint64_t row_begin, col_begin, num_begin; /* rows, columns and entries of the graphs before it */
    csaw_vertex rows, cols, num_edges;
    csaw_vertex row_base, col_base; /* what to subtract from row and col */
} csaw__small;

typedef struct csaw__piece {
    uint64_t first, end; /* graphs */
} csaw__piece;

struct csaw_batch {
    csaw_batch_totals total;
    csaw__small *graph; /* [total.graphs] */
    csaw__piece *piece; /* [num_pieces], the first num_large of one graph each that is worth several threads */
    uint64_t num_pieces, num_large;
    csaw_vertex most;                  /* rows or columns of a graph */
    int ordinal;                       /* of the GPU that has the arrays; -1 = the CPU, and */
    struct csaw__device_batch *device; /* NULL; with a GPU there are no pieces */
};

/* csaw__batch_deal: pieces, from the descriptors. */
csaw_status csaw__batch_deal(csaw_batch *batch);

/* Columns [begin, end) of a graph at a time: as many as leave a matrix of the graph's size within L1, and 16 at least.
 */
#define CSAW__SLICE_COLUMNS 16ull
#define CSAW__SLICE_ELEMENTS 32768ull

static inline uint64_t csaw__slice_width(const csaw__small *g, uint64_t cols) {
    const uint64_t most = g->rows > g->cols ? g->rows : g->cols;
    const uint64_t width = most ? CSAW__SLICE_ELEMENTS / most / CSAW__SLICE_COLUMNS * CSAW__SLICE_COLUMNS : cols;
    return width >= cols ? cols : width > CSAW__SLICE_COLUMNS ? width : CSAW__SLICE_COLUMNS;
}

/* The elements that a slice of any graph of the batch may have. */
static inline uint64_t csaw__slice_most(const csaw_batch *batch) {
    const uint64_t least = CSAW__SLICE_COLUMNS * batch->most;
    return least > CSAW__SLICE_ELEMENTS ? least : CSAW__SLICE_ELEMENTS;
}

/* What one thread may write to besides the outputs. */
typedef struct csaw__scratch {
    double *sum;     /* [csaw__slice_most()] */
    float *in, *out; /* the same */
    uint32_t *arg;   /* the same */
    uint32_t *count; /* [batch->most] */
} csaw__scratch;

/* Which of these a job needs. */
typedef struct csaw__needs {
    bool sum, in, out, arg, count;
} csaw__needs;

/* Part `part` of `parts` of the work of graph g. */
typedef void csaw__batch_work(const void *job, uint64_t g, uint64_t part, uint64_t parts, const csaw__scratch *scratch);

/* Calls work for every graph: large ones in as many parts as cols make slices, all others in one part. */
csaw_status csaw__batch_run(const csaw_batch *batch, uint64_t cols, csaw__needs needs, csaw__batch_work *work,
                            const void *job);

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/scatter.h - the backward pass of MAX and MIN: every element of the gradient goes to the one edge that its output
 * came from. */
#ifndef CSAW_SPMM_SCATTER_H
#define CSAW_SPMM_SCATTER_H

#include "spmm/by_column.h"
#include "spmm/element.h"

enum { CSAW__SCATTER_WIDTH = 16 }; /* a thread takes a multiple of so many columns: a cache line of float32 */

/* Columns of each thread. */
static inline uint64_t csaw__scatter_width(uint64_t cols, uint64_t threads) {
    const uint64_t lines = (cols + CSAW__SCATTER_WIDTH - 1) / CSAW__SCATTER_WIDTH;
    return (lines + threads - 1) / threads * CSAW__SCATTER_WIDTH;
}

typedef struct csaw__scatter {
    csaw_sparse a;        /* weight: [num_edges, heads] or NULL */
    csaw_dense x, dy, dx; /* strides filled in */
    uint32_t heads;
    const csaw_edge *arg;               /* [rows, cols of dy] */
    float *dweight;                     /* [num_edges, heads] */
    csaw__column_chunks chunks;         /* of features */
    uint64_t threads, num_chunks;       /* likewise; num_chunks: of chunks.first */
    void *features_room, *weights_room; /* all of csaw__scatter_room(); NULL = sums stay where they go */
    void *chunks_room;                  /* sums of the chunks at hand, and their numbers */
} csaw__scatter;

/* Every entry of arg is an edge of its row, or CSAW_NO_EDGE in an empty one. */
csaw_status csaw__scatter_check(const csaw__scatter *s);
/* Takes memory for sums of the features wanted, and of the weights wanted; csaw__free() releases both, even if it
 * fails. And how many bytes that is. */
uint64_t csaw__scatter_bytes(const csaw__scatter *s, bool features, bool weights, bool exact);
csaw_status csaw__scatter_room(csaw__scatter *s, bool features, bool weights, bool exact);
/* Two instances of scatter_rows.h: dx from a, dy and arg; dweight from a, x, dy and arg. arg was checked. */
void csaw__scatter_features_f32(const csaw__scatter *s);
void csaw__scatter_features_f64(const csaw__scatter *s);
void csaw__scatter_weights_f32(const csaw__scatter *s);
void csaw__scatter_weights_f64(const csaw__scatter *s);

#endif

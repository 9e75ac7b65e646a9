/* SPDX-License-Identifier: MIT */
/* spmm/reduce.h - the rows of a sparse matrix times dense features, in float32 or in float64. */
#ifndef CSAW_SPMM_REDUCE_H
#define CSAW_SPMM_REDUCE_H

#include "spmm/element.h"
#include "spmm/rows.h"

typedef struct csaw__reduction { /* checked arguments of csaw_spmm() */
    csaw_sparse a;               /* weight: [num_edges, heads] or NULL */
    csaw_dense x, y;             /* strides filled in */
    csaw_reduce reduce;
    uint32_t heads;
    csaw_edge *arg; /* [rows, cols of y] or NULL */
    csaw__rows rows;
    const uint64_t *divisor; /* of csaw__reduce_f64(): rowptr of the matrix whose transpose a is, to divide each weight
                                by the number of edges of its row there; NULL = weights as they are */
    void *room;              /* of csaw__reduce_room() */
} csaw__reduction;

/* Takes r->room, for the partial results of the longest hub; csaw__free() releases it. And how many bytes that is. */
uint64_t csaw__reduce_bytes(const csaw__reduction *r, bool exact);
csaw_status csaw__reduce_room(csaw__reduction *r, bool exact);
/* Two instances of reduce_rows.h. */
void csaw__reduce_f32(const csaw__reduction *r);
void csaw__reduce_f64(const csaw__reduction *r);

#endif

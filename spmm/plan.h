/* SPDX-License-Identifier: MIT */
/* spmm/plan.h - a sparse matrix prepared: its hubs, and its transpose. */
#ifndef CSAW_SPMM_PLAN_H
#define CSAW_SPMM_PLAN_H

#include "spmm/rows.h"

typedef struct csaw__transpose {
    csaw_sparse a;   /* rows are the columns of the matrix; without weights; ours to free */
    csaw_edge *edge; /* [num_edges] the place of each of its edges in the matrix, ascending within a row */
    csaw__rows rows;
} csaw__transpose;

/* A matrix that csaw_sparse_check() would pass, but for columns out of range: CSAW_EINVAL. */
csaw_status csaw__transpose_create(const csaw_sparse *a, csaw__transpose *out);
void csaw__transpose_free(csaw__transpose *t);
/* Of memory that making it takes, at most; rows: a bound of its rows, as they are not known. */
uint64_t csaw__transpose_bytes(const csaw_sparse *a, csaw__rows *rows);
/* The weights of the transpose's edges, divided by the lengths of the matrix's rows if mean: out [num_edges, heads].
 * kept: NULL, or those of an earlier call without mean. */
void csaw__transpose_weights(const csaw_sparse *a, const csaw__transpose *t, uint32_t heads, bool mean,
                             const float *kept, float *out);

struct csaw__device_plan;

struct csaw_spmm_plan {
    csaw_sparse a;                    /* borrowed; its weights are looked at if they are fixed */
    struct csaw__device_plan *device; /* of a plan on a GPU, which has no more than this; else NULL */
    int ordinal;                      /* of the GPU; -1 = the CPU */
    csaw__rows rows;
    csaw__transpose transpose;
    float *weight; /* fixed ones, [num_edges, heads] by the transpose's edges; NULL = none */
    uint32_t heads;
};

/* CSAW_EINVAL unless the plan is of this matrix and device. */
csaw_status csaw__plan_check(const csaw_spmm_plan *plan, const csaw_sparse *a, int ordinal);

#endif

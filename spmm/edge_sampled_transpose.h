/* SPDX-License-Identifier: MIT */
/* spmm/edge_sampled_transpose.h - the sampled matrix by columns, for the gradient of the features. */
#ifndef CSAW_SPMM_EDGE_SAMPLED_TRANSPOSE_H
#define CSAW_SPMM_EDGE_SAMPLED_TRANSPOSE_H

#include "spmm/edge_sampled_slots.h"

typedef struct csaw__edge_transpose {
    uint64_t *first;  /* [cols + 1] where the entries of each column begin */
    csaw_vertex *row; /* [first[cols]] ascending within a column; of one row in the order of its slots */
    float *weight;    /* [first[cols]] weight' */
} csaw__edge_transpose;

/* a is checked but for its inner rowptr and its columns, which are checked here; at most 2^32 - 1 rows. */
csaw_status csaw__edge_transpose_create(const csaw_sparse *a, const csaw__edge_rule *rule, csaw__edge_transpose *out);
void csaw__edge_transpose_free(csaw__edge_transpose *t);

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/by_column.h - the edges of a sparse matrix by column: where each would stand in its transpose, for which equal
 * parts of the edges are counted side by side; and the first edges of chunks of long columns. */
#ifndef CSAW_SPMM_BY_COLUMN_H
#define CSAW_SPMM_BY_COLUMN_H

#include "spmm/plan.h"

typedef struct csaw__by_column {
    uint64_t parts;
    uint64_t *place;  /* [parts, cols] where in the transpose the next edge of a part and column goes */
    uint64_t *rowptr; /* [cols + 1] of the transpose */
} csaw__by_column;

/* CSAW_EINVAL: a column is out of range. */
csaw_status csaw__by_column_count(const csaw_sparse *a, csaw__by_column *out);
void csaw__by_column_free(csaw__by_column *c);
/* Of memory that it takes. */
uint64_t csaw__by_column_bytes(const csaw_sparse *a);
/* Edges of part t: from its bound to the next one's. */
static inline uint64_t csaw__by_column_bound(const csaw_sparse *a, uint64_t parts, uint64_t t) {
    return a->num_edges / parts * t + (a->num_edges % parts * t) / parts;
}

typedef struct csaw__column_chunks { /* of columns of more than CSAW_CHUNK edges: a row of the transpose's chunks */
    uint64_t *begin;                 /* [cols + 1] of a column's own in first; of others none */
    csaw_edge *first;                /* the first edge of each chunk but its column's first */
} csaw__column_chunks;

/* t: the transpose of a, or NULL. Both NULL where no column is long. */
csaw_status csaw__column_chunks_create(const csaw_sparse *a, const csaw__transpose *t, csaw__column_chunks *out);
void csaw__column_chunks_free(csaw__column_chunks *c);
/* Of memory that it takes, at most where t is NULL; *count: of first. */
uint64_t csaw__column_chunks_bytes(const csaw_sparse *a, const csaw__transpose *t, uint64_t *count);

#endif

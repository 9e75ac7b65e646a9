/* SPDX-License-Identifier: MIT */
/* spmm/maxk_transpose.h - the transpose of a sparse matrix, for a backward pass that was given none. */
#ifndef CSAW_SPMM_MAXK_TRANSPOSE_H
#define CSAW_SPMM_MAXK_TRANSPOSE_H

#include <csaw/spmm.h>

/* Row j of out: the edges of a in column j in the order in which they stand in a, so by ascending row. a: at most
 * 2^32 - 1 rows. CSAW_EINVAL: a column out of range. out owns its arrays: csaw__maxk_transpose_free(). */
csaw_status csaw__maxk_transpose(const csaw_sparse *a, csaw_sparse *out);
void csaw__maxk_transpose_free(csaw_sparse *transpose);

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/batched_exact.h - batched products with csaw_batched_options.exact: products and sums in float64, rounded once.
 * A reference: plain loops over entries and columns. Arguments were checked. */
#ifndef CSAW_SPMM_BATCHED_EXACT_H
#define CSAW_SPMM_BATCHED_EXACT_H

#include "spmm/batched_dense.h"

csaw_status csaw__batched_exact(const csaw_batch *batch, const csaw_batched_options *options,
                                const csaw__batched_dense *x, const csaw__batched_dense *y);
/* dx and dw: or NULL; x: read for dw alone. */
csaw_status csaw__batched_exact_backward(const csaw_batch *batch, const csaw_batched_options *options,
                                         const csaw__batched_dense *x, const csaw__batched_dense *dy,
                                         const csaw__batched_dense *dx, float *dw);

#endif

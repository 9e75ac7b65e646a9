/* SPDX-License-Identifier: MIT */
/* spmm/batched_arg.h - that arg of MAX and MIN may be followed. */
#ifndef CSAW_SPMM_BATCHED_ARG_H
#define CSAW_SPMM_BATCHED_ARG_H

#include "spmm/batched.h"

/* arg: [batch->total.rows, cols]. CSAW_EINVAL names the first element that is no entry of its row, or that is not
 * CSAW_NONE in an empty row. */
csaw_status csaw__batched_arg_check(const csaw_batch *batch, const uint32_t *arg, uint64_t cols);

#endif

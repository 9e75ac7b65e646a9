/* SPDX-License-Identifier: MIT */
/* spmm/batched_options.h - what forward and backward of batched products share: options, and entries per row. */
#ifndef CSAW_SPMM_BATCHED_OPTIONS_H
#define CSAW_SPMM_BATCHED_OPTIONS_H

#include "spmm/batched_dense.h"

/* The options given, or their defaults, checked. */
csaw_status csaw__batched_options_check(const csaw_batch *batch, const csaw_batched_options *given,
                                        csaw_batched_options *out);

/* A graph with the weights that the options name, or its own. */
csaw__small csaw__batched_graph(const csaw_batch *batch, const csaw_batched_options *options, uint64_t number);

/* CSAW_EINVAL unless both have the same number of columns. */
csaw_status csaw__batched_widths_check(const char *a_name, const csaw__batched_dense *a, const char *b_name,
                                       const csaw__batched_dense *b);

/* count: [g->rows] entries of each row. */
void csaw__batch_count_entries(const csaw__small *g, uint32_t *count);

#endif

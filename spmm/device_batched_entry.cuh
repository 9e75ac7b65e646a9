/* SPDX-License-Identifier: MIT */
/* spmm/device_batched_entry.cuh - where an entry of one of a batch's graphs stands, from the arrays that the batch
 * borrows. Rows and columns count from 0 in the graph; a place is what csaw__small says. */
#ifndef CSAW_SPMM_DEVICE_BATCHED_ENTRY_CUH
#define CSAW_SPMM_DEVICE_BATCHED_ENTRY_CUH

#include "spmm/device_batched.h"
#include "spmm/device_group.cuh"

static __device__ __forceinline__ uint32_t csaw__batched_row_at(const csaw__small *g, uint64_t place) {
    return g->row ? g->row[place * g->index_stride] - g->row_base : (uint32_t)csaw__row_at(g->rowptr, g->rows, place);
}

static __device__ __forceinline__ uint32_t csaw__batched_col_at(const csaw__small *g, uint64_t place) {
    return g->col[place * g->index_stride] - g->col_base;
}

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_choice.cuh - which kernel finds the k largest, by the columns of a row. */
#ifndef CSAW_SPMM_DEVICE_MAXK_CHOICE_CUH
#define CSAW_SPMM_DEVICE_MAXK_CHOICE_CUH

#include "spmm/device_maxk_block.cuh"
#include "spmm/device_maxk_select.cuh"
#include "spmm/device_maxk_wide.cuh"

/* most_shared: bytes that a block can have. */
template <csaw_dtype T>
static csaw__maxk_rows_kernel *csaw__maxk_kernel_of(const csaw__maxk_rows *job, uint64_t most_shared,
                                                    csaw__maxk_blocks *blocks) {
    if (job->m.cols <= CSAW__MAXK_IN_WARP) return csaw__maxk_in_warp_of<T>(job, most_shared, blocks);
    csaw__maxk_rows_kernel *const kernel = csaw__maxk_in_warps_of<T>(job, most_shared, blocks);
    return kernel ? kernel : csaw__maxk_in_block_of<T>(job, most_shared, blocks);
}

#endif

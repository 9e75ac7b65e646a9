/* SPDX-License-Identifier: MIT */
/* spmm/device_shared_limit.cuh - kernels that take more than 48 KiB of shared memory a block. */
#ifndef CSAW_SPMM_DEVICE_SHARED_LIMIT_CUH
#define CSAW_SPMM_DEVICE_SHARED_LIMIT_CUH

#include "spmm/device_memory.cuh"

namespace csaw_aggregation {

/* Lets a kernel have as much shared memory as there is: the limit is the kernel's in all threads of the process, so
 * that calls which need different amounts must not each set their own. */
inline csaw_status allow_shared(const place &where, const void *kernel) {
    cudaFuncAttributes of = {};
    int most = 0;
    CSAW_CUDA(cudaFuncGetAttributes(&of, kernel));
    CSAW_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, where.ordinal));
    CSAW_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most - (int)of.sharedSizeBytes));
    return CSAW_OK;
}

} // namespace csaw_aggregation

#endif

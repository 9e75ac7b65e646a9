/* SPDX-License-Identifier: MIT */
/* runtime/base/device_launch.cuh - the launch of a kernel, with the error of this launch alone: cudaGetLastError() also
 * tells an error that some call before left, the user's own calls among them. */
#ifndef CSAW_BASE_DEVICE_LAUNCH_CUH
#define CSAW_BASE_DEVICE_LAUNCH_CUH

#include <utility>

#include "runtime/base/device_status.h"

/* kernel(arguments...) on so many blocks, at least 1, each with so many bytes of shared memory besides what the kernel
 * names, 48 KiB at most in all, or what cudaFuncAttributeMaxDynamicSharedMemorySize was set to. */
template <typename... PARAMETERS, typename... ARGUMENTS>
inline csaw_status csaw__device_launch_shared(cudaStream_t stream, dim3 blocks, unsigned threads, size_t shared,
                                              void (*kernel)(PARAMETERS...), ARGUMENTS &&...arguments) {
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    CSAW_CUDA(cudaLaunchKernelEx(&config, kernel, std::forward<ARGUMENTS>(arguments)...));
    return CSAW_OK;
}

template <typename... PARAMETERS, typename... ARGUMENTS>
inline csaw_status csaw__device_launch(cudaStream_t stream, dim3 blocks, unsigned threads,
                                       void (*kernel)(PARAMETERS...), ARGUMENTS &&...arguments) {
    return csaw__device_launch_shared(stream, blocks, threads, 0, kernel, std::forward<ARGUMENTS>(arguments)...);
}

#endif

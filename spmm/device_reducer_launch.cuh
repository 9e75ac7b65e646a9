/* SPDX-License-Identifier: MIT */
/* spmm/device_reducer_launch.cuh - what csaw_add_reducer() has nvcc compile after a reducer's file: all its kernels,
 * and their launch. */
#ifndef CSAW_SPMM_DEVICE_REDUCER_LAUNCH_CUH
#define CSAW_SPMM_DEVICE_REDUCER_LAUNCH_CUH

#include "spmm/device_reducer.cuh"
#include "spmm/device_reducer.h"

static int csaw__launch_reducer(int kernel, unsigned blocks, unsigned threads, void *stream,
                                const csaw__product *product) {
    static void (*const kernels[CSAW__NUM_REDUCER_KERNELS])(csaw__product) = {
#define CSAW__REDUCER_POINTER(STORAGE, LANES, VECTOR) \
    csaw__reduce_by<csaw__reducer_functions, CSAW_##STORAGE, LANES, VECTOR>,
        CSAW__REDUCER_KERNELS(CSAW__REDUCER_POINTER)
#undef CSAW__REDUCER_POINTER
    };
    void *arguments[] = {(void *)product};
    const cudaError_t error = cudaLaunchKernel((const void *)kernels[kernel], dim3(blocks), dim3(threads), arguments, 0,
                                               (cudaStream_t)stream);
    if (error != cudaSuccess) (void)cudaGetLastError(); /* told now, not to whoever asks next */
    return (int)error;
}

#endif

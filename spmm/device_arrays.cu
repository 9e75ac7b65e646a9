/* SPDX-License-Identifier: MIT */
/* spmm/device_arrays.cu - arrays of the caller's in the memory of a GPU (csaw/memory.h), and copies between the two. */
#include "runtime/base/device_copy.h"
#include "spmm/device.h"
#include "spmm/device_memory.cuh"

csaw_status csaw__device_array(int ordinal, uint64_t bytes, void **out) {
    place where;
    cudaError_t error = cudaErrorMemoryAllocation;
    void *memory = nullptr;
    CSAW_TRY(where.enter(ordinal, nullptr, nullptr));
    if (csaw__alloc_allowed()) error = cudaMalloc(&memory, bytes ? bytes : 1);
    if (error == cudaErrorMemoryAllocation)
        return csaw__device_refused("an array", bytes, "release some, or use device 'cpu'");
    CSAW_CUDA(error);
    *out = memory;
    return CSAW_OK;
}

void csaw__device_array_free(void *memory) {
    if (cudaFree(memory) != cudaSuccess) cudaGetLastError(); /* there is nobody to tell */
}

csaw_status csaw__device_wait(int ordinal) {
    place where;
    CSAW_TRY(where.enter(ordinal, nullptr, nullptr));
    CSAW_CUDA(cudaDeviceSynchronize());
    return CSAW_OK;
}

csaw_status csaw__device_write(const csaw__where *of, void *to, uint64_t bytes, const void *from) {
    place where;
    if (!bytes) return CSAW_OK;
    CSAW_TRY(where.enter(of->ordinal, of->stream, nullptr));
    CSAW_CUDA(csaw__copy_async(to, from, bytes, cudaMemcpyHostToDevice, where.stream));
    CSAW_CUDA(cudaStreamSynchronize(where.stream));
    return CSAW_OK;
}

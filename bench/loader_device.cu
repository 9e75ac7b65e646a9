/* SPDX-License-Identifier: MIT */
/* bench/loader_device.cu - see loader_device.h. */
#include "bench/loader_device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>

static void must_cuda(cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "loader_bench: %s\n", cudaGetErrorString(error));
    exit(1);
}

void loader_device_use(const char *device) {
    const char *const number = strchr(device, ':');
    must_cuda(cudaSetDevice(number ? atoi(number + 1) : 0));
}

void *loader_device_take(uint64_t bytes) {
    void *out = nullptr;
    must_cuda(cudaMalloc(&out, bytes ? bytes : 1));
    return out;
}

void *loader_device_take_pinned(uint64_t bytes) {
    void *out = nullptr;
    must_cuda(cudaMallocHost(&out, bytes ? bytes : 1));
    return out;
}

void loader_device_give(void *memory) {
    cudaPointerAttributes of;
    if (!memory) return;
    must_cuda(cudaPointerGetAttributes(&of, memory));
    must_cuda(of.type == cudaMemoryTypeHost ? cudaFreeHost(memory) : cudaFree(memory));
}

void loader_device_copy(void *to, const void *from, uint64_t bytes) {
    must_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
}

void loader_device_wait(void) { must_cuda(cudaStreamSynchronize(nullptr)); }

// SPDX-License-Identifier: MIT
// tests/fake_cuda/pinned.h - page-locked memory of the GPU engine against the fake CUDA. Included once by a program.
#ifndef CSAW_FAKE_CUDA_PINNED_H
#define CSAW_FAKE_CUDA_PINNED_H

#include <cuda_runtime.h>

extern "C" {
#include "runtime/base/memory.h"

void *csaw__device_pin(uint64_t bytes) {
    if (!csaw__alloc_allowed() || fake_cuda::refuse_pages) return nullptr;
    void *const memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    cudaHostRegister(memory, bytes, 0);
    return memory;
}

void csaw__device_unpin(void *memory) {
    cudaHostUnregister(memory);
    std::free(memory);
}
} // extern "C"

#endif

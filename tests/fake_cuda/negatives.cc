// SPDX-License-Identifier: MIT
// tests/fake_cuda/negatives.cc - runtime/engine/device_negatives.cu against the fake CUDA, whose pools are one.
#include "tests/fake_cuda/launch.h"

#include "runtime/engine/device_negatives.cu"

csaw_status csaw__work_pool(int, cudaMemPool_t *out) {
    *out = nullptr;
    return CSAW_OK;
}

// SPDX-License-Identifier: MIT
// tests/fake_cuda/gather.cc - spmm/device_gather.cu against the fake CUDA, and the GPU that csaw_gather() asks for.
#include "tests/fake_cuda/launch.h"

#include "spmm/device.h"
#include "spmm/device_gather.cu"

csaw_status csaw__device_find(const char *name, int ordinal) {
    CSAW_REQUIRE(ordinal < fake_cuda::devices, CSAW_EINVAL, "device '%s' does not exist", name);
    return CSAW_OK;
}

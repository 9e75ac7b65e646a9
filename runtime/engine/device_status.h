/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_status.h - CUDA's errors as csaw's. */
#ifndef CSAW_ENGINE_DEVICE_STATUS_H
#define CSAW_ENGINE_DEVICE_STATUS_H

#include <cuda_runtime.h>

#include "runtime/base/status.h"

#define CSAW_CUDA(CALL)                                                                                       \
    do {                                                                                                      \
        cudaError_t csaw__e = (CALL);                                                                         \
        CSAW_REQUIRE(csaw__e == cudaSuccess, CSAW_ECUDA, "%s: %s (line %d of %s)", cudaGetErrorName(csaw__e), \
                     cudaGetErrorString(csaw__e), __LINE__, __FILE__);                                        \
    } while (0)

#endif

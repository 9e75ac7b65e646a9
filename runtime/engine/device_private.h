/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_private.h - what the files of the GPU engine share: a plan's device, its memory, launches. */
#ifndef CSAW_ENGINE_DEVICE_PRIVATE_H
#define CSAW_ENGINE_DEVICE_PRIVATE_H

#include <cuda_runtime.h>

#include <atomic>

#include "runtime/engine/device_library.h"
#include "runtime/engine/device_status.h"
#include "runtime/engine/plan.h"

struct csaw__device {
    int ordinal;
    std::atomic<int> references; /* the plan's and one per samples */
    cudaStream_t stream;
    cudaMemPool_t pool;
    csaw__rows rows; /* device memory */
    csaw__alias *alias;
    csaw__row_bias *bias;
    uint64_t tables_generation; /* of alias and bias */
    unsigned long long *record; /* [2]: the lowest fault; how many walks REJECT left undecided */
    csaw__library *library;     /* of a sampler compiled at run time */
};

/* From the device's pool, ordered by its stream. */
csaw_status csaw__device_alloc(csaw__device *device, void **out, uint64_t bytes, const char *what);
void csaw__device_free(csaw__device *device, void *memory); /* NULL is fine */
csaw_status csaw__device_upload(csaw__device *device, const void **out, const void *from, uint64_t bytes,
                                const char *what);
/* Alias tables of the plan, if those here are stale. */
csaw_status csaw__device_tables(csaw__device *device, const csaw_plan *plan);
/* threads in blocks of 256 */
csaw_status csaw__device_launch(csaw__device *device, const csaw_sampler *sampler, int kernel, uint64_t threads,
                                const csaw__job *job);

#endif

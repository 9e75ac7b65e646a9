/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_library.h - kernels of a sampler compiled at run time, loaded on a device. */
#ifndef CSAW_ENGINE_DEVICE_LIBRARY_H
#define CSAW_ENGINE_DEVICE_LIBRARY_H

#include <csaw/descriptor.h>

#include "runtime/base/job.h"
#include "runtime/base/status.h"

typedef struct csaw__library csaw__library;

/* Makes *library that of the sampler, as yet without kernels. */
csaw_status csaw__library_take(csaw__library **library, const csaw_sampler *sampler, int ordinal);
/* The first launch of a kernel loads it, compiled with NVRTC unless it is cached. */
csaw_status csaw__library_launch(csaw__library *library, int kernel, unsigned blocks, unsigned threads, void *stream,
                                 const csaw__job *job);
void csaw__library_free(csaw__library *library);

#endif

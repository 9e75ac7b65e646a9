/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_reducer.h - kernels of a reducer compiled at run time. */
#ifndef CSAW_ENGINE_DEVICE_REDUCER_H
#define CSAW_ENGINE_DEVICE_REDUCER_H

#include <csaw/reducer.h>

#include "runtime/engine/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Its kernels, as yet none: find() compiles one with NVRTC, unless it is cached, and loads it. The source must stay.
 * Without CUDA: NULL. */
csaw_status csaw__reducer_kernels_create(csaw__source *source, const csaw__device_reducer **out);
void csaw__reducer_kernels_free(const csaw__device_reducer *kernels); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_weights.h - csaw_plan_weights() on a GPU. Without CUDA: no_device.c. */
#ifndef CSAW_ENGINE_DEVICE_WEIGHTS_H
#define CSAW_ENGINE_DEVICE_WEIGHTS_H

#include "runtime/engine/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a plan with a device, and a block in its memory. Puts its work into the stream and returns. */
csaw_status csaw__device_weights(const csaw_plan *plan, const csaw_block_view *block, void *stream, float *out);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_loader.h - a loader's batches on a GPU: features and labels as the GPU reads them, and what of
 * a batch is in its memory beside the blocks. Without CUDA: no_device.c. */
#ifndef CSAW_ENGINE_DEVICE_LOADER_H
#define CSAW_ENGINE_DEVICE_LOADER_H

#include <csaw/training.h>

#include "runtime/engine/blocks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a plan with a device, which it borrows; options as checked. */
typedef struct csaw__device_loader csaw__device_loader;
csaw_status csaw__device_loader_open(csaw_plan *plan, const csaw_loader_options *options, csaw__device_loader **out);
void csaw__device_loader_close(csaw__device_loader *loader); /* NULL is fine */

/* Memory of one batch, kept for the next. It may outlive loader and plan. */
typedef struct csaw__device_slot csaw__device_slot;
/* In the loader's thread, before the first batch of a slot: */
csaw_status csaw__device_slot_create(csaw__device_loader *loader, csaw__device_slot **out);
/* Of the batch's features and labels, from vertex [num_vertices]; waits until the whole batch is there. */
csaw_status csaw__device_slot_fill(csaw__device_loader *loader, csaw__device_slot *slot, csaw_minibatch *batch);
/* The caller needs the batch no longer than for what is in his stream by now; and before memory of such a batch, its
 * blocks as well, is used for something else. NULL is fine in these. */
csaw_status csaw__device_slot_leave(csaw__device_slot *slot);
csaw_status csaw__device_slot_await(csaw__device_slot *slot);
void csaw__device_slot_free(csaw__device_slot *slot);

#ifdef __cplusplus
}
#endif

#endif

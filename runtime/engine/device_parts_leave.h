/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_parts_leave.h - what samples on a GPU to which partitions come pick at their last depth, and
 * nothing on the GPU reads: it goes to the host as soon as a partition has picked it, and back to be delivered, batch
 * after batch. So a batch under way takes its frontier alone, which is a small part of it. */
#ifndef CSAW_ENGINE_DEVICE_PARTS_LEAVE_H
#define CSAW_ENGINE_DEVICE_PARTS_LEAVE_H

#include "runtime/base/status.h"

struct csaw__device;
struct csaw__cuda_parts;

/* Of the host, page-locked unless that is refused; kept from batch to batch, and from run to run until the engine for
 * samples is closed, since locking and unlocking them takes longer than many a run. */
typedef struct csaw__host_block {
    void *at;
    uint64_t bytes;
    bool locked, taken; /* taken: by a layer, which sets it false */
} csaw__host_block;

enum { CSAW__LEAVING_BYTES = 16 /* of a place: edge, src, dst */ };

namespace csaw_device {

struct layer;
struct picking;

/* The layer's places are dealt out anew, in the order of its list of entries, so that those of a partition are side by
 * side, and get room on the host. begin: [parts + 1] in list; place: likewise, in the places. */
csaw_status csaw__leave_places(csaw__cuda_parts *c, csaw__device *device, const picking &at, const uint32_t *list,
                               const uint64_t *begin, uint64_t *place);
/* They are on the GPU again, in the order of its stream. */
csaw_status csaw__leave_return(csaw__device *device, layer *l);

} // namespace csaw_device

void csaw__leave_free(csaw__cuda_parts *c); /* all blocks, none of which is taken */

#endif

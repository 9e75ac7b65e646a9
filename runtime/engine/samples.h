/* SPDX-License-Identifier: MIT */
/* runtime/engine/samples.h - what stands behind a csaw_samples. */
#ifndef CSAW_ENGINE_SAMPLES_H
#define CSAW_ENGINE_SAMPLES_H

#include <csaw/csaw.h>

struct csaw__device;

struct csaw_samples {
    uint64_t first, num_walks;
    uint32_t length;
    bool edges;
    csaw_vertex *host_path;      /* [num_walks, length + 1] row-major; NULL until fetched from the device */
    bool host_current;           /* of a device's samples: fetched since the walk */
    uint64_t device_walks;       /* that the buffers hold */
    csaw_edge *host_edge;        /* [num_walks, length] */
    csaw_vertex *device_path;    /* [length + 1, num_walks], device; NULL on the CPU */
    csaw_edge *device_edge;      /* [length, num_walks], device */
    struct csaw__device *device; /* whose memory that is */
};

#endif

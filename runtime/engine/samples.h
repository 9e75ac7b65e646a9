/* SPDX-License-Identifier: MIT */
/* runtime/engine/samples.h - what stands behind a csaw_samples. */
#ifndef CSAW_ENGINE_SAMPLES_H
#define CSAW_ENGINE_SAMPLES_H

#include <csaw/csaw.h>

struct csaw__device;

/* Arrays of arcs that samples were freed from, for the next samples of the same plan: fresh memory costs as much time
 * as the sampling. Shared by a plan and its samples, which may outlive it. */
typedef struct csaw__spare csaw__spare;
csaw_status csaw__spare_create(csaw__spare **out);
csaw__spare *csaw__spare_share(csaw__spare *spare); /* NULL is fine, here and below */
void csaw__spare_release(csaw__spare *spare);

struct csaw_samples {
    bool is_sample; /* arcs, not walks */
    csaw_arcs arcs; /* host arrays, owned; of walks: made on request */
    csaw__spare *spare;
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

#ifdef __cplusplus
extern "C" {
#endif
/* Arrays of so many entries, with offsets [0] = 0. Freed, they go to spare if that has none. */
csaw_status csaw__arcs_create(csaw__spare *spare, uint64_t instances, uint64_t arcs, uint64_t seeds, csaw_arcs *out);
void csaw__arcs_free(csaw__spare *spare, csaw_arcs *arcs);
#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* runtime/engine/samples.h - what stands behind a csaw_samples. */
#ifndef CSAW_ENGINE_SAMPLES_H
#define CSAW_ENGINE_SAMPLES_H

#include <csaw/csaw.h>

struct csaw__device;

#ifdef __cplusplus
extern "C" {
#endif

/* Blocks of host memory for results. That of samples which were freed is kept for the next samples of the same plan:
 * fresh memory costs as much time as the sampling. Shared by a plan and its samples, which may outlive it. */
typedef struct csaw__spare csaw__spare;
csaw_status csaw__spare_create(bool pinned, csaw__spare **out); /* pinned: for copies from a GPU */
void csaw__spare_keep(csaw__spare *spare, uint64_t bytes);      /* blocks of so many bytes are worth it */
csaw__spare *csaw__spare_share(csaw__spare *spare);             /* NULL is fine, here and below */
void csaw__spare_release(csaw__spare *spare);
csaw_status csaw__block_take(csaw__spare *spare, uint64_t bytes, const char *what, void **out);
void csaw__block_give(csaw__spare *spare, void *block); /* to spare if that has room, else back to the system */

struct csaw_samples {
    bool is_sample; /* arcs, not walks */
    csaw_arcs arcs; /* host arrays, owned; of walks and of a device's samples: made on request */
    csaw__spare *spare;
    uint64_t first, num_walks;
    uint32_t length;
    bool edges;
    csaw_vertex *host_path;      /* [num_walks, length + 1] row-major; NULL until fetched from the device */
    bool host_current;           /* of a device's samples: fetched since the walk */
    uint64_t device_walks;       /* that the buffers hold; those of the host, too */
    csaw_edge *host_edge;        /* [num_walks, length] */
    csaw_vertex *device_path;    /* [length + 1, num_walks], device; NULL on the CPU */
    csaw_edge *device_edge;      /* [length, num_walks], device */
    bool device_by_walk;         /* these two stand walk by walk, as on the host */
    void *device_turned;         /* device: room to transpose walks in; NULL = taken for each delivery */
    csaw_arcs device_arcs;       /* of a sample on a device: arrays there; offset NULL = none */
    uint64_t device_bytes;       /* of these arrays */
    struct csaw__device *device; /* whose memory that is */
    /* Of several GPUs (gpus.h): what each of them drew, in order of instance; device_walks is then of host_path and
     * host_edge alone, and the device's arrays are theirs. */
    struct csaw_samples **share; /* [num_shares]; NULL: there is one device at most */
    uint32_t num_shares;
    int ordinal;         /* of a share: its GPU's */
    bool device_counted; /* whether the host knows how many arcs and seeds device_arcs holds: device_counts */
    uint64_t device_counts[2];
};

/* runtime/engine/deliver.c. Host memory for as many walks as a batch has at most, unless it is there. */
csaw_status csaw__walks_room(csaw_samples *samples);
/* From devices: walks to host_path and host_edge, arcs of samples to arcs. */
csaw_status csaw__walks_to_host(csaw_samples *samples);
csaw_status csaw__arcs_to_host(csaw_samples *samples);
/* Device memory that delivery to the host needs, beside the batch: kept in samples, so that another thread's run cannot
 * take it before. It and host memory go from the batch before to this one, which is no larger. */
csaw_status csaw__samples_reserve(csaw_samples *samples);
void csaw__samples_unreserve(csaw_samples *samples);
void csaw__samples_pass_on(csaw_samples *from, csaw_samples *to);

/* All arrays of arcs stand in one block of memory: its bytes, and the arrays in it. */
uint64_t csaw__arcs_bytes(uint64_t instances, uint64_t arcs, uint64_t seeds);
csaw_arcs csaw__arcs_in(void *block, csaw_space space, uint64_t instances, uint64_t arcs);
/* Arrays of so many entries, with offsets [0] = 0. Freed, they go to spare if that has none. */
csaw_status csaw__arcs_create(csaw__spare *spare, uint64_t instances, uint64_t arcs, uint64_t seeds, csaw_arcs *out);
void csaw__arcs_free(csaw__spare *spare, csaw_arcs *arcs);
#ifdef __cplusplus
}
#endif

#endif

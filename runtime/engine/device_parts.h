/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_parts.h - a GPU to which partitions of a graph come: shared by the files that bring them
 * (device_parts.cu, device_parts_copy.cu) and those that work on them (device_parts_walk.cu, device_parts_sample.cu).
 */
#ifndef CSAW_ENGINE_DEVICE_PARTS_H
#define CSAW_ENGINE_DEVICE_PARTS_H

#include "runtime/base/device_status.h"
#include "runtime/engine/device_library.h"
#include "runtime/engine/device_pages.h"
#include "runtime/engine/device_parts_leave.h"
#include "runtime/engine/parts.h"

namespace csaw_device {
struct run; /* runtime/engine/device_run.h */
}

/* Device memory for a partition. */
typedef struct csaw__cuda_slot {
    int64_t part; /* that is there, whole; or CSAW__NONE_AT_ALL */
    csaw__rows rows;
} csaw__cuda_slot;

enum csaw__cuda_does { CSAW__CUDA_IDLE, CSAW__CUDA_COPIES, CSAW__CUDA_RUNS };
/* Copies and launches have a CUDA stream each, since what follows a copy in its stream may stand behind other streams'
 * copies on the way to the device, even a launch, or an event before one. */
typedef struct csaw__cuda_stream {
    cudaStream_t copies, runs;
    cudaEvent_t begun; /* before a launch */
    cudaEvent_t done;  /* after what it does */
    enum csaw__cuda_does does;
    bool staged; /* copies: by the copier */
    uint32_t part, slot;
} csaw__cuda_stream;

/* What launches do, and what waits for them. */
typedef struct csaw__cuda_work {
    /* Begins work on what waits at the partition in the slot. */
    csaw_status (*launch)(csaw__cuda_parts *c, uint32_t part, uint32_t slot, uint32_t blocks, uint32_t stream);
    csaw_status (*counts)(csaw__cuda_parts *c, uint64_t *active); /* these two: as csaw__part_device's */
    uint32_t (*need)(const csaw__cuda_parts *c, uint64_t entries);
} csaw__cuda_work;

struct csaw__cuda_parts {
    csaw__parts *parts;
    int ordinal;
    uint32_t multiprocessors;
    uint64_t memory; /* bytes of device memory that may be taken */
    csaw__parts_use use;

    csaw__pages graph, tables; /* of the host, locked */
    csaw__pages results;       /* likewise, during a run: paths that kernels write */
    csaw__copier *copier;      /* NULL until it is needed */
    bool in_place;             /* kernels may read the graph's, and write others */
    const csaw__alias *alias;  /* that travel with partitions, or NULL */
    const csaw__row_bias *bias;

    cudaStream_t side; /* of what is short: counts, starts */
    void *block;       /* of the host, for copies on it */
    bool block_is_locked;
    csaw__cuda_slot *slot;
    csaw__cuda_stream *stream;
    char *slots_at; /* their memory, device */
    uint64_t slot_bytes;
    uint32_t slots, streams, last; /* last: stream that wait() named */

    void *shared; /* device: what every launch reads or counts in, one behind the other */
    uint64_t shared_bytes;
    /* device, [parts] entries; then a count that nobody reads, of launches on all partitions; then the lowest fault */
    unsigned long long *waiting;
    csaw_vertex *first; /* device, [parts + 1] */
    uint32_t *owner;    /* device, [num_owners], as csaw__ranges has them */

    const csaw__cuda_work *work;
    void *worker;                /* the work's own */
    bool sees_all;               /* a launch may read every partition that is whole in its slot, not its own alone */
    const csaw_sampler *sampler; /* of the launches */
    csaw__job job;               /* likewise; rows: the partition's */
    csaw__library *library;
    csaw__device *sampling; /* the GPU engine for samples, within the memory for instances; NULL until there are any */
    csaw_device::run *batch[CSAW__MOST_BATCHES]; /* under way in it, the first the one to be asked for next */
    uint32_t batches, most_batches;              /* most_batches: that found memory; 0: not known yet */
    csaw__host_block away[CSAW__MOST_BATCHES];   /* of theirs, one each at most */
};

/* runtime/engine/device_parts_memory.cu. alloc .. get: as csaw__part_device has them. */
csaw_status csaw__cuda_take_budget(csaw__cuda_parts *c, csaw__fit_request *request); /* memory: less the padding */
csaw_status csaw__cuda_alloc(void *self, uint64_t bytes, const char *what, void **out);
void csaw__cuda_free(void *self, void *memory, uint64_t bytes);
csaw_status csaw__cuda_put(void *self, void *to, const void *from, uint64_t bytes);
csaw_status csaw__cuda_get(void *self, void *to, const void *from, uint64_t bytes);
csaw_status csaw__cuda_take_block(csaw__cuda_parts *c); /* that put and get go by way of */
void csaw__cuda_free_block(csaw__cuda_parts *c);
void csaw__cuda_end_samples(csaw__cuda_parts *c);   /* closes their engine; samples keep what is theirs */
bool csaw__cuda_can_hold(const csaw__parts *parts); /* these three: as csaw__parts_kind has them */
csaw_status csaw__cuda_hold(csaw__parts *parts, const csaw__job *job, bool *held);
void csaw__cuda_let_go(csaw__parts *parts);

/* runtime/engine/device_parts_batches.cu: as csaw__parts_kind has it. */
void csaw__cuda_drop_samples(csaw__parts *parts);

/* runtime/engine/device_parts_copy.cu: as csaw__part_device has it; and all rows, where the host has them. */
csaw_status csaw__cuda_copy(void *self, uint32_t part, uint32_t slot, uint32_t stream);
csaw__rows csaw__cuda_rows_of_host(const csaw__cuda_parts *c);

/* Bytes that an engine's pool took at most; 0 of NULL. */
uint64_t csaw__device_peak(const csaw__device *device);
/* A kernel of the round's sampler, in blocks of 256. */
csaw_status csaw__cuda_parts_kernel(csaw__cuda_parts *c, int kernel, uint64_t blocks, cudaStream_t stream,
                                    const csaw__job *job);
uint64_t csaw__cuda_parts_walk_state(const csaw_sampler *sampler);
csaw_status csaw__cuda_parts_walk(csaw__parts *parts, const csaw__walks *walks);

#endif

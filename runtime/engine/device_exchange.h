/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_exchange.h - walks on GPUs each of which holds a range of a graph's rows: walkers go to the GPU
 * that has the row of their vertex (C-SAW, SC'20, section V-D), by copies from GPU to GPU.
 *
 * Method: a GPU takes each walker that is there as far as it gets in the range, by the kernel of walks on partitions
 * (device_parts.cuh), of which the range is one. Those that leave are put side by side in a queue for each GPU, 32
 * bytes a walker: the last vertices of its path, which walk it is, its depth, and what it knows; 32 more for the
 * vertices of a question, with which a second-order walker goes to prev's GPU and comes back; and 32 where a sampler
 * has bytes of its own. Whole queues are copied, and a round is over.
 *
 * The walks of a batch are two lots, whose rounds take turns: while the walkers of one lot are copied, the other's
 * step. Each lot has streams of its own on each GPU, and what follows a copy waits for its event. How many bytes to
 * copy the host alone can say, so it reads the counts of a lot's round, while the other lot is on the GPUs; when they
 * are all 0 the lot is done. No GPU waits for a round that has nothing for it.
 *
 * What walkers under way take is memory of the batch, which the plan of each GPU has of its pool
 * (csaw__gpu_exchange_bytes()): on each for every walk of the batch, since all of them may come to one GPU.
 *
 * A path is written where it is to stand, on the GPU at whose home its walk is, 16 bytes for 4 steps, by whichever GPU
 * makes them; nobody reads it before the end. */
#ifndef CSAW_ENGINE_DEVICE_EXCHANGE_H
#define CSAW_ENGINE_DEVICE_EXCHANGE_H

#include "runtime/base/job.h"
#include "runtime/base/status.h"
#include <csaw/descriptor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__gpu_exchange csaw__gpu_exchange;

/* Bytes of device memory that a walk of a batch takes on each GPU: what is known of it there, and a place in the queues
 * out and in; more with bytes of its own, and with questions of second order. */
enum { CSAW__EXCHANGE_BYTES = 88, CSAW__EXCHANGE_USER_BYTES = 96, CSAW__EXCHANGE_QUESTION_BYTES = 100 };
static inline uint64_t csaw__gpu_exchange_bytes_each(uint32_t traits) {
    return CSAW__EXCHANGE_BYTES + (traits & CSAW__TRAIT_USER ? CSAW__EXCHANGE_USER_BYTES : 0) +
           (traits & CSAW__TRAIT_SECOND_ORDER ? CSAW__EXCHANGE_QUESTION_BYTES : 0);
}
static inline uint64_t csaw__gpu_exchange_bytes(uint32_t traits, uint64_t walks) {
    enum { BETWEEN = 96 }; /* three arrays of each of two lots end before a multiple of 16 */
    return walks * csaw__gpu_exchange_bytes_each(traits) + BETWEEN;
}

/* For a batch, one of the GPUs: how its kernels see the graph, and what is at home there. */
typedef struct csaw__exchange_gpu {
    csaw__rows rows; /* of all vertices; those of its own range in its own memory, but for some near its ends */
    const csaw_vertex *roots; /* the job's, as it reads them; NULL: vertices in turn */
    uint64_t end;             /* the batch's walk behind those at home here, which follow the ones of the GPU before */
    csaw_vertex *path;        /* [walks here, length + 1], which kernels of all GPUs write */
    csaw_edge *edge;          /* [walks here, length]; NULL = not kept */
    void *memory;             /* [csaw__gpu_exchange_bytes()] of walkers under way, its own */
    void *seeds;              /* what roots are of, for whoever took it; NULL: nothing */
} csaw__exchange_gpu;

typedef struct csaw__exchange_counts { /* of all batches so far */
    uint64_t rounds;                   /* of a lot, that had walkers to copy */
    uint64_t walkers, questions;       /* copied, from one entry of the list of GPUs to another */
    uint64_t bytes;
} csaw__exchange_counts;

/* Ranges of equal numbers of arcs, which is how often walks on an undirected graph come to them. A GPU may be listed
 * more than once; each reaches the memory of each. */
csaw_status csaw__gpu_exchange_open(const csaw_csr *csr, const int *ordinal, uint32_t count, csaw__gpu_exchange **out);
void csaw__gpu_exchange_close(csaw__gpu_exchange *x); /* NULL is fine */
/* The walks of the job, to the paths of gpu [count]; job: rows, roots, path and edge are of no account. *fault:
 * instance and depth alone. */
csaw_status csaw__gpu_exchange_walk(csaw__gpu_exchange *x, const csaw_sampler *sampler, const csaw__job *job,
                                    const csaw__exchange_gpu *gpu, csaw__fault *fault);
csaw__exchange_counts csaw__gpu_exchange_counted(const csaw__gpu_exchange *x);

#ifdef __cplusplus
}
#endif

#endif

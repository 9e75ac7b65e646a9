/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_negatives.h - negative samples drawn by a GPU: a copy of what is drawn from in its memory, and
 * the draws. Without CUDA: no_device.c. */
#ifndef CSAW_ENGINE_DEVICE_NEGATIVES_H
#define CSAW_ENGINE_DEVICE_NEGATIVES_H

#include "runtime/engine/negative_draw.h"
#include "spmm/check.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__negative_request { /* csaw_negatives_draw()'s; checked, but for what stands in src */
    const csaw_vertex *src;             /* [count] */
    csaw_vertex *dst;                   /* [count, each] */
    uint64_t seed, first, count;
    uint32_t each;
} csaw__negative_request;

typedef struct csaw__negative_faults { /* the lowest places in src; UINT64_MAX = none */
    unsigned long long beyond;         /* of a vertex that the graph does not have */
    unsigned long long without;        /* of one that has no negatives, where none is beyond */
    csaw_vertex vertex;                /* the one that stands there */
} csaw__negative_faults;

typedef struct csaw__device_negatives csaw__device_negatives;
/* Copies the law's arrays, of the host's memory, and waits; where is a GPU. */
csaw_status csaw__device_negatives_create(const csaw__where *where, const csaw__negative_law *law, uint64_t num_edges,
                                          csaw__device_negatives **out);
/* src and dst in the GPU's memory, or page-locked. Waits until dst is there. */
csaw_status csaw__device_negatives_draw(const csaw__device_negatives *negatives, const csaw__negative_request *request,
                                        csaw__negative_faults *faults);
void csaw__device_negatives_free(csaw__device_negatives *negatives); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_pages.h - arrays of the host that a GPU fetches parts of, again and again: page-locked where
 * they lie, once, so that copies run at the full rate and wait for nobody; where that is refused, by way of page-locked
 * blocks that a thread fills. */
#ifndef CSAW_ENGINE_DEVICE_PAGES_H
#define CSAW_ENGINE_DEVICE_PAGES_H

#include <cuda_runtime.h>

#include "runtime/base/status.h"

typedef struct csaw__span { /* of the host's memory */
    const void *begin;
    uint64_t bytes;
} csaw__span;

/* Pages locked together, and copied from as one. */
typedef struct csaw__locked {
    uintptr_t begin, end;
} csaw__locked;

typedef struct csaw__pages {
    csaw__locked *chunk; /* [count] */
    uint64_t count, room;
    bool refused;  /* the spans are as they were */
    uint64_t left; /* bytes of the host's memory, where it was refused because these do not do; else 0 */
} csaw__pages;

/* Locks the pages of all spans, or none of them: refused, by the system, or since locking them would take more than
 * seven eighths of what is left of the host's memory, as it may with a graph that is mapped from a file. Zero bytes are
 * fine. Pages that others locked here are shared: plans may have one graph. */
csaw_status csaw__pages_lock(csaw__pages *pages, const csaw__span *span, int count);
void csaw__pages_unlock(csaw__pages *pages);

enum { CSAW__MOST_PIECES = 7 };
typedef struct csaw__piece {
    void *to; /* device */
    const void *from;
    uint64_t bytes;
} csaw__piece;

/* A copy of locked pages begins on the stream. */
csaw_status csaw__pages_copy(const csaw__pages *pages, const csaw__piece *piece, cudaStream_t stream);

/* The thread for pages that are not locked. Orders are numbered by streams, one of each at a time. */
typedef struct csaw__copier csaw__copier;
csaw_status csaw__copier_open(int ordinal, csaw__copier **out);
/* The pieces, one after the other, on that stream, then the event. */
void csaw__copier_order(csaw__copier *copier, uint32_t number, const csaw__piece *piece, int count, cudaStream_t stream,
                        cudaEvent_t done);
/* Whether all of the order is on its stream by now; how it failed. */
csaw_status csaw__copier_issued(csaw__copier *copier, uint32_t number, bool *out);
void csaw__copier_stop(csaw__copier *copier);  /* gives up all orders */
void csaw__copier_close(csaw__copier *copier); /* NULL is fine */

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/device_gather.h - rows gathered by a GPU, as csaw_gather() and the loader have it; the source's rows in its own
 * memory or in the host's, some of them kept in a cache there. Without CUDA: no_device.c. */
#ifndef CSAW_SPMM_DEVICE_GATHER_H
#define CSAW_SPMM_DEVICE_GATHER_H

#include "spmm/check.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__gathering { /* row i of y = row vertex[i] of x; addresses are the GPU's */
    const char *x;
    char *y;
    uint64_t x_stride, y_stride; /* bytes from one row to the next */
    uint64_t bytes;              /* of a row, without what lies between it and the next */
    const csaw_vertex *vertex;   /* [count] */
    uint64_t count;
    /* Rows that x does not have at their place: those below head_rows stand in head, those from tail_row on in tail, as
     * far apart as in x. NULL = there are none. */
    const char *head, *tail;
    uint64_t head_rows, tail_row;
    /* A cache: place [rows of x] is where in it a row stands, CSAW_NONE = it does not; NULL = there is none. Its rows
     * stand side by side. cached has the number of rows added to it that came from there. */
    const csaw_vertex *place;
    const char *cache;
    unsigned long long *cached;
} csaw__gathering;

/* Puts its work into the stream and returns. */
csaw_status csaw__device_gather(const csaw__where *where, const csaw__gathering *gathering);
/* The address by which the GPU reads so many bytes called `name`: its own memory, or the host's, page-locked from the
 * first to the last. CSAW_EINVAL of any other; NULL is fine. */
csaw_status csaw__device_reach(int ordinal, const void *memory, uint64_t bytes, const char *name, const void **out);

#ifdef __cplusplus
}
#endif

#endif

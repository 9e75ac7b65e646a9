/* SPDX-License-Identifier: MIT */
/* spmm/dots.h - a dot product for every edge (SDDMM), in float32 or in float64. */
#ifndef CSAW_SPMM_DOTS_H
#define CSAW_SPMM_DOTS_H

#include "spmm/element.h"
#include "spmm/rows.h"

typedef struct csaw__dots {
    csaw_sparse a;
    csaw_dense x, y; /* of its rows and of its columns; strides filled in */
    uint32_t heads;
    bool mean;  /* divide by the number of edges of the row */
    float *out; /* [num_edges, heads] */
    uint64_t threads;
    void *room; /* both of csaw__dots_room() */
} csaw__dots;

/* Takes d->room, two rows for each thread; csaw__free() releases it. And how many bytes that is. */
uint64_t csaw__dots_bytes(const csaw__dots *d, bool exact);
csaw_status csaw__dots_room(csaw__dots *d, bool exact);
/* Two instances of dots_rows.h. */
void csaw__dots_f32(const csaw__dots *d);
void csaw__dots_f64(const csaw__dots *d);

#endif

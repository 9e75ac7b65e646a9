/* SPDX-License-Identifier: MIT */
/* runtime/base/degree_classes.h - rows without a read of the row offsets, where vertices stand by falling degree (as
 * csaw_graph_by_degree() numbers them): vertices of one degree are consecutive, so a row begins at base + (v - first) *
 * degree of its class. The classes of small degrees, a few KiB, stay in a multiprocessor's L1 cache; vertices before
 * them, few and of large degrees, keep their offsets, which stay in L2.
 *
 * A cell is a range of vertices, an eighth of a per cent or so of their number each from 256 on: as degrees fall more
 * and more slowly, few cells hold more than one class. */
#ifndef CSAW_BASE_DEGREE_CLASSES_H
#define CSAW_BASE_DEGREE_CLASSES_H

#include "runtime/base/job.h"

enum { CSAW__MOST_CLASSES = 1024, CSAW__CELLS = 256 + 24 * 128 };

#if defined(__CUDACC__)
#define CSAW__HOST_AND_DEVICE static __host__ __device__ inline
#else
#define CSAW__HOST_AND_DEVICE static inline
#endif

/* 128 cells to a factor of two. */
CSAW__HOST_AND_DEVICE uint32_t csaw__cell_of(csaw_vertex v) {
    if (v < 256) return v;
#if defined(__CUDA_ARCH__)
    const uint32_t top = 31 - (uint32_t)__clz((int)v);
#else
    const uint32_t top = 31 - (uint32_t)__builtin_clz(v);
#endif
    return 256 + (top - 8) * 128 + (v >> (top - 7) & 127);
}

#if defined(__CUDACC__)
/* v is of some class. */
CSAW_FN csaw__class csaw__class_of(const csaw__rows *rows, csaw_vertex v) {
    uint32_t k = rows->cells[csaw__cell_of(v)];
    csaw__class c = rows->classes[k];
    while (v < c.first) c = rows->classes[--k];
    return c;
}
#endif

#endif

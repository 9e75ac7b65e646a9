/* SPDX-License-Identifier: MIT */
/* runtime/base/row_place.h - where a row begins, and requests to memory for what will be read of it. */
#ifndef CSAW_BASE_ROW_PLACE_H
#define CSAW_BASE_ROW_PLACE_H

#include "runtime/base/job.h"

CSAW_FN uint64_t csaw__offset(const csaw__rows *rows, csaw_vertex local) {
    return rows->wide ? ((const uint64_t *)rows->offset)[local] : ((const uint32_t *)rows->offset)[local];
}

/* Asks memory for what will be read soon. Into L2: a core has room for far more such requests than for requests into
 * L1. Measured on two cores of a Zen 4 kind, arcs of 650,000 uniform picks in random places of 125 MB: 4.7 ms, into
 * L1 8.0. */
CSAW_FN void csaw__soon(const void *place) {
#if !defined(__CUDACC__)
    __builtin_prefetch(place, 0, 2);
#else
    (void)place;
#endif
}

CSAW_FN void csaw__prefetch_row(const csaw__rows *rows, csaw_vertex local) {
    csaw__soon((const char *)rows->offset + (rows->wide ? 8 : 4) * (size_t)local);
}

#endif

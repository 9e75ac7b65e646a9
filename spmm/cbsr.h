/* SPDX-License-Identifier: MIT */
/* spmm/cbsr.h - reading rows of a CBSR matrix (csaw/maxk.h). */
#ifndef CSAW_SPMM_CBSR_H
#define CSAW_SPMM_CBSR_H

#include <csaw/maxk.h>

static inline bool csaw__cbsr_is_narrow(const csaw_cbsr *m) { return m->cols <= 256; }

/* Where row `row`'s indices stand. */
static inline void *csaw__cbsr_index(const csaw_cbsr *m, uint64_t row) {
    return (char *)m->index + row * m->k * (csaw__cbsr_is_narrow(m) ? 1 : 2);
}

static inline size_t csaw__cbsr_bytes(const csaw_cbsr *m) { return m->dtype == CSAW_F32 ? 4 : 2; } /* of a value */

#endif

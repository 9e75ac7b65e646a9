/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_unit.cuh - which unit of work a group of lanes of MaxK's products takes: by a plan's order, so that
 * the groups of a warp end together, or as units are numbered. */
#ifndef CSAW_SPMM_DEVICE_MAXK_UNIT_CUH
#define CSAW_SPMM_DEVICE_MAXK_UNIT_CUH

#include "spmm/device_maxk.h"
#include "spmm/device_reduce.cuh"

static __device__ __forceinline__ csaw__unit csaw__maxk_unit(const csaw__maxk_product &m, uint32_t groups,
                                                             uint32_t group) {
    const uint64_t place = (uint64_t)blockIdx.x * groups + group;
    const bool ordered = m.order && place < m.p.split.most_chunks + m.p.rows;
    return csaw__unit_at(&m.p, ordered ? m.order[place] : place);
}

#endif

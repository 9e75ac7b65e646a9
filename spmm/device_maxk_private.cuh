/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_private.cuh - what the files of MaxK on a GPU share. */
#ifndef CSAW_SPMM_DEVICE_MAXK_PRIVATE_CUH
#define CSAW_SPMM_DEVICE_MAXK_PRIVATE_CUH

#include "spmm/device_maxk.h"
#include "spmm/device_private.cuh"

/* csaw_maxk_spmm_backward() by atomic additions; planned: NULL, or what a plan knows of a; dx: at least one entry. */
csaw_status csaw__device_maxk_atomic(const place &where, const csaw_sparse *a, const csaw_dense *dy, bool mean,
                                     const csaw__device_known *planned, const csaw_cbsr *dx);

#endif

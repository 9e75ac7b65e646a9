/* SPDX-License-Identifier: MIT */
/* spmm/device_order.cuh - device code of the list of a matrix's units of work (spmm/device_product.h) by falling number
 * of edges: groups of a warp, which wait for each other, then take about equally long. Which unit stands where decides
 * no bit of a result.
 *
 * Limit on an H100, a twentieth of reddit: csaw__order_keys a launch, of 3.5 us; csaw__list_units was not profiled. */
#ifndef CSAW_SPMM_DEVICE_ORDER_CUH
#define CSAW_SPMM_DEVICE_ORDER_CUH

#include "spmm/device_unit.cuh"

enum { CSAW__ORDER_BITS = 9 /* of a key: 0 to CSAW_CHUNK */ };

/* One thread a unit: a key that rises as its edges fall, and its number. Of p: the matrix and its long rows. */
static __global__ void csaw__order_keys(const __grid_constant__ csaw__product p, uint64_t units, uint16_t *key,
                                        uint32_t *number) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= units) return;
    key[i] = (uint16_t)(CSAW_CHUNK - csaw__unit_of_number(&p, i).count);
    number[i] = (uint32_t)i;
}

/* One thread a place of the list: the unit whose number stands there in order. */
static __global__ void csaw__list_units(const __grid_constant__ csaw__product p, uint64_t units, const uint32_t *order,
                                        csaw__listed_unit *out) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= units) return;
    const csaw__unit u = csaw__unit_of_number(&p, order[i]);
    out[i] = csaw__listed_unit{u.first, (uint32_t)u.row, (uint16_t)u.count, u.is_chunk, u.stored};
}

#endif

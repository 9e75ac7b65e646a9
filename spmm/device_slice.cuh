/* SPDX-License-Identifier: MIT */
/* spmm/device_slice.cuh - what kernels of products share. */
#ifndef CSAW_SPMM_DEVICE_SLICE_CUH
#define CSAW_SPMM_DEVICE_SLICE_CUH

#include "spmm/device_arguments.h"
#include "spmm/device_element.cuh"

#define CSAW__ALL_LANES 0xffffffffu

struct alignas(16) csaw__cached { /* an edge, read once for all lanes of a group */
    uint64_t at;  /* the bytes before the row of its column: no pointer, which would be one to any memory */
    float weight; /* of MIN: times -1 */
};

/* Whether `value` takes the place of `best`, which came before it, as the largest. */
static __device__ __forceinline__ bool csaw__larger(float value, float best) {
    return value > best || (value != value && best == best);
}

struct csaw__slice {      /* of columns */
    uint64_t head, first; /* first: of all columns */
    uint32_t width;
};

static __device__ __forceinline__ csaw__slice csaw__slice_at(const csaw__product *p, uint64_t number) {
    const uint64_t head =
        p->heads == 1 ? 0 : number / p->slices_of_head; /* a division of 64 bits costs as a short row */
    const uint64_t within = (number - head * p->slices_of_head) * p->width;
    const uint64_t left = p->columns - within;
    return csaw__slice{head, head * p->columns + within, (uint32_t)(left < p->width ? left : p->width)};
}

#endif

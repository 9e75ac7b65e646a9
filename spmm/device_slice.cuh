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

/* Whether `value` takes the place of `best`, which came before it, as the largest: it is larger, or the first that is
 * no number. */
static __device__ __forceinline__ bool csaw__larger(float value, float best) {
    return !(value <= best) && best == best;
}

/* The edges that a lane's columns came from, to their places in arg, of which nobody has said that it is aligned. */
template <int VECTOR> static __device__ __forceinline__ void csaw__put_arg(csaw_edge *to, const csaw_edge *arg) {
    if (VECTOR > 1 && (uint64_t)to % 16 == 0)
        csaw__put<VECTOR>(to, arg);
    else
#pragma unroll
        for (int i = 0; i < VECTOR; i++) to[i] = arg[i];
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

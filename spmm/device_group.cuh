/* SPDX-License-Identifier: MIT */
/* spmm/device_group.cuh - where a thread stands, where an edge does, and the sum of a dot product over a group of
 * lanes: what many kernels of aggregation begin or end with. */
#ifndef CSAW_SPMM_DEVICE_GROUP_CUH
#define CSAW_SPMM_DEVICE_GROUP_CUH

#include "spmm/device_product.h"
#include "spmm/device_slice.cuh"

enum { CSAW__SUMS = 16 /* partial sums of a dot product, as in csaw/batched.h and csaw/maxk.h */ };

static __device__ __forceinline__ uint64_t csaw__thread_number() {
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* The row that edge e stands in, which is row `low` or after it. */
static __device__ __forceinline__ uint64_t csaw__row_from(const uint64_t *rowptr, uint64_t low, uint64_t rows,
                                                          uint64_t e) {
    uint64_t high = rows; /* rowptr[low] <= e < rowptr[high] */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (rowptr[middle] <= e)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static __device__ __forceinline__ uint64_t csaw__row_at(const uint64_t *rowptr, uint64_t rows, uint64_t e) {
    return csaw__row_from(rowptr, 0, rows, e);
}

/* As csaw__row_from(), for an edge that likely stands in this row or soon after: looks 1, 2, 4 and so on rows ahead. */
static __device__ __forceinline__ uint64_t csaw__row_on(const uint64_t *rowptr, uint64_t row, uint64_t rows,
                                                        uint64_t e) {
    if (e < rowptr[row + 1]) return row;
    uint64_t ahead = 1;
    for (row++; row + ahead < rows && rowptr[row + ahead] <= e; ahead *= 2) row += ahead;
    return csaw__row_from(rowptr, row, row + ahead < rows ? row + ahead : rows, e);
}

/* As csaw__row_at(), of one edge for all lanes of a warp: each looks at one of 32 rows, as often as rows are left. */
static __device__ __forceinline__ uint64_t csaw__row_by_warp(const uint64_t *rowptr, uint64_t rows, uint64_t e) {
    uint64_t low = 0, high = rows; /* rowptr[low] <= e < rowptr[high] */
    while (high - low > 1) {
        const uint64_t step = (high - low + 31) / 32, row = low + threadIdx.x % 32 * step;
        const bool is_before = row < high && rowptr[row] <= e; /* for the first lanes, lane 0 among them */
        low += (__popc(__ballot_sync(CSAW__ALL_LANES, is_before)) - 1) * step;
        high = low + step < high ? low + step : high;
    }
    return low;
}

/* The lanes of a group: sum l stands in lane l / VECTOR. Every lane ends with the result. */
template <int VECTOR> static __device__ __forceinline__ float csaw__sum_of_sums(float *sum) {
    constexpr int lanes = CSAW__SUMS / VECTOR;
#pragma unroll
    for (int half = CSAW__SUMS / 2; half >= VECTOR && half >= 4; half /= 2)
#pragma unroll
        for (int i = 0; i < VECTOR; i++) sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], half / VECTOR, lanes);
    if constexpr (VECTOR == 4) {
        return (sum[0] + sum[2]) + (sum[1] + sum[3]);
    } else if constexpr (VECTOR == 2) {
#pragma unroll
        for (int i = 0; i < 2; i++) sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], 1, lanes);
        return sum[0] + sum[1];
    } else {
        sum[0] += __shfl_xor_sync(0xffffffffu, sum[0], 2, lanes);
        return sum[0] + __shfl_xor_sync(0xffffffffu, sum[0], 1, lanes);
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/device_dots.cuh - device code of SDDMM: a dot product for every edge, in the order of spmm/dots_rows.h. A group
 * of lanes holds the sixteen partial sums of an edge, VECTOR a lane, and takes some edges that follow each other, so
 * that the features of their row stay in the L1 cache. To be compiled without contraction of a * b + c. */
#ifndef CSAW_SPMM_DEVICE_DOTS_CUH
#define CSAW_SPMM_DEVICE_DOTS_CUH

#include "spmm/device_element.cuh"
#include "spmm/device_group.cuh"
#include "spmm/device_product.h"

enum { CSAW__DOTS_EDGES = 16 /* of a group */ };

typedef struct csaw__device_dots_job {
    csaw_sparse a;
    csaw_dense x, y; /* of its rows and of its columns; strides filled in */
    uint32_t heads;
    bool mean;  /* divide by the number of edges of the row */
    float *out; /* [num_edges, heads] */
} csaw__device_dots_job;

/* Adds a lane's products of two rows of so many columns. arg: NULL, or only columns c with arg[c] == wanted. Loads
 * first, so that they are on their way together; the first column is loaded again for those that are not there. */
template <csaw_dtype X, csaw_dtype Y, int VECTOR>
static __device__ __forceinline__ void csaw__dot(const char *x, const char *y, uint64_t columns, uint32_t lane,
                                                 const uint32_t *arg, uint32_t wanted, float *sum) {
    constexpr int COUNT = 4; /* loads of each row */
    for (uint64_t begin = lane * VECTOR; begin < columns; begin += COUNT * CSAW__SUMS) {
        float u[COUNT][VECTOR], v[COUNT][VECTOR];
        bool taken[COUNT];
#pragma unroll
        for (int n = 0; n < COUNT; n++) {
            const bool there = begin + n * CSAW__SUMS < columns;
            const uint64_t c = there ? begin + n * CSAW__SUMS : begin;
            csaw__load<X, VECTOR>(x + c * (X == CSAW_F32 ? 4 : 2), u[n]);
            csaw__load<Y, VECTOR>(y + c * (Y == CSAW_F32 ? 4 : 2), v[n]);
            taken[n] = there && (!arg || arg[c] == wanted);
        }
#pragma unroll
        for (int n = 0; n < COUNT; n++)
#pragma unroll
            for (int i = 0; i < VECTOR; i++)
                if (taken[n]) sum[i] += u[n][i] * v[n][i];
    }
}

template <csaw_dtype X, csaw_dtype Y, int VECTOR>
static __global__ void csaw__dots_of_edges(const __grid_constant__ csaw__device_dots_job d) {
    constexpr uint32_t lanes = CSAW__SUMS / VECTOR;
    const uint64_t first = csaw__thread_number() / lanes * CSAW__DOTS_EDGES, columns = d.x.cols / d.heads;
    const uint32_t lane = threadIdx.x % lanes;
    uint64_t row = first < d.a.num_edges ? csaw__row_at(d.a.rowptr, d.a.rows, first) : 0;
    uint64_t column = first < d.a.num_edges ? d.a.col[first] : 0;
    for (uint64_t e = first; e < first + CSAW__DOTS_EDGES; e++) {
        const bool is_edge = e < d.a.num_edges;                           /* all lanes of the warp go on together */
        const uint64_t next = e + 1 < d.a.num_edges ? d.a.col[e + 1] : 0; /* while the features come */
        if (is_edge) row = csaw__row_on(d.a.rowptr, row, d.a.rows, e);
        for (uint32_t h = 0; h < d.heads; h++) {
            const char *const x = (const char *)d.x.data + (row * d.x.stride + h * columns) * (X == CSAW_F32 ? 4 : 2);
            const char *const y =
                (const char *)d.y.data + (column * d.y.stride + h * columns) * (Y == CSAW_F32 ? 4 : 2);
            float sum[VECTOR] = {0};
            csaw__dot<X, Y, VECTOR>(x, y, is_edge ? columns : 0, lane, nullptr, 0, sum);
            float value = csaw__sum_of_sums<VECTOR>(sum);
            if (!is_edge || lane) continue;
            if (d.mean) value /= (float)(d.a.rowptr[row + 1] - d.a.rowptr[row]);
            d.out[e * d.heads + h] = value;
        }
        column = next;
    }
}

typedef void csaw__dots_kernel(csaw__device_dots_job);

template <csaw_dtype X, int VECTOR> static csaw__dots_kernel *csaw__dots_kernel_for(csaw_dtype y) {
    if (y == CSAW_F32) return csaw__dots_of_edges<X, CSAW_F32, VECTOR>;
    return y == CSAW_F16 ? csaw__dots_of_edges<X, CSAW_F16, VECTOR> : csaw__dots_of_edges<X, CSAW_BF16, VECTOR>;
}

template <int VECTOR> static csaw__dots_kernel *csaw__dots_kernel_of(csaw_dtype x, csaw_dtype y) {
    if (x == CSAW_F32) return csaw__dots_kernel_for<CSAW_F32, VECTOR>(y);
    return x == CSAW_F16 ? csaw__dots_kernel_for<CSAW_F16, VECTOR>(y) : csaw__dots_kernel_for<CSAW_BF16, VECTOR>(y);
}

/* The kernel for these storages; *threads: how many it takes. */
static inline csaw__dots_kernel *csaw__dots_kernel_at(const csaw__device_dots_job *d, uint64_t *threads) {
    const bool vectors =
        d->x.cols / d->heads % CSAW__VECTOR == 0 && csaw__takes_vectors(&d->x) && csaw__takes_vectors(&d->y);
    const uint64_t groups = (d->a.num_edges + CSAW__DOTS_EDGES - 1) / CSAW__DOTS_EDGES;
    *threads = groups * (CSAW__SUMS / (vectors ? CSAW__VECTOR : 1));
    return vectors ? csaw__dots_kernel_of<CSAW__VECTOR>(d->x.dtype, d->y.dtype)
                   : csaw__dots_kernel_of<1>(d->x.dtype, d->y.dtype);
}

#endif

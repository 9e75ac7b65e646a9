/* SPDX-License-Identifier: MIT */
/* spmm/device_dots.cuh - device code of SDDMM: a dot product for every edge, in the order of spmm/dots_rows.h, which
 * has sixteen partial sums, of every sixteenth column each. Sixteen lanes take eight edges at a time, and of each row
 * load VECTOR columns a lane side by side, for whole lines: a row of 64 columns in one piece. Columns of one partial
 * sum then stand VECTOR lanes apart, so lanes exchange products: of each VECTOR edges a lane gets one, and adds its
 * columns in their order. Of the row, which these edges share more often than not, a lane keeps its columns. To be
 * compiled without contraction of a * b + c.
 *
 * Four lanes an edge need no exchange, but touch as many lines with each load as there are edges: on an H200 that was
 * 4.2 TB/s of features where csaw_spmm() has 8 (docs/measured/2026-11-23-gpu-5.md). */
#ifndef CSAW_SPMM_DEVICE_DOTS_CUH
#define CSAW_SPMM_DEVICE_DOTS_CUH

#include "spmm/device_element.cuh"
#include "spmm/device_group.cuh"
#include "spmm/device_product.h"

enum { CSAW__DOTS_EDGES = 32 /* of a group of lanes */, CSAW__DOTS_AT_ONCE = 8 };

typedef struct csaw__device_dots_job {
    csaw_sparse a;
    csaw_dense x, y; /* of its rows and of its columns; strides filled in */
    uint32_t heads;
    bool mean;  /* divide by the number of edges of the row */
    float *out; /* [num_edges, heads] */
} csaw__device_dots_job;

template <int VECTOR> struct csaw__dots_part { /* of a row, a lane's columns */
    float at[VECTOR];
};

template <csaw_dtype T, int VECTOR>
static __device__ __forceinline__ csaw__dots_part<VECTOR> csaw__dots_load(const csaw_dense &of, uint64_t row,
                                                                          uint64_t column) {
    csaw__dots_part<VECTOR> part;
    csaw__load<T, VECTOR>((const char *)of.data + (row * of.stride + column) * (T == CSAW_F32 ? 4 : 2), part.at);
    return part;
}

/* Lanes DISTANCE apart exchange: of `low` and `high`, two edges, the lane with the bit clear gets both parts of the
 * first, the other one those of the second, the part of the lane with the bit clear in `low`. */
template <int DISTANCE, int VECTOR>
static __device__ __forceinline__ void csaw__dots_exchange(csaw__dots_part<VECTOR> *low,
                                                           csaw__dots_part<VECTOR> *high) {
    const bool second = threadIdx.x & DISTANCE;
#pragma unroll
    for (int j = 0; j < VECTOR; j++) {
        const float given = second ? low->at[j] : high->at[j];
        const float got = __shfl_xor_sync(0xffffffffu, given, DISTANCE, CSAW__SUMS);
        low->at[j] = second ? got : low->at[j];
        high->at[j] = second ? high->at[j] : got;
    }
}

/* Products of VECTOR edges, a lane's columns of each, become those of one edge, number lane * VECTOR / 16 of them, in
 * the order of columns. */
template <int VECTOR> static __device__ __forceinline__ void csaw__dots_turn(csaw__dots_part<VECTOR> *part) {
    if constexpr (VECTOR == 4) {
        csaw__dots_exchange<4>(&part[0], &part[1]); /* with the lanes of the next four columns */
        csaw__dots_exchange<4>(&part[2], &part[3]);
        csaw__dots_exchange<8>(&part[0], &part[2]); /* of the eight after these */
        csaw__dots_exchange<8>(&part[1], &part[3]);
    }
}

/* How many edges from `from` on stand before the end of the row; more than are taken at once are not counted. */
static __device__ __forceinline__ uint32_t csaw__dots_in_row(const uint64_t *rowptr, uint64_t row, uint64_t from) {
    const uint64_t count = rowptr[row + 1] - from;
    return count < CSAW__DOTS_AT_ONCE ? (uint32_t)count : CSAW__DOTS_AT_ONCE;
}

/* The partial sums of edges from, from + 1, ..., the first of them in `row`; those beyond `last` are the last one. In
 * each lane those of edges from + i * VECTOR + lane * VECTOR / 16. */
template <csaw_dtype X, csaw_dtype Y, int VECTOR>
static __device__ __forceinline__ void csaw__dots_sums(const csaw__device_dots_job &d, uint64_t from, uint64_t last,
                                                       uint64_t row, uint32_t head,
                                                       float (&sum)[CSAW__DOTS_AT_ONCE / VECTOR][VECTOR]) {
    constexpr uint32_t edges = CSAW__DOTS_AT_ONCE;
    const uint32_t count = last - from < edges ? (uint32_t)(last - from) + 1 : edges, lane = threadIdx.x % CSAW__SUMS;
    const uint64_t columns = d.x.cols / d.heads;
    const csaw_vertex *const col = d.a.col + from;
    csaw_vertex ends[edges];
#pragma unroll
    for (uint32_t i = 0; i < edges; i++) ends[i] = col[i < count ? i : count - 1];
    for (uint64_t piece = 0; piece < columns; piece += CSAW__SUMS * VECTOR) {
        const bool there = piece + lane * VECTOR < columns; /* else it loads the first columns: without a branch */
        const uint64_t column = head * columns + (there ? piece + lane * VECTOR : 0);
        csaw__dots_part<VECTOR> v[edges], u;
        uint64_t at_row = row;
        uint32_t in_row = csaw__dots_in_row(d.a.rowptr, row, from);
#pragma unroll
        for (uint32_t i = 0; i < edges; i++) v[i] = csaw__dots_load<Y, VECTOR>(d.y, ends[i], column);
        u = csaw__dots_load<X, VECTOR>(d.x, row, column);
#pragma unroll
        for (uint32_t i = 0; i < edges; i++) {
            const uint32_t edge = i < count ? i : count - 1;
            if (edge >= in_row) {
                at_row = csaw__row_on(d.a.rowptr, at_row, d.a.rows, from + edge);
                in_row = csaw__dots_in_row(d.a.rowptr, at_row, from);
                u = csaw__dots_load<X, VECTOR>(d.x, at_row, column);
            }
#pragma unroll
            for (int j = 0; j < VECTOR; j++) v[i].at[j] = there ? u.at[j] * v[i].at[j] : 0;
        }
#pragma unroll
        for (uint32_t i = 0; i < edges / VECTOR; i++) {
            csaw__dots_part<VECTOR> *const part = &v[i * VECTOR];
            csaw__dots_turn(part);
#pragma unroll
            for (int n = 0; n < VECTOR; n++)
#pragma unroll
                for (int j = 0; j < VECTOR; j++) sum[i][j] += part[n].at[j];
        }
    }
}

template <csaw_dtype X, csaw_dtype Y, int VECTOR>
static __global__ void __launch_bounds__(256, 2) csaw__dots_of_edges(const __grid_constant__ csaw__device_dots_job d) {
    constexpr uint32_t edges = CSAW__DOTS_AT_ONCE;
    const uint64_t *const rowptr = d.a.rowptr;
    const uint64_t last = d.a.num_edges - 1, first = csaw__thread_number() / CSAW__SUMS * CSAW__DOTS_EDGES;
    const uint32_t lane = threadIdx.x % CSAW__SUMS, own = lane * VECTOR / CSAW__SUMS;
    uint64_t row = csaw__row_at(rowptr, d.a.rows, first < last ? first : last);
    for (uint64_t from = first; from < first + CSAW__DOTS_EDGES; from += edges) { /* all lanes of the warp together */
        const uint64_t there = from < last ? from : last;
        row = csaw__row_on(rowptr, row, d.a.rows, there);
        for (uint32_t h = 0; h < d.heads; h++) {
            float sum[edges / VECTOR][VECTOR] = {};
            csaw__dots_sums<X, Y, VECTOR>(d, there, last, row, h, sum);
#pragma unroll
            for (uint32_t i = 0; i < edges / VECTOR; i++) {
                const uint64_t e = from + i * VECTOR + own;
                float value = csaw__sum_of_sums<VECTOR>(sum[i]);
                if (lane % (CSAW__SUMS / VECTOR) || e > last) continue;
                if (d.mean) {
                    const uint64_t of = csaw__row_from(rowptr, row, d.a.rows, e);
                    value /= (float)(rowptr[of + 1] - rowptr[of]);
                }
                d.out[e * d.heads + h] = value;
            }
        }
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
    *threads = groups * CSAW__SUMS;
    return vectors ? csaw__dots_kernel_of<CSAW__VECTOR>(d->x.dtype, d->y.dtype)
                   : csaw__dots_kernel_of<1>(d->x.dtype, d->y.dtype);
}

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/device_dots.cuh - device code of SDDMM: a dot product for every edge, in the order of spmm/dots_rows.h. A group
 * of lanes holds the sixteen partial sums of each of some edges that follow each other, VECTOR a lane, and goes through
 * the columns by pieces: of the row, which these edges share more often than not, it has a piece in registers, and
 * while an edge's is multiplied the next one's comes. To be compiled without contraction of a * b + c. */
#ifndef CSAW_SPMM_DEVICE_DOTS_CUH
#define CSAW_SPMM_DEVICE_DOTS_CUH

#include "spmm/device_element.cuh"
#include "spmm/device_group.cuh"
#include "spmm/device_product.h"

enum { CSAW__DOTS_EDGES = 8 /* of a group */, CSAW__DOTS_LOADS = 4 /* of a piece, a lane */ };

typedef struct csaw__device_dots_job {
    csaw_sparse a;
    csaw_dense x, y; /* of its rows and of its columns; strides filled in */
    uint32_t heads;
    bool mean;  /* divide by the number of edges of the row */
    float *out; /* [num_edges, heads] */
} csaw__device_dots_job;

/* A lane's piece of a row, from a column that is there on, `left` of them in all; it again instead of the others. */
template <csaw_dtype T, int VECTOR>
static __device__ __forceinline__ void csaw__dots_load(const csaw_dense &of, uint64_t row, uint64_t column,
                                                       uint32_t left, float (&out)[CSAW__DOTS_LOADS][VECTOR]) {
    constexpr uint32_t bytes = T == CSAW_F32 ? 4 : 2;
    const char *const at = (const char *)of.data + (row * of.stride + column) * bytes;
#pragma unroll
    for (uint32_t n = 0; n < CSAW__DOTS_LOADS; n++)
        csaw__load<T, VECTOR>(at + (n * CSAW__SUMS < left ? n * CSAW__SUMS : 0) * bytes, out[n]);
}

/* How many edges from `from` on stand before the end of the row; more than a group's are not counted. */
static __device__ __forceinline__ uint32_t csaw__dots_in_row(const uint64_t *rowptr, uint64_t row, uint64_t from) {
    const uint64_t count = rowptr[row + 1] - from;
    return count < CSAW__DOTS_EDGES ? (uint32_t)count : CSAW__DOTS_EDGES;
}

/* Edges beyond the last one are the last one, whose product is not stored again. */
template <csaw_dtype X, csaw_dtype Y, int VECTOR>
static __global__ void __launch_bounds__(256, 2) csaw__dots_of_edges(const __grid_constant__ csaw__device_dots_job d) {
    constexpr uint32_t lanes = CSAW__SUMS / VECTOR;
    constexpr uint32_t piece_columns = CSAW__DOTS_LOADS * CSAW__SUMS; /* columns */
    constexpr uint32_t edges = CSAW__DOTS_EDGES, each = (edges + lanes - 1) / lanes;
    const uint64_t *const rowptr = d.a.rowptr;
    const uint64_t columns = d.x.cols / d.heads, last = d.a.num_edges - 1;
    const uint64_t first = csaw__thread_number() / lanes * edges, from = first < last ? first : last;
    const uint32_t count = last - from < edges ? (uint32_t)(last - from) + 1 : edges;
    const csaw_vertex *const col = d.a.col + from;
    const uint64_t first_row = csaw__row_at(rowptr, d.a.rows, from);
    const uint32_t lane = threadIdx.x % lanes;
    for (uint32_t h = 0; h < d.heads; h++) {
        float sum[edges][VECTOR] = {};
        for (uint64_t piece = 0; piece < columns; piece += piece_columns) {
            const uint64_t there = columns - piece;
            const uint32_t all = there < piece_columns ? (uint32_t)there : piece_columns, mine = lane * VECTOR,
                           left = mine < all ? all - mine : 0;
            const uint64_t column = h * columns + (left ? piece + mine : 0);
            float u[CSAW__DOTS_LOADS][VECTOR], v[2][CSAW__DOTS_LOADS][VECTOR];
            uint64_t row = first_row;
            uint32_t in_row = csaw__dots_in_row(rowptr, row, from); /* of these edges, those before the row's end */
            csaw_vertex ahead = col[count > 1];
            csaw__dots_load<X, VECTOR>(d.x, row, column, left, u);
            csaw__dots_load<Y, VECTOR>(d.y, col[0], column, left, v[0]);
#pragma unroll
            for (uint32_t i = 0; i < edges; i++) {
                const uint32_t edge = i < count ? i : count - 1;
                if (i + 1 < edges) csaw__dots_load<Y, VECTOR>(d.y, ahead, column, left, v[(i + 1) & 1]);
                if (i + 2 < edges) ahead = col[i + 2 < count ? i + 2 : count - 1];
                if (edge >= in_row) {
                    row = csaw__row_on(rowptr, row, d.a.rows, from + edge);
                    in_row = csaw__dots_in_row(rowptr, row, from);
                    csaw__dots_load<X, VECTOR>(d.x, row, column, left, u);
                }
#pragma unroll
                for (uint32_t n = 0; n < CSAW__DOTS_LOADS; n++)
#pragma unroll
                    for (int j = 0; j < VECTOR; j++)
                        if (n * CSAW__SUMS < left) sum[i][j] += u[n][j] * v[i & 1][n][j];
            }
        }
        float mine[each];
#pragma unroll
        for (uint32_t i = 0; i < edges; i++) { /* all lanes of the warp together */
            const float value = csaw__sum_of_sums<VECTOR>(sum[i]);
            if (i % lanes == lane) mine[i / lanes] = value;
        }
#pragma unroll
        for (uint32_t i = 0; i < each; i++) {
            const uint64_t e = first + i * lanes + lane;
            if (i * lanes + lane >= edges || e > last) continue;
            if (d.mean) {
                const uint64_t row = csaw__row_from(rowptr, first_row, d.a.rows, e);
                mine[i] /= (float)(rowptr[row + 1] - rowptr[row]);
            }
            d.out[e * d.heads + h] = mine[i];
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
    *threads = groups * (CSAW__SUMS / (vectors ? CSAW__VECTOR : 1));
    return vectors ? csaw__dots_kernel_of<CSAW__VECTOR>(d->x.dtype, d->y.dtype)
                   : csaw__dots_kernel_of<1>(d->x.dtype, d->y.dtype);
}

#endif

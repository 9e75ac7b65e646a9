/* SPDX-License-Identifier: MIT */
/* spmm/device_dots.cuh - device code of SDDMM: a dot product for every edge, in the order of spmm/dots_rows.h. A group
 * of lanes holds the 32 partial sums of an edge, VECTOR a lane, so that it reads a row of y by whole cache lines of
 * float32, and takes 16 edges that follow each other; the features of their row stay in its registers. Groups may go by
 * the column of their first edge instead of one after the other: edges of a row are likely sorted by column, and so
 * what is read of y at about the same time is a stretch of it, which the L2 cache holds. To be compiled without
 * contraction of a * b + c.
 *
 * Narrow rows of 16 bits take instructions rather than bytes. So sums of columns that are held at once begin with their
 * first product, and a group looks for a row's end within itself. On an H200, reddit's size, 64 columns by column: 2.9
 * ms of float32, 2.8 of float16, 2.5 of bfloat16 (docs/measured/2026-11-23-gpu-9.md); products with the same matrix
 * take 3.3 of float32 and 1.8 of float16 since docs/measured/2026-11-28-gpu-27.md.
 *
 * Limit on an H100, a twentieth of reddit, 64 columns: csaw__dots_keys L2, 68%, and DRAM, 63%; csaw__dots_rows 60% of
 * L1 with 90% of the warps and 34% of the issue slots. docs/measured/2026-11-26-gpu-14.md. */
#ifndef CSAW_SPMM_DEVICE_DOTS_CUH
#define CSAW_SPMM_DEVICE_DOTS_CUH

#include "spmm/device_element.cuh"
#include "spmm/device_group.cuh"
#include "spmm/device_product.h"

enum {
    CSAW__DOT_SUMS = 32,   /* as in spmm/dots_rows.h */
    CSAW__DOTS_EDGES = 16, /* of a group */
    CSAW__DOTS_HELD = 8    /* vectors of a row that a lane has at once */
};

typedef struct csaw__device_dots_job {
    csaw_sparse a;
    csaw_dense x, y; /* of its rows and of its columns; strides filled in */
    uint32_t heads;
    bool mean;  /* divide by the number of edges of the row */
    float *out; /* [num_edges, heads] */
    csaw__dots_order order;
} csaw__device_dots_job;

static __host__ __device__ __forceinline__ uint64_t csaw__dots_groups(uint64_t edges) {
    return (edges + CSAW__DOTS_EDGES - 1) / CSAW__DOTS_EDGES;
}

/* COUNT vectors of a row, 32 columns apart; zeros beyond the last column, which add nothing but to -0, and a result is
 * never that. */
template <csaw_dtype T, int VECTOR, int COUNT> struct csaw__dot_piece {
    typedef csaw__pack<typename csaw__stored<T == CSAW_F32 ? 4 : 2>::type, VECTOR> vector;
    vector at[COUNT];

    /* from: the lane's first column; left: how many columns there are from there */
    __device__ __forceinline__ void load(const char *from, int64_t left) {
#pragma unroll
        for (int j = 0; j < COUNT; j++) {
            at[j] = {};
            if (j * CSAW__DOT_SUMS < left)
                at[j] = *(const vector *)(from + j * (CSAW__DOT_SUMS * (T == CSAW_F32 ? 4 : 2)));
        }
    }
};

template <csaw_dtype T, int VECTOR, int COUNT>
static __device__ __forceinline__ void csaw__dot_floats(const char *from, int64_t left, float (&to)[COUNT][VECTOR]) {
    csaw__dot_piece<T, VECTOR, COUNT> piece;
    piece.load(from, left);
#pragma unroll
    for (int j = 0; j < COUNT; j++) csaw__widen_pack<T>(piece.at[j], to[j]);
}

/* EDGES sums of the lanes of a group, each in VECTOR registers a lane, added in halves: 16 to 16, and so on. The result
 * of edge t stands in the lanes from LANES / EDGES * t on. */
template <int VECTOR, int EDGES> static __device__ __forceinline__ float csaw__dots_added(float (*sum)[VECTOR]) {
    constexpr int LANES = CSAW__DOT_SUMS / VECTOR;
    int edges = EDGES;
#pragma unroll
    for (int d = LANES / 2; d; d /= 2) {
        if (edges > 1) { /* half of the lanes go on with half of the edges */
            const bool upper = threadIdx.x & d;
            edges /= 2;
#pragma unroll
            for (int t = 0; t < EDGES / 2; t++)
#pragma unroll
                for (int i = 0; i < VECTOR; i++) {
                    if (t >= edges) continue;
                    const float given = upper ? sum[t][i] : sum[t + edges][i];
                    sum[t][i] = (upper ? sum[t + edges][i] : sum[t][i]) + __shfl_xor_sync(0xffffffffu, given, d);
                }
            continue;
        }
#pragma unroll
        for (int i = 0; i < VECTOR; i++) sum[0][i] += __shfl_xor_sync(0xffffffffu, sum[0][i], d);
    }
    if constexpr (VECTOR == 4) return (sum[0][0] + sum[0][2]) + (sum[0][1] + sum[0][3]);
    return sum[0][0];
}

/* COUNT: vectors of a row that a lane has at once. EDGES: of a group, that it has on their way; if it is one, rows of
 * more columns are gone through piece by piece. The first products of sums are not added to 0, but the result is: of
 * either way no sum of zeros is -0. */
template <csaw_dtype X, csaw_dtype Y, int VECTOR, int COUNT, int EDGES>
static __global__ void __launch_bounds__(256, COUNT <= 2 ? 3 : 2) /* blocks: as measured */
    csaw__dots_of_edges(const __grid_constant__ csaw__device_dots_job d) {
    constexpr int LANES = CSAW__DOT_SUMS / VECTOR;
    constexpr bool PIECES = EDGES == 1;
    constexpr uint32_t COLS = LANES < CSAW__DOTS_EDGES ? CSAW__DOTS_EDGES / LANES : 1;
    constexpr uint32_t x_bytes = X == CSAW_F32 ? 4 : 2, y_bytes = Y == CSAW_F32 ? 4 : 2;
    const uint64_t groups = csaw__dots_groups(d.a.num_edges), number = csaw__thread_number() / LANES;
    const uint64_t at = number < groups ? number : groups - 1; /* all lanes of the warp go on together */
    const uint64_t first = (d.order.group ? d.order.group[at] : at) * CSAW__DOTS_EDGES;
    const uint64_t left = d.a.num_edges - first;
    const uint32_t count = left < CSAW__DOTS_EDGES ? (uint32_t)left : (uint32_t)CSAW__DOTS_EDGES;
    const uint32_t lane = threadIdx.x % LANES, mine = lane / (LANES / EDGES); /* which of some edges it stores */
    const uint64_t columns = d.x.cols / d.heads, x_row = d.x.stride * x_bytes, y_row = d.y.stride * y_bytes;
    const uint64_t first_row = d.order.group ? d.order.row[at] : csaw__row_at(d.a.rowptr, d.a.rows, first);
    csaw_vertex cols[COLS]; /* of edges lane, lane + LANES */
#pragma unroll
    for (uint32_t i = 0; i < COLS; i++) {
        const uint32_t k = i * LANES + lane;
        cols[i] = d.a.col[first + (k < count ? k : 0)];
    }
    for (uint32_t h = 0; h < d.heads; h++) {
        const uint64_t column = h * columns + lane * VECTOR;
        const char *const x = (const char *)d.x.data + column * x_bytes;
        const char *const y = (const char *)d.y.data + column * y_bytes;
        uint64_t row = first_row;
        uint32_t next_row = 0; /* the edge of the group that another row begins with, at the earliest */
        float of_row[COUNT][VECTOR];
#pragma unroll 1
        for (uint32_t k = 0; k < CSAW__DOTS_EDGES; k += EDGES) {
            const csaw_vertex some = k < LANES ? cols[0] : cols[COLS - 1];
            const uint64_t row_before = row;
            float sum[EDGES][VECTOR];
            const auto add_products = [&](uint64_t c) {
                csaw__dot_piece<Y, VECTOR, COUNT> of_column[EDGES];
                const int64_t there = (int64_t)(columns - c) - lane * VECTOR;
#pragma unroll
                for (int t = 0; t < EDGES; t++) {
                    const uint64_t col = __shfl_sync(0xffffffffu, some, (int)(k + t) % LANES, LANES);
                    of_column[t].load(y + col * y_row + c * y_bytes, there);
                }
#pragma unroll
                for (int t = 0; t < EDGES; t++) {
                    const bool is_next = k + t >= next_row;
                    if (is_next) {
                        if (k + t) row = csaw__row_on(d.a.rowptr, row, d.a.rows, first + k + t);
                        const uint64_t end = d.a.rowptr[row + 1] - first;
                        next_row = end < count ? (uint32_t)end : (uint32_t)CSAW__DOTS_EDGES;
                    }
                    if (is_next || (PIECES && COUNT * CSAW__DOT_SUMS < columns))
                        csaw__dot_floats<X>(x + row * x_row + c * x_bytes, there, of_row);
#pragma unroll
                    for (int j = 0; j < COUNT; j++) {
                        float v[VECTOR];
                        csaw__widen_pack<Y>(of_column[t].at[j], v);
#pragma unroll
                        for (int i = 0; i < VECTOR; i++) {
                            const float product = of_row[j][i] * v[i];
                            sum[t][i] = j || PIECES ? sum[t][i] + product : product;
                        }
                    }
                }
            };
            if constexpr (PIECES) {
#pragma unroll
                for (int i = 0; i < VECTOR; i++) sum[0][i] = 0;
                for (uint64_t c = 0; c < columns; c += COUNT * CSAW__DOT_SUMS) add_products(c);
            } else {
                add_products(0);
            }
            float value = csaw__dots_added<VECTOR, EDGES>(sum) + 0.0f;
            const uint64_t e = first + k + mine;
            if (number >= groups || lane % (LANES / EDGES) || k + mine >= count) continue;
            if (d.mean) {
                const uint64_t of_edge = csaw__row_on(d.a.rowptr, row_before, d.a.rows, e);
                value /= (float)(d.a.rowptr[of_edge + 1] - d.a.rowptr[of_edge]);
            }
            d.out[e * d.heads + h] = value;
        }
    }
}

typedef void csaw__dots_kernel(csaw__device_dots_job);

/* Vectors of y on their way: as many as take 32 registers, or 16. */
template <csaw_dtype X, csaw_dtype Y, int VECTOR> static csaw__dots_kernel *csaw__dots_kernel_by(uint64_t columns) {
    constexpr int HELD = CSAW__DOTS_HELD, AT_ONCE = Y == CSAW_F32 ? 8 : 16;
    if constexpr (VECTOR > 1) {
        if (columns <= 2 * CSAW__DOT_SUMS) return csaw__dots_of_edges<X, Y, VECTOR, 2, 4>;
        if (columns <= 4 * CSAW__DOT_SUMS) return csaw__dots_of_edges<X, Y, VECTOR, 4, AT_ONCE / 4>;
        if (columns <= HELD * CSAW__DOT_SUMS) return csaw__dots_of_edges<X, Y, VECTOR, HELD, AT_ONCE / HELD>;
    }
    return csaw__dots_of_edges<X, Y, VECTOR, HELD, 1>;
}

template <csaw_dtype X, int VECTOR> static csaw__dots_kernel *csaw__dots_kernel_for(csaw_dtype y, uint64_t columns) {
    if (y == CSAW_F32) return csaw__dots_kernel_by<X, CSAW_F32, VECTOR>(columns);
    return y == CSAW_F16 ? csaw__dots_kernel_by<X, CSAW_F16, VECTOR>(columns)
                         : csaw__dots_kernel_by<X, CSAW_BF16, VECTOR>(columns);
}

template <int VECTOR> static csaw__dots_kernel *csaw__dots_kernel_of(csaw_dtype x, csaw_dtype y, uint64_t columns) {
    if (x == CSAW_F32) return csaw__dots_kernel_for<CSAW_F32, VECTOR>(y, columns);
    return x == CSAW_F16 ? csaw__dots_kernel_for<CSAW_F16, VECTOR>(y, columns)
                         : csaw__dots_kernel_for<CSAW_BF16, VECTOR>(y, columns);
}

/* The kernel for these storages; *threads: how many it takes. */
static inline csaw__dots_kernel *csaw__dots_kernel_at(const csaw__device_dots_job *d, uint64_t *threads) {
    const uint64_t columns = d->x.cols / d->heads;
    const bool vectors = columns % CSAW__VECTOR == 0 && csaw__takes_vectors(&d->x) && csaw__takes_vectors(&d->y);
    *threads = csaw__dots_groups(d->a.num_edges) * (CSAW__DOT_SUMS / (vectors ? CSAW__VECTOR : 1));
    return vectors ? csaw__dots_kernel_of<CSAW__VECTOR>(d->x.dtype, d->y.dtype, columns)
                   : csaw__dots_kernel_of<1>(d->x.dtype, d->y.dtype, columns);
}

/* ---- the order by columns ---- */

/* Thread g: what group g is sorted by. */
static __global__ void csaw__dots_keys(const __grid_constant__ csaw_sparse a, csaw_vertex *key, uint64_t *group) {
    const uint64_t g = csaw__thread_number();
    if (g >= csaw__dots_groups(a.num_edges)) return;
    key[g] = a.col[g * CSAW__DOTS_EDGES];
    group[g] = g;
}

/* Thread i: the row of the i-th group. */
static __global__ void csaw__dots_rows(const __grid_constant__ csaw_sparse a, const uint64_t *group, csaw_vertex *row) {
    const uint64_t i = csaw__thread_number();
    if (i < csaw__dots_groups(a.num_edges))
        row[i] = (csaw_vertex)csaw__row_at(a.rowptr, a.rows, group[i] * CSAW__DOTS_EDGES);
}

#endif

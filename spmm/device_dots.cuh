/* SPDX-License-Identifier: MIT */
/* spmm/device_dots.cuh - device code of SDDMM: a dot product for every edge, in the order of spmm/dots_rows.h. A group
 * of lanes holds the 32 partial sums of an edge, VECTOR a lane, and takes 16 edges that follow each other. The features
 * of their row stay in its registers, as stored; where some edges that are loaded together belong to several rows, the
 * features of each are loaded along with them. Groups may go by the column of their first edge instead of one after the
 * other: edges of a row are likely sorted by column, and so what is read of y at about the same time is a stretch of
 * it, which the L2 cache holds. Numbers of columns and of rows stand in shared memory, and where rows begin is looked
 * up by all lanes beforehand, so that few registers and instructions are of anything but features: narrow rows of 16
 * bits take instructions rather than bytes. To be compiled without contraction of a * b + c.
 *
 * Time over that of the product with the same matrix, and what limits it: docs/measured/2026-11-29-gpu-28.md. */
#ifndef CSAW_SPMM_DEVICE_DOTS_CUH
#define CSAW_SPMM_DEVICE_DOTS_CUH

#include <type_traits>

#include "spmm/device_element.cuh"
#include "spmm/device_group.cuh"
#include "spmm/device_product.h"

enum {
    CSAW__DOT_SUMS = 32,     /* as in spmm/dots_rows.h */
    CSAW__DOTS_EDGES = 16,   /* of a group */
    CSAW__DOTS_THREADS = 256 /* of a block, that of CSAW__LAUNCH */
};

typedef struct csaw__device_dots_job {
    csaw_sparse a;
    csaw_dense x, y; /* of its rows and of its columns; strides filled in */
    uint32_t heads;
    bool mean;  /* divide by the number of edges of the row */
    float *out; /* [num_edges, heads] */
    csaw__dots_order order;
    uint64_t columns; /* of a head; csaw__dots_kernel_at() fills it in */
} csaw__device_dots_job;

static __host__ __device__ __forceinline__ uint64_t csaw__dots_groups(uint64_t edges) {
    return (edges + CSAW__DOTS_EDGES - 1) / CSAW__DOTS_EDGES;
}

/* What a lane has of a row, as stored; zeros beyond the last column, which add nothing but to -0, and a result is never
 * that. */
template <csaw_dtype T, typename SHAPE> struct csaw__dot_piece {
    typedef csaw__pack<typename csaw__stored<T == CSAW_F32 ? 4 : 2>::type, SHAPE::VECTOR> vector;
    static constexpr int APART = SHAPE::VECTOR * SHAPE::LANES; /* columns */
    vector at[SHAPE::COUNT];

    /* from: the lane's first column; left: how many columns there are from there */
    __device__ __forceinline__ void load(const char *from, int32_t left) {
#pragma unroll
        for (int j = 0; j < SHAPE::COUNT; j++) {
            at[j] = {};
            if (j * APART < left) at[j] = *(const vector *)(from + j * (APART * (T == CSAW_F32 ? 4 : 2)));
        }
    }
};

/* How many of so many columns there are from this one on, or a number that is large enough. */
static __device__ __forceinline__ int32_t csaw__dots_left(uint64_t columns, uint32_t from) {
    return (int32_t)(columns < INT32_MAX ? columns : INT32_MAX) - (int32_t)from;
}

/* sum + a * b, rounded twice; a product of two float16 is a float32, and then one rounding is the same. */
template <csaw_dtype X, csaw_dtype Y>
static __device__ __forceinline__ float csaw__add_product(float sum, float a, float b) {
    if constexpr (X == CSAW_F16 && Y == CSAW_F16) return fmaf(a, b, sum);
    return sum + a * b;
}

/* EDGES sums of the lanes of a group, each in VECTOR registers a lane, added in halves: 16 to 16, and so on. The result
 * of edge t stands in the lanes from LANES / EDGES * t on. */
template <int VECTOR, int LANES, int EDGES>
static __device__ __forceinline__ float csaw__dots_added(float (*sum)[VECTOR]) {
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
                    sum[t][i] = (upper ? sum[t + edges][i] : sum[t][i]) + __shfl_xor_sync(CSAW__ALL_LANES, given, d);
                }
            continue;
        }
#pragma unroll
        for (int i = 0; i < VECTOR; i++) sum[0][i] += __shfl_xor_sync(CSAW__ALL_LANES, sum[0][i], d);
    }
#pragma unroll
    for (int d = VECTOR / 2; d; d /= 2)
#pragma unroll
        for (int i = 0; i < d; i++) sum[0][i] += sum[0][i + d];
    return sum[0][0];
}

/* row: [16], of `count` edges from `first` on, of which the first stands in first_row. Every lane of the group looks up
 * where another row begins, and counts for its edges how many rows begin before them; 16 rows in all, so that only
 * where there are empty ones each lane looks for its edges itself. */
template <int LANES>
static __device__ __forceinline__ void csaw__find_rows_of_edges(const uint64_t *rowptr, uint64_t rows,
                                                                uint64_t first_row, uint64_t first, uint32_t count,
                                                                csaw_vertex *row) {
    constexpr uint32_t EACH = LANES < CSAW__DOTS_EDGES ? CSAW__DOTS_EDGES / LANES : 1; /* edges of a lane */
    const uint32_t lane = threadIdx.x % LANES;
    uint64_t next = first_row + 1;
    uint32_t begun[EACH] = {}, last = CSAW__DOTS_EDGES; /* begun: rows after the first, with each edge */
#pragma unroll 1
    for (uint32_t n = 0; n < EACH; n++, next += LANES) {
        const uint64_t begins = next + lane < rows ? rowptr[next + lane] - first : CSAW__DOTS_EDGES;
        const uint32_t begin = begins < count ? (uint32_t)begins : (uint32_t)CSAW__DOTS_EDGES;
        last = __shfl_sync(CSAW__ALL_LANES, begin, LANES - 1, LANES);
        if (!__any_sync(CSAW__ALL_LANES, begin < count)) break;
#pragma unroll
        for (int j = 0; j < LANES; j++) {
            const uint32_t other = __shfl_sync(CSAW__ALL_LANES, begin, j, LANES);
#pragma unroll
            for (uint32_t i = 0; i < EACH; i++) begun[i] += other <= i * LANES + lane;
        }
    }
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        const uint32_t k = i * LANES + lane;
        uint64_t of = first_row + begun[i];
        if (last < count) of = csaw__row_on(rowptr, first_row, rows, first + (k < count ? k : count - 1));
        if (k < CSAW__DOTS_EDGES) row[k] = (csaw_vertex)of;
    }
}

/* How a group goes about it. VECTOR * LANES: the sums, 32 unless rows have fewer columns; sums that no column adds to
 * are 0, and adding them changes nothing. COUNT: vectors of a row that a lane has at once; if PIECES, rows of more
 * columns are gone through piece by piece. EDGES: of a group, that it has on their way. BLOCKS: of a multiprocessor. */
template <int VECTOR_, int LANES_, int COUNT_, int EDGES_, int BLOCKS_, bool PIECES_ = false> struct csaw__dots_shape {
    static constexpr int VECTOR = VECTOR_, LANES = LANES_, COUNT = COUNT_, EDGES = EDGES_, BLOCKS = BLOCKS_;
    static constexpr bool PIECES = PIECES_;
    static_assert(EDGES <= LANES && CSAW__DOTS_EDGES % EDGES == 0, "a lane stores the sum of an edge");
    static_assert(VECTOR * LANES <= CSAW__DOT_SUMS, "lanes hold the sums of an edge");
};

/* What a group of lanes takes. */
struct csaw__dots_group {
    uint64_t first; /* edge */
    uint64_t row;   /* of that */
    uint32_t count; /* of edges */
    bool surplus;   /* another one takes them: lanes of a warp go on together */
};

/* Every lane of a warp calls it. cols, rows: [16], of the edges of the group; those that there are not are the last. */
template <int LANES>
static __device__ __forceinline__ csaw__dots_group csaw__begin_dots(const csaw__device_dots_job &d, csaw_vertex *cols,
                                                                    csaw_vertex *rows) {
    const uint64_t groups = csaw__dots_groups(d.a.num_edges), number = csaw__thread_number() / LANES;
    const uint64_t at = number < groups ? number : groups - 1;
    csaw__dots_group g;
    g.surplus = number >= groups;
    g.first = (d.order.group ? d.order.group[at] : at) * CSAW__DOTS_EDGES;
    const uint64_t left = d.a.num_edges - g.first;
    g.count = left < CSAW__DOTS_EDGES ? (uint32_t)left : (uint32_t)CSAW__DOTS_EDGES;
    for (uint32_t k = threadIdx.x % LANES; k < CSAW__DOTS_EDGES; k += LANES)
        cols[k] = d.a.col[g.first + (k < g.count ? k : g.count - 1)];
    if (d.order.group) {
        g.row = d.order.row[at];
    } else {
        const uint64_t of_warp = number - threadIdx.x % 32 / LANES; /* its first group */
        const uint64_t edge = (of_warp < groups ? of_warp : groups - 1) * CSAW__DOTS_EDGES;
        g.row = csaw__row_on(d.a.rowptr, csaw__row_by_warp(d.a.rowptr, d.a.rows, edge), d.a.rows, g.first);
    }
    csaw__find_rows_of_edges<LANES>(d.a.rowptr, d.a.rows, g.row, g.first, g.count, rows);
    __syncwarp();
    return g;
}

/* The first products of sums are not added to 0, but the result is: of either way no sum of zeros is -0. */
template <csaw_dtype X, csaw_dtype Y, typename SHAPE>
static __global__ void __launch_bounds__(CSAW__DOTS_THREADS, SHAPE::BLOCKS)
    csaw__dots_of_edges(const __grid_constant__ csaw__device_dots_job d) {
    constexpr int VECTOR = SHAPE::VECTOR, LANES = SHAPE::LANES, COUNT = SHAPE::COUNT, EDGES = SHAPE::EDGES;
    constexpr uint32_t x_bytes = X == CSAW_F32 ? 4 : 2, y_bytes = Y == CSAW_F32 ? 4 : 2;
    typedef typename std::conditional<VECTOR == 1, uint64_t, uint32_t>::type row_bytes;
    typedef csaw__pack<csaw_vertex, EDGES> batch;
    alignas(32) __shared__ csaw_vertex all_cols[CSAW__DOTS_THREADS / LANES][CSAW__DOTS_EDGES];
    alignas(32) __shared__ csaw_vertex all_rows[CSAW__DOTS_THREADS / LANES][CSAW__DOTS_EDGES];
    csaw_vertex *const cols = all_cols[threadIdx.x / LANES], *const rows = all_rows[threadIdx.x / LANES];
    const csaw__dots_group g = csaw__begin_dots<LANES>(d, cols, rows);
    const uint32_t lane = threadIdx.x % LANES, mine = lane / (LANES / EDGES); /* which of some edges it stores */
    const uint32_t stored = !g.surplus && lane % (LANES / EDGES) == 0 ? g.count : 0;
    const row_bytes x_row = (row_bytes)(d.x.stride * x_bytes), y_row = (row_bytes)(d.y.stride * y_bytes);
    for (uint32_t h = 0; h < d.heads; h++) {
        const uint64_t column = h * d.columns + lane * VECTOR;
        const char *const x = (const char *)d.x.data + column * x_bytes;
        const char *const y = (const char *)d.y.data + column * y_bytes;
        csaw_vertex row = (csaw_vertex)g.row; /* whose features these are */
        csaw__dot_piece<X, SHAPE> of_row;
        if constexpr (!SHAPE::PIECES) of_row.load(x + (uint64_t)row * x_row, csaw__dots_left(d.columns, lane * VECTOR));
        float *to = d.out + (g.first + mine) * d.heads + h;
#pragma unroll 1
        for (uint32_t k = 0; k < CSAW__DOTS_EDGES; k += EDGES, to += (uint64_t)EDGES * d.heads) {
            const batch col = *(const batch *)(cols + k), of = *(const batch *)(rows + k);
            const bool same = __all_sync(CSAW__ALL_LANES, of.at[EDGES - 1] == row);
            float sum[EDGES][VECTOR];
            const auto add_products = [&](uint64_t c) {
                csaw__dot_piece<Y, SHAPE> of_column[EDGES];
                const int32_t there = csaw__dots_left(d.columns - c, lane * VECTOR);
                const auto add = [&](int t, const csaw__dot_piece<X, SHAPE> &of_edge) {
#pragma unroll
                    for (int j = 0; j < COUNT; j++) {
                        float u[VECTOR], v[VECTOR];
                        csaw__widen_pack<X>(of_edge.at[j], u);
                        csaw__widen_pack<Y>(of_column[t].at[j], v);
#pragma unroll
                        for (int i = 0; i < VECTOR; i++)
                            sum[t][i] =
                                j || SHAPE::PIECES ? csaw__add_product<X, Y>(sum[t][i], u[i], v[i]) : u[i] * v[i];
                    }
                };
                if (d.columns - c >= COUNT * VECTOR * LANES) { /* all are there */
#pragma unroll
                    for (int t = 0; t < EDGES; t++)
                        of_column[t].load(y + (uint64_t)col.at[t] * y_row + c * y_bytes, INT32_MAX);
                } else {
#pragma unroll
                    for (int t = 0; t < EDGES; t++)
                        of_column[t].load(y + (uint64_t)col.at[t] * y_row + c * y_bytes, there);
                }
                if (same) {
                    if constexpr (SHAPE::PIECES) of_row.load(x + (uint64_t)row * x_row + c * x_bytes, there);
#pragma unroll
                    for (int t = 0; t < EDGES; t++) add(t, of_row);
                } else {
                    csaw__dot_piece<X, SHAPE> of_rows[EDGES];
#pragma unroll
                    for (int t = 0; t < EDGES; t++)
                        of_rows[t].load(x + (uint64_t)of.at[t] * x_row + c * x_bytes, there);
#pragma unroll
                    for (int t = 0; t < EDGES; t++) add(t, of_rows[t]);
                    if constexpr (!SHAPE::PIECES) of_row = of_rows[EDGES - 1];
                }
            };
            if constexpr (SHAPE::PIECES) {
#pragma unroll
                for (int t = 0; t < EDGES; t++)
#pragma unroll
                    for (int i = 0; i < VECTOR; i++) sum[t][i] = 0;
                for (uint64_t c = 0; c < d.columns; c += COUNT * VECTOR * LANES) add_products(c);
            } else {
                add_products(0);
            }
            row = of.at[EDGES - 1];
            float value = csaw__dots_added<VECTOR, LANES, EDGES>(sum) + 0.0f;
            if (k + mine >= stored) continue;
            if (d.mean) {
                const uint64_t of_edge = rows[k + mine];
                value /= (float)(d.a.rowptr[of_edge + 1] - d.a.rowptr[of_edge]);
            }
            *to = value;
        }
    }
}

typedef void csaw__dots_kernel(csaw__device_dots_job);

typedef struct csaw__dots_way {
    csaw__dots_kernel *kernel;
    uint32_t lanes; /* of a group */
} csaw__dots_way;

template <csaw_dtype X, csaw_dtype Y, int VECTOR, int LANES, int COUNT, int EDGES, int BLOCKS, bool PIECES = false>
static csaw__dots_way csaw__dots_way_by() {
    return {csaw__dots_of_edges<X, Y, csaw__dots_shape<VECTOR, LANES, COUNT, EDGES, BLOCKS, PIECES>>, LANES};
}

/* Shapes are those that were the fastest of some with a plan, reddit before others; of 65 to 128 columns and of more
 * than 256 on the way to these kernels: docs/measured/2026-11-29-gpu-28.md. */
template <csaw_dtype X, csaw_dtype Y> static csaw__dots_way csaw__dots_way_of(const csaw__device_dots_job *d) {
    constexpr bool HALVES = X != CSAW_F32 && Y != CSAW_F32, WIDE = Y == CSAW_F32;
    const uint64_t columns = d->columns, most = UINT32_MAX / sizeof(float); /* so that bytes of a row take 32 bits */
    const auto has_vectors_of = [&](uint32_t vector) {
        return columns % vector == 0 && d->x.stride <= most && csaw__takes_vectors_of(&d->x, vector) &&
               d->y.stride <= most && csaw__takes_vectors_of(&d->y, vector);
    };
    if constexpr (HALVES) {
        if (columns > 16 && columns <= 128 && has_vectors_of(CSAW__VECTOR_16)) {
            if (columns <= 32) return csaw__dots_way_by<X, Y, 8, 4, 1, 4, 4>();
            if (columns <= 64) return csaw__dots_way_by<X, Y, 8, 4, 2, 4, 3>();
            return csaw__dots_way_by<X, Y, 8, 4, 4, 2, 3>();
        }
    }
    if (has_vectors_of(CSAW__VECTOR)) {
        constexpr int FEW = WIDE ? 4 : 5, AT_ONCE = WIDE ? 1 : 2, OF_PIECES = WIDE ? 4 : 2, BLOCKS = WIDE ? 2 : 4;
        if (columns <= 16) return csaw__dots_way_by<X, Y, 4, 4, 1, 4, FEW>();
        if (columns <= 32) return csaw__dots_way_by<X, Y, 4, 8, 1, 4, 5>();
        if (columns <= 64) return csaw__dots_way_by<X, Y, 4, 8, 2, 2, 5>();
        if (columns <= 128) return csaw__dots_way_by<X, Y, 4, 8, 4, 2, 3>();
        if (columns <= 256) return csaw__dots_way_by<X, Y, 4, 8, 8, AT_ONCE, 3>();
        return csaw__dots_way_by<X, Y, 4, 8, 4, OF_PIECES, BLOCKS, true>();
    }
    if (columns <= 8) return csaw__dots_way_by<X, Y, 1, 8, 1, 8, 5>();
    if (columns <= 64) return csaw__dots_way_by<X, Y, 1, 32, 2, 4, 6>();
    if (columns <= 256) return csaw__dots_way_by<X, Y, 1, 32, 8, 2, 4>();
    return csaw__dots_way_by<X, Y, 1, 32, 8, 2, 4, true>();
}

template <csaw_dtype X> static csaw__dots_way csaw__dots_way_for(const csaw__device_dots_job *d) {
    if (d->y.dtype == CSAW_F32) return csaw__dots_way_of<X, CSAW_F32>(d);
    return d->y.dtype == CSAW_F16 ? csaw__dots_way_of<X, CSAW_F16>(d) : csaw__dots_way_of<X, CSAW_BF16>(d);
}

/* The kernel for these storages and columns; *threads: how many it takes. */
static inline csaw__dots_kernel *csaw__dots_kernel_at(csaw__device_dots_job *d, uint64_t *threads) {
    d->columns = d->x.cols / d->heads;
    const csaw__dots_way way = d->x.dtype == CSAW_F32   ? csaw__dots_way_for<CSAW_F32>(d)
                               : d->x.dtype == CSAW_F16 ? csaw__dots_way_for<CSAW_F16>(d)
                                                        : csaw__dots_way_for<CSAW_BF16>(d);
    *threads = csaw__dots_groups(d->a.num_edges) * way.lanes;
    return way.kernel;
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

/* SPDX-License-Identifier: MIT */
/* spmm/device_scatter.cuh - device code of the gradients of MAX and MIN, which go where arg says; sums by ascending row
 * in chunks of the edges of a column of a, and by ascending column, as spmm/scatter_rows.h has them. Products of dx are
 * sorted by the chunk and the element of dx that they belong to, with a stable sort between two kernels here, some
 * columns at a time; then one thread adds those of a chunk, and another the chunks of an element. Every row has one
 * product a column, however many edges it has: of rows of many edges that is far less than spmm/device_winners.cuh
 * looks at. */
#ifndef CSAW_SPMM_DEVICE_SCATTER_CUH
#define CSAW_SPMM_DEVICE_SCATTER_CUH

#include "spmm/device_address.cuh"
#include "spmm/device_arguments.h"
#include "spmm/device_element.cuh"
#include "spmm/device_group.cuh"

/* Products sorted together: 16 bytes each, and what the sort takes. So many that of 2.4 million rows 16 columns are. */
#define CSAW__SCATTERED (5ull << 23)
#define CSAW__SCATTERED_SUMS (4 * CSAW__SCATTERED) /* of 4 bytes */
enum { CSAW__SCATTER_WHOLE = 16 /* columns of float32 that a read from memory has side by side */ };

typedef struct csaw__device_scatter {
    csaw_sparse a;        /* weight: [num_edges, heads] or NULL */
    csaw_dense x, dy, dx; /* strides filled in */
    uint32_t heads;
    const csaw_edge *arg;      /* [rows, cols of dy] */
    float *dweight;            /* [num_edges, heads] */
    const uint64_t *by_column; /* [cols of a + 1] rowptr of a's transpose */
    const csaw_edge *edge;     /* [num_edges] of its edges, which ascend within a row: of dx */
    uint64_t first;            /* columns first .. first + width - 1 */
    uint32_t width;
    uint32_t lane_bits; /* of dweight, whose width is the columns of a head: 2^lane_bits lanes take them */
} csaw__device_scatter;

/* How many columns of dy are sorted together: as many as products, and sums of so many slots, fit. Of several rounds
 * each but the last has as many, by whole reads, of which fewer columns would use a part alone. */
static inline uint32_t csaw__scatter_columns(uint64_t rows, uint64_t slots, uint64_t cols) {
    const uint64_t fit = rows ? CSAW__SCATTERED / rows : cols, sums = slots ? CSAW__SCATTERED_SUMS / slots : cols;
    const uint64_t both = fit < sums ? fit : sums, most = both < 1 ? 1 : both < 4096 ? both : 4096;
    if (cols <= most) return (uint32_t)cols;
    if (most < CSAW__SCATTER_WHOLE) return (uint32_t)most;
    const uint64_t reads = (cols + CSAW__SCATTER_WHOLE - 1) / CSAW__SCATTER_WHOLE, fits = most / CSAW__SCATTER_WHOLE;
    const uint64_t rounds = (reads + fits - 1) / fits;
    return (uint32_t)((reads + rounds - 1) / rounds * CSAW__SCATTER_WHOLE);
}

/* Chunks of columns of a have slots: that of the k-th of column j is by_column[j] / CSAW__LONG + j + k, so that no two
 * have the same. So many there are. */
static __host__ __device__ __forceinline__ uint64_t csaw__scatter_slots(uint64_t edges, uint64_t cols) {
    return edges / CSAW__LONG + cols;
}

/* The key of products that belong nowhere, and the bits of all keys. */
static __host__ __device__ __forceinline__ uint32_t csaw__scatter_nowhere(const csaw__device_scatter *s) {
    return (uint32_t)(csaw__scatter_slots(s->a.num_edges, s->a.cols) * s->width);
}
static inline int csaw__scatter_bits(const csaw__device_scatter *s) {
    return 32 - __builtin_clz(csaw__scatter_nowhere(s) | 1);
}

/* Whether arg names an edge of its row. */
static __device__ __forceinline__ bool csaw__is_picked(const csaw_sparse *a, uint64_t row, csaw_edge e) {
    return e - a->rowptr[row] < a->rowptr[row + 1] - a->rowptr[row];
}

/* The slot of the chunk that edge e of a column stands in, which is found among the first edges of its chunks. */
static __device__ __forceinline__ uint32_t csaw__slot_of_edge(const csaw__device_scatter &s, csaw_vertex column,
                                                              csaw_edge e) {
    const uint64_t begin = s.by_column[column], length = s.by_column[column + 1ull] - begin;
    uint32_t low = 0, high = (uint32_t)((length + CSAW__LONG - 1) / CSAW__LONG); /* its first edge is e at most; more */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (s.edge[begin + (uint64_t)middle * CSAW__LONG] <= e)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)(begin / CSAW__LONG) + column + low;
}

/* One thread a product; key, product: [rows, width]. */
static __global__ void csaw__scatter_products(const __grid_constant__ csaw__device_scatter s, uint32_t *key,
                                              float *product) {
    const uint64_t i = csaw__thread_number(), row = i >> 32 ? i / s.width : (uint32_t)i / s.width;
    const uint64_t c = s.first + (i - row * s.width);
    if (row >= s.a.rows) return;
    const csaw_edge e = s.arg[row * s.dy.cols + c];
    key[i] = csaw__scatter_nowhere(&s);
    product[i] = 0;
    if (!csaw__is_picked(&s.a, row, e)) return;
    const float w = s.a.weight ? s.a.weight[e * s.heads + c / (s.dy.cols / s.heads)] : 1.0f;
    key[i] = csaw__slot_of_edge(s, s.a.col[e], e) * s.width + (uint32_t)(c - s.first);
    product[i] = w * csaw__element(&s.dy, row, c);
}

/* One thread a sorted product; that of the first of each key, which has as many as a chunk has edges at most, stores
 * their sum. sum: [slots, width], zeros. */
static __global__ void csaw__scatter_sums(const __grid_constant__ csaw__device_scatter s, const uint32_t *key,
                                          const float *product, float *sum) {
    const uint64_t i = csaw__thread_number(), count = s.a.rows * s.width;
    const uint32_t nowhere = csaw__scatter_nowhere(&s), mine = i < count ? key[i] : nowhere;
    if (mine >= nowhere || (i && key[i - 1] == mine)) return;
    float all = 0;
#pragma unroll 4
    for (uint64_t k = i; k < count && key[k] == mine; k++) all += product[k];
    sum[mine] = all;
}

/* One thread an element of dx: the sums of its chunks, in order. */
static __global__ void csaw__scatter_merge(const __grid_constant__ csaw__device_scatter s, const float *sum) {
    const uint64_t i = csaw__thread_number(), column = i >> 32 ? i / s.width : (uint32_t)i / s.width;
    const uint32_t c = (uint32_t)(i - column * s.width);
    if (column >= s.a.cols) return;
    const uint64_t begin = s.by_column[column], length = s.by_column[column + 1] - begin;
    const float *const of = sum + (begin / CSAW__LONG + column) * s.width + c;
    float all = 0;
#pragma unroll 8
    for (uint64_t k = 0; k < (length + CSAW__LONG - 1) / CSAW__LONG; k++) all += of[k * s.width];
    csaw__store<1>(&s.dx, column, s.first + c, &all);
}

enum {
    CSAW__WEIGHTS_ROOM = 64,  /* edges of a row whose sums stand in shared memory */
    CSAW__WEIGHTS_HELD = 4,   /* columns whose products a lane has on their way, at most */
    CSAW__WEIGHTS_STEPS = 4,  /* columns of an edge that are added before a warp looks whether more are left */
    CSAW__WEIGHTS_MATCHED = 4 /* bits of numbers that lanes are matched by */
};

/* Lanes that take a row and head: as many as it has columns, up to a warp. s->width: columns of a head. */
static inline uint32_t csaw__weight_lane_bits(const csaw__device_scatter *s) {
    uint32_t bits = 0;
    while (bits < 5 && 1u << bits < s->width) bits++;
    return bits;
}

/* An entry of arg as an integer that counts all edges; one that names none of them becomes CSAW_NO_EDGE. */
template <typename EDGE> static __device__ __forceinline__ EDGE csaw__edge_named(csaw_edge e) {
    return sizeof(EDGE) < sizeof e && e >> 32 ? (EDGE)CSAW_NO_EDGE : (EDGE)e;
}

/* How many bits numbers below `count` of each lane have, at most. */
static __device__ __forceinline__ uint32_t csaw__bits_of_lanes(uint64_t count) {
    return __reduce_max_sync(CSAW__ALL_LANES, count > 1 ? 64 - (uint32_t)__clzll((long long)(count - 1)) : 0);
}
static __device__ __forceinline__ uint32_t csaw__bits_of_lanes(uint32_t count) {
    return __reduce_max_sync(CSAW__ALL_LANES, count > 1 ? 32 - (uint32_t)__clz((int)(count - 1)) : 0);
}

/* Of each of some numbers, the lanes of a warp that have the same; those of 2^bits or more may be held for one of the
 * others. bits: the same in all lanes. A match of lanes takes 7 clocks for each number that there is, on an H200, and
 * few instructions; so it is for few numbers, and others are told by their bits. */
template <int COUNT, typename T>
static __device__ __forceinline__ void csaw__lanes_alike(const T *number, uint32_t bits, uint32_t *same) {
    if (bits && bits <= CSAW__WEIGHTS_MATCHED) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) same[i] = __match_any_sync(CSAW__ALL_LANES, number[i]);
        return;
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) same[i] = CSAW__ALL_LANES;
#pragma unroll 1
    for (uint32_t b = 0; b < bits; b++)
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const bool is_set = number[i] >> b & 1;
            same[i] &= __ballot_sync(CSAW__ALL_LANES, is_set) ^ (is_set ? 0 : CSAW__ALL_LANES);
        }
}

/* A lane has a column at a time of each 32, and HELD of them on their way. Of the columns that one edge won among 32
 * each adds its product to what the one before hands on, in order, and the first to what the columns before have left.
 * All do so again and again, until the last has a sum of sums that no longer change, which takes two instructions a
 * time: so a row takes as long as its columns, however many edges it has, and a product is read once, by a warp whose
 * lanes share its sectors. Sums of a row of few edges stand in shared memory until it ends. EDGE: an integer that
 * counts all edges. */
template <csaw_dtype X, csaw_dtype DY, typename EDGE, int HELD>
static __global__ void __launch_bounds__(CSAW__THREADS, HELD == CSAW__WEIGHTS_HELD ? 10 : 12)
    csaw__scatter_weights(const __grid_constant__ csaw__device_scatter s) {
    typedef typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type of_x;
    typedef typename csaw__stored<DY == CSAW_F32 ? 4 : 2>::type of_dy;
    __shared__ float rooms[HELD == 1 ? 1 : CSAW__THREADS / 32][CSAW__WEIGHTS_ROOM];
    const uint32_t lane = threadIdx.x % 32, lanes = 1u << s.lane_bits, own = lane & (lanes - 1);
    const uint32_t group = CSAW__ALL_LANES >> (32 - lanes) << (lane - own);
    const uint64_t i = csaw__thread_number() >> s.lane_bits;
    const uint64_t row = s.heads == 1 ? i : i / s.heads, head = i - row * s.heads, first = head * s.width + own;
    const bool is_row = row < s.a.rows;
    const uint64_t before = is_row ? s.a.rowptr[row] : 0;
    const EDGE begin = (EDGE)before, length = is_row ? (EDGE)s.a.rowptr[row + 1] - begin : 0;
    const bool stays = HELD > 1 && length <= CSAW__WEIGHTS_ROOM;
    const uint32_t bits = csaw__bits_of_lanes(length), heads = stays ? 1 : s.heads;
    float *const dweight = s.dweight + before * s.heads + head;
    float *const sums = stays ? rooms[HELD == 1 ? 0 : threadIdx.x / 32] : dweight; /* `heads` apart */
    uint64_t row_bytes = s.x.stride * sizeof(of_x);
    const csaw_vertex *of_row = s.a.col + before;
    const csaw_edge *arg = s.arg + row * s.dy.cols + first;
    const char *x = (const char *)((const of_x *)s.x.data + first);
    const of_dy *dy = (const of_dy *)s.dy.data + row * s.dy.stride + first;
    csaw__work_out(row_bytes);
    csaw__work_out(of_row);
    csaw__work_out(arg);
    csaw__work_out(x);
    csaw__work_out(dy);
    for (EDGE k = own; k < length; k += lanes) sums[(uint64_t)k * heads] = 0;
    __syncwarp();
    for (uint32_t turn = 0; turn < s.width; turn += 32 * HELD) { /* the same turns for all lanes of a warp */
        EDGE number[HELD];                                       /* within the row; `length` or more: none */
        uint32_t same[HELD];
        csaw_vertex col[HELD];
        of_x x_at[HELD];
        of_dy dy_at[HELD];
#pragma unroll
        for (int j = 0; j < HELD; j++) {
            const bool is_named = length && turn + 32 * j + own < s.width;
            number[j] = csaw__edge_named<EDGE>(is_named ? arg[32 * j] : CSAW_NO_EDGE) - begin;
        }
#pragma unroll
        for (int j = 0; j < HELD; j++) {
            col[j] = 0, dy_at[j] = 0;
            if (number[j] >= length) continue;
            col[j] = of_row[number[j]];
            dy_at[j] = dy[32 * j];
        }
#pragma unroll
        for (int j = 0; j < HELD; j++) {
            x_at[j] = 0;
            if (number[j] < length) x_at[j] = ((const of_x *)(x + col[j] * row_bytes))[32 * j];
        }
        arg += 32 * HELD, x += 32 * HELD * sizeof(of_x), dy += 32 * HELD;
        csaw__lanes_alike<HELD>(number, bits, same);
#pragma unroll
        for (int j = 0; j < HELD; j++) {
            if (turn + 32 * j >= s.width) break;
            const float product = csaw__widen<X>(x_at[j]) * csaw__widen<DY>(dy_at[j]);
            const bool is_won = number[j] < length;
            float *const sum_of = sums + (uint64_t)number[j] * heads;
            const uint32_t those = same[j] & group & __ballot_sync(CSAW__ALL_LANES, is_won);
            const uint32_t earlier = is_won ? those & ((1u << lane) - 1) : 0;
            const int from = earlier ? 31 - __clz((int)earlier) : (int)lane;
            const float added = earlier ? product : 0.0f; /* to a sum, which is not -0, nothing */
            float sum = (is_won && !earlier && turn + j ? *sum_of : 0.0f) + product;
            for (int rank = __popc(earlier); __any_sync(CSAW__ALL_LANES, rank > 0); rank -= CSAW__WEIGHTS_STEPS)
#pragma unroll
                for (int k = 0; k < CSAW__WEIGHTS_STEPS; k++) sum = __shfl_sync(CSAW__ALL_LANES, sum, from) + added;
            __syncwarp();                                    /* what columns before had left was read */
            if (is_won && those >> lane == 1) *sum_of = sum; /* the last of them */
            __syncwarp();                                    /* for the columns to come */
        }
    }
    for (EDGE k = own; stays && k < length; k += lanes) dweight[(uint64_t)k * s.heads] = sums[k];
}

/* ---- kernels by storage ---- */

typedef void csaw__scatter_weights_kernel(csaw__device_scatter);

template <csaw_dtype X, csaw_dtype DY, typename EDGE>
static csaw__scatter_weights_kernel *csaw__scatter_weights_by(const csaw__device_scatter *s) {
    if (s->width <= 32) return csaw__scatter_weights<X, DY, EDGE, 1>;
    return s->width <= 64 ? csaw__scatter_weights<X, DY, EDGE, 2>
                          : csaw__scatter_weights<X, DY, EDGE, CSAW__WEIGHTS_HELD>;
}

template <csaw_dtype X, csaw_dtype DY>
static csaw__scatter_weights_kernel *csaw__scatter_weights_for(const csaw__device_scatter *s) {
    return s->a.num_edges <= UINT32_MAX ? csaw__scatter_weights_by<X, DY, uint32_t>(s)
                                        : csaw__scatter_weights_by<X, DY, uint64_t>(s);
}

template <csaw_dtype X> static csaw__scatter_weights_kernel *csaw__scatter_weights_of(const csaw__device_scatter *s) {
    if (s->dy.dtype == CSAW_F32) return csaw__scatter_weights_for<X, CSAW_F32>(s);
    return s->dy.dtype == CSAW_F16 ? csaw__scatter_weights_for<X, CSAW_F16>(s)
                                   : csaw__scatter_weights_for<X, CSAW_BF16>(s);
}

static csaw__scatter_weights_kernel *csaw__scatter_weights_at(const csaw__device_scatter *s) {
    if (s->x.dtype == CSAW_F32) return csaw__scatter_weights_of<CSAW_F32>(s);
    return s->x.dtype == CSAW_F16 ? csaw__scatter_weights_of<CSAW_F16>(s) : csaw__scatter_weights_of<CSAW_BF16>(s);
}

#endif

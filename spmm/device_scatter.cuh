/* SPDX-License-Identifier: MIT */
/* spmm/device_scatter.cuh - device code of the gradients of MAX and MIN, which go where arg says; sums by ascending
 * row, in chunks of the edges of a column, and by ascending column, as spmm/scatter_rows.h has them. Products of dx are
 * sorted by the element of dx that they belong to, with a stable sort between two kernels here, some columns at a time;
 * then one thread adds those of an element, or, where a column has won often, the lanes of a warp load them for one
 * sum. Every row has one product a column, however many edges it has: to gather over the rows of the transpose would
 * look at arg for each edge and column, which is 8 bytes where the product itself reads an element of x.
 *
 * Limit on an H200, a twentieth of reddit, 64 columns: csaw__scatter_products 70% of the throughput of L2, 54% of
 * that of memory; csaw__scatter_sums 55% of the issue slots. docs/measured/2026-11-24-gpu-11.md. */
#ifndef CSAW_SPMM_DEVICE_SCATTER_CUH
#define CSAW_SPMM_DEVICE_SCATTER_CUH

#include "spmm/device_arguments.h"
#include "spmm/device_element.cuh"
#include "spmm/device_group.cuh"

/* Products sorted together: 24 bytes each, and what the sort takes. So many that of 2.4 million rows 16 columns are. */
#define CSAW__SCATTERED (5ull << 23)
enum { CSAW__SCATTER_WHOLE = 16 /* columns of float32 that a read from memory has side by side */ };

typedef struct csaw__device_scatter {
    csaw_sparse a;        /* weight: [num_edges, heads] or NULL */
    csaw_dense x, dy, dx; /* strides filled in */
    uint32_t heads;
    const csaw_edge *arg;      /* [rows, cols of dy] */
    float *dweight;            /* [num_edges, heads], zeros */
    const uint64_t *by_column; /* [cols of a + 1] rowptr of a's transpose */
    const csaw_edge *edge;     /* [num_edges] of its edges, which ascend within a row: of dx */
    uint64_t first;            /* columns first .. first + width - 1 */
    uint32_t width;
    uint32_t lane_bits; /* of dweight, whose width is the columns of a head: 2^lane_bits lanes take them */
} csaw__device_scatter;

/* How many columns of dy are sorted together: what fits, and what keys of 32 bits tell apart in dx of so many rows. Of
 * several rounds each but the last has as many, by whole reads, of which fewer columns would use a part alone. */
static inline uint32_t csaw__scatter_columns(uint64_t rows, uint64_t dx_rows, uint64_t cols) {
    const uint64_t fit = rows ? CSAW__SCATTERED / rows : cols, keys = dx_rows ? 0xffffffffu / dx_rows : cols;
    const uint64_t both = fit < keys ? fit : keys, most = both < 1 ? 1 : both < 4096 ? both : 4096;
    if (cols <= most) return (uint32_t)cols;
    if (most < CSAW__SCATTER_WHOLE) return (uint32_t)most;
    const uint64_t reads = (cols + CSAW__SCATTER_WHOLE - 1) / CSAW__SCATTER_WHOLE, fits = most / CSAW__SCATTER_WHOLE;
    const uint64_t rounds = (reads + fits - 1) / fits;
    return (uint32_t)((reads + rounds - 1) / rounds * CSAW__SCATTER_WHOLE);
}

struct alignas(8) csaw__scattered { /* a product */
    float product;
    uint32_t chunk; /* in which it is added, of its column of a */
};

/* The key of products that belong nowhere, and the bits of all keys. */
static __host__ __device__ __forceinline__ uint32_t csaw__scatter_nowhere(const csaw__device_scatter *s) {
    return (uint32_t)(s->a.cols * s->width);
}
static inline int csaw__scatter_bits(const csaw__device_scatter *s) {
    return 32 - __builtin_clz(csaw__scatter_nowhere(s) | 1);
}

/* Whether arg names an edge of its row. */
static __device__ __forceinline__ bool csaw__is_picked(const csaw_sparse *a, uint64_t row, csaw_edge e) {
    return e - a->rowptr[row] < a->rowptr[row + 1] - a->rowptr[row];
}

/* One thread an element. */
static __global__ void csaw__clear(const __grid_constant__ csaw_dense m) {
    const uint64_t i = csaw__thread_number();
    const float zero = 0;
    if (i < m.rows * m.cols) csaw__store<1>(&m, i / m.cols, i % m.cols, &zero);
}

/* The chunk that edge e of a column stands in: by its place among the column's first edges of chunks. */
static __device__ __forceinline__ uint32_t csaw__chunk_of_edge(const csaw__device_scatter &s, csaw_vertex column,
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
    return low;
}

/* One thread a product; key, product: [rows, width]. */
static __global__ void csaw__scatter_products(const __grid_constant__ csaw__device_scatter s, uint32_t *key,
                                              csaw__scattered *product) {
    const uint64_t i = csaw__thread_number(), row = i >> 32 ? i / s.width : (uint32_t)i / s.width;
    const uint64_t c = s.first + (i - row * s.width);
    if (row >= s.a.rows) return;
    const csaw_edge e = s.arg[row * s.dy.cols + c];
    key[i] = csaw__scatter_nowhere(&s);
    product[i] = csaw__scattered{0, 0};
    if (!csaw__is_picked(&s.a, row, e)) return;
    const float w = s.a.weight ? s.a.weight[e * s.heads + c / (s.dy.cols / s.heads)] : 1.0f;
    const csaw_vertex column = s.a.col[e];
    key[i] = column * s.width + (uint32_t)(c - s.first);
    product[i] = csaw__scattered{w * csaw__element(&s.dy, row, c), csaw__chunk_of_edge(s, column, e)};
}

enum {
    CSAW__ALONE = 32,        /* products of an element that one thread adds; the others are its warp's */
    CSAW__SUMMANDS_HELD = 4, /* products that a lane has on their way */
    CSAW__WEIGHTS_HELD = 2,  /* the same, of gradients of weights */
    CSAW__WEIGHTS_STEPS = 4  /* columns of an edge that are added before a warp looks whether more are left */
};

struct csaw__chunk_sum { /* of an element */
    float total, sum;    /* of the chunks before, of the one at hand */
    uint32_t chunk;

    __device__ __forceinline__ void add(float product, uint32_t of) {
        if (of != chunk) {
            total += sum;
            sum = 0;
            chunk = of;
        }
        sum += product;
    }
};

/* All lanes of a warp: product[first], ..., product[end - 1] are added, in this order. */
static __device__ __forceinline__ csaw__chunk_sum csaw__add_in_order(const csaw__scattered *product, uint64_t first,
                                                                     uint64_t end, csaw__chunk_sum sum) {
    constexpr uint32_t AT_ONCE = 32 * CSAW__SUMMANDS_HELD;
    const uint32_t lane = threadIdx.x % 32;
    csaw__scattered now[CSAW__SUMMANDS_HELD], next[CSAW__SUMMANDS_HELD];
    const auto load = [&](uint64_t from) {
#pragma unroll
        for (int j = 0; j < CSAW__SUMMANDS_HELD; j++) {
            const uint64_t k = from + j * 32 + lane;
            next[j] = k < end ? product[k] : csaw__scattered{-0.0f, UINT32_MAX}; /* which changes no sum */
        }
    };
    load(first);
    for (; first < end; first += AT_ONCE) {
#pragma unroll
        for (int j = 0; j < CSAW__SUMMANDS_HELD; j++) now[j] = next[j];
        load(first + AT_ONCE);
#pragma unroll
        for (int j = 0; j < CSAW__SUMMANDS_HELD; j++)
#pragma unroll
            for (int l = 0; l < 32; l++)
                sum.add(__shfl_sync(0xffffffffu, now[j].product, l), __shfl_sync(0xffffffffu, now[j].chunk, l));
    }
    return sum;
}

/* The first place after `first` whose key is another. */
static __device__ __forceinline__ uint64_t csaw__end_of_key(const uint32_t *key, uint64_t first, uint64_t count) {
    const uint32_t mine = key[first];
    uint64_t low = first, high = count; /* key[low] == mine, key[high] is not */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (key[middle] == mine)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* One thread a sorted product; that of the first of each key stores the sum of all. dx: zeros. */
static __global__ void csaw__scatter_sums(const __grid_constant__ csaw__device_scatter s, const uint32_t *key,
                                          const csaw__scattered *product) {
    const uint64_t i = csaw__thread_number(), count = s.a.rows * s.width;
    const uint32_t nowhere = csaw__scatter_nowhere(&s), mine = i < count ? key[i] : nowhere;
    const bool is_first = mine < nowhere && (i == 0 || key[i - 1] != mine);
    uint64_t k = i;
    csaw__chunk_sum sum = {0, 0, 0};
    for (; is_first && k < count && k < i + CSAW__ALONE && key[k] == mine; k++)
        sum.add(product[k].product, product[k].chunk);
    const bool has_more = is_first && k < count && key[k] == mine;
    for (uint32_t rest = __ballot_sync(0xffffffffu, has_more); rest; rest &= rest - 1) {
        const uint32_t from = (uint32_t)__ffs((int)rest) - 1;
        const uint64_t first = __shfl_sync(0xffffffffu, k, from), end = csaw__end_of_key(key, first, count);
        const csaw__chunk_sum so_far = {__shfl_sync(0xffffffffu, sum.total, from),
                                        __shfl_sync(0xffffffffu, sum.sum, from),
                                        __shfl_sync(0xffffffffu, sum.chunk, from)};
        const csaw__chunk_sum all = csaw__add_in_order(product, first, end, so_far);
        if (threadIdx.x % 32 == from) sum = all;
    }
    const float of = sum.total + sum.sum;
    if (is_first) csaw__store<1>(&s.dx, mine / s.width, s.first + mine % s.width, &of);
}

/* Lanes that take a row and head: as many as it has columns, up to a warp. s->width: columns of a head. */
static inline uint32_t csaw__weight_lane_bits(const csaw__device_scatter *s) {
    uint32_t bits = 0;
    while (bits < 5 && 1u << bits < s->width) bits++;
    return bits;
}

/* A lane has a column at a time of each 32, and CSAW__WEIGHTS_HELD of them on their way. Of the columns that one edge
 * won among 32 each adds its product to what the one before hands on, in order, and the first to what the columns
 * before have left in dweight: so a row takes as long as its columns, however many edges it has, and a product is read
 * once, by a warp whose lanes share its sectors. */
static __global__ void csaw__scatter_weights(const __grid_constant__ csaw__device_scatter s) {
    constexpr int HELD = CSAW__WEIGHTS_HELD;
    constexpr uint64_t NOWHERE = ~0ull;
    const uint32_t lane = threadIdx.x % 32, own = lane & ((1u << s.lane_bits) - 1);
    const uint64_t i = csaw__thread_number() >> s.lane_bits;
    const uint64_t row = s.heads == 1 ? i : i / s.heads, head = i - row * s.heads, first = head * s.width;
    const bool is_row = row < s.a.rows;
    const uint64_t begin = is_row ? s.a.rowptr[row] : 0, length = is_row ? s.a.rowptr[row + 1] - begin : 0;
    for (uint32_t turn = 0; turn < s.width; turn += 32 * HELD) { /* the same turns for all lanes of a warp */
        csaw_edge e[HELD];
        csaw_vertex col[HELD];
        float product[HELD];
#pragma unroll
        for (int j = 0; j < HELD; j++) {
            const uint32_t c = turn + 32 * j + own;
            e[j] = length && c < s.width ? s.arg[row * s.dy.cols + first + c] : CSAW_NO_EDGE;
        }
#pragma unroll
        for (int j = 0; j < HELD; j++) {
            if (e[j] - begin >= length) e[j] = NOWHERE;
            col[j] = e[j] == NOWHERE ? 0 : s.a.col[e[j]];
        }
#pragma unroll
        for (int j = 0; j < HELD; j++) {
            const uint64_t c = first + turn + 32 * j + own;
            product[j] = 0;
            if (e[j] != NOWHERE) product[j] = csaw__element(&s.x, col[j], c) * csaw__element(&s.dy, row, c);
        }
#pragma unroll
        for (int j = 0; j < HELD; j++) {
            if (turn + 32 * j >= s.width) break;
            const uint64_t at = e[j] == NOWHERE ? NOWHERE : e[j] * s.heads + head;
            const uint32_t same = __match_any_sync(0xffffffffu, at);
            const uint32_t before = at == NOWHERE ? 0 : same & ((1u << lane) - 1), rank = __popc(before);
            const int from = before ? 31 - __clz((int)before) : 0;
            float sum = (at != NOWHERE && !before && turn + j ? s.dweight[at] : 0.0f) + product[j];
            for (uint32_t r = 1; __any_sync(0xffffffffu, rank >= r); r += CSAW__WEIGHTS_STEPS)
#pragma unroll
                for (uint32_t i = 0; i < CSAW__WEIGHTS_STEPS; i++) {
                    const float so_far = __shfl_sync(0xffffffffu, sum, from);
                    if (rank == r + i) sum = so_far + product[j];
                }
            if (at != NOWHERE && same >> lane == 1) s.dweight[at] = sum; /* the last of them */
            __syncwarp();                                                /* for the columns to come */
        }
    }
}

#endif

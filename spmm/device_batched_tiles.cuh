/* SPDX-License-Identifier: MIT */
/* spmm/device_batched_tiles.cuh - device code of batched products with x in shared memory, by SUM and MEAN, for those
 * who measure what that is worth (bench/batched_gpu.cu): no choice of the library's, docs/batched.md says why.
 *
 * Method: a block a graph and slice of columns, and all that it reads copied to shared memory first, as Nagasaka et al.
 * (CCGrid 2019) keep their output there: the graph's entries, where each row's begin, and the slice of x, at once,
 * since none of them is needed to find another. A graph too large for that goes through in narrower slices, one larger
 * still reads from global memory: each by its own size. Threads take vectors of the output one after the other, so that
 * none is idle for the number of rows. Sums are those of device_batched.cuh, in the same order.
 *
 * Limit on an H200, 50 graphs of 50 rows, 512 columns: 37% of the issue slots, 32% of the throughput of L2.
 * docs/measured/2026-11-24-gpu-11.md. */
#ifndef CSAW_SPMM_DEVICE_BATCHED_TILES_CUH
#define CSAW_SPMM_DEVICE_BATCHED_TILES_CUH

#include "spmm/device_batched.cuh"
#include "spmm/device_shared.cuh"

enum {
    CSAW__TILE_THREADS = 256,
    CSAW__TILE_COLUMNS = 64,    /* of a block */
    CSAW__TILE_LEAST = 8,       /* columns of a slice, before it is not copied at all */
    CSAW__TILE_BYTES = 24 << 10 /* of shared memory: that of a multiprocessor holds as many blocks as threads allow */
};

struct alignas(8) csaw__tile_row { /* of a graph: its entries, from the graph's first on */
    uint32_t first, count;
};

/* What a block works on: its graph, and a slice of columns. */
struct csaw__tile {
    const csaw__small *g;
    uint64_t column;
    uint32_t columns, width, vectors_log; /* there are; of a slice; its vectors, as a power of 2 */
    bool copied;
    csaw__tile_row *row;        /* [rows], the entries [num_edges] and the features [cols, width] follow; all shared */
    csaw__batched_entry *entry; /* other: the column in the graph */
    char *x;
};

template <int VECTOR>
static __device__ __forceinline__ csaw__tile csaw__tile_at(const csaw__batched_product &p, uint64_t graphs,
                                                           uint32_t bytes) {
    const uint64_t slice = blockIdx.x / graphs;
    csaw__tile t;
    t.g = p.graph + (blockIdx.x - slice * graphs);
    t.column = slice * CSAW__TILE_COLUMNS;
    t.columns = (uint32_t)(p.cols - t.column < CSAW__TILE_COLUMNS ? p.cols - t.column : CSAW__TILE_COLUMNS);
    const uint64_t listed = (t.g->rows + (uint64_t)t.g->num_edges + 1) / 2 * 16; /* x begins at 16 bytes */
    t.width = CSAW__TILE_COLUMNS;
    while (t.width > CSAW__TILE_LEAST && t.width / 2 >= t.columns) t.width /= 2;
    const uint32_t widest = t.width;
    while (t.width > CSAW__TILE_LEAST && listed + (uint64_t)t.g->cols * t.width * bytes > CSAW__TILE_BYTES)
        t.width /= 2;
    t.copied = listed + (uint64_t)t.g->cols * t.width * bytes <= CSAW__TILE_BYTES;
    if (!t.copied) t.width = widest;
    t.vectors_log = 31 - __clz((int)(t.width / VECTOR));
    t.row = csaw__launch_shared<csaw__tile_row>();
    t.entry = (csaw__batched_entry *)(t.row + t.g->rows);
    t.x = (char *)t.row + listed;
    return t;
}

/* All threads: rows and entries of the graph, which begin at `row` and `entry`. */
static __device__ __forceinline__ void csaw__tile_list(const csaw__tile &t, const csaw__batched_row *row,
                                                       const csaw__batched_entry *entry) {
    const uint64_t first = t.g->num_begin;
    const uint32_t column = (uint32_t)t.g->col_begin;
    for (uint32_t i = threadIdx.x; i < t.g->rows; i += blockDim.x)
        t.row[i] = csaw__tile_row{(uint32_t)(row[i].first - first), row[i].count};
    for (uint32_t k = threadIdx.x; k < t.g->num_edges; k += blockDim.x)
        t.entry[k] = csaw__batched_entry{entry[k].other - column, entry[k].weight};
}

/* Vectors of one slice of x: where vector v of row i stands. */
template <csaw_dtype X, int VECTOR> struct csaw__tile_features {
    typedef csaw__batched_pack<X, VECTOR> pack;
    const char *from; /* column 0 of the slice, in row 0 of the graph */
    uint64_t stride;  /* bytes */
    bool whole;

    __device__ __forceinline__ pack get(uint32_t i, uint32_t v) const {
        const char *const at = from + i * stride + v * sizeof(pack);
        return whole ? csaw__batched_load<X, VECTOR, true>(at) : csaw__batched_load<X, VECTOR, false>(at);
    }
};

/* p: laid out; its blocks are graphs times slices of CSAW__TILE_COLUMNS. */
template <csaw_dtype X, int VECTOR>
static __global__ void __launch_bounds__(CSAW__TILE_THREADS, 6)
    csaw__batched_tiles(const __grid_constant__ csaw__batched_product p, uint64_t graphs) {
    typedef csaw__tile_features<X, VECTOR> features;
    typedef typename features::pack pack;
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2;
    const csaw__tile t = csaw__tile_at<VECTOR>(p, graphs, bytes);
    const uint32_t which = (uint32_t)(t.g - p.graph), rows = t.g->rows, cols = t.g->cols;
    const uint64_t row_begin = t.g->row_begin, col_begin = t.g->col_begin;
    const csaw__batched_row *const row = p.a.row + row_begin;
    const csaw__batched_entry *const entry = p.a.entry + t.g->num_begin;
    char *const out = csaw__batched_at(p.out.data, csaw__batched_shift(&p.out, p.graph, which, false));
    const char *const in = csaw__batched_at(p.in.data, csaw__batched_shift(&p.in, p.graph, which, true));
    features x = {in, p.in.stride * bytes, VECTOR == 1 || (uintptr_t)in % sizeof(pack) == 0};
    if (t.copied) csaw__tile_list(t, row, entry);
    for (uint32_t begin = 0; begin < t.columns; begin += t.width) {
        const uint32_t left = t.columns - begin, vectors = (left < t.width ? left : t.width) / VECTOR;
        const uint32_t log = t.vectors_log, last = (1u << log) - 1;
        x.from = csaw__batched_at((char *)in, col_begin * x.stride + (t.column + begin) * bytes);
        if (t.copied) {
            __syncthreads(); /* the slice before was read */
            for (uint32_t i = threadIdx.x; i < cols << log; i += blockDim.x)
                if ((i & last) < vectors) ((pack *)t.x)[i] = x.get(i >> log, i & last);
            __syncthreads();
        }
        for (uint64_t i = threadIdx.x; i < (uint64_t)rows << log; i += blockDim.x) {
            const uint32_t r = (uint32_t)(i >> log), v = (uint32_t)i & last;
            if (v >= vectors) continue;
            const csaw__tile_row of =
                t.copied ? t.row[r] : csaw__tile_row{(uint32_t)(row[r].first - t.g->num_begin), row[r].count};
            csaw__batched_sum<VECTOR, CSAW__ADD> sum;
            sum.clear();
            for (uint32_t k = of.first; t.copied && k < of.first + of.count; k++) {
                const csaw__batched_entry e = t.entry[k];
                sum.template add<X>(e.weight, ((const pack *)t.x)[(e.other << log) + v], 0, {});
            }
            for (uint32_t k = of.first; !t.copied && k < of.first + of.count; k++) {
                const csaw__batched_entry e = entry[k];
                sum.template add<X>(e.weight, x.get(e.other - (uint32_t)col_begin, v), 0, {});
            }
            csaw__batched_finish<VECTOR, CSAW__ADD>(&p, out, row_begin + r, t.column + begin + v * VECTOR, of.count,
                                                    &sum);
        }
    }
}

typedef void csaw__tiles_kernel(csaw__batched_product, uint64_t);

template <csaw_dtype X> static csaw__tiles_kernel *csaw__batched_tiles_of(const csaw__batched_product *p) {
    return p->vector > 1 ? csaw__batched_tiles<X, CSAW__VECTOR> : csaw__batched_tiles<X, 1>;
}

static csaw__tiles_kernel *csaw__batched_tiles_at(const csaw__batched_product *p) {
    if (p->in.dtype == CSAW_F32) return csaw__batched_tiles_of<CSAW_F32>(p);
    return p->in.dtype == CSAW_F16 ? csaw__batched_tiles_of<CSAW_F16>(p) : csaw__batched_tiles_of<CSAW_BF16>(p);
}

#endif

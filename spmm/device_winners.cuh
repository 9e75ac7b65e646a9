/* SPDX-License-Identifier: MIT */
/* spmm/device_winners.cuh - device code of dx of MAX and MIN over a prepared transpose. A first kernel says of each
 * edge and slice of columns, in one word, where arg names it; a second gathers as csaw_spmm() does over the transpose,
 * but of dy only where a bit is set. A word is 4 bytes an edge where arg would be 8 for each column; of a row of n
 * edges about one in n elements of dy is read. Sums by ascending row, as spmm/scatter_rows.h has them: so the edges of
 * a long row of the transpose go one after the other, by a block (spmm/device_in_order.cuh). To be compiled without
 * contraction of a * b + c. */
#ifndef CSAW_SPMM_DEVICE_WINNERS_CUH
#define CSAW_SPMM_DEVICE_WINNERS_CUH

#include "spmm/device_in_order.cuh"
#include "spmm/device_unit.cuh"

enum { CSAW__WON_COLUMNS = 32 /* of a slice: the bits of a word */ };

typedef struct csaw__winners {
    csaw__product matrix;  /* its units, arg, and the slices; y: its columns alone */
    csaw__product turned;  /* rows are those of the transpose; x is dy, y is dx; weight is of the matrix's edges */
    csaw__product hubs;    /* the same, of the transpose's long rows */
    const csaw_edge *edge; /* [num_edges] of the matrix, by the transpose's edges */
    uint32_t *won;         /* [slices of a launch, num_edges of the matrix] bit c: arg names the edge in column c */
    uint64_t at_once;      /* slices of a launch */
} csaw__winners;

/* Lanes and vectors of a group that gathers, by what turned.vector is: 8 by 4, or single columns, 8 or 32 of them. */
static inline csaw_spmm_method csaw__winners_shape(const csaw__product *turned) {
    return turned->vector == 1 && turned->columns > 8 ? CSAW_SPMM_CRC : CSAW_SPMM_SUBWARP8;
}

/* Fills in the layout, where rows, split, columns and heads of all three stand; split of turned is empty. */
static inline void csaw__winners_lay_out(csaw__winners *w) {
    csaw__lay_vectors(&w->turned);
    if (w->turned.vector > CSAW__VECTOR) w->turned.vector = CSAW__VECTOR;
    csaw__lay_out(&w->turned, csaw__winners_shape(&w->turned), CSAW__THREADS);
    w->hubs.columns = w->matrix.columns = w->turned.columns;
    csaw__lay_out_long(&w->hubs);
    w->matrix.vector = 1;
    csaw__lay_out(&w->matrix, CSAW_SPMM_CRC, CSAW__THREADS);
    const uint64_t slices = w->turned.slices_of_head * w->turned.heads, bytes = w->matrix.num_edges * sizeof *w->won;
    w->at_once = bytes ? CSAW__ROOM_BYTES / bytes : slices;
    w->at_once = w->at_once < 1 ? 1 : w->at_once < slices ? w->at_once : slices;
}

/* A warp a unit and slice. */
static __global__ void csaw__find_winners(const __grid_constant__ csaw__product m, uint32_t *won) {
    const uint32_t lane = threadIdx.x % 32, blocks = (uint32_t)m.blocks, slice_number = blockIdx.x / blocks;
    const uint64_t number = (uint64_t)(blockIdx.x - slice_number * blocks) * (blockDim.x / 32) + threadIdx.x / 32;
    const csaw__unit unit = csaw__unit_at(&m, number);
    if (!unit.stored) return;
    const csaw__slice slice = csaw__slice_at(&m, m.first_slice + slice_number);
    const uint64_t row = unit.is_chunk ? m.split.row[m.split.chunk[unit.row].row].row : unit.row;
    const bool there = lane < slice.width && unit.count;
    const uint64_t named = there ? m.arg[row * m.y.cols + slice.first + lane] - unit.first : unit.count;
    const uint32_t place = named < unit.count ? (uint32_t)named : unit.count;
    uint32_t *const out = won + slice_number * m.num_edges + unit.first;
    for (uint32_t begin = 0; begin < unit.count; begin += 32) {
        const uint32_t left = unit.count - begin, here = left < 32 ? left : 32;
        uint32_t mine = 0;
        for (uint32_t k = 0; k < here; k++) {
            const uint32_t columns = __ballot_sync(CSAW__ALL_LANES, place == begin + k);
            if (lane == k) mine = columns;
        }
        if (lane < here) out[begin + lane] = mine;
    }
}

struct csaw__won_edge { /* of the transpose */
    csaw_vertex row;
    float weight;
    uint32_t won;
};

/* The edge at place k of the transpose. won: of the slice. */
static __device__ __forceinline__ csaw__won_edge csaw__won_edge_at(const csaw__product &p, const csaw_edge *edge,
                                                                   const uint32_t *won, uint64_t head, uint64_t k) {
    const csaw_edge e = edge[k];
    return csaw__won_edge{p.col[k], p.weight ? p.weight[e * p.heads + head] : 1.0f, won[e]};
}

/* LANES lanes a row of the transpose that is not long. */
template <csaw_dtype X, int LANES, int VECTOR>
static __global__ void __launch_bounds__(CSAW__THREADS)
    csaw__gather_winners(const __grid_constant__ csaw__product p, const csaw_edge *edge, const uint32_t *won) {
    typedef csaw__pack<typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type, VECTOR> features;
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2, ALL = (1u << VECTOR) - 1;
    __shared__ csaw__ring<csaw__won_edge, LANES> rings[CSAW__THREADS / LANES];
    const uint32_t lane = threadIdx.x % LANES, group = threadIdx.x / LANES, column = lane * VECTOR;
    const uint32_t slice_number = blockIdx.x / (uint32_t)p.blocks, block = blockIdx.x % (uint32_t)p.blocks;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const csaw__unit unit = csaw__unit_at(&p, (uint64_t)block * (blockDim.x / LANES) + group);
    const char *const dy = (const char *)p.x.data + (slice.first + column) * bytes;
    const uint64_t row_bytes = p.x.stride * bytes;
    const uint32_t *const of_slice = won + slice_number * p.num_edges;
    float sum[VECTOR] = {0};
    const auto fetch = [&](uint32_t k) { return csaw__won_edge_at(p, edge, of_slice, slice.head, unit.first + k); };
    const auto load = [&](const csaw__won_edge &e, features *to) {
        if (e.won >> column & ALL) *to = *(const features *)(dy + e.row * row_bytes);
    };
    const auto take = [&](uint32_t, bool, const csaw__won_edge &e, const features &of) {
        float element[VECTOR];
        csaw__widen_pack<X>(of, element);
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            if (e.won >> (column + i) & 1) sum[i] += e.weight * element[i];
    };
    csaw__walk<LANES, CSAW__UNROLL / 2, false, features>(unit.count, rings + group, fetch, load, take);
    if (unit.stored && column < slice.width) csaw__store<VECTOR>(&p.y, unit.row, slice.first + column, sum);
}

/* A block a long row of the transpose. */
template <csaw_dtype X>
static __global__ void __launch_bounds__(CSAW__IN_ORDER_THREADS)
    csaw__gather_hub_winners(const __grid_constant__ csaw__product p, const csaw_edge *edge, const uint32_t *won) {
    typedef typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type stored;
    const uint32_t lane = threadIdx.x % 32, slice_number = blockIdx.x / (uint32_t)p.blocks;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const uint64_t row = p.split.row[blockIdx.x % (uint32_t)p.blocks].row, first = p.rowptr[row];
    const stored *const dy = (const stored *)p.x.data + slice.first + lane;
    const uint32_t *const of_slice = won + slice_number * p.num_edges;
    float sum = 0;
    csaw__in_order<csaw__won_edge>(
        p.rowptr[row + 1] - first,
        [&](uint64_t k) { return csaw__won_edge_at(p, edge, of_slice, slice.head, first + k); },
        [&](const csaw__won_edge &e) {
            if (!(e.won >> lane & 1)) return -0.0f; /* which changes no sum */
            return e.weight * csaw__widen<X>(dy[e.row * p.x.stride]);
        },
        [&](float product) { sum += product; });
    if (threadIdx.x >= 32 * CSAW__LOADERS && lane < slice.width) csaw__store<1>(&p.y, row, slice.first + lane, &sum);
}

/* ---- kernels by storage and shape ---- */

typedef void csaw__winners_kernel(csaw__product, const csaw_edge *, const uint32_t *);

template <csaw_dtype X> static csaw__winners_kernel *csaw__winners_kernel_of(const csaw__product *turned) {
    if (turned->vector > 1) return csaw__gather_winners<X, 8, CSAW__VECTOR>;
    return csaw__winners_shape(turned) == CSAW_SPMM_CRC ? csaw__gather_winners<X, 32, 1>
                                                        : csaw__gather_winners<X, 8, 1>;
}

static csaw__winners_kernel *csaw__winners_kernel_at(const csaw__product *turned) {
    if (turned->x.dtype == CSAW_F32) return csaw__winners_kernel_of<CSAW_F32>(turned);
    return turned->x.dtype == CSAW_F16 ? csaw__winners_kernel_of<CSAW_F16>(turned)
                                       : csaw__winners_kernel_of<CSAW_BF16>(turned);
}

static csaw__winners_kernel *csaw__hub_winners_kernel_at(const csaw__product *hubs) {
    if (hubs->x.dtype == CSAW_F32) return csaw__gather_hub_winners<CSAW_F32>;
    return hubs->x.dtype == CSAW_F16 ? csaw__gather_hub_winners<CSAW_F16> : csaw__gather_hub_winners<CSAW_BF16>;
}

#endif

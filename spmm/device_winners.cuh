/* SPDX-License-Identifier: MIT */
/* spmm/device_winners.cuh - device code of dx of MAX and MIN over the transpose. A first kernel says of each edge, in a
 * word for each 32 columns, where arg names it; a second gathers as csaw_spmm() does over the transpose, by the same
 * units and chunks, but of dy only where a bit is set. A word is 4 bytes an edge where arg would be 8 for each column;
 * of a row of n edges about one in n elements of dy is read. The transpose finds words of an edge anywhere, so those of
 * a slice stand side by side, in one sector, and slices are as wide as a warp can hold; words that fill a sector are
 * written where the transpose reads them. Of few edges lanes that hold columns take a unit, of many a warp some units
 * (spmm/device_won_bits.cuh). To be compiled without contraction of a * b + c. */
#ifndef CSAW_SPMM_DEVICE_WINNERS_CUH
#define CSAW_SPMM_DEVICE_WINNERS_CUH

#include "spmm/device_group.cuh"
#include "spmm/device_long.cuh"
#include "spmm/device_won_bits.cuh"

/* One thread an edge of the transpose. */
static __global__ void csaw__find_places(const csaw_edge *edge, uint64_t edges, uint64_t *place) {
    const uint64_t k = csaw__thread_number();
    if (k < edges) place[edge[k]] = k;
}

enum { CSAW__WON_TILE = 512 /* words that a warp makes at once */ };

/* A warp a unit and slice: its words are made in shared memory, some edges at a time, each lane setting the bits of its
 * columns. */
template <int WORDS>
static __global__ void __launch_bounds__(CSAW__THREADS)
    csaw__find_winners(const __grid_constant__ csaw__product m, const uint64_t *place_of, uint32_t *won) {
    constexpr uint32_t EDGES = WORDS == 1 ? CSAW__LONG : CSAW__WON_TILE / WORDS; /* at once */
    constexpr uint32_t HELD = WORDS == CSAW__WON_WORDS ? 4 : 1;
    constexpr uint32_t APART = EDGES + 32 / WORDS % 32; /* words of as many edges as a warp writes: as many banks */
    __shared__ uint32_t tiles[CSAW__THREADS / 32][WORDS * APART];
    uint32_t *const tile = tiles[threadIdx.x / 32];
    const uint32_t lane = threadIdx.x % 32, blocks = (uint32_t)m.blocks;
    const uint32_t slice_number = blockIdx.x < blocks ? 0 : blockIdx.x / blocks; /* a division costs as a short row */
    const uint64_t number = (uint64_t)(blockIdx.x - slice_number * blocks) * (blockDim.x / 32) + threadIdx.x / 32;
    const csaw__slice slice = csaw__slice_at(&m, m.first_slice + slice_number);
    uint64_t row = number - m.split.most_chunks; /* its arg is on its way while rowptr is */
    if (number < m.split.most_chunks)
        row = number < m.split.count[0] ? m.split.row[m.split.chunk[number].row].row : m.rows;
    csaw_edge named[WORDS];
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        const uint32_t column = w * CSAW__WON_COLUMNS + lane;
        named[w] = CSAW_NO_EDGE;
        if (row < m.rows && column < slice.width) named[w] = m.arg[row * m.y.cols + slice.first + column];
    }
    const csaw__unit unit = csaw__unit_of_number(&m, number);
    uint32_t place[WORDS]; /* in the unit, or past its end */
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        const uint64_t at = named[w] - unit.first;
        place[w] = at < unit.count ? (uint32_t)at : unit.count;
    }
    uint32_t *const out = won + slice_number * m.num_edges * WORDS;
    const uint32_t *const own = tile + lane % WORDS * APART + lane / WORDS; /* the first word that the lane writes */
    for (uint32_t begin = 0; begin < unit.count; begin += EDGES) {
        const uint32_t left = unit.count - begin, here = left < EDGES ? left : EDGES;
        const uint64_t first = unit.first + begin;
#pragma unroll 1
        for (uint32_t k = lane; k < here; k += 32)
#pragma unroll
            for (int w = 0; w < WORDS; w++) tile[w * APART + k] = 0;
        __syncwarp();
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            if (place[w] - begin < here) atomicOr(tile + w * APART + (place[w] - begin), 1u << lane);
        __syncwarp();
#pragma unroll 1
        for (uint32_t i = lane; i < here * WORDS; i += 32 * HELD) {
            uint64_t edge[HELD]; /* whose places are on their way together */
#pragma unroll
            for (uint32_t j = 0; j < HELD; j++) {
                edge[j] = first + (i + 32 * j) / WORDS;
                if (place_of && i + 32 * j < here * WORDS) edge[j] = place_of[edge[j]];
            }
#pragma unroll
            for (uint32_t j = 0; j < HELD; j++)
                if (i + 32 * j < here * WORDS) out[edge[j] * WORDS + lane % WORDS] = own[(i + 32 * j - lane) / WORDS];
        }
        __syncwarp();
    }
}

/* What a lane has loaded of an edge, and the columns of it that are the edge's. */
template <csaw_dtype X, int VECTOR, int FACTOR> struct csaw__won_features {
    csaw__features<X, VECTOR, FACTOR> of;
    uint32_t won[FACTOR];
};

/* LANES lanes a unit of the transpose. */
template <csaw_dtype X, int LANES, int VECTOR, int FACTOR>
static __global__ void __launch_bounds__(CSAW__THREADS)
    csaw__gather_winners(const __grid_constant__ csaw__product p, const __grid_constant__ csaw__won_order order) {
    typedef csaw__won_features<X, VECTOR, FACTOR> features;
    typedef typename csaw__features<X, VECTOR, FACTOR>::vector vector;
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2, ALL = (1u << VECTOR) - 1, APART = LANES * VECTOR;
    constexpr int WORDS = csaw__won_words(LANES * VECTOR * FACTOR), BATCH = CSAW__UNROLL / 2 / FACTOR; /* edges */
    typedef csaw__won_edge<WORDS> won_edge;
    __shared__ csaw__ring<won_edge, LANES> rings[CSAW__THREADS / LANES];
    const uint32_t lane = threadIdx.x % LANES, group = threadIdx.x / LANES, column = lane * VECTOR;
    const uint32_t slice_number = blockIdx.x / (uint32_t)p.blocks, block = blockIdx.x % (uint32_t)p.blocks;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const csaw__unit unit = csaw__unit_at(&p, (uint64_t)block * (blockDim.x / LANES) + group);
    const char *const dy = (const char *)p.x.data + (slice.first + column) * bytes;
    const uint64_t row_bytes = p.x.stride * bytes;
    const uint32_t *const of_slice = order.won + slice_number * p.num_edges * WORDS;
    csaw__found<X, VECTOR, FACTOR, false> found;
    found.clear();
    const auto fetch = [&](uint32_t k) {
        const uint64_t at = unit.first + k;
        return csaw__won_edge_at<WORDS>(p, order, of_slice, WORDS, slice.head, at, csaw__won_number(order, at));
    };
    const auto load = [&](const won_edge &e, features *to) {
        const char *const from = dy + e.row * row_bytes;
#pragma unroll
        for (int j = 0; j < FACTOR; j++) {
            const uint32_t first = j * APART + column;
            to->won[j] = e.won[first / CSAW__WON_COLUMNS] >> first % CSAW__WON_COLUMNS & ALL;
            if (to->won[j]) to->of.x[j] = *(const vector *)(from + j * (APART * bytes));
        }
    };
    const auto take = [&](uint32_t, bool there, const won_edge &e, const features &loaded) {
#pragma unroll
        for (int j = 0; j < FACTOR; j++) {
            const uint32_t mine = there ? loaded.won[j] : 0;
            float element[VECTOR];
            csaw__widen_pack<X>(loaded.of.x[j], element);
#pragma unroll
            for (int i = 0; i < VECTOR; i++)
                if (mine >> i & 1) found.value[j][i] += e.weight * element[i];
        }
    };
    csaw__walk<LANES, BATCH, false, features>(unit.count, rings + group, fetch, load, take);
    csaw__keep<X, LANES>(p, slice, slice_number, unit, column, 1.0f, found);
}

/* ---- kernels by storage and shape ---- */

typedef void csaw__find_winners_kernel(csaw__product, const uint64_t *, uint32_t *);
typedef void csaw__winners_kernel(csaw__product, csaw__won_order);

static csaw__find_winners_kernel *csaw__find_winners_at(const csaw__winners *w) {
    switch (w->order.words) {
    case 1: return csaw__find_winners<1>;
    case 2: return csaw__find_winners<2>;
    case 4: return csaw__find_winners<4>;
    default: return csaw__find_winners<CSAW__WON_WORDS>;
    }
}

template <csaw_dtype X, int VECTOR> static csaw__winners_kernel *csaw__winners_kernel_for(csaw_spmm_method shape) {
    switch (shape) {
    case CSAW_SPMM_CWM2: return csaw__gather_winners < X, 32, VECTOR, VECTOR == CSAW__VECTOR ? 2 : 1 > ;
    case CSAW_SPMM_CRC: return csaw__gather_winners<X, 32, VECTOR, 1>;
    case CSAW_SPMM_SUBWARP16: return csaw__gather_winners<X, 16, VECTOR, 1>;
    default: return csaw__gather_winners<X, 8, VECTOR, 1>;
    }
}

template <csaw_dtype X> static csaw__winners_kernel *csaw__winners_kernel_of(const csaw__winners *w) {
    if (w->by_bits) return csaw__gather_bits_of_winners<X>;
    if (X != CSAW_F32 && w->turned.vector == CSAW__VECTOR_16)
        return csaw__winners_kernel_for < X, X == CSAW_F32 ? CSAW__VECTOR : CSAW__VECTOR_16 > (w->shape);
    return w->turned.vector == 1 ? csaw__winners_kernel_for<X, 1>(w->shape)
                                 : csaw__winners_kernel_for<X, CSAW__VECTOR>(w->shape);
}

static csaw__winners_kernel *csaw__winners_kernel_at(const csaw__winners *w) {
    if (w->turned.x.dtype == CSAW_F32) return csaw__winners_kernel_of<CSAW_F32>(w);
    return w->turned.x.dtype == CSAW_F16 ? csaw__winners_kernel_of<CSAW_F16>(w) : csaw__winners_kernel_of<CSAW_BF16>(w);
}

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/device_winners.cuh - device code of dx of MAX and MIN over a prepared transpose. A first kernel says of each
 * edge, in a word for each 32 columns, where arg names it; in a second a warp takes rows of the transpose, turns the
 * words of 32 edges, so that each lane knows which of them its column's are, and reads dy of those alone. A word is 4
 * bytes an edge where arg would be 8 for each column; and since of a row of n edges one wins, an element of dx has one
 * product on average, however long the rows are. Words stand in the order of the transpose, whose rows find them as
 * they find their edges. Sums by ascending row, as spmm/scatter_rows.h has them: so the edges of a long row of the
 * transpose go one after the other, by a block of the same launch. To be compiled without contraction of a * b + c. */
#ifndef CSAW_SPMM_DEVICE_WINNERS_CUH
#define CSAW_SPMM_DEVICE_WINNERS_CUH

#include "spmm/device_unit.cuh"

enum {
    CSAW__WON_COLUMNS = 32, /* the bits of a word */
    CSAW__WON_WORDS = 8,    /* of a slice, at most: a sector */
    CSAW__WON_ROWS = 4,     /* of the transpose that a warp takes */
    CSAW__WON_GROUP = 2,    /* of the edges that are a column's, those that are asked for unless no column has them */
    CSAW__WON_ASKED = 4,    /* at once, of a row */
    CSAW__WON_AHEAD = 12    /* of 32 edges of a long row, before its turn */
};

typedef struct csaw__winners {
    csaw__product matrix;   /* its units and arg; slices as those of turned; y: its columns alone */
    csaw__product turned;   /* rows are those of the transpose; x is dy, y is dx */
    csaw__long_rows hubs;   /* the transpose's long rows */
    const csaw_edge *place; /* [num_edges] of the transpose, by the matrix's edges */
    uint32_t *won;    /* [slices of a launch, num_edges of the transpose, words] bit c of word w: arg names the edge in
                       * column 32 w + c of the slice */
    uint32_t words;   /* of a slice */
    uint64_t at_once; /* slices of a launch */
} csaw__winners;

/* Units of a warp that finds winners: as many as registers hold arg of. */
static __host__ __device__ constexpr uint32_t csaw__won_units(uint32_t words) { return words > 2 ? 8 / words : 4; }

/* Words that a warp of the second kernel takes. */
static __host__ __device__ constexpr uint32_t csaw__won_at_once(uint32_t words) { return words > 1 ? 2 : 1; }

/* Fills in the layout, where rows, split, y's columns, heads and hubs stand. A slice is the widest one that is not
 * twice what there are columns for, and whose words of all edges fit work memory. */
static inline void csaw__winners_lay_out(csaw__winners *w) {
    const uint64_t bytes = w->matrix.num_edges * sizeof *w->won; /* of a word each */
    const uint64_t most_words = bytes ? CSAW__ROOM_BYTES / bytes : UINT64_MAX;
    const uint64_t columns = w->turned.y.cols / w->turned.heads;
    w->words = CSAW__WON_WORDS;
    while (w->words > 1 && (w->words > most_words || w->words * CSAW__WON_COLUMNS >= 2 * columns)) w->words /= 2;
    for (csaw__product *p : {&w->matrix, &w->turned}) {
        p->columns = columns, p->vector = 1, p->width = w->words * CSAW__WON_COLUMNS;
        p->slices_of_head = (columns + p->width - 1) / p->width, p->first_slice = 0;
    }
    const uint64_t warps = CSAW__THREADS / 32, units = warps * csaw__won_units(w->words);
    const uint64_t slices = w->turned.slices_of_head * w->turned.heads;
    w->matrix.blocks = (w->matrix.split.most_chunks + w->matrix.rows + units - 1) / units;
    w->turned.blocks = (w->turned.rows + warps * CSAW__WON_ROWS - 1) / (warps * CSAW__WON_ROWS); /* of some words */
    w->at_once = most_words / w->words;
    w->at_once = w->at_once < 1 ? 1 : w->at_once < slices ? w->at_once : slices;
}

/* Blocks of a slice in the launch that gathers: of long rows, and all. */
static inline uint64_t csaw__hub_winners_blocks(const csaw__winners *w) { return w->hubs.most_rows * w->words; }
static inline uint64_t csaw__winners_blocks(const csaw__winners *w) {
    return csaw__hub_winners_blocks(w) + w->words / csaw__won_at_once(w->words) * w->turned.blocks;
}

/* A warp some units and slice: args of all of them are on their way at once, and the words of up to 32 edges in a row,
 * of whatever unit, are stored together, at the places of the transpose. */
template <int WORDS>
static __global__ void __launch_bounds__(CSAW__THREADS)
    csaw__find_winners(const __grid_constant__ csaw__product m, const csaw_edge *place_of, uint32_t *won) {
    constexpr uint32_t UNITS = csaw__won_units(WORDS);
    const uint32_t lane = threadIdx.x % 32, blocks = (uint32_t)m.blocks;
    const uint32_t slice_number = blockIdx.x < blocks ? 0 : blockIdx.x / blocks; /* a division costs as a short row */
    const uint64_t number =
        ((uint64_t)(blockIdx.x - slice_number * blocks) * (blockDim.x / 32) + threadIdx.x / 32) * UNITS;
    const csaw__slice slice = csaw__slice_at(&m, m.first_slice + slice_number);
    csaw_edge named[UNITS][WORDS];
#pragma unroll
    for (uint32_t u = 0; u < UNITS; u++) {
        uint64_t row = number + u - m.split.most_chunks; /* its arg is on its way while rowptr is */
        if (number + u < m.split.most_chunks)
            row = number + u < m.split.count[0] ? m.split.row[m.split.chunk[number + u].row].row : m.rows;
        const csaw_edge *const arg = m.arg + (row * m.y.cols + slice.first + lane);
#pragma unroll
        for (uint32_t w = 0; w < WORDS; w++) {
            named[u][w] = CSAW_NO_EDGE;
            if (row < m.rows && w * CSAW__WON_COLUMNS + lane < slice.width)
                named[u][w] = __ldcs(arg + w * CSAW__WON_COLUMNS); /* read once */
        }
    }
    csaw__unit unit[UNITS];
    uint32_t place[UNITS][WORDS]; /* in the unit, or past its end */
#pragma unroll
    for (uint32_t u = 0; u < UNITS; u++) {
        unit[u] = csaw__unit_at(&m, number + u);
#pragma unroll
        for (uint32_t w = 0; w < WORDS; w++) {
            const uint64_t at = named[u][w] - unit[u].first;
            place[u][w] = at < unit[u].count ? (uint32_t)at : unit[u].count;
        }
    }
    uint32_t *const of_slice = won + slice_number * m.num_edges * WORDS;
    uint32_t held = 0, mine[WORDS] = {}; /* the lanes before `held` have an edge, and its words */
    csaw_edge edge = 0;
    const auto store = [&] {
        if (lane < held) csaw__put<WORDS>(of_slice + place_of[edge] * WORDS, mine);
        held = 0;
    };
#pragma unroll
    for (uint32_t u = 0; u < UNITS; u++)
        for (uint32_t begin = 0; begin < unit[u].count;) {
            const uint32_t left = unit[u].count - begin, here = left < 32 - held ? left : 32 - held;
            if (lane >= held) edge = unit[u].first + begin + (lane - held);
            for (uint32_t k = 0; k < here; k++) {
#pragma unroll
                for (uint32_t w = 0; w < WORDS; w++) {
                    const uint32_t columns = __ballot_sync(CSAW__ALL_LANES, place[u][w] == begin + k);
                    if (lane == held + k) mine[w] = columns;
                }
            }
            begin += here;
            held += here;
            if (held == 32) store();
        }
    store();
}

/* An edge of the transpose: the row of the matrix that it stands in. */
template <int WORDS> struct csaw__won_edge {
    csaw_vertex row;
    float weight;
    uint32_t won[WORDS];
};

/* Edge k, and WORDS of the `words` it has in a slice, which begin there. */
template <int WORDS>
static __device__ __forceinline__ csaw__won_edge<WORDS> csaw__won_edge_at(const csaw__product &p, uint64_t head,
                                                                          uint64_t k, const uint32_t *won,
                                                                          uint32_t words) {
    typedef csaw__pack<uint32_t, WORDS> pack;
    csaw__won_edge<WORDS> out;
    out.row = p.col[k];
    out.weight = p.weight ? p.weight[k * p.heads + head] : 1.0f;
    const pack won_here = *(const pack *)(won + k * words);
#pragma unroll
    for (int w = 0; w < WORDS; w++) out.won[w] = won_here.at[w];
    return out;
}

/* A square of 32 x 32 bits turned: lane c ends with bit c of every lane's word, that of lane e as bit e. */
static __device__ __forceinline__ uint32_t csaw__turn_bits(uint32_t word) {
    uint32_t low = 0x0000ffffu; /* the bits whose number has no `half` */
#pragma unroll
    for (uint32_t half = 16; half; half /= 2, low ^= low << half) {
        const uint32_t other = __shfl_xor_sync(CSAW__ALL_LANES, word, half);
        word = threadIdx.x & half ? (word & ~low) | (other >> half & low) : (word & low) | (other & low) << half;
    }
    return word;
}

/* A block a long row of the transpose, 32 columns of it: number of the launch. Each warp takes 32 edges, loads what is
 * its columns', and multiplies; then warps add in turn. */
template <csaw_dtype X>
static __device__ __forceinline__ void csaw__gather_hub(const csaw__product &p, const csaw__long_rows &hubs,
                                                        uint32_t number, const uint32_t *won, uint32_t words) {
    typedef typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type stored;
    constexpr uint32_t GROUP = 2 * CSAW__WON_GROUP;
    __shared__ float sums[32];
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, rows = (uint32_t)hubs.most_rows;
    const uint32_t turn = number / rows, slice_number = turn / words, word = turn % words;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const uint32_t column = word * CSAW__WON_COLUMNS + lane;
    if (word * CSAW__WON_COLUMNS >= slice.width) return;
    const uint64_t row = hubs.row[number - turn * rows].row, first = p.rowptr[row], end = p.rowptr[row + 1];
    const stored *const dy = (const stored *)p.x.data + slice.first + column;
    const uint32_t *const of_word = won + slice_number * p.num_edges * words + word;
    const auto fetch = [&](uint64_t k) {
        return k < end ? csaw__won_edge_at<1>(p, slice.head, k, of_word, words) : csaw__won_edge<1>{};
    };
    csaw__won_edge<1> next = fetch(first + threadIdx.x);
    if (warp == 0) sums[lane] = 0;
    for (uint64_t begin = first; begin < end; begin += CSAW__THREADS) {
        const csaw__won_edge<1> edge = next;
        next = fetch(begin + CSAW__THREADS + threadIdx.x);
        uint32_t asked = csaw__turn_bits(edge.won[0]), rest = asked, held = 0;
        stored of[CSAW__WON_AHEAD];
        float product[CSAW__WON_AHEAD];
#pragma unroll
        for (uint32_t n = 0; n < CSAW__WON_AHEAD; n += GROUP) {
            if (!__any_sync(CSAW__ALL_LANES, asked)) break;
            held = n + GROUP;
#pragma unroll
            for (uint32_t i = n; i < n + GROUP; i++, asked &= asked - 1) {
                const uint64_t at = __shfl_sync(CSAW__ALL_LANES, edge.row, __ffs((int)asked) - 1);
                of[i] = 0;
                if (asked) of[i] = dy[at * p.x.stride];
            }
        }
#pragma unroll
        for (uint32_t n = 0; n < CSAW__WON_AHEAD; n += GROUP) {
            if (n >= held) break;
#pragma unroll
            for (uint32_t i = n; i < n + GROUP; i++, rest &= rest - 1) {
                const float weight = __shfl_sync(CSAW__ALL_LANES, edge.weight, __ffs((int)rest) - 1);
                product[i] = rest ? weight * csaw__widen<X>(of[i]) : -0.0f; /* -0 changes no sum */
            }
        }
        for (uint32_t now = 0; now < CSAW__THREADS / 32; now++) {
            __syncthreads();
            if (now != warp) continue;
            float sum = sums[lane];
#pragma unroll
            for (uint32_t n = 0; n < CSAW__WON_AHEAD; n += GROUP) {
                if (n >= held) break;
#pragma unroll
                for (uint32_t i = n; i < n + GROUP; i++) sum += product[i];
            }
            for (; __any_sync(CSAW__ALL_LANES, rest); rest &= rest - 1) { /* where most edges win */
                const int from = __ffs((int)rest) - 1;
                const uint64_t at = __shfl_sync(CSAW__ALL_LANES, edge.row, from);
                const float weight = __shfl_sync(CSAW__ALL_LANES, edge.weight, from);
                if (rest) sum += weight * csaw__widen<X>(dy[at * p.x.stride]);
            }
            sums[lane] = sum;
        }
    }
    __syncthreads();
    if (warp == 0 && column < slice.width) csaw__store<1>(&p.y, row, slice.first + column, sums + lane);
}

/* 32 edges of the transpose from `first` on, as the lanes of a warp have them. */
template <int WORDS> struct csaw__won_edges {
    uint64_t first;
    csaw__won_edge<WORDS> edge; /* the lane's */
    uint32_t of_column[WORDS];  /* bit e: edge e is that of the lane's column */
};

/* Adds the products of the edges in `bits` to the lane's columns. */
template <csaw_dtype X, int WORDS, typename STORED>
static __device__ __forceinline__ void csaw__add_winners(const csaw__won_edges<WORDS> &here, uint32_t bits,
                                                         const STORED *dy, uint64_t stride, float *sum) {
    uint32_t rest[WORDS];
#pragma unroll
    for (int w = 0; w < WORDS; w++) rest[w] = here.of_column[w] & bits;
    const auto left = [&] { return __any_sync(CSAW__ALL_LANES, rest[0] | rest[WORDS - 1]); };
    while (left()) {
        STORED of[CSAW__WON_ASKED][WORDS];
        float weight[CSAW__WON_ASKED][WORDS];
        uint32_t held = 0;
#pragma unroll
        for (uint32_t n = 0; n < CSAW__WON_ASKED; n += CSAW__WON_GROUP) {
            if (n && !left()) break;
            held = n + CSAW__WON_GROUP;
#pragma unroll
            for (uint32_t i = n; i < n + CSAW__WON_GROUP; i++)
#pragma unroll
                for (int w = 0; w < WORDS; w++) {
                    const int from = __ffs((int)rest[w]) - 1;
                    const uint64_t at = __shfl_sync(CSAW__ALL_LANES, here.edge.row, from);
                    const float by = __shfl_sync(CSAW__ALL_LANES, here.edge.weight, from);
                    weight[i][w] = rest[w] ? by : 0.0f; /* a sum is never -0, so that 0 does not change it */
                    of[i][w] = 0;
                    if (rest[w]) of[i][w] = dy[at * stride + w * CSAW__WON_COLUMNS];
                    rest[w] &= rest[w] - 1;
                }
        }
#pragma unroll
        for (uint32_t n = 0; n < CSAW__WON_ASKED; n += CSAW__WON_GROUP) {
            if (n >= held) break;
#pragma unroll
            for (uint32_t i = n; i < n + CSAW__WON_GROUP; i++)
#pragma unroll
                for (int w = 0; w < WORDS; w++) sum[w] += weight[i][w] * csaw__widen<X>(of[i][w]);
        }
    }
}

/* Blocks of long rows first, which take longest; then a warp some other rows of the transpose, WORDS of the `words` of
 * a slice. */
template <csaw_dtype X, int WORDS>
static __global__ void __launch_bounds__(CSAW__THREADS, 8)
    csaw__gather_winners(const __grid_constant__ csaw__product p, const __grid_constant__ csaw__long_rows hubs,
                         uint32_t hub_blocks, const uint32_t *won, uint32_t words) {
    typedef typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type stored;
    if (blockIdx.x < hub_blocks) {
        csaw__gather_hub<X>(p, hubs, blockIdx.x, won, words);
        return;
    }
    const uint32_t lane = threadIdx.x % 32, blocks = (uint32_t)p.blocks, parts = words / WORDS;
    const uint32_t number = blockIdx.x - hub_blocks, turn = number < blocks ? 0 : number / blocks;
    const uint32_t slice_number = parts == 1 ? turn : turn / parts, word = (turn - slice_number * parts) * WORDS;
    const uint64_t first = ((uint64_t)(number - turn * blocks) * (blockDim.x / 32) + threadIdx.x / 32) * CSAW__WON_ROWS;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const uint32_t column = word * CSAW__WON_COLUMNS + lane;
    if (first >= p.rows || word * CSAW__WON_COLUMNS >= slice.width) return;
    const uint32_t rows = p.rows - first < CSAW__WON_ROWS ? (uint32_t)(p.rows - first) : CSAW__WON_ROWS;
    const uint64_t start = p.rowptr[first + (lane < rows ? lane : rows)];
    const uint64_t all = __shfl_sync(CSAW__ALL_LANES, start, (int)rows); /* where the edges of these rows end */
    const stored *const dy = (const stored *)p.x.data + slice.first + column;
    const uint32_t *const of_words = won + slice_number * p.num_edges * words + word;
    csaw__won_edges<WORDS> here = {};
    uint64_t loaded = 0; /* where those here end */
    for (uint32_t r = 0; r < rows; r++) {
        const uint64_t begin = __shfl_sync(CSAW__ALL_LANES, start, (int)r);
        const uint64_t end = __shfl_sync(CSAW__ALL_LANES, start, (int)r + 1);
        float sum[WORDS] = {};
        if (end - begin > CSAW_CHUNK) continue; /* by a block */
        for (uint64_t k = begin; k < end;) {
            if (k >= loaded) {
                here.first = k, loaded = k + 32;
                here.edge = k + lane < all ? csaw__won_edge_at<WORDS>(p, slice.head, k + lane, of_words, words)
                                           : csaw__won_edge<WORDS>{};
#pragma unroll
                for (int w = 0; w < WORDS; w++) here.of_column[w] = csaw__turn_bits(here.edge.won[w]);
            }
            const uint64_t to = end < loaded ? end : loaded;
            const uint32_t past = (uint32_t)(to - here.first); /* 1 .. 32 */
            csaw__add_winners<X, WORDS>(here, ~0u >> (32 - past) & ~0u << (k - here.first), dy, p.x.stride, sum);
            k = to;
        }
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            if (w * CSAW__WON_COLUMNS + column < slice.width)
                csaw__store<1>(&p.y, first + r, slice.first + w * CSAW__WON_COLUMNS + column, sum + w);
    }
}

/* ---- kernels by storage and shape ---- */

typedef void csaw__find_winners_kernel(csaw__product, const csaw_edge *, uint32_t *);
typedef void csaw__winners_kernel(csaw__product, csaw__long_rows, uint32_t, const uint32_t *, uint32_t);

static csaw__find_winners_kernel *csaw__find_winners_at(const csaw__winners *w) {
    switch (w->words) {
    case 1: return csaw__find_winners<1>;
    case 2: return csaw__find_winners<2>;
    case 4: return csaw__find_winners<4>;
    default: return csaw__find_winners<CSAW__WON_WORDS>;
    }
}

template <csaw_dtype X> static csaw__winners_kernel *csaw__winners_kernel_of(const csaw__winners *w) {
    return w->words > 1 ? csaw__gather_winners<X, csaw__won_at_once(2)> : csaw__gather_winners<X, 1>;
}

static csaw__winners_kernel *csaw__winners_kernel_at(const csaw__winners *w) {
    if (w->turned.x.dtype == CSAW_F32) return csaw__winners_kernel_of<CSAW_F32>(w);
    return w->turned.x.dtype == CSAW_F16 ? csaw__winners_kernel_of<CSAW_F16>(w) : csaw__winners_kernel_of<CSAW_BF16>(w);
}

#endif

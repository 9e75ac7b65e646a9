/* SPDX-License-Identifier: MIT */
/* spmm/device_winners.cuh - device code of dx of MAX and MIN over a prepared transpose. A first kernel says of each
 * edge, in a word for each 32 columns, where arg names it; a second gathers as csaw_spmm() does over the transpose, but
 * of dy only where a bit is set. A word is 4 bytes an edge where arg would be 8 for each column; of a row of n edges
 * about one in n elements of dy is read. The transpose finds words of an edge anywhere, so those of a slice stand side
 * by side, in one sector, and slices are as wide as a warp can hold; words that fill a sector are written where the
 * transpose reads them. Sums by ascending row, as spmm/scatter_rows.h has them: so the edges of a row of the transpose
 * go one after the other, those of one that has a large share of all by a block (spmm/device_in_order.cuh), which waits
 * for an addition an edge, not for memory, but takes six times the instructions of lanes. To be compiled without
 * contraction of a * b + c.
 *
 * Limit on an H100, products, 256 columns of float16: csaw__find_winners latency, 29% of the issue slots, DRAM at 40%
 * of its throughput; csaw__gather_winners its instructions, 64% of the issue slots with 22% of the warps;
 * csaw__gather_hub_winners the longest columns, one edge after the other, beside it.
 * docs/measured/2026-11-27-gpu-18.md. */
#ifndef CSAW_SPMM_DEVICE_WINNERS_CUH
#define CSAW_SPMM_DEVICE_WINNERS_CUH

#include "spmm/device_beside.cuh"
#include "spmm/device_group.cuh"
#include "spmm/device_in_order.cuh"
#include "spmm/device_unit.cuh"
#include "spmm/device_won_columns.cuh"

enum {
    CSAW__WON_COLUMNS = 32,     /* the bits of a word */
    CSAW__WON_WORDS = 8,        /* of a slice, at most: a sector */
    CSAW__WON_TILE = 512,       /* words that a warp makes at once */
    CSAW__WON_ROWS = 4,         /* of the transpose, that a warp takes */
    CSAW__WON_ROWS_BLOCKS = 10, /* of a multiprocessor that take so many rows, at least */
    CSAW__WON_ROWS_HELD = 4,    /* elements that a lane has on their way at once there */
    CSAW__WON_DEGREE = 64, /* mean degree up to which words are no more bytes than arg is; of 50, products, on an H100
                            * gathered 9.7 and 32 ms, sorted 11.6 and 46.5 */
    CSAW__WON_SHARE = 1 << 12, /* of all edges: a row that has more would keep a warp when all else is done */
    CSAW__WON_FEW = 1 << 22,   /* edges, up to which csaw__gather_winners() is faster, since its warps are more, and
                                * many hubs of which are taken by columns */
    CSAW__WON_HUBS = 512       /* blocks that take hubs: of more the time of all counts, not that of the longest */
};

typedef struct csaw__won_order { /* what belongs to the transpose's edges, and in which order it stands */
    const csaw_edge *edge;       /* [num_edges] of the matrix, by the transpose's edges; NULL if none of both asks */
    const uint64_t *place;       /* [num_edges] of the transpose, by the matrix's edges: words stand there; NULL = by
                                  * the matrix's edges */
    bool weights;                /* stand in the transpose's order, not in the matrix's */
    const uint32_t *won; /* [slices of a launch, num_edges, words] bit c of word w: arg names the edge in column 32 w +
                          * c of the slice */
    uint32_t words;      /* of a slice */
} csaw__won_order;

typedef struct csaw__winners {
    csaw__product matrix; /* its units, arg, and slices as those of turned; y: its columns alone */
    csaw__product turned; /* rows are those of the transpose; x is dy, y is dx; weight is as order says */
    csaw__product hubs;   /* the same, of the transpose's rows of more than `longest` edges, which are long */
    csaw__won_order order;
    uint32_t *won;          /* that of order, while it is written */
    uint64_t at_once;       /* slices of a launch */
    uint32_t longest;       /* edges of a row of the transpose that no block takes, at most */
    bool by_rows;           /* csaw__gather_rows_of_winners() gathers */
    bool hubs_by_columns;   /* csaw__won_by_columns() takes the longer ones, not csaw__in_order() */
    csaw_spmm_method shape; /* of csaw__gather_winners() */
} csaw__winners;

static __host__ __device__ constexpr int csaw__won_words(int width) { /* of a slice of so many columns */
    return width > CSAW__WON_COLUMNS ? width / CSAW__WON_COLUMNS : 1;
}

/* The widest slice that is not twice what there are columns for, and whose words of all edges fit work memory. Single
 * columns: 8 or 32. */
static inline csaw_spmm_method csaw__winners_shape(const csaw__product *turned, uint64_t most_words) {
    static const csaw_spmm_method by_width[] = {CSAW_SPMM_CWM2, CSAW_SPMM_CRC, CSAW_SPMM_SUBWARP16};
    if (turned->vector == 1) return turned->columns > 8 ? CSAW_SPMM_CRC : CSAW_SPMM_SUBWARP8;
    for (csaw_spmm_method method : by_width) {
        const csaw__method_shape shape = csaw__shape_of(method);
        const uint64_t width = shape.lanes * shape.factor * turned->vector;
        const uint64_t words = (uint64_t)csaw__won_words((int)width);
        if (words <= CSAW__WON_WORDS && words <= most_words && width < 2 * turned->columns) return method;
    }
    return CSAW_SPMM_SUBWARP8;
}

/* Work memory for words: what arg has bytes, or a little. */
static inline uint64_t csaw__won_room(const csaw__product *matrix) {
    const uint64_t of_arg = matrix->rows * matrix->y.cols * sizeof *matrix->arg;
    return of_arg > CSAW__ROOM_BYTES ? of_arg : CSAW__ROOM_BYTES;
}

/* By which kernel rows are gathered that no block takes. */
static inline void csaw__winners_gather(csaw__winners *w, bool by_rows) {
    const uint64_t rows_of_warp = CSAW__WON_ROWS, warps = CSAW__THREADS / 32;
    w->by_rows = by_rows;
    csaw__lay_out(&w->turned, w->shape, CSAW__THREADS);
    if (by_rows)
        w->turned.blocks = ((w->turned.rows + rows_of_warp - 1) / rows_of_warp * w->order.words + warps - 1) / warps;
}

/* Fills in the layout, where rows, split, columns and heads of all three stand; split of turned is empty. */
static inline void csaw__winners_lay_out(csaw__winners *w) {
    const uint64_t bytes = w->matrix.num_edges * sizeof *w->won; /* of a word each */
    const uint64_t most_words = bytes ? csaw__won_room(&w->matrix) / bytes : UINT64_MAX;
    csaw__lay_vectors(&w->turned);
    if (w->turned.vector > CSAW__VECTOR && most_words < 2) w->turned.vector = CSAW__VECTOR;
    w->shape = csaw__winners_shape(&w->turned, most_words);
    const csaw__method_shape shape = csaw__shape_of(w->shape);
    w->order.words = (uint32_t)csaw__won_words((int)(shape.lanes * shape.factor * w->turned.vector));
    csaw__winners_gather(w, w->turned.num_edges > CSAW__WON_FEW);
    csaw__product *const others[] = {&w->matrix, &w->hubs};
    for (csaw__product *p : others) {
        p->columns = w->turned.columns, p->width = w->turned.width, p->vector = 1;
        p->slices_of_head = w->turned.slices_of_head, p->first_slice = 0;
    }
    const uint64_t warps = CSAW__THREADS / 32, slices = w->turned.slices_of_head * w->turned.heads;
    const uint64_t groups = 32 / shape.lanes; /* of a warp, which a long row of one holds up */
    const uint64_t share = w->turned.num_edges / (CSAW__WON_SHARE * groups * groups),
                   most = share < UINT32_MAX ? share : UINT32_MAX;
    w->longest = most > CSAW_CHUNK ? (uint32_t)most : CSAW_CHUNK;
    w->matrix.blocks = (w->matrix.split.most_chunks + w->matrix.rows + warps - 1) / warps;
    w->hubs.blocks = w->hubs.split.most_rows;
    w->at_once = most_words / w->order.words;
    w->at_once = w->at_once < 1 ? 1 : w->at_once < slices ? w->at_once : slices;
    w->hubs_by_columns = !w->by_rows && w->at_once * w->order.words * w->hubs.blocks > CSAW__WON_HUBS;
}

/* Whether words of an edge fill a sector, so that they go to the edge's place in the transpose as they are, and are
 * read one after the other. Fewer would be a part of a sector each, which is as well read there. */
static inline bool csaw__won_by_place(const csaw__winners *w) { return w->order.words == CSAW__WON_WORDS; }

/* One thread an edge of the transpose. */
static __global__ void csaw__find_places(const csaw_edge *edge, uint64_t edges, uint64_t *place) {
    const uint64_t k = csaw__thread_number();
    if (k < edges) place[edge[k]] = k;
}

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
    const csaw__unit unit = csaw__unit_at(&m, number);
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

template <int WORDS> struct csaw__won_edge { /* of the transpose */
    csaw_vertex row;
    float weight;
    uint32_t won[WORDS];
};

/* The number in the matrix of the edge at place k of the transpose, or k where it is not asked for. */
static __device__ __forceinline__ csaw_edge csaw__won_number(const csaw__won_order &order, uint64_t k) {
    return order.edge ? order.edge[k] : k;
}

/* The edge at place k of the transpose, of number e. won: the first of the WORDS that are asked for, of `words` an
 * edge. */
template <int WORDS>
static __device__ __forceinline__ csaw__won_edge<WORDS> csaw__won_edge_at(const csaw__product &p,
                                                                          const csaw__won_order &order,
                                                                          const uint32_t *won, uint32_t words,
                                                                          uint64_t head, uint64_t k, csaw_edge e) {
    constexpr int AT_ONCE = WORDS < 4 ? WORDS : 4;
    const uint32_t *const words_of = won + (order.place ? k : e) * words;
    csaw__won_edge<WORDS> out;
    out.row = p.col[k];
    out.weight = p.weight ? p.weight[(order.weights ? k : e) * p.heads + head] : 1.0f;
#pragma unroll
    for (int w = 0; w < WORDS; w += AT_ONCE) {
        const csaw__pack<uint32_t, AT_ONCE> some = *(const csaw__pack<uint32_t, AT_ONCE> *)(words_of + w);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) out.won[w + i] = some.at[i];
    }
    return out;
}

/* What a lane has loaded of an edge, and the columns of it that are the edge's. */
template <csaw_dtype X, int VECTOR, int FACTOR> struct csaw__won_features {
    csaw__features<X, VECTOR, FACTOR> of;
    uint32_t won[FACTOR];
};

static __device__ __forceinline__ csaw__unit csaw__won_unit_at(const csaw__product &p, uint32_t longest, uint64_t row) {
    if (row >= p.rows) return csaw__unit{0, 0, 0, false, false};
    const uint64_t begin = p.rowptr[row], length = p.rowptr[row + 1] - begin;
    if (length > longest) return csaw__unit{0, 0, 0, false, false}; /* by csaw__gather_hub_winners() */
    return csaw__unit{begin, row, (uint32_t)length, false, true};
}

/* LANES lanes a row of the transpose. */
template <csaw_dtype X, int LANES, int VECTOR, int FACTOR>
static __global__ void __launch_bounds__(CSAW__THREADS)
    csaw__gather_winners(const __grid_constant__ csaw__product p, const __grid_constant__ csaw__won_order order,
                         uint32_t longest) {
    typedef csaw__won_features<X, VECTOR, FACTOR> features;
    typedef typename csaw__features<X, VECTOR, FACTOR>::vector vector;
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2, ALL = (1u << VECTOR) - 1, APART = LANES * VECTOR;
    constexpr int WORDS = csaw__won_words(LANES * VECTOR * FACTOR), BATCH = CSAW__UNROLL / 2 / FACTOR; /* edges */
    typedef csaw__won_edge<WORDS> won_edge;
    __shared__ csaw__ring<won_edge, LANES> rings[CSAW__THREADS / LANES];
    const uint32_t lane = threadIdx.x % LANES, group = threadIdx.x / LANES, column = lane * VECTOR;
    const uint32_t slice_number = blockIdx.x / (uint32_t)p.blocks, block = blockIdx.x % (uint32_t)p.blocks;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const csaw__unit unit = csaw__won_unit_at(p, longest, (uint64_t)block * (blockDim.x / LANES) + group);
    const char *const dy = (const char *)p.x.data + (slice.first + column) * bytes;
    const uint64_t row_bytes = p.x.stride * bytes;
    const uint32_t *const of_slice = order.won + slice_number * p.num_edges * WORDS;
    float sum[FACTOR][VECTOR] = {};
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
                if (mine >> i & 1) sum[j][i] += e.weight * element[i];
        }
    };
    csaw__walk<LANES, BATCH, false, features>(unit.count, rings + group, fetch, load, take);
    if (blockIdx.x == gridDim.x - 1) csaw__end_after_last(); /* csaw__gather_hub_winners */
    if (!unit.stored) return;
#pragma unroll
    for (int j = 0; j < FACTOR; j++)
        if (j * APART + column < slice.width)
            csaw__store<VECTOR>(&p.y, unit.row, slice.first + j * APART + column, sum[j]);
}

/* A warp some rows of the transpose that follow each other, slice and word of it: their edges 32 at a time. */
template <csaw_dtype X>
static __global__ void __launch_bounds__(CSAW__THREADS, CSAW__WON_ROWS_BLOCKS)
    csaw__gather_rows_of_winners(const __grid_constant__ csaw__product p, const __grid_constant__ csaw__won_order order,
                                 uint32_t longest) {
    typedef typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type stored;
    typedef csaw__won_edge<1> won_edge;
    constexpr uint32_t ROWS = CSAW__WON_ROWS, HELD = CSAW__WON_ROWS_HELD;
    const uint32_t lane = threadIdx.x % 32, blocks = (uint32_t)p.blocks, slice_number = blockIdx.x / blocks;
    const uint64_t number = (uint64_t)(blockIdx.x - slice_number * blocks) * (CSAW__THREADS / 32) + threadIdx.x / 32;
    const uint32_t words = order.words, word = (uint32_t)number & (words - 1); /* a power of two */
    const uint64_t first_row = (number >> (__ffs((int)words) - 1)) * ROWS;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const uint32_t column = word * CSAW__WON_COLUMNS + lane;
    const uint64_t row_bytes = p.x.stride * sizeof(stored);
    const char *const dy =
        (const char *)p.x.data + (slice.first + (column < slice.width ? column : 0)) * sizeof(stored);
    const uint32_t *const of_word = order.won + slice_number * p.num_edges * words + word;
    const csaw__unit own = csaw__won_unit_at(p, longest, lane < ROWS ? first_row + lane : p.rows);
    const uint32_t stores = __ballot_sync(CSAW__ALL_LANES, own.stored);
    uint32_t until[ROWS], all = 0; /* edges of the rows up to each */
    uint64_t offset[ROWS];         /* from the number of one of these edges to its place */
#pragma unroll
    for (uint32_t i = 0; i < ROWS; i++) {
        offset[i] = __shfl_sync(CSAW__ALL_LANES, own.first, (int)i) - all;
        all += __shfl_sync(CSAW__ALL_LANES, own.count, (int)i);
        until[i] = all;
    }
    const auto place = [&](uint32_t k) {
        uint64_t of = offset[0];
#pragma unroll
        for (uint32_t i = 1; i < ROWS; i++)
            if (k >= until[i - 1]) of = offset[i];
        return k + of;
    };
    const auto read_number = [&](uint32_t k) { return k < all ? csaw__won_number(order, place(k)) : 0; };
    const auto read = [&](uint32_t k, csaw_edge e) {
        return k < all ? csaw__won_edge_at<1>(p, order, of_word, words, slice.head, place(k), e) : won_edge{};
    };
    won_edge next = read(lane, read_number(lane)); /* of the 32 to come, this lane's */
    csaw_edge after = read_number(32 + lane);      /* the number of the one after */
    float sum[ROWS] = {};
#pragma unroll 1
    for (uint32_t begin = 0; begin < all; begin += 32) {
        const won_edge here = next;
        uint32_t mine = csaw__turned_bits(here.won[0]);
        const uint32_t most = __reduce_max_sync(CSAW__ALL_LANES, (uint32_t)__popc(mine));
        next = read(begin + 32 + lane, after);
        after = read_number(begin + 64 + lane);
#pragma unroll 1
        for (uint32_t first = 0; first < most; first += HELD) {
            stored held[HELD];
            float weight[HELD];
            uint32_t edge[HELD]; /* past all: none */
#pragma unroll
            for (uint32_t n = 0; n < HELD; n++, mine &= mine - 1) {
                const int from = (__ffs((int)mine) - 1) & 31;
                edge[n] = mine ? begin + from : all;
                held[n] = *(const stored *)(dy + __shfl_sync(CSAW__ALL_LANES, here.row, from) * row_bytes);
                weight[n] = __shfl_sync(CSAW__ALL_LANES, here.weight, from);
            }
#pragma unroll
            for (uint32_t n = 0; n < HELD; n++) {
                const float product = weight[n] * csaw__widen<X>(held[n]);
#pragma unroll
                for (uint32_t i = 0; i < ROWS; i++)
                    if ((i == 0 || edge[n] >= until[i - 1]) && edge[n] < until[i]) sum[i] += product;
            }
        }
    }
    if (blockIdx.x == gridDim.x - 1) csaw__end_after_last(); /* csaw__gather_hub_winners */
#pragma unroll
    for (uint32_t i = 0; i < ROWS; i++)
        if (stores >> i & 1 && column < slice.width) csaw__store<1>(&p.y, first_row + i, slice.first + column, &sum[i]);
}

static __host__ __device__ constexpr uint32_t csaw__hub_winners_threads(bool by_columns) {
    return by_columns ? uint32_t{CSAW__WON_THREADS} : uint32_t{CSAW__IN_ORDER_THREADS};
}

/* A block a row of the transpose of more than `longest` edges, slice and word of it. The others are taken beside. */
template <csaw_dtype X, bool BY_COLUMNS>
static __global__ void __launch_bounds__(csaw__hub_winners_threads(BY_COLUMNS))
    csaw__gather_hub_winners(const __grid_constant__ csaw__product p, const __grid_constant__ csaw__won_order order,
                             uint32_t longest) {
    typedef typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type stored;
    typedef csaw__won_edge<1> won_edge;
    const uint32_t lane = threadIdx.x % 32, blocks = (uint32_t)p.blocks, turn = blockIdx.x / blocks;
    const uint32_t words = order.words, slice_number = turn / words, word = turn % words;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const uint32_t column = word * CSAW__WON_COLUMNS + lane;
    csaw__let_next_begin();
    if (word * CSAW__WON_COLUMNS >= slice.width) return;
    const uint64_t row = p.split.row[blockIdx.x % blocks].row, first = p.rowptr[row], count = p.rowptr[row + 1] - first;
    if (count <= longest) return;
    const uint64_t row_bytes = p.x.stride * sizeof(stored);
    const char *const dy =
        (const char *)p.x.data + (slice.first + (column < slice.width ? column : 0)) * sizeof(stored);
    const uint32_t *const of_word = order.won + slice_number * p.num_edges * words + word;
    const auto number = [&](uint64_t k) { return csaw__won_number(order, first + k); };
    const auto fetch = [&](uint64_t k, csaw_edge e) {
        return csaw__won_edge_at<1>(p, order, of_word, words, slice.head, first + k, e);
    };
    const auto load = [&](csaw_vertex from) { return *(const stored *)(dy + from * row_bytes); };
    float sum = 0;
    if constexpr (BY_COLUMNS)
        sum = csaw__won_by_columns<won_edge>(count, number, fetch, load, [](stored of) { return csaw__widen<X>(of); });
    else
        csaw__in_order<won_edge>(
            count, [&](uint64_t k) { return fetch(k, number(k)); },
            [&](const won_edge &e) { return e.won[0] >> lane & 1 ? load(e.row) : stored{0}; },
            [&](const won_edge &e, stored of) { /* -0 changes no sum */
                                                return e.won[0] >> lane & 1 ? e.weight * csaw__widen<X>(of) : -0.0f;
            },
            [&](float product) { sum += product; });
    if (threadIdx.x >= blockDim.x - 32 && column < slice.width) csaw__store<1>(&p.y, row, slice.first + column, &sum);
}

/* ---- kernels by storage and shape ---- */

typedef void csaw__find_winners_kernel(csaw__product, const uint64_t *, uint32_t *);
typedef void csaw__winners_kernel(csaw__product, csaw__won_order, uint32_t);

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
    if (w->by_rows) return csaw__gather_rows_of_winners<X>;
    if (X != CSAW_F32 && w->turned.vector == CSAW__VECTOR_16)
        return csaw__winners_kernel_for < X, X == CSAW_F32 ? CSAW__VECTOR : CSAW__VECTOR_16 > (w->shape);
    return w->turned.vector == 1 ? csaw__winners_kernel_for<X, 1>(w->shape)
                                 : csaw__winners_kernel_for<X, CSAW__VECTOR>(w->shape);
}

static csaw__winners_kernel *csaw__winners_kernel_at(const csaw__winners *w) {
    if (w->turned.x.dtype == CSAW_F32) return csaw__winners_kernel_of<CSAW_F32>(w);
    return w->turned.x.dtype == CSAW_F16 ? csaw__winners_kernel_of<CSAW_F16>(w) : csaw__winners_kernel_of<CSAW_BF16>(w);
}

template <csaw_dtype X> static csaw__winners_kernel *csaw__hub_winners_kernel_of(const csaw__winners *w) {
    return w->hubs_by_columns ? csaw__gather_hub_winners<X, true> : csaw__gather_hub_winners<X, false>;
}

static csaw__winners_kernel *csaw__hub_winners_kernel_at(const csaw__winners *w) {
    if (w->hubs.x.dtype == CSAW_F32) return csaw__hub_winners_kernel_of<CSAW_F32>(w);
    return w->hubs.x.dtype == CSAW_F16 ? csaw__hub_winners_kernel_of<CSAW_F16>(w)
                                       : csaw__hub_winners_kernel_of<CSAW_BF16>(w);
}

#endif

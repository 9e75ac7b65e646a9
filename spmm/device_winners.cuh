/* SPDX-License-Identifier: MIT */
/* spmm/device_winners.cuh - device code of dx of MAX and MIN over the transpose. A first kernel says of each edge, in a
 * word for each 32 columns, where arg names it (spmm/device_find_winners.cuh); a second goes by stretches of the
 * transpose (spmm/device_stretch.cuh), keeps the edges that won something until there are enough of them, and adds what
 * csaw_spmm() would of those, but of dy only where a bit is set: of a row of n edges about one in n elements is read.
 * To be compiled without contraction of a * b + c.
 *
 * Limit on an H200, arxiv, 64 columns of float32: csaw__find_winners 72% of DRAM's throughput, csaw__gather_winners 69%
 * of the L2 cache's; R-MAT 20, 16 columns: 88% of the L1 cache's, and 75% of the L2 cache's; coauthor_phy, 64: 58% of
 * the issue slots, both, the second with 39% of the warps. docs/measured/2026-11-29-gpu-33.md. */
#ifndef CSAW_SPMM_DEVICE_WINNERS_CUH
#define CSAW_SPMM_DEVICE_WINNERS_CUH

#include "spmm/device_find_winners.cuh"
#include "spmm/device_stretch.cuh"

template <int VECTOR> struct alignas(16) csaw__won_warp { /* of a warp, in shared memory */
    csaw__stretch_row row[33];                            /* as csaw__stretch_room */
    alignas(16) csaw_vertex column[CSAW__WON_KEPT];       /* of edges that won */
    alignas(16) float weight[CSAW__WON_KEPT];
    alignas(16) uint32_t won[VECTOR][CSAW__WON_KEPT]; /* and their words */
};

struct csaw__won_place { /* of an edge */
    int32_t place;       /* in the transpose, counted from the part's first edge */
    csaw_edge edge;      /* in the matrix; 0 beyond the part */
};

template <int VECTOR> struct csaw__won_edge { /* of the transpose */
    csaw_vertex row;                          /* of the matrix */
    float weight;
    csaw__pack<uint32_t, VECTOR> won; /* the columns */
};

/* The edges of a part, 32 at a time, a lane one of them. */
template <int VECTOR, typename WORD> struct csaw__won_edges {
    const csaw__winners &w;
    const csaw__stretch_part &part;
    csaw__won_warp<VECTOR> *room;
    const WORD *won;        /* of the slice */
    const csaw_vertex *col; /* of the part */
    const csaw_edge *edge;
    uint64_t head;
    uint32_t lane;
    uint32_t end;                 /* of this lane's row, counted from the part's first edge; 0 = it has none */
    const csaw__stretch_row *row; /* of the first edge whose place was not read, in shared memory, where rows moved */

    __device__ __forceinline__ csaw__won_edges(const csaw__winners &of, const csaw__slice &slice, const WORD *words,
                                               const csaw__stretch_part &in, uint32_t of_row,
                                               csaw__won_warp<VECTOR> *to, uint32_t of_lane)
        : w(of), part(in), room(to), won(words), col(of.turned.col + in.first_edge), edge(of.edge + in.first_edge),
          head(slice.head), lane(of_lane), end(of_row), row(to->row) {
        csaw__work_out(won);
        csaw__work_out(col);
        csaw__work_out(edge);
    }
    __device__ __forceinline__ csaw__won_place read_place(uint32_t base) {
        csaw__won_place at = {(int32_t)(base + lane), 0};
        if (w.deal.moved) {
            const uint32_t last = end - 1 - base; /* of its row */
            const uint32_t ends = __reduce_add_sync(CSAW__ALL_LANES, last < 32 ? 1u << last : 0u);
            at.place += row[__popc(ends & ((1u << lane) - 1))].shift;
            row += __popc(ends);
        }
        if (base + lane < part.edges) at.edge = edge[at.place];
        return at;
    }
    __device__ __forceinline__ csaw__won_edge<VECTOR> read(uint32_t base, const csaw__won_place &at) const {
        const csaw__product &p = w.turned;
        csaw__won_edge<VECTOR> edge = {0, 1.0f, {}};
        if (base + lane >= part.edges) return edge;
        edge.row = *(const csaw_vertex *)csaw__address((const char *)col, base + lane, sizeof edge.row);
        csaw__pack<WORD, VECTOR> words;
        csaw__take<VECTOR>(won + at.edge * VECTOR, words.at);
#pragma unroll
        for (int i = 0; i < VECTOR; i++) edge.won.at[i] = words.at[i];
        if (!p.weight) return edge;
        if (w.weights)
            edge.weight = (p.weight + (part.first_edge * p.heads + head))[at.place * (int64_t)p.heads];
        else
            edge.weight = p.weight[at.edge * p.heads + head];
        return edge;
    }
    /* Puts the edges that won side by side, after so many that are kept, and says which. */
    __device__ __forceinline__ uint32_t put(const csaw__won_edge<VECTOR> &own, uint32_t kept) const {
        uint32_t any = 0;
#pragma unroll
        for (int i = 0; i < VECTOR; i++) any |= own.won.at[i];
        const uint32_t those = __ballot_sync(CSAW__ALL_LANES, any != 0);
        const uint32_t to = kept + __popc(those & ((1u << lane) - 1));
        if (any) {
#pragma unroll
            for (int i = 0; i < VECTOR; i++) room->won[i][to] = own.won.at[i];
            room->column[to] = own.row, room->weight[to] = own.weight;
        }
        return those;
    }
    /* Zeros after them, up to a whole batch. */
    template <uint32_t BATCH> __device__ __forceinline__ void fill_up(uint32_t kept) const {
        static_assert(VECTOR * BATCH <= 32, "a lane has one of them");
        const uint32_t word = lane / BATCH, at = kept + lane % BATCH;
        if (word < VECTOR && at < CSAW__WON_KEPT) room->won[word][at] = 0;
    }
};

/* A lane's columns in a word. */
template <int VECTOR> struct csaw__won_bits {
    uint32_t first, bit[VECTOR], all;

    explicit __device__ __forceinline__ csaw__won_bits(uint32_t column) : first(column % 32), all(0) {
#pragma unroll
        for (int c = 0; c < VECTOR; c++) {
            bit[c] = 1u << (column + c) % 32;
            all |= bit[c];
        }
        csaw__work_out(first);
    }
    /* Of four columns, one instruction makes predicates of all bits that stand in the same place in all lanes. */
    __device__ __forceinline__ bool are_in(uint32_t word, int c) const {
        return (VECTOR < 4 ? word & bit[c] : word >> first & 1u << c) != 0;
    }
};

/* A row or chunk ends: stores the lane's columns, if the slice has them, and begins with zeros. */
template <int VECTOR>
static __device__ __forceinline__ void csaw__end_won(const csaw__product &p, const csaw__stretch_row &row,
                                                     uint32_t column, bool stored, float *value) {
    if (stored) {
        if (row.divisor == 0.0f)
            csaw__put<VECTOR>(p.partial + row.to + column, value);
        else
            csaw__store<VECTOR>(&p.y, 0, row.to + column, value);
    }
#pragma unroll
    for (int c = 0; c < VECTOR; c++) value[c] = 0;
}

/* The words of a batch of those kept, from the k-th on, or of half of one, and what stands in dy where any of the
 * lane's columns won. */
template <uint32_t BATCH, int VECTOR, typename PACK>
static __device__ __forceinline__ void csaw__load_kept(const csaw__won_warp<VECTOR> *room,
                                                       const csaw__won_bits<VECTOR> &own, uint32_t word, uint32_t k,
                                                       bool second, const char *dy, uint32_t row_bytes,
                                                       csaw__pack<uint32_t, CSAW__STRETCH_STEP> *all, PACK *loaded) {
    constexpr uint32_t STEP = CSAW__STRETCH_STEP;
    typedef csaw__pack<uint32_t, STEP> of_step;
#pragma unroll
    for (uint32_t n = 0; n < BATCH; n += STEP) {
        if (n >= BATCH / 2 && !second) break;
        const of_step at = *(const of_step *)(room->column + k + n);
        all[n / STEP] = *(const of_step *)(room->won[word] + k + n);
#pragma unroll
        for (uint32_t i = 0; i < STEP; i++)
            if (all[n / STEP].at[i] & own.all) loaded[n + i] = *(const PACK *)csaw__address(dy, at.at[i], row_bytes);
    }
}

/* What an edge brings to the columns that it won. */
template <csaw_dtype X, int VECTOR, typename PACK>
static __device__ __forceinline__ void csaw__add_won(const PACK &loaded, uint32_t word, float weight,
                                                     const csaw__won_bits<VECTOR> &own, float *value) {
    float product[VECTOR];
    csaw__widen_pack<X>(loaded, product);
#pragma unroll
    for (int c = 0; c < VECTOR; c++)
        if (own.are_in(word, c)) value[c] += product[c] * weight;
}

/* The rows and chunks of a part that have edges, as csaw__take_part(). won: words of the slice. */
template <csaw_dtype X, int VECTOR, int BATCH, typename WORD>
static __device__ __forceinline__ void csaw__gather_part(const csaw__winners &w, const csaw__slice &slice,
                                                         const WORD *won, const csaw__stretch_part &part, uint32_t end,
                                                         csaw__won_warp<VECTOR> *room) {
    typedef csaw__pack<typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type, VECTOR> vector;
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2, STEP = CSAW__STRETCH_STEP, HALF = BATCH / 2;
    static_assert(HALF % STEP == 0 && 32 % BATCH == 0 && CSAW__WON_KEPT == 2 * 32,
                  "whole steps and batches; two words say where rows end");
    const csaw__product &p = w.turned;
    uint32_t lane = threadIdx.x % 32;
    csaw__work_out(lane);
    const uint32_t row_bytes = (uint32_t)p.x.stride * bytes, mine = lane * VECTOR;
    const bool stored = mine < slice.width;
    const csaw__won_bits<VECTOR> own(mine);
    float value[VECTOR] = {};
    csaw__won_edges<VECTOR, WORD> edges(w, slice, won, part, end, room, lane);
    const char *dy = (const char *)p.x.data + (slice.first + mine) * bytes;
    csaw__work_out(dy);
    __syncwarp(); /* room->row stands */
    const csaw__stretch_row *next_row = room->row + 1;
    csaw__stretch_row row = room->row[0];
    csaw__won_edge<VECTOR> next = edges.read(0, edges.read_place(0));
    csaw__won_place after = edges.read_place(32);
    uint32_t kept = 0, rows = 0, own_end = 0; /* rows: lanes whose rows end among those kept; own_end: after so many */
    for (uint32_t base = 0; base < part.edges; base += 32) {
        const uint32_t those = edges.put(next, kept);
        next = edges.read(base + 32, after);
        after = edges.read_place(base + 64);
        const bool ends = end - 1 - base < 32; /* this lane's row */
        if (ends) own_end = kept + __popc(those & CSAW__ALL_LANES >> (32 - (end - base)));
        rows |= __ballot_sync(CSAW__ALL_LANES, ends);
        kept += __popc(those);
        if (kept + 32 <= CSAW__WON_KEPT && base + 32 < part.edges) continue;
        uint32_t end_at = 0;
        const auto find_end = [&] {
            end_at = rows ? __shfl_sync(CSAW__ALL_LANES, own_end, __ffs((int)rows) - 1) : UINT32_MAX;
        };
        const auto end_row = [&] {
            csaw__end_won<VECTOR>(p, row, mine, stored, value);
            row = *next_row++;
            rows &= rows - 1;
            find_end();
        };
        find_end();
        const auto ends_among = [&](uint32_t from) {
            const bool is_here = rows >> lane & 1 && own_end - from < 32;
            return __reduce_or_sync(CSAW__ALL_LANES, is_here ? 1u << (own_end - from) : 0u);
        };
        const uint32_t early = ends_among(0), late = ends_among(32);
        edges.template fill_up<BATCH>(kept);
        __syncwarp();
#pragma unroll 1
        for (uint32_t k = 0; k < kept; k += BATCH) {
            const bool second = k + HALF < kept; /* there is more than half of a batch */
            uint32_t ended = (k < 32 ? early : late) >> k % 32;
            csaw__work_out(ended); /* or it would be when it is waited for */
            vector loaded[BATCH];
            csaw__pack<uint32_t, STEP> all[BATCH / STEP]; /* columns that edges won */
            csaw__load_kept<BATCH>(room, own, mine / 32, k, second, dy, row_bytes, all, loaded);
#pragma unroll
            for (uint32_t n = 0; n < BATCH; n += STEP) {
                if (n >= HALF && !second) break;
                const csaw__pack<float, STEP> weight = *(const csaw__pack<float, STEP> *)(room->weight + k + n);
                const auto take = [&](uint32_t i) {
                    csaw__add_won<X>(loaded[n + i], all[n / STEP].at[i], weight.at[i], own, value);
                };
                if (!(ended >> n & ((1u << STEP) - 1))) {
#pragma unroll
                    for (uint32_t i = 0; i < STEP; i++) take(i);
                    continue;
                }
#pragma unroll
                for (uint32_t i = 0; i < STEP; i++) {
                    while (k + n + i == end_at) end_row();
                    take(i);
                }
            }
        }
        while (rows) end_row();
        kept = 0;
        __syncwarp(); /* those kept were read */
    }
}

template <csaw_dtype X, int VECTOR, int BATCH, int BLOCKS, typename WORD>
static __global__ void __launch_bounds__(CSAW__STRETCH_THREADS, BLOCKS)
    csaw__gather_winners(const __grid_constant__ csaw__winners w) {
    __shared__ csaw__won_warp<VECTOR> rooms[CSAW__STRETCH_THREADS / 32];
    csaw__won_warp<VECTOR> *const room = rooms + threadIdx.x / 32;
    const csaw__product &p = w.turned;
    const uint32_t blocks = (uint32_t)p.blocks, slice_number = p.slices == 1 ? 0 : blockIdx.x / blocks;
    const uint32_t column = threadIdx.x % 32 * VECTOR;
    const uint32_t block =
        csaw__stretch_part_of(blockIdx.x - slice_number * blocks, blocks, w.deal.multiprocessors, BLOCKS);
    const uint64_t place = (block * (uint64_t)(CSAW__STRETCH_THREADS / 32) + threadIdx.x / 32) * w.deal.places;
    if (place >= p.rows + p.num_edges) return;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const WORD *const won = (const WORD *)w.won + slice_number * p.num_edges * VECTOR;
    const float zero[VECTOR] = {};
    uint32_t first = w.deal.first_rows ? w.deal.first_rows[place / CSAW__STRETCH_GRAIN]
                                       : csaw__rows_before(p.rowptr, (uint32_t)p.rows, place);
    bool begun = first > 0, more = true;
    for (; more; first += 31, begun = false) {
        csaw__stretch_lane own;
        const csaw__stretch_part part =
            csaw__stretch_part_at(p, slice, slice_number, w.deal, place, first, begun, false, room->row, &own);
        more = part.more;
        csaw__end_after_last(); /* words stand; and then alone the next may begin, which reads rows before it waits */
        csaw__let_next_begin();
        for (uint32_t rest = part.empty; rest; rest &= rest - 1) {
            const uint64_t row = __shfl_sync(CSAW__ALL_LANES, own.row, __ffs((int)rest) - 1);
            if (column < slice.width) csaw__store<VECTOR>(&p.y, row, slice.first + column, zero);
        }
        if (part.edges) csaw__gather_part<X, VECTOR, BATCH>(w, slice, won, part, own.end, room);
    }
}

/* ---- kernels by storage and width ---- */

typedef void csaw__winners_kernel(csaw__winners);

template <csaw_dtype X, int VECTOR, typename WORD = uint32_t> static csaw__winners_kernel *csaw__winners_kernel_by() {
    constexpr csaw__stretch_shape SHAPE = csaw__won_shape_of(VECTOR);
    return csaw__gather_winners<X, VECTOR, SHAPE.batch, SHAPE.blocks, WORD>;
}

template <csaw_dtype X> static csaw__winners_kernel *csaw__winners_kernel_of(uint32_t bytes) {
    switch (bytes) {
    case 2: return csaw__winners_kernel_by<X, 1, uint16_t>();
    case 4: return csaw__winners_kernel_by<X, 1>();
    case 8: return csaw__winners_kernel_by<X, 2>();
    default: return csaw__winners_kernel_by<X, CSAW__WON_VECTOR>();
    }
}

static csaw__winners_kernel *csaw__winners_kernel_at(const csaw__winners *w) {
    switch (w->turned.x.dtype) {
    case CSAW_F32: return csaw__winners_kernel_of<CSAW_F32>(w->bytes);
    case CSAW_F16: return csaw__winners_kernel_of<CSAW_F16>(w->bytes);
    default: return csaw__winners_kernel_of<CSAW_BF16>(w->bytes);
    }
}

#endif

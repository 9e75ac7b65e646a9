/* SPDX-License-Identifier: MIT */
/* spmm/device_winners.cuh - device code of dx of MAX and MIN over the transpose. A first kernel says of each edge, in a
 * word for each 32 columns, where arg names it (spmm/device_find_winners.cuh); a second goes by stretches of the
 * transpose (spmm/device_stretch.cuh), leaves out edges that won nothing, and adds what csaw_spmm() would of those
 * left, but of dy only where a bit is set: of a row of n edges about one in n elements is read. To be compiled without
 * contraction of a * b + c.
 *
 * Limit on an H200, coauthor_phy, 64 columns of float32: csaw__find_winners 65% of the issue slots,
 * csaw__gather_winners 61%, with 39% of the warps; R-MAT 20, 16 columns: 74%, and 72% of the L2 cache's throughput.
 * docs/measured/2026-11-29-gpu-32.md. */
#ifndef CSAW_SPMM_DEVICE_WINNERS_CUH
#define CSAW_SPMM_DEVICE_WINNERS_CUH

#include "spmm/device_find_winners.cuh"
#include "spmm/device_stretch.cuh"

template <int VECTOR> struct alignas(16) csaw__won_warp { /* of a warp, in shared memory */
    csaw__stretch_room of;                                /* column, weight: of edges that won */
    alignas(16) uint32_t won[VECTOR][32];                 /* and their words */
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
template <int VECTOR> struct csaw__won_edges {
    const csaw__winners &w;
    const csaw__stretch_part &part;
    csaw__won_warp<VECTOR> *room;
    const uint32_t *won; /* words of the slice */
    uint64_t head;
    uint32_t lane;
    uint32_t end;                 /* of this lane's row, counted from the part's first edge; 0 = it has none */
    const csaw__stretch_row *row; /* of the first edge whose place was not read, in shared memory, where rows moved */

    __device__ __forceinline__ csaw__won_place read_place(uint32_t base) {
        csaw__won_place at = {(int32_t)(base + lane), 0};
        if (w.deal.moved) {
            const uint32_t last = end - 1 - base; /* of its row */
            const uint32_t ends = __reduce_add_sync(CSAW__ALL_LANES, last < 32 ? 1u << last : 0u);
            at.place += row[__popc(ends & ((1u << lane) - 1))].shift;
            row += __popc(ends);
        }
        if (base + lane < part.edges) at.edge = (w.edge + part.first_edge)[at.place];
        return at;
    }
    __device__ __forceinline__ csaw__won_edge<VECTOR> read(uint32_t base, const csaw__won_place &at) const {
        const csaw__product &p = w.turned;
        csaw__won_edge<VECTOR> edge = {0, 1.0f, {}};
        if (base + lane >= part.edges) return edge;
        edge.row = (p.col + part.first_edge)[base + lane];
        csaw__take<VECTOR>(won + at.edge * VECTOR, edge.won.at);
        if (!p.weight) return edge;
        if (w.weights)
            edge.weight = (p.weight + (part.first_edge * p.heads + head))[at.place * (int64_t)p.heads];
        else
            edge.weight = p.weight[at.edge * p.heads + head];
        return edge;
    }
    /* Puts the edges that won side by side, and zeros after them up to a whole batch, and says which. */
    template <uint32_t BATCH> __device__ __forceinline__ uint32_t put(const csaw__won_edge<VECTOR> &own) const {
        uint32_t any = 0;
#pragma unroll
        for (int i = 0; i < VECTOR; i++) any |= own.won.at[i];
        const uint32_t those = __ballot_sync(CSAW__ALL_LANES, any != 0), kept = __popc(those);
        const uint32_t to = __popc(those & ((1u << lane) - 1));
        if (any) {
#pragma unroll
            for (int i = 0; i < VECTOR; i++) room->won[i][to] = own.won.at[i];
            room->of.column[to] = own.row, room->of.weight[to] = own.weight;
        }
#pragma unroll
        for (uint32_t i = 0; i < VECTOR * BATCH; i += 32) {
            const uint32_t word = (i + lane) / BATCH, at = kept + lane % BATCH;
            if (word < VECTOR && at < 32) room->won[word][at] = 0;
        }
        return those;
    }
};

/* The rows and chunks of a part that have edges, as csaw__take_part(). won: words of the slice. */
template <csaw_dtype X, int VECTOR, int BATCH>
static __device__ __forceinline__ void csaw__gather_part(const csaw__winners &w, const csaw__slice &slice,
                                                         const uint32_t *won, const csaw__stretch_part &part,
                                                         uint32_t end, csaw__won_warp<VECTOR> *room) {
    typedef csaw__pack<typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type, VECTOR> vector;
    typedef csaw__pack<uint32_t, CSAW__STRETCH_STEP> of_step;
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2, STEP = CSAW__STRETCH_STEP, HALF = BATCH / 2, NEVER = UINT32_MAX;
    static_assert(HALF % STEP == 0 && 32 % BATCH == 0, "halves of a batch are whole steps, the edges at hand batches");
    const csaw__product &p = w.turned;
    uint32_t lane = threadIdx.x % 32;
    csaw__work_out(lane);
    const uint32_t row_bytes = (uint32_t)p.x.stride * bytes, mine = lane * VECTOR;
    const uint32_t *const words = room->won[mine / 32];
    const bool stored = mine < slice.width;
    uint32_t bit[VECTOR], own = 0; /* this lane's columns in a word */
    float value[VECTOR];
#pragma unroll
    for (int c = 0; c < VECTOR; c++) {
        value[c] = 0;
        bit[c] = 1u << (mine + c) % 32;
        own |= bit[c];
    }
    csaw__won_edges<VECTOR> edges = {w, part, room, won, slice.head, lane, end, room->of.row};
    const char *dy = (const char *)p.x.data + (slice.first + mine) * bytes;
    csaw__work_out(dy);
    __syncwarp(); /* room->of.row stands */
    const csaw__stretch_row *next_row = room->of.row + 1;
    csaw__stretch_row row = room->of.row[0];
    csaw__won_edge<VECTOR> next = edges.read(0, edges.read_place(0));
    csaw__won_place after = edges.read_place(32);
    for (uint32_t base = 0; base < part.edges; base += 32) {
        const uint32_t those = edges.template put<BATCH>(next), kept = __popc(those);
        next = edges.read(base + 32, after);
        after = edges.read_place(base + 64);
        const bool ends = end - 1 - base < 32; /* this lane's row, after so many of those kept */
        const uint32_t own_end = ends ? __popc(those & CSAW__ALL_LANES >> (32 - (end - base))) : 0;
        uint32_t rows = __ballot_sync(CSAW__ALL_LANES, ends), end_at = 0;
        const auto find_end = [&] {
            end_at = rows ? __shfl_sync(CSAW__ALL_LANES, own_end, __ffs((int)rows) - 1) : NEVER;
        };
        const auto end_row = [&] {
            if (stored) {
                if (row.divisor == 0.0f)
                    csaw__put<VECTOR>(p.partial + row.to + mine, value);
                else
                    csaw__store<VECTOR>(&p.y, 0, row.to + mine, value);
            }
#pragma unroll
            for (int c = 0; c < VECTOR; c++) value[c] = 0;
            row = *next_row++;
            rows &= rows - 1;
            find_end();
        };
        find_end();
        __syncwarp();
#pragma unroll 1
        for (uint32_t k = 0; k < kept; k += BATCH) {
            const bool second = k + HALF < kept; /* there is more than half of a batch */
            vector loaded[BATCH];
            of_step all[BATCH / STEP]; /* columns that edges won */
#pragma unroll
            for (uint32_t n = 0; n < BATCH; n += STEP) {
                if (n >= HALF && !second) break;
                const of_step at = *(const of_step *)(room->of.column + k + n);
                all[n / STEP] = *(const of_step *)(words + k + n);
#pragma unroll
                for (uint32_t i = 0; i < STEP; i++)
                    if (all[n / STEP].at[i] & own)
                        loaded[n + i] = *(const vector *)csaw__address(dy, at.at[i], row_bytes);
            }
#pragma unroll
            for (uint32_t n = 0; n < BATCH; n += STEP) {
                if (n >= HALF && !second) break;
                const csaw__pack<float, STEP> weight = *(const csaw__pack<float, STEP> *)(room->of.weight + k + n);
#pragma unroll
                for (uint32_t i = 0; i < STEP; i++) {
                    float product[VECTOR];
                    while (k + n + i == end_at) end_row();
                    csaw__widen_pack<X>(loaded[n + i], product);
#pragma unroll
                    for (int c = 0; c < VECTOR; c++)
                        if (all[n / STEP].at[i] & bit[c]) value[c] += product[c] * weight.at[i];
                }
            }
        }
        while (rows) end_row();
        __syncwarp(); /* the edges at hand were read */
    }
}

template <csaw_dtype X, int VECTOR, int BATCH, int BLOCKS>
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
    const uint32_t *const won = w.won + slice_number * p.num_edges * VECTOR;
    const float zero[VECTOR] = {};
    uint32_t first = w.deal.first_rows ? w.deal.first_rows[place / CSAW__STRETCH_GRAIN]
                                       : csaw__rows_before(p.rowptr, (uint32_t)p.rows, place);
    bool begun = first > 0, more = true;
    for (; more; first += 31, begun = false) {
        csaw__stretch_lane own;
        const csaw__stretch_part part =
            csaw__stretch_part_at(p, slice, slice_number, w.deal, place, first, begun, false, &room->of, &own);
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

template <csaw_dtype X, int VECTOR> static csaw__winners_kernel *csaw__winners_kernel_by() {
    constexpr csaw__stretch_shape SHAPE = csaw__won_shape_of(VECTOR);
    return csaw__gather_winners<X, VECTOR, SHAPE.batch, SHAPE.blocks>;
}

template <csaw_dtype X> static csaw__winners_kernel *csaw__winners_kernel_of(uint32_t vector) {
    constexpr int WIDE = X == CSAW_F32 ? CSAW__VECTOR : CSAW__VECTOR_16;
    if (vector == WIDE) return csaw__winners_kernel_by<X, WIDE>();
    if (vector == 4) return csaw__winners_kernel_by<X, 4>();
    return vector == 2 ? csaw__winners_kernel_by<X, 2>() : csaw__winners_kernel_by<X, 1>();
}

static csaw__winners_kernel *csaw__winners_kernel_at(const csaw__winners *w) {
    const uint32_t vector = w->turned.vector;
    if (w->turned.x.dtype == CSAW_F32) return csaw__winners_kernel_of<CSAW_F32>(vector);
    return w->turned.x.dtype == CSAW_F16 ? csaw__winners_kernel_of<CSAW_F16>(vector)
                                         : csaw__winners_kernel_of<CSAW_BF16>(vector);
}

#endif

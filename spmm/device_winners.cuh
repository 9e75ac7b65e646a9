/* SPDX-License-Identifier: MIT */
/* spmm/device_winners.cuh - device code of dx of MAX and MIN over the transpose. A first kernel says of each edge, in a
 * word for each 32 columns, where arg names it (spmm/device_find_winners.cuh); a second adds what csaw_spmm() would by
 * stretches of the transpose (spmm/device_stretch.cuh), but of dy only where a bit is set: of a row of n edges about
 * one in n elements is read. To be compiled without contraction of a * b + c.
 *
 * Limit on an H200, arxiv, 64 and 256 columns of float32: 61 and 44% of the issue slots, 35 and 26% of the warps, of
 * eight loads at once; csaw__find_winners 73 and 75% of the issue slots. docs/measured/2026-11-29-gpu-31.md. */
#ifndef CSAW_SPMM_DEVICE_WINNERS_CUH
#define CSAW_SPMM_DEVICE_WINNERS_CUH

#include "spmm/device_find_winners.cuh"
#include "spmm/device_stretch.cuh"

template <int WORDS> struct alignas(16) csaw__won_warp { /* of a warp, in shared memory */
    csaw__stretch_room of;
    alignas(16) uint32_t won[WORDS][32]; /* of the next edges; 0 where there are none */
};

template <int WORDS> struct csaw__won_edge { /* of the transpose */
    csaw_vertex row;
    float weight;
    csaw__pack<uint32_t, WORDS> won; /* the columns */
};

struct csaw__won_number { /* of an edge */
    uint64_t place;       /* in the transpose */
    csaw_edge number;     /* in the matrix; the place, where it is not asked for */
};

/* The rows and chunks of a part that have edges, as csaw__take_part(). won: words of the slice. */
template <csaw_dtype X, int VECTOR, int BATCH>
static __device__ __forceinline__ void csaw__gather_part(const csaw__winners &w, const csaw__slice &slice,
                                                         const uint32_t *won, const csaw__stretch_part &part,
                                                         uint32_t end, csaw__won_warp<VECTOR> *room) {
    typedef csaw__stretch_found<X, VECTOR, false, true> found;
    typedef typename found::vector vector;
    typedef csaw__pack<csaw_vertex, CSAW__STRETCH_STEP> columns;
    typedef csaw__pack<uint32_t, CSAW__STRETCH_STEP> words;
    typedef csaw__pack<float, CSAW__STRETCH_STEP> weights;
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2, STEP = CSAW__STRETCH_STEP, HALF = BATCH / 2;
    static_assert(HALF % STEP == 0 && 32 % BATCH == 0, "halves of a batch are whole steps, the edges at hand batches");
    const csaw__product &p = w.turned;
    const uint32_t lane = threadIdx.x % 32, row_bytes = (uint32_t)p.x.stride * bytes, mine = lane * VECTOR;
    const uint32_t *const own = room->won[mine / 32];
    found of = {p};
    of.column = mine, of.stored = mine < slice.width;
    const char *dy = (const char *)p.x.data + (slice.first + mine) * bytes;
    const csaw__stretch_row *row_of_number = room->of.row; /* where rows stand elsewhere in the transpose */
    /* After which of 32 edges rows end. */
    const auto ends_from = [&](uint32_t base) {
        return __reduce_add_sync(CSAW__ALL_LANES, end - 1 - base < 32 ? 1u << (end - 1 - base) : 0u);
    };
    const auto read_number = [&](uint32_t base) {
        csaw__won_number number = {part.first_edge + base + lane, 0};
        if (w.deal.moved) {
            const uint32_t ends = ends_from(base);
            number.place += (int64_t)row_of_number[__popc(ends & ((1u << lane) - 1))].shift;
            row_of_number += __popc(ends);
        }
        number.number = number.place;
        if (w.edge && base + lane < part.edges) number.number = w.edge[number.place];
        return number;
    };
    const auto read = [&](uint32_t base, const csaw__won_number &number) {
        csaw__won_edge<VECTOR> edge = {0, 1.0f, {}};
        if (base + lane >= part.edges) return edge;
        edge.row = p.col[part.first_edge + base + lane];
        csaw__take<VECTOR>(won + (w.place ? number.place : number.number) * VECTOR, edge.won.at);
        if (p.weight) edge.weight = p.weight[(w.weights ? number.place : number.number) * p.heads + slice.head];
        return edge;
    };
    csaw__work_out(dy);
    of.clear(0);
    __syncwarp(); /* room->of.row stands */
    csaw__won_edge<VECTOR> next = read(0, read_number(0));
    csaw__won_number after = read_number(32);
    of.next = room->of.row + 1;
    of.row = room->of.row[0];
    for (uint32_t base = 0; base < part.edges; base += 32) {
        room->of.column[lane] = next.row;
        room->of.weight[lane] = next.weight;
#pragma unroll
        for (int i = 0; i < VECTOR; i++) room->won[i][lane] = next.won.at[i];
        next = read(base + 32, after);
        after = read_number(base + 64);
        const uint32_t ends = ends_from(base);
        __syncwarp();
#pragma unroll 1
        for (uint32_t k = 0; k < 32 && base + k < part.edges; k += BATCH) {
            const bool second = base + k + HALF < part.edges; /* there is more than half of a batch */
            vector loaded[BATCH];
            /* The lane's columns that each of some edges won. */
            const auto won_from = [&](uint32_t n, uint32_t *those) {
                const words all = *(const words *)(own + k + n);
#pragma unroll
                for (uint32_t i = 0; i < STEP; i++) those[i] = all.at[i] >> mine % 32 & ((1u << VECTOR) - 1);
            };
#pragma unroll
            for (uint32_t n = 0; n < BATCH; n += STEP) {
                uint32_t those[STEP];
                if (n >= HALF && !second) break;
                const columns at = *(const columns *)(room->of.column + k + n);
                won_from(n, those);
#pragma unroll
                for (uint32_t i = 0; i < STEP; i++)
                    if (those[i]) loaded[n + i] = *(const vector *)csaw__address(dy, at.at[i], row_bytes);
            }
#pragma unroll
            for (uint32_t n = 0; n < BATCH; n += STEP) {
                uint32_t those[STEP];
                if (n >= HALF && !second) break;
                const weights weight = *(const weights *)(room->of.weight + k + n);
                won_from(n, those);
                of.take_step(base + k + n, weight, loaded + n, ends >> (k + n) & ((1u << STEP) - 1), those);
            }
        }
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
    csaw__end_after_last(); /* and then alone the next may begin: csaw__merge_stretches() reads rows before it waits */
    csaw__let_next_begin();
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
    constexpr csaw__stretch_shape SHAPE = csaw__won_shape_of(VECTOR, X == CSAW_F32 ? 4 : 2);
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

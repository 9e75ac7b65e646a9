/* SPDX-License-Identifier: MIT */
/* spmm/device_find_winners.cuh - which edges won, in the backward pass of MAX and MIN: a word for each edge and 32
 * columns, or half a word for 16, says where arg names it. A word is 4 bytes an edge where arg would be 8 for each
 * column. The transpose finds an edge's words anywhere, so those of a slice stand side by side. */
#ifndef CSAW_SPMM_DEVICE_FIND_WINNERS_CUH
#define CSAW_SPMM_DEVICE_FIND_WINNERS_CUH

#include "spmm/device_address.cuh"
#include "spmm/device_beside.cuh"
#include "spmm/device_shared.cuh"
#include "spmm/device_slice.cuh"
#include "spmm/device_winners_layout.cuh"

/* The words of an edge, of so many bytes; those of 2 bytes lie two in one of 4. */
template <int BYTES> struct csaw__won_words {
    typedef uint32_t word;
    enum { COUNT = BYTES / 4, EDGES = 1 /* of 4 bytes */ };
};
template <> struct csaw__won_words<2> {
    typedef uint16_t word;
    enum { COUNT = 1, EDGES = 2 };
};

/* Entries of arg that a lane holds, of rows of its warp: CSAW__WON_LANES lanes have a row, and as many columns at a
 * time, so that of all that an edge won in its row few lanes meet at its word. EDGE: an integer that counts all edges,
 * and a warp more. */
template <typename EDGE, int BYTES> struct csaw__won_entries {
    enum { LANES = CSAW__WON_LANES, ROWS = csaw__won_rows_of(BYTES), STEPS = BYTES * 8 / LANES };
    EDGE number[ROWS][STEPS]; /* the edge, counted from the warp's first; CSAW_NO_EDGE: none of its row */
    uint32_t own_bit;         /* of the lane's first column */

    /* Of rows from `first` to `end`. */
    __device__ __forceinline__ void read(const csaw__winners &w, const csaw__slice &slice, uint64_t first, uint64_t end,
                                         uint64_t first_edge) {
        const uint32_t lane = threadIdx.x % 32, own = lane % LANES;
        EDGE begin[ROWS], until[ROWS];
        csaw_edge named[ROWS][STEPS];
        own_bit = 1u << own;
        csaw__work_out(own_bit);
#pragma unroll
        for (uint32_t r = 0; r < ROWS; r++) {
            const uint64_t row = first + (r * 32 + lane) / LANES;
            const csaw_edge *const arg = w.arg + row * w.turned.y.cols + slice.first + own;
            begin[r] = until[r] = 0;
            if (row < end) begin[r] = (EDGE)w.rowptr[row], until[r] = (EDGE)w.rowptr[row + 1];
#pragma unroll
            for (uint32_t k = 0; k < STEPS; k++) {
                named[r][k] = CSAW_NO_EDGE;
                if (row < end && k * LANES + own < slice.width) named[r][k] = arg[k * LANES];
            }
        }
#pragma unroll
        for (uint32_t r = 0; r < ROWS; r++)
#pragma unroll
            for (uint32_t k = 0; k < STEPS; k++) {
                const EDGE edge = (EDGE)named[r][k];
                const bool is_own = edge - begin[r] < until[r] - begin[r] && edge == named[r][k];
                number[r][k] = is_own ? edge - (EDGE)first_edge : (EDGE)CSAW_NO_EDGE;
            }
    }
    /* set_if(whether it is among `count` edges from `base` on, which 4 bytes, which word, which bit) for each. */
    template <typename SET> __device__ __forceinline__ void each(EDGE base, EDGE count, SET &&set_if) const {
        constexpr uint32_t EDGES = csaw__won_words<BYTES>::EDGES;
#pragma unroll
        for (uint32_t r = 0; r < ROWS; r++)
#pragma unroll
            for (uint32_t k = 0; k < STEPS; k++) {
                const EDGE n = number[r][k] - base;
                const uint32_t bit = k * LANES % 32 + (uint32_t)n % EDGES * (BYTES * 8);
                set_if(n < count, n / EDGES, k * LANES / 32, own_bit << bit);
            }
    }
};

/* Rows that follow each other, by a warp, whose edges do too: a window of them at a time in shared memory, all zeros
 * and then the bits, and then copied. Of many windows those between the first and the last are set in global memory. */
template <typename EDGE, int BYTES>
static __global__ void __launch_bounds__(CSAW__THREADS, BYTES < 16 && sizeof(EDGE) == 4 ? 12 : 9)
    csaw__find_winners(const __grid_constant__ csaw__winners w) {
    typedef csaw__won_words<BYTES> words;
    typedef typename words::word word;
    constexpr uint32_t OF_WARP = csaw__won_rows_of_warp(BYTES), WINDOW = csaw__won_window_of(BYTES);
    constexpr uint32_t WORDS = words::COUNT, EDGES = words::EDGES, ROOM = WINDOW / EDGES;
    alignas(16) __shared__ uint32_t rooms[CSAW__THREADS / 32][WORDS][ROOM];
    uint32_t(&room)[WORDS][ROOM] = rooms[threadIdx.x / 32];
    const uint32_t lane = threadIdx.x % 32, blocks = (uint32_t)w.find_blocks;
    const uint32_t slice_number = blockIdx.x < blocks ? 0 : blockIdx.x / blocks; /* a division costs as a short row */
    const uint64_t warp = (uint64_t)(blockIdx.x - slice_number * blocks) * (CSAW__THREADS / 32) + threadIdx.x / 32;
    const uint64_t first = warp * OF_WARP, end = first + OF_WARP < w.rows ? first + OF_WARP : w.rows;
    const csaw__slice slice = csaw__slice_at(&w.turned, w.turned.first_slice + slice_number);
    /* csaw__gather_winners() finds its rows meanwhile. */
    csaw__end_after_last();
    csaw__let_next_begin();
    if (first >= w.rows) return;
    const uint64_t first_edge = w.rowptr[first], before = slice_number * w.turned.num_edges + first_edge;
    const EDGE edges = (EDGE)(w.rowptr[end] - first_edge);
    csaw__won_entries<EDGE, BYTES> entries;
    entries.read(w, slice, first, end, first_edge);
    const csaw__shared_array<uint32_t> bits(room[0]);
    EDGE count;
#pragma unroll 1
    for (EDGE base = 0; base < edges; base += count) {
        const EDGE left = edges - base;
        word *const to = (word *)w.won + (before + base) * WORDS;
        if (base > 0 && left > 2 * WINDOW) {
            uint32_t *const far = (uint32_t *)to; /* 4 bytes that no other warp has part of */
            const csaw__pack<uint32_t, WORDS> none = {};
            count = (left - 1) / WINDOW * WINDOW;
#pragma unroll 4
            for (EDGE n = lane; n < count / EDGES; n += 32) csaw__put<WORDS>(far + (uint64_t)n * WORDS, none.at);
            __syncwarp();
            entries.each(base, count, [&](bool so, EDGE n, uint32_t i, uint32_t those) {
                if (so) atomicOr(far + (uint64_t)n * WORDS + i, those);
            });
            continue;
        }
        count = left < WINDOW ? left : WINDOW;
        if (base == 0 && count == WINDOW) count -= (uint32_t)before % EDGES; /* so others begin with whole words */
        const csaw__pack<uint32_t, 4> none = {};
#pragma unroll
        for (uint32_t i = 0; i < WORDS; i++)
#pragma unroll
            for (uint32_t n = 0; n < ROOM; n += 128)
                if ((n + lane * 4) * EDGES < count) csaw__put<4>(room[i] + n + lane * 4, none.at);
        __syncwarp();
        entries.each(base, count, [&](bool so, EDGE n, uint32_t i, uint32_t those) {
            bits.or_if(so, i * ROOM + (uint32_t)n, those);
        });
        __syncwarp();
#pragma unroll 4
        for (uint32_t n = lane; n < count; n += 32) {
            csaw__pack<word, WORDS> won;
#pragma unroll
            for (uint32_t i = 0; i < WORDS; i++) won.at[i] = ((const word *)room[i])[n];
            csaw__put<WORDS>(to + n * WORDS, won.at);
        }
        __syncwarp(); /* they were read */
    }
}

typedef void csaw__find_winners_kernel(csaw__winners);

template <typename EDGE> static csaw__find_winners_kernel *csaw__find_winners_of(uint32_t bytes) {
    switch (bytes) {
    case 2: return csaw__find_winners<EDGE, 2>;
    case 4: return csaw__find_winners<EDGE, 4>;
    case 8: return csaw__find_winners<EDGE, 8>;
    default: return csaw__find_winners<EDGE, 16>;
    }
}

static csaw__find_winners_kernel *csaw__find_winners_at(const csaw__winners *w) {
    return w->turned.num_edges <= UINT32_MAX - 32 ? csaw__find_winners_of<uint32_t>(w->bytes)
                                                  : csaw__find_winners_of<uint64_t>(w->bytes);
}

#endif

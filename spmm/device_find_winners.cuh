/* SPDX-License-Identifier: MIT */
/* spmm/device_find_winners.cuh - which edges won, in the backward pass of MAX and MIN: a word for each edge and 32
 * columns says where arg names it. A word is 4 bytes an edge where arg would be 8 for each column. The transpose finds
 * words of an edge anywhere, so those of a slice stand side by side, in one sector; words that fill a sector are
 * written where the transpose reads them. */
#ifndef CSAW_SPMM_DEVICE_FIND_WINNERS_CUH
#define CSAW_SPMM_DEVICE_FIND_WINNERS_CUH

#include "spmm/device_group.cuh"
#include "spmm/device_winners_layout.cuh"

/* One thread an edge of the transpose. */
static __global__ void csaw__find_places(const csaw_edge *edge, uint64_t edges, uint64_t *place) {
    const uint64_t k = csaw__thread_number();
    if (k < edges) place[edge[k]] = k;
}

/* Some rows of a slice by a warp, a row by as many lanes as a word has columns, up to a warp: those whose columns one
 * edge won find each other, and the first of them stores the word. All words are zeros before. EDGE: an integer that
 * counts all edges. */
template <typename EDGE, int WORDS>
static __global__ void __launch_bounds__(CSAW__THREADS) csaw__find_winners(const __grid_constant__ csaw__winners w) {
    constexpr int ROWS = CSAW__WON_HELD / WORDS; /* that follow each other, `apart`, of a lane */
    const uint32_t lane = threadIdx.x % 32, own = lane & ((1u << w.lane_bits) - 1), apart = 32 >> w.lane_bits;
    const uint32_t group = CSAW__ALL_LANES >> (32 - (1u << w.lane_bits)) << (lane - own);
    const uint32_t blocks = (uint32_t)w.find_blocks;
    const uint32_t slice_number = blockIdx.x < blocks ? 0 : blockIdx.x / blocks; /* a division costs as a short row */
    const uint64_t warp = (uint64_t)(blockIdx.x - slice_number * blocks) * (CSAW__THREADS / 32) + threadIdx.x / 32;
    const uint64_t first = warp * csaw__won_rows(WORDS, w.lane_bits) + (lane >> w.lane_bits);
    const csaw__slice slice = csaw__slice_at(&w.turned, w.turned.first_slice + slice_number);
    const uint64_t cols = w.turned.y.cols, before = slice_number * w.turned.num_edges;
    const csaw_edge *const arg = w.arg + first * cols + slice.first + own;
    EDGE begin[ROWS], length[ROWS], number[ROWS][WORDS]; /* number: within the row */
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const bool is_row = first + r * apart < w.rows;
        begin[r] = length[r] = 0;
        if (is_row) begin[r] = (EDGE)w.rowptr[first + r * apart], length[r] = (EDGE)w.rowptr[first + r * apart + 1];
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            number[r][i] = (EDGE)CSAW_NO_EDGE;
            if (is_row && i * 32 + own < slice.width)
                number[r][i] = csaw__edge_named<EDGE>(arg[r * apart * cols + i * 32]);
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        uint32_t same[WORDS];
        length[r] -= begin[r];
#pragma unroll
        for (int i = 0; i < WORDS; i++) number[r][i] -= begin[r];
        csaw__lanes_alike<WORDS>(number[r], csaw__bits_of_lanes(length[r]), same);
        uint32_t *const won = w.won + (before + begin[r]) * WORDS;
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            const bool is_winner = number[r][i] < length[r];
            const uint32_t those = same[i] & group & __ballot_sync(CSAW__ALL_LANES, is_winner);
            if (!is_winner || those << (31 - lane) != 1u << 31) continue; /* others store it, or none does */
            if (WORDS == CSAW__WON_SECTOR && w.place)
                w.won[(before + w.place[begin[r] + number[r][i]]) * WORDS + i] = those >> (lane - own);
            else
                won[(uint64_t)number[r][i] * WORDS + i] = those >> (lane - own);
        }
    }
}

typedef void csaw__find_winners_kernel(csaw__winners);

template <typename EDGE> static csaw__find_winners_kernel *csaw__find_winners_of(uint32_t words) {
    switch (words) {
    case 1: return csaw__find_winners<EDGE, 1>;
    case 2: return csaw__find_winners<EDGE, 2>;
    case 4: return csaw__find_winners<EDGE, 4>;
    default: return csaw__find_winners<EDGE, 8>;
    }
}

static csaw__find_winners_kernel *csaw__find_winners_at(const csaw__winners *w) {
    return w->turned.num_edges <= UINT32_MAX ? csaw__find_winners_of<uint32_t>(w->words)
                                             : csaw__find_winners_of<uint64_t>(w->words);
}

#endif

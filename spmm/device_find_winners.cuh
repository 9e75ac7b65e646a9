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

/* A row and slice by as many lanes as a word has columns: those whose columns one edge won find each other, and the
 * first of them stores the word. All words are zeros before. */
template <int WORDS>
static __global__ void __launch_bounds__(CSAW__THREADS) csaw__find_winners(const __grid_constant__ csaw__winners w) {
    const uint32_t lane = threadIdx.x % 32, own = lane & ((1u << w.lane_bits) - 1), blocks = (uint32_t)w.find_blocks;
    const uint32_t slice_number = blockIdx.x < blocks ? 0 : blockIdx.x / blocks; /* a division costs as a short row */
    const uint64_t row = ((uint64_t)(blockIdx.x - slice_number * blocks) * CSAW__THREADS + threadIdx.x) >> w.lane_bits;
    const csaw__slice slice = csaw__slice_at(&w.turned, w.turned.first_slice + slice_number);
    const bool is_row = row < w.rows;
    csaw_edge e[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        const uint32_t column = i * CSAW__WON_COLUMNS + own;
        e[i] = CSAW_NO_EDGE;
        if (is_row && column < slice.width) e[i] = w.arg[row * w.turned.y.cols + slice.first + column];
    }
    const uint64_t begin = is_row ? w.rowptr[row] : 0, length = is_row ? w.rowptr[row + 1] - begin : 0;
    const uint32_t group = CSAW__ALL_LANES >> (32 - (1u << w.lane_bits)) << (lane - own);
    uint32_t *const won = w.won + slice_number * w.turned.num_edges * WORDS;
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        const uint32_t same = __match_any_sync(CSAW__ALL_LANES, e[i]) & group;
        if (e[i] - begin < length && same << (31 - lane) == 1u << 31)
            won[(w.place ? w.place[e[i]] : e[i]) * WORDS + i] = same >> (lane - own);
    }
}

typedef void csaw__find_winners_kernel(csaw__winners);

static csaw__find_winners_kernel *csaw__find_winners_at(const csaw__winners *w) {
    switch (w->words) {
    case 1: return csaw__find_winners<1>;
    case 2: return csaw__find_winners<2>;
    case 4: return csaw__find_winners<4>;
    default: return csaw__find_winners<CSAW__WON_WORDS>;
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/device_find_winners.cuh - which edges won, in the backward pass of MAX and MIN: a word for each edge and 32
 * columns says where arg names it. A word is 4 bytes an edge where arg would be 8 for each column. The transpose finds
 * an edge's words anywhere, so those of a slice stand side by side. */
#ifndef CSAW_SPMM_DEVICE_FIND_WINNERS_CUH
#define CSAW_SPMM_DEVICE_FIND_WINNERS_CUH

#include "spmm/device_beside.cuh"
#include "spmm/device_group.cuh"
#include "spmm/device_winners_layout.cuh"

/* Some rows of a slice by a warp, a row by as many lanes as a word has columns, up to a warp. Of rows of few edges the
 * lanes vote for each edge, and lane k keeps what edge k got. Of others those lanes whose columns one edge won find
 * each other, and the first of them stores the word, once all words of the row are zeros. EDGE: an integer that counts
 * all edges, and a warp more. */
template <typename EDGE, int WORDS>
static __global__ void __launch_bounds__(CSAW__THREADS) csaw__find_winners(const __grid_constant__ csaw__winners w) {
    constexpr int ROWS = CSAW__WON_HELD / WORDS;   /* that follow each other, `apart`, of a lane */
    constexpr uint32_t VOTES = WORDS == 4 ? 2 : 4; /* one after the other, as measured */
    const uint32_t lane = threadIdx.x % 32, own = lane & ((1u << w.lane_bits) - 1), apart = 32 >> w.lane_bits;
    const uint32_t group = CSAW__ALL_LANES >> (32 - (1u << w.lane_bits)) << (lane - own);
    const uint32_t blocks = (uint32_t)w.find_blocks;
    const uint32_t slice_number = blockIdx.x < blocks ? 0 : blockIdx.x / blocks; /* a division costs as a short row */
    const uint64_t warp = (uint64_t)(blockIdx.x - slice_number * blocks) * (CSAW__THREADS / 32) + threadIdx.x / 32;
    const uint64_t first = warp * (w.find_rows * apart) + (lane >> w.lane_bits);
    const csaw__slice slice = csaw__slice_at(&w.turned, w.turned.first_slice + slice_number);
    const uint64_t cols = w.turned.y.cols, before = slice_number * w.turned.num_edges;
    const csaw_edge *const arg = w.arg + first * cols + slice.first + own;
    /* csaw__gather_winners() finds its rows meanwhile. */
    csaw__end_after_last();
    csaw__let_next_begin();
    EDGE begin[ROWS], length[ROWS], number[ROWS][WORDS]; /* number: within the row */
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const bool is_row = r < (int)w.find_rows && first + r * apart < w.rows;
        begin[r] = length[r] = 0;
        if (is_row) begin[r] = (EDGE)w.rowptr[first + r * apart], length[r] = (EDGE)w.rowptr[first + r * apart + 1];
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            number[r][i] = (EDGE)CSAW_NO_EDGE;
            if (is_row && i * 32 + own < slice.width)
                number[r][i] = csaw__edge_named<EDGE>(arg[r * apart * cols + i * 32]);
        }
    }
    const uint32_t few = w.lane_bits < 4 ? 1u << w.lane_bits : CSAW__WON_FEW;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        typedef csaw__pack<uint32_t, WORDS> words;
        if (r >= (int)w.find_rows) break;
        length[r] -= begin[r];
        const bool are_few = __all_sync(CSAW__ALL_LANES, length[r] <= few);
        const auto words_of = [&](EDGE k) { return w.won + (before + begin[r] + k) * WORDS; };
#pragma unroll
        for (int i = 0; i < WORDS; i++) number[r][i] -= begin[r];
        if (are_few) {
            const uint32_t most = __reduce_max_sync(CSAW__ALL_LANES, (uint32_t)length[r]);
            words won = {};
#pragma unroll 1
            for (uint32_t k = 0; k < most; k += VOTES) /* more than there are, at most */
#pragma unroll
                for (uint32_t j = 0; j < VOTES; j++)
#pragma unroll
                    for (int i = 0; i < WORDS; i++) {
                        const uint32_t those = __ballot_sync(CSAW__ALL_LANES, number[r][i] == k + j);
                        if (own == k + j) won.at[i] = those;
                    }
#pragma unroll
            for (int i = 0; i < WORDS; i++) won.at[i] = (won.at[i] & group) >> (lane - own);
            if (own < length[r]) csaw__put<WORDS>(words_of(own), won.at);
            continue;
        }
        uint32_t same[WORDS];
        const words none = {};
        csaw__lanes_alike<WORDS>(number[r], csaw__bits_of_lanes(length[r]), same);
        for (EDGE k = own; k < length[r]; k += 1u << w.lane_bits) csaw__put<WORDS>(words_of(k), none.at);
        __syncwarp();
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            const bool is_winner = number[r][i] < length[r];
            const uint32_t those = same[i] & group & __ballot_sync(CSAW__ALL_LANES, is_winner);
            if (!is_winner || those << (31 - lane) != 1u << 31) continue; /* others store it, or none does */
            words_of(number[r][i])[i] = those >> (lane - own);
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
    return w->turned.num_edges <= UINT32_MAX - 32 ? csaw__find_winners_of<uint32_t>(w->words)
                                                  : csaw__find_winners_of<uint64_t>(w->words);
}

#endif

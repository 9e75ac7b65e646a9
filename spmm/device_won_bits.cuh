/* SPDX-License-Identifier: MIT */
/* spmm/device_won_bits.cuh - units of the transpose, gathered by who won, some of them and 32 columns a warp. Of 32
 * edges that follow each other, whatever units they belong to, the lanes turn the words (csaw__turned_bits()), and each
 * loads what its own column won. To be compiled without contraction of a * b + c.
 *
 * Limit on an H100, amazon_cs, 64 and 256 columns: its instructions, 55 and 73% of the issue slots with 35 and 47% of
 * the warps. docs/measured/2026-11-27-gpu-21.md. */
#ifndef CSAW_SPMM_DEVICE_WON_BITS_CUH
#define CSAW_SPMM_DEVICE_WON_BITS_CUH

#include "spmm/device_won_edge.cuh"

enum {
    CSAW__WON_BITS_BLOCKS = 10, /* of a multiprocessor, at least */
    CSAW__WON_BITS_HELD = 4     /* elements that a lane has on their way at once */
};

/* Of 32 words, one a lane: bit e of lane c is bit c of lane e. */
static __device__ __forceinline__ uint32_t csaw__turned_bits(uint32_t word) {
    const uint32_t lane = threadIdx.x % 32;
    uint32_t low = 0x0000ffff;
#pragma unroll
    for (uint32_t apart = 16; apart; apart /= 2, low ^= low << apart) {
        const uint32_t other = __shfl_xor_sync(CSAW__ALL_LANES, word, (int)apart);
        word = lane & apart ? (word & ~low) | (other >> apart & low) : (word & low) | (other & low) << apart;
    }
    return word;
}

/* A warp some units of the transpose that follow each other, slice and word of it: their edges 32 at a time. */
template <csaw_dtype X>
static __global__ void __launch_bounds__(CSAW__THREADS, CSAW__WON_BITS_BLOCKS)
    csaw__gather_bits_of_winners(const __grid_constant__ csaw__product p,
                                 const __grid_constant__ csaw__won_order order) {
    typedef typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type stored;
    typedef csaw__won_edge<1> won_edge;
    constexpr uint32_t UNITS = CSAW__WON_UNITS, HELD = CSAW__WON_BITS_HELD;
    const uint32_t lane = threadIdx.x % 32, blocks = (uint32_t)p.blocks, slice_number = blockIdx.x / blocks;
    const uint64_t number = (uint64_t)(blockIdx.x - slice_number * blocks) * (CSAW__THREADS / 32) + threadIdx.x / 32;
    const uint32_t words = order.words, word = (uint32_t)number & (words - 1); /* a power of two */
    const uint64_t first_unit = (number >> (__ffs((int)words) - 1)) * UNITS;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const uint32_t column = word * CSAW__WON_COLUMNS + lane;
    const uint64_t row_bytes = p.x.stride * sizeof(stored);
    const char *const dy =
        (const char *)p.x.data + (slice.first + (column < slice.width ? column : 0)) * sizeof(stored);
    const uint32_t *const of_word = order.won + slice_number * p.num_edges * words + word;
    const bool here_is = lane < UNITS && word * CSAW__WON_COLUMNS < slice.width; /* a unit, and columns of the word */
    const csaw__unit own = csaw__unit_at(&p, here_is ? first_unit + lane : p.split.most_chunks + p.rows);
    const uint32_t stores = __ballot_sync(CSAW__ALL_LANES, own.stored);
    uint32_t until[UNITS], all = 0; /* edges of the units up to each */
    uint64_t offset[UNITS];         /* from the number of one of these edges to its place */
#pragma unroll
    for (uint32_t i = 0; i < UNITS; i++) {
        offset[i] = __shfl_sync(CSAW__ALL_LANES, own.first, (int)i) - all;
        all += __shfl_sync(CSAW__ALL_LANES, own.count, (int)i);
        until[i] = all;
    }
    const auto place = [&](uint32_t k) {
        uint64_t of = offset[0];
#pragma unroll
        for (uint32_t i = 1; i < UNITS; i++)
            if (k >= until[i - 1]) of = offset[i];
        return k + of;
    };
    const auto read_number = [&](uint32_t k) { return k < all ? csaw__won_number(order, place(k)) : 0; };
    const auto read = [&](uint32_t k, csaw_edge e) {
        return k < all ? csaw__won_edge_at<1>(p, order, of_word, words, slice.head, place(k), e) : won_edge{};
    };
    won_edge next = read(lane, read_number(lane)); /* of the 32 to come, this lane's */
    csaw_edge after = read_number(32 + lane);      /* the number of the one after */
    float sum[UNITS] = {};
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
                for (uint32_t i = 0; i < UNITS; i++)
                    if ((i == 0 || edge[n] >= until[i - 1]) && edge[n] < until[i]) sum[i] += product;
            }
        }
    }
    const uint32_t chunks = __ballot_sync(CSAW__ALL_LANES, own.is_chunk);
#pragma unroll
    for (uint32_t i = 0; i < UNITS; i++) {
        const uint64_t row = __shfl_sync(CSAW__ALL_LANES, own.row, (int)i);
        if (!(stores >> i & 1) || column >= slice.width) continue;
        if (chunks >> i & 1)
            p.partial[(slice_number * p.split.most_chunks + row) * p.width + column] = sum[i];
        else
            csaw__store<1>(&p.y, row, slice.first + column, &sum[i]);
    }
}

#endif

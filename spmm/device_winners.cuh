/* SPDX-License-Identifier: MIT */
/* spmm/device_winners.cuh - device code of dx of MAX and MIN over the transpose: units and chunks as csaw_spmm() has
 * them, but of dy only where a bit says that the edge won (spmm/device_find_winners.cuh); of a row of n edges about one
 * in n elements is read. A warp takes some units and 32 columns. Of 32 edges that follow each other, whatever units
 * they belong to, its lanes turn the words, and each loads what its own column won. To be compiled without contraction
 * of a * b + c. */
#ifndef CSAW_SPMM_DEVICE_WINNERS_CUH
#define CSAW_SPMM_DEVICE_WINNERS_CUH

#include "spmm/device_find_winners.cuh"
#include "spmm/device_long.cuh"
#include "spmm/device_unit.cuh"

enum {
    CSAW__WON_BLOCKS = 10, /* of a multiprocessor, at least */
    CSAW__WON_HELD = 4     /* elements that a lane has on their way at once */
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

struct csaw__won_edge { /* of the transpose */
    csaw_vertex row;
    float weight;
    uint32_t won; /* the columns */
};

/* Bit of edge e of a window, or 0 beyond it, and back. */
static __device__ __forceinline__ int csaw__place_of_bit(uint32_t bit) { return 31 - __clz((int)bit); }

template <csaw_dtype X, int UNITS, int HELD>
static __global__ void __launch_bounds__(CSAW__THREADS, CSAW__WON_BLOCKS)
    csaw__gather_winners(const __grid_constant__ csaw__winners w) {
    typedef typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type stored;
    const csaw__product &p = w.turned;
    const uint32_t lane = threadIdx.x % 32, blocks = (uint32_t)p.blocks, slice_number = blockIdx.x / blocks;
    const uint64_t number = (uint64_t)(blockIdx.x - slice_number * blocks) * (CSAW__THREADS / 32) + threadIdx.x / 32;
    const uint32_t words = w.words, word = (uint32_t)number & (words - 1); /* a power of two */
    const uint64_t first_unit = (number >> (__ffs((int)words) - 1)) * UNITS;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const uint32_t column = word * CSAW__WON_COLUMNS + lane;
    const uint64_t row_bytes = p.x.stride * sizeof(stored);
    const char *const dy = (const char *)p.x.data + (slice.first + column) * sizeof(stored);
    const uint32_t *const won = w.won + slice_number * p.num_edges * words + word;
    const bool here_is = lane < UNITS && word * CSAW__WON_COLUMNS < slice.width; /* a unit, and columns of the word */
    const csaw__unit own = csaw__unit_at(&p, here_is ? first_unit + lane : p.split.most_chunks + p.rows);
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
    const auto read_number = [&](uint32_t k) { /* of the matrix's edge; the place, where it is not asked for */
                                               if (k >= all) return uint64_t{0};
                                               const uint64_t at = place(k);
                                               return w.edge ? w.edge[at] : at;
    };
    const auto read = [&](uint32_t k, csaw_edge e) {
        csaw__won_edge edge = {0, 1.0f, 0};
        if (k >= all) return edge;
        const uint64_t at = place(k);
        edge.row = p.col[at];
        edge.won = won[(w.place ? at : e) * words];
        if (p.weight) edge.weight = p.weight[(w.weights ? at : e) * p.heads + slice.head];
        return edge;
    };
    csaw__won_edge next = read(lane, read_number(lane)); /* of the 32 to come, this lane's */
    csaw_edge after = read_number(32 + lane);            /* the number of the one after */
    float sum[UNITS] = {};
#pragma unroll 1
    for (uint32_t begin = 0; begin < all; begin += 32) {
        const csaw__won_edge here = next;
        next = read(begin + 32 + lane, after);
        after = read_number(begin + 64 + lane);
        uint32_t mine = csaw__turned_bits(here.won); /* edges that won the lane's column */
        const uint32_t most = __reduce_max_sync(CSAW__ALL_LANES, (uint32_t)__popc(mine));
        uint32_t of_unit[UNITS];
#pragma unroll
        for (int i = 0; i < UNITS; i++) {
            const uint32_t before = i ? until[i - 1] : 0;
            of_unit[i] = __ballot_sync(CSAW__ALL_LANES, begin + lane >= before && begin + lane < until[i]);
        }
#pragma unroll 1
        for (uint32_t first = 0; first < most; first += HELD) {
            stored held[HELD];
            uint32_t bit[HELD];
#pragma unroll
            for (int n = 0; n < HELD; n++) {
                bit[n] = mine & (0 - mine);
                mine ^= bit[n];
                const csaw_vertex row = __shfl_sync(CSAW__ALL_LANES, here.row, csaw__place_of_bit(bit[n]) & 31);
                if (bit[n]) held[n] = *(const stored *)(dy + row * row_bytes);
            }
#pragma unroll
            for (int n = 0; n < HELD; n++) {
                const float weight = __shfl_sync(CSAW__ALL_LANES, here.weight, csaw__place_of_bit(bit[n]) & 31);
                const float product = weight * csaw__widen<X>(held[n]);
#pragma unroll
                for (int i = 0; i < UNITS; i++)
                    if (bit[n] & of_unit[i]) sum[i] += product;
            }
        }
    }
    const uint32_t stores = __ballot_sync(CSAW__ALL_LANES, own.stored);
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

/* ---- kernels by storage and share ---- */

typedef void csaw__winners_kernel(csaw__winners);

template <csaw_dtype X> static csaw__winners_kernel *csaw__winners_kernel_of(const csaw__winners *w) {
    switch (w->units) {
    case 1: return csaw__gather_winners<X, 1, CSAW__WON_HELD>;
    case 2: return csaw__gather_winners<X, 2, CSAW__WON_HELD>;
    default: return csaw__gather_winners<X, CSAW__WON_UNITS, CSAW__WON_HELD>;
    }
}

static csaw__winners_kernel *csaw__winners_kernel_at(const csaw__winners *w) {
    if (w->turned.x.dtype == CSAW_F32) return csaw__winners_kernel_of<CSAW_F32>(w);
    return w->turned.x.dtype == CSAW_F16 ? csaw__winners_kernel_of<CSAW_F16>(w) : csaw__winners_kernel_of<CSAW_BF16>(w);
}

#endif

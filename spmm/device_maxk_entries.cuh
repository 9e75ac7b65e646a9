/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_entries.cuh - the entries of a tile, from the sets of its lanes to CBSR. Lanes list where in its row
 * each kept element stands, in the order of columns; then each lane takes entries that follow each other, as many as
 * any other lane, gathers their values from the tile and turns places into columns. */
#ifndef CSAW_SPMM_DEVICE_MAXK_ENTRIES_CUH
#define CSAW_SPMM_DEVICE_MAXK_ENTRIES_CUH

#include "spmm/device_maxk_lanes.cuh"

/* From the places of a row's entries to those of the next, where each lane has a row: an odd number of 8 bytes, so that
 * lanes list theirs in other banks. Else k, in which case a row's lanes list beside each other. */
template <int LANES> static __host__ __device__ __forceinline__ uint32_t csaw__maxk_places_apart(uint32_t k) {
    return LANES == 1 ? ((k + 7) / 8 | 1) * 8 : k;
}

/* places: of each row of the tile k, shared. ranks: how many of the row stand before each strip. */
template <csaw_dtype T, int LANES, int STRIPS, typename INDEX>
static __device__ __forceinline__ void csaw__maxk_list(const csaw__maxk_tile<T, LANES, STRIPS> &tile,
                                                       const csaw__maxk_set &set, uint32_t k, const uint32_t *ranks,
                                                       INDEX *places) {
    const csaw__shared_array<INDEX> of_row(places + tile.row() * csaw__maxk_places_apart<LANES>(k));
#pragma unroll
    for (int s = 0; s < STRIPS; s++) {
        csaw__shared_array<INDEX> next = of_row.from(ranks[s]);
        const uint32_t first = tile.place_of(tile.row(), tile.first(s));
        set.each_of(s, [&](uint32_t i) { next.put_next(first ^ i); });
    }
}

/* Four words to global memory, at a multiple of 16 bytes; the compiler stores them one by one. */
static __device__ __forceinline__ void csaw__maxk_store(void *to, const uint32_t *words) {
#ifdef __CUDA_ARCH__
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(words[0]), "r"(words[1]), "r"(words[2]),
                 "r"(words[3])
                 : "memory");
#else
    memcpy(to, words, 16);
#endif
}

/* Part i of a word of parts of 1 or 2 bytes. */
template <int BYTES> static __device__ __forceinline__ uint32_t csaw__maxk_part(uint32_t word, int i) {
    static_assert(BYTES == 1 || BYTES == 2, "an index has so many");
#ifdef __CUDA_ARCH__
    return __byte_perm(word, 0, (uint32_t)(BYTES == 1 ? 0x4440 + i : 0x4410 + i * 0x22));
#else
    return word >> i * BYTES * 8 & ((1u << BYTES * 8) - 1);
#endif
}

/* The first `entries` of the list, k a row. by: 2^22 / k, rounded up: times a number below 2,048, over 2^22, is the
 * number over k. whole: entries can be stored 16 bytes of values at a time. value, column: [entries]. */
template <csaw_dtype T, int LANES, int STRIPS, typename RAW, typename INDEX>
static __device__ __forceinline__ void csaw__maxk_hand_out(const csaw__maxk_tile<T, LANES, STRIPS> &tile,
                                                           const INDEX *places, uint32_t k, uint32_t entries,
                                                           uint32_t by, bool whole, RAW *value, INDEX *column) {
    enum { COUNT = 16 / sizeof(RAW), WORDS = COUNT * sizeof(INDEX) / 4, IN_WORD = 4 / sizeof(INDEX) };
    typedef csaw__pack<uint32_t, WORDS> list;
    const csaw__shared_array<RAW> elements(tile.element);
    const uint32_t gap = csaw__maxk_places_apart<LANES>(k) - k; /* from one row's places to the next one's */
    if (!whole) {
#pragma unroll 1
        for (uint32_t e = tile.lane; e < entries; e += 32) {
            const uint32_t row = e * by >> 22, place = places[e + row * gap];
            value[e] = elements.get(row * tile.COLUMNS + place);
            column[e] = (INDEX)tile.columns_of(row, place);
        }
        return;
    }
#pragma unroll 1
    for (uint32_t e = tile.lane * COUNT; e < entries; e += 32 * COUNT) {
        const uint32_t row = e * by >> 22;
        const csaw__shared_array<RAW> of_row = elements.from(row * tile.COLUMNS);
        list all = *(const list *)(places + e + row * gap);
        uint32_t out[4] = {};
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const uint32_t x = of_row.get(csaw__maxk_part<sizeof(INDEX)>(all.at[i / IN_WORD], i % IN_WORD));
            out[i * 4 / COUNT] |= x << i * sizeof(RAW) % 4 * 8;
        }
#pragma unroll
        for (int i = 0; i < WORDS; i++) all.at[i] = tile.columns_of(row, all.at[i]);
        csaw__maxk_store(value + e, out);
        *(list *)(column + e) = all;
    }
}

#endif

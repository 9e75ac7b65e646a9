/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_rest.cuh - the largest of those elements of a row that its cut leaves undecided: by keys, and of
 * equal ones by column. */
#ifndef CSAW_SPMM_DEVICE_MAXK_REST_CUH
#define CSAW_SPMM_DEVICE_MAXK_REST_CUH

#include "spmm/device_maxk_lanes.cuh"

/* Keys of which no two are alike: those of 16-bit elements end in 13 bits at least that are alike. */
template <csaw_dtype T> static __device__ __forceinline__ int32_t csaw__maxk_unlike(int32_t key, uint32_t place) {
    static_assert(CSAW__MAXK_FEW <= 8, "a place has three bits");
    return T == CSAW_F32 ? key : (key & ~7) | (int32_t)(7 - place);
}

/* The `need` largest of a set of at most CSAW__MAXK_FEW elements of the row, each of which is compared with all, by a
 * lane of the row. keys: [rows of the tile, CSAW__MAXK_FEW], shared. */
template <csaw_dtype T, int LANES>
static __device__ __forceinline__ csaw__maxk_set csaw__maxk_of_few(const csaw__maxk_tile<T, LANES> &tile,
                                                                   const csaw__maxk_set &set, uint32_t need,
                                                                   int32_t *keys) {
    typedef csaw__pack<int32_t, 4> four;
    int32_t *const of_row = keys + tile.row() * CSAW__MAXK_FEW;
    uint32_t ranks[CSAW__MAXK_STRIPS], larger = 0; /* a bit for each place */
    csaw__maxk_lanes<LANES>::before(set, ranks);
    csaw__maxk_set kept = {};
    for (uint32_t i = tile.lane; i < 32 / LANES * CSAW__MAXK_FEW; i += 32) keys[i] = INT32_MIN; /* of no element */
    __syncwarp();
#pragma unroll
    for (int s = 0; s < CSAW__MAXK_STRIPS; s++)
        for (uint32_t left = set.of[s], place = ranks[s]; left; left &= left - 1, place++)
            of_row[place] = csaw__maxk_unlike<T>(tile.key(s, csaw__maxk_last(left & (0 - left))), place);
    __syncwarp();
    int32_t all[CSAW__MAXK_FEW];
#pragma unroll
    for (int i = 0; i < CSAW__MAXK_FEW; i += 4) *(four *)(all + i) = *(const four *)(of_row + i);
#pragma unroll
    for (uint32_t first = 0; first < CSAW__MAXK_FEW; first += LANES) {
        const uint32_t place = first + tile.lane % LANES;
        const int32_t key = place < CSAW__MAXK_FEW ? of_row[place] : INT32_MIN;
        uint32_t before = 0;
#pragma unroll
        for (uint32_t i = 0; i < CSAW__MAXK_FEW; i++)
            before += all[i] > key || (T == CSAW_F32 && all[i] == key && i < place);
        larger |= (before < need ? 1u : 0u) << place;
    }
    larger = csaw__maxk_lanes<LANES>::sum(larger);
#pragma unroll
    for (int s = 0; s < CSAW__MAXK_STRIPS; s++)
        for (uint32_t left = set.of[s], from = larger >> ranks[s]; left; left &= left - 1, from >>= 1)
            if (from & 1) kept.of[s] |= left & (0 - left);
    return kept;
}

/* The same of any set. Halves the range of keys until it is settled. */
template <csaw_dtype T, int LANES>
static __device__ __forceinline__ csaw__maxk_set csaw__maxk_by_key(const csaw__maxk_tile<T, LANES> &tile,
                                                                   const csaw__maxk_set &set, uint32_t need) {
    typedef csaw__maxk_lanes<LANES> lanes;
    int32_t least = INT32_MAX, high = INT32_MIN + 1;
    set.each([&](int s, uint32_t i) {
        const int32_t key = tile.key(s, i);
        least = key < least ? key : least;
        high = key > high ? key : high;
    });
    high = lanes::most(high);
    int32_t low = ~lanes::most(~least) - 1; /* `need` or more are above low, fewer above high */
    uint32_t above = 0;                     /* high */
    bool done = need == 0;
    while (__any_sync(CSAW__ALL_LANES, !done && high - 1 != low)) {
        const int32_t middle = low + (int32_t)(((uint32_t)high - (uint32_t)low) / 2);
        uint32_t count = 0;
        set.each([&](int s, uint32_t i) { count += tile.key(s, i) > middle; });
        count = lanes::sum(count);
        if (done || high - 1 == low) continue;
        if (count >= need) low = middle;
        if (count < need) high = middle, above = count;
        done = count == need;
    }
    csaw__maxk_set larger = {}, equal = {};
    set.each([&](int s, uint32_t i) {
        const int32_t key = tile.key(s, i);
        if (key > (done ? low : high))
            larger.of[s] |= 1u << i;
        else if (!done && key == high)
            equal.of[s] |= 1u << i;
    });
    uint32_t ranks[CSAW__MAXK_STRIPS];
    lanes::before(equal, ranks);
    const uint32_t ties = need - above;
#pragma unroll
    for (int s = 0; s < CSAW__MAXK_STRIPS; s++)
        for (uint32_t left = equal.of[s], rank = ranks[s]; left && rank < ties; left &= left - 1, rank++)
            larger.of[s] |= left & (0 - left);
    return larger;
}

#endif

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

static __device__ __forceinline__ uint32_t csaw__maxk_count_larger(uint32_t count, int32_t x, int32_t y) {
#ifdef __CUDA_ARCH__ /* of `count += x > y` the compiler makes three instructions */
    asm("{\n.reg .pred larger;\nsetp.gt.s32 larger, %1, %2;\n@larger add.u32 %0, %0, 1;\n}"
        : "+r"(count)
        : "r"(x), "r"(y));
    return count;
#else
    return count + (x > y);
#endif
}

/* Words from the few of one row to those of the next: odd where a warp has many rows, so that the lanes of each find
 * theirs in other banks. */
template <int LANES> static __host__ __device__ constexpr int csaw__maxk_few_apart() {
    return CSAW__MAXK_FEW + (LANES <= 2);
}

/* Bytes of shared memory for csaw__maxk_add_of_few(): a word for each of the few of each row, and one for each strip.
 */
template <int LANES, int STRIPS> static constexpr int csaw__maxk_shared_of_few() {
    return (32 / LANES * csaw__maxk_few_apart<LANES>() + 32 * STRIPS) * 4;
}

/* Adds to a set the `need` largest of the rest, of which a row has at most CSAW__MAXK_FEW. These are listed in the
 * order of columns, a lane of the row takes its share of the list, compares each with all, and adds what is kept to the
 * strip that has it. ranks: how many of the set, as it is then, stand before each strip. */
template <csaw_dtype T, int LANES, int STRIPS>
static __device__ __forceinline__ void csaw__maxk_add_of_few(const csaw__maxk_tile<T, LANES, STRIPS> &tile,
                                                             const csaw__maxk_set &rest, uint32_t need,
                                                             unsigned char *shared, csaw__maxk_set *set,
                                                             uint32_t *ranks) {
    typedef csaw__pack<int32_t, 4> four;
    enum { SHARE = LANES < CSAW__MAXK_FEW ? CSAW__MAXK_FEW / LANES : 1, APART = csaw__maxk_few_apart<LANES>() };
    int32_t *const keys_of_row = (int32_t *)shared + tile.row() * APART;
    const csaw__shared_array<uint32_t> list((uint32_t *)keys_of_row);
    const csaw__shared_array<uint32_t> strips_of_all((uint32_t *)shared + 32 / LANES * APART);
    const csaw__shared_array<uint32_t> strips = strips_of_all.from(tile.row() * (STRIPS * LANES));
    const csaw__shared_array<uint32_t> own = strips.from(tile.lane % LANES);
    uint32_t before[CSAW__MAXK_STRIPS], few, column[SHARE], kept = 0; /* kept: a bit for each of the list */
    int32_t key[SHARE], all[CSAW__MAXK_FEW];
    csaw__maxk_lanes<LANES>::before(*set, rest, ranks, before, &few);
#pragma unroll
    for (int s = 0; s < STRIPS; s++) {
        csaw__shared_array<uint32_t> next = list.from(before[s]);
        own.put((uint32_t)s * LANES, set->of[s]);
        rest.each_of(s, [&](uint32_t i) { next.put_next(tile.first(s) + i); });
    }
    __syncwarp();
#pragma unroll
    for (int j = 0; j < SHARE; j++) { /* a key in the place of its column */
        const uint32_t place = tile.lane % LANES + (uint32_t)j * LANES;
        column[j] = place < few ? list.get(place) : 0;
        key[j] = csaw__maxk_unlike<T>(tile.key_at(tile.at(tile.row(), column[j])), place);
        key[j] = place < few ? key[j] : INT32_MIN; /* of no element */
        if (place < CSAW__MAXK_FEW) list.put(place, (uint32_t)key[j]);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < CSAW__MAXK_FEW; i += 4)
        if constexpr (APART % 4 == 0)
            *(four *)(all + i) = *(const four *)(keys_of_row + i);
        else
#pragma unroll
            for (int j = i; j < i + 4; j++) all[j] = (int32_t)list.get((uint32_t)j);
#pragma unroll
    for (int j = 0; j < SHARE; j++) {
        const uint32_t place = tile.lane % LANES + (uint32_t)j * LANES;
        uint32_t larger = 0;
#pragma unroll
        for (uint32_t i = 0; i < CSAW__MAXK_FEW; i++) {
            larger = csaw__maxk_count_larger(larger, all[i], key[j]);
            if (T == CSAW_F32) larger += all[i] == key[j] && i < place;
        }
        const bool is_kept = place < few && larger < need;
        const uint32_t of_rows = __ballot_sync(CSAW__ALL_LANES, is_kept) >> tile.row() * LANES;
        kept |= (of_rows & (CSAW__ALL_LANES >> (32 - LANES))) << j * LANES;
        strips.add_if(is_kept, column[j] / 32, 1u << column[j] % 32);
    }
    __syncwarp();
#pragma unroll
    for (int s = 0; s < STRIPS; s++) {
        set->of[s] = own.get((uint32_t)s * LANES);
        ranks[s] += (uint32_t)__popc(kept & ((1u << before[s]) - 1));
    }
}

/* The lowest `count` of the bits of a word, or all. */
static __device__ __forceinline__ uint32_t csaw__maxk_first_of(uint32_t bits, uint32_t count) {
    uint32_t end = 0; /* so many bits of the word have `count` of them or fewer */
    if (count >= (uint32_t)__popc(bits)) return bits;
#pragma unroll
    for (uint32_t step = 16; step; step /= 2)
        if ((uint32_t)__popc(bits & ((1u << (end + step)) - 1)) <= count) end += step;
    return bits & ((1u << end) - 1);
}

/* The `need` largest of any set. Halves the range of keys until it is settled, at once where all are equal. alike: they
 * are known to be, so that no key is looked at. lanes: of the row, csaw__maxk_lanes or more warps. */
template <csaw_dtype T, int LANES, int STRIPS, typename OF_ROW>
static __device__ __forceinline__ csaw__maxk_set csaw__maxk_by_key(const csaw__maxk_tile<T, LANES, STRIPS> &tile,
                                                                   const csaw__maxk_set &set, uint32_t need, bool alike,
                                                                   const OF_ROW &lanes) {
    int32_t least = alike ? 0 : INT32_MAX, high = alike ? 0 : INT32_MIN + 1;
    if (!alike)
        set.each([&](int s, uint32_t i) {
            const int32_t key = tile.key(s, i);
            least = key < least ? key : least;
            high = key > high ? key : high;
        });
    high = lanes.most(high);
    int32_t low = ~lanes.most(~least) - 1; /* `need` or more are above low, fewer above high */
    alike = high - 1 == low;
    uint32_t above = 0; /* high */
    bool done = need == 0;
    while (__any_sync(CSAW__ALL_LANES, !done && high - 1 != low)) {
        const int32_t middle = low + (int32_t)(((uint32_t)high - (uint32_t)low) / 2);
        uint32_t count = 0;
        set.each([&](int s, uint32_t i) { count += tile.key(s, i) > middle; });
        count = lanes.sum(count);
        if (done || high - 1 == low) continue;
        if (count >= need) low = middle;
        if (count < need) high = middle, above = count;
        done = count == need;
    }
    csaw__maxk_set larger = {}, equal = {};
    if (alike)
        equal = set;
    else
        set.each([&](int s, uint32_t i) {
            const int32_t key = tile.key(s, i);
            if (key > (done ? low : high))
                larger.of[s] |= 1u << i;
            else if (!done && key == high)
                equal.of[s] |= 1u << i;
        });
    uint32_t ranks[CSAW__MAXK_STRIPS];
    lanes.before(equal, ranks);
    const uint32_t ties = need - above;
#pragma unroll
    for (int s = 0; s < STRIPS; s++)
        larger.of[s] |= csaw__maxk_first_of(equal.of[s], ties > ranks[s] ? ties - ranks[s] : 0);
    return larger;
}

#endif

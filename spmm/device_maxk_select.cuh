/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_select.cuh - device code of csaw_maxk() for rows that a few lanes of a warp hold. A warp has 2,048
 * elements at once, a tile, in shared memory, and a lane 64 of them as halves (device_maxk_key.cuh), 32 words, in
 * registers. A row is cut between two halves (device_maxk_cut.cuh); where elements between them are more than belong to
 * the k largest, at most a few in most rows, their keys decide, and of equal keys the column (device_maxk_rest.cuh).
 * Kept entries go through shared memory, so that they are stored side by side.
 *
 * Limit on an H200, 256 columns, k = 8 to 64: float32 1.2 to 1.3 times a copy of as many bytes; 16 bits, half as many
 * bytes and as many instructions, 1.5 to 1.6 times. A tile takes 1,440, at k = 32: some 130 for each of the 3.6 pivots
 * that are tried before the last of 8 rows is cut, 110 for each of two sets that are marked, 220 to compare what is
 * left, 14 for each entry of the lane that has most. By ncu 78 to 80% of all slots issue, and the unit that compares is
 * busy 66% of the time; without any of the selection the rest takes as long as the copy. Tried and no faster: sums of
 * comparisons by tensor cores, which issue as long as the additions they save; the next tile asked for earlier. */
#ifndef CSAW_SPMM_DEVICE_MAXK_SELECT_CUH
#define CSAW_SPMM_DEVICE_MAXK_SELECT_CUH

#include "spmm/device_maxk_rest.cuh"

/* Float32 waits for memory, and larger blocks do not help it; 16 bits for instructions, so that no warp must be done
 * before the others. */
template <csaw_dtype T> struct csaw__maxk_block {
    enum { THREADS = T == CSAW_F32 ? 256 : 896, ON_ONE = T == CSAW_F32 ? 3 : 1 /* on a multiprocessor, at least */ };
};

/* ---- a warp ---- */

/* guess, spacing: of the rows before, and then of these. keys: as above. */
template <csaw_dtype T, int LANES>
static __device__ __forceinline__ csaw__maxk_set csaw__maxk_largest(const csaw__maxk_tile<T, LANES> &tile, uint32_t k,
                                                                    int32_t *keys, float *guess, float *spacing) {
    typedef csaw__maxk_lanes<LANES> lanes;
    uint32_t words[CSAW__MAXK_WORDS];
    const float asked = (float)k;
    tile.take(words);
    csaw__maxk_cut<T> cut((float)tile.n, *guess, *spacing);
    for (uint32_t step = 0; __any_sync(CSAW__ALL_LANES, !cut.done(asked)); step++)
        cut.take(csaw__maxk_count<T, LANES>(words, cut.at), asked, step >= 6 && step % 2);
    *guess = lanes::mean_of_rows(cut.place(asked));
    *spacing = lanes::mean_of_rows(cut.spacing);
    csaw__maxk_set set = csaw__maxk_not_below<T>(words, cut.low);
#pragma unroll
    for (int s = 0; s < CSAW__MAXK_STRIPS; s++) set.of[s] &= tile.exist(s);
    const bool unsettled = cut.at_low != asked;
    if (!__any_sync(CSAW__ALL_LANES, unsettled)) return set;
    csaw__maxk_set above = csaw__maxk_not_below<T>(words, cut.high), rest = {};
    const bool beyond = cut.high != cut.high; /* infinity */
#pragma unroll
    for (int s = 0; s < CSAW__MAXK_STRIPS; s++)
        rest.of[s] = !unsettled ? 0 : beyond ? set.of[s] : set.of[s] & ~above.of[s];
    const uint32_t need = unsettled ? k - (uint32_t)cut.at_high : 0;
    const bool many = unsettled && cut.at_low - cut.at_high > (float)CSAW__MAXK_FEW;
    const csaw__maxk_set kept = __any_sync(CSAW__ALL_LANES, many) ? csaw__maxk_by_key(tile, rest, need)
                                                                  : csaw__maxk_of_few(tile, rest, need, keys);
#pragma unroll
    for (int s = 0; s < CSAW__MAXK_STRIPS; s++) set.of[s] = (set.of[s] & ~rest.of[s]) | kept.of[s];
    return set;
}

/* The elements of a set and their columns, to the places before `ends`. */
template <csaw_dtype T, int LANES, typename RAW, typename INDEX>
static __device__ __forceinline__ void csaw__maxk_hand_over(const csaw__maxk_tile<T, LANES> &tile,
                                                            const csaw__maxk_set &set, uint32_t *ends, RAW *value,
                                                            INDEX *column) {
    const csaw__shared_array<RAW> elements(tile.element), values(value);
    const csaw__shared_array<INDEX> columns(column);
    set.each([&](int s, uint32_t i) {
        ends[s]--;
        values.put(ends[s], elements.get(tile.own(s, i)));
        columns.put(ends[s], tile.first(s) + i);
    });
}

/* From shared memory, 16 bytes a lane where that is possible. */
template <typename U>
static __device__ __forceinline__ void csaw__maxk_store(U *to, const U *from, uint32_t count, uint32_t lane) {
    typedef csaw__pack<U, 16 / sizeof(U)> pack;
    if (((uintptr_t)to | count * sizeof(U)) % 16 == 0)
#pragma unroll 1
        for (uint32_t i = lane; i < count * sizeof(U) / 16; i += 32) ((pack *)to)[i] = ((const pack *)from)[i];
    else
#pragma unroll 1
        for (uint32_t i = lane; i < count; i += 32) to[i] = from[i];
}

/* The shared memory of a warp, in bytes: the tile, keys of a few elements a row, and what is about to be stored. */
template <csaw_dtype T, int LANES> struct csaw__maxk_room {
    typedef csaw__maxk_tile<T, LANES> tile;
    typedef typename tile::raw raw;
    enum { KEYS = CSAW__MAXK_TILE * sizeof(raw), VALUES = KEYS + (int)tile::ROWS * (int)CSAW__MAXK_FEW * 4 };
    static __host__ __device__ __forceinline__ uint32_t indices(uint64_t k) {
        return (uint32_t)(VALUES + (tile::ROWS * k * sizeof(raw) + 15) / 16 * 16);
    }
    static __host__ __device__ __forceinline__ uint32_t all(uint64_t k) {
        return (uint32_t)(indices(k) + (tile::ROWS * k * sizeof(typename tile::index) + 15) / 16 * 16);
    }
};

/* ---- kernel ---- */

/* A block has a share of the tiles, side by side; its warps take one after the other. */
template <csaw_dtype T, int LANES, int VECTOR>
static __global__ void __launch_bounds__(csaw__maxk_block<T>::THREADS, csaw__maxk_block<T>::ON_ONE)
    csaw__maxk_in_warp(const __grid_constant__ csaw__maxk_rows job) {
    typedef csaw__maxk_tile<T, LANES> tile_type;
    typedef typename tile_type::raw raw;
    typedef typename tile_type::index index;
    typedef csaw__maxk_room<T, LANES> room;
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, k = (uint32_t)job.m.k;
    unsigned char *const shared = csaw__launch_shared<unsigned char>(), *const own = shared + 16 + warp * room::all(k);
    uint32_t *const taken = (uint32_t *)shared; /* tiles of the block */
    const tile_type tile = {(raw *)own, lane, (uint32_t)job.m.cols};
    int32_t *const keys = (int32_t *)(own + room::KEYS);
    raw *const value = (raw *)(own + room::VALUES);
    index *const column = (index *)(own + room::indices(k));
    float guess = 0, spacing = 0.01f;
    const uint64_t tiles = (job.m.rows + tile_type::ROWS - 1) / tile_type::ROWS;
    const uint64_t most = tiles / gridDim.x, more = tiles % gridDim.x; /* so many blocks have a tile more */
    const uint64_t first = blockIdx.x * most + (blockIdx.x < more ? blockIdx.x : more);
    const uint32_t share = (uint32_t)most + (blockIdx.x < more);
    const uint64_t first_row = first * tile_type::ROWS;
    const raw *const x = (const raw *)job.x.data + first_row * job.x.stride;
    raw *const values = (raw *)job.m.values + first_row * k;
    index *const columns = (index *)job.m.index + first_row * k;
    const uint64_t left = job.m.rows - first_row;
    const uint32_t all_rows = share * tile_type::ROWS, rows = left < all_rows ? (uint32_t)left : all_rows;
    const auto rows_of = [&](uint32_t t) {
        const uint32_t after = rows - t * tile_type::ROWS;
        return after < tile_type::ROWS ? after : (uint32_t)tile_type::ROWS;
    };
    const auto bring = [&](uint32_t t) {
        if (t < share) tile.template bring<VECTOR>(x + t * (tile_type::ROWS * job.x.stride), job.x.stride, rows_of(t));
    };
    if (!threadIdx.x) *taken = blockDim.x / 32;
    __syncthreads();
    tile.pad();
    bring(warp);
    for (uint32_t t = warp, next = 0; t < share; t = next) {
        uint32_t rank[CSAW__MAXK_STRIPS];
        if (!lane) next = atomicAdd(taken, 1u);
        csaw__maxk_arrived();
        const csaw__maxk_set set = csaw__maxk_largest(tile, k, keys, &guess, &spacing);
        csaw__maxk_lanes<LANES>::before(set, rank);
#pragma unroll
        for (int s = 0; s < CSAW__MAXK_STRIPS; s++) rank[s] += tile.row() * k + (uint32_t)__popc(set.of[s]);
        csaw__maxk_hand_over(tile, set, rank, value, column);
        __syncwarp();
        next = __shfl_sync(CSAW__ALL_LANES, next, 0);
        bring(next);
        const uint32_t entries = rows_of(t) * k;
        csaw__maxk_store(values + t * (uint64_t)(tile_type::ROWS * k), value, entries, lane);
        csaw__maxk_store(columns + t * (uint64_t)(tile_type::ROWS * k), column, entries, lane);
    }
}

typedef void csaw__maxk_rows_kernel(csaw__maxk_rows);

struct csaw__maxk_blocks { /* of a launch */
    unsigned threads;
    uint64_t rows;   /* of a block, at least */
    uint64_t shared; /* bytes */
    bool resident;   /* no more blocks than there can be at once: each takes its share of all rows */
};

/* As many warps to a block as its shared memory lets; blocks of few tiles rather than few blocks. */
template <csaw_dtype T, int LANES>
static csaw__maxk_rows_kernel *csaw__maxk_in_warp_by(bool vectors, uint64_t k, uint64_t most_shared,
                                                     csaw__maxk_blocks *blocks) {
    typedef csaw__maxk_block<T> block;
    const uint64_t share = (most_shared + 1024) / block::ON_ONE - 1024; /* of each block a GPU keeps 1,024 bytes */
    const uint64_t bytes = csaw__maxk_room<T, LANES>::all(k), fit = share > 16 + bytes ? (share - 16) / bytes : 1;
    const uint64_t warps = fit < block::THREADS / 32 ? fit : (uint64_t)block::THREADS / 32;
    *blocks = {(unsigned)warps * 32, 4 * (32 / LANES), 16 + warps * bytes, true};
    constexpr int VECTOR = T == CSAW_F32 ? CSAW__VECTOR : CSAW__VECTOR_16; /* 16 bytes */
    return vectors ? csaw__maxk_in_warp<T, LANES, VECTOR> : csaw__maxk_in_warp<T, LANES, 1>;
}

/* The kernel for rows of up to CSAW__MAXK_IN_WARP columns. most_shared: bytes that a block can have. */
template <csaw_dtype T>
static csaw__maxk_rows_kernel *csaw__maxk_in_warp_of(const csaw__maxk_rows *job, uint64_t most_shared,
                                                     csaw__maxk_blocks *blocks) {
    const uint64_t k = job->m.k;
    const uint32_t vector = T == CSAW_F32 ? CSAW__VECTOR : CSAW__VECTOR_16;
    const bool vectors = job->m.cols % vector == 0 && csaw__takes_vectors_of(&job->x, vector);
    if (job->m.cols <= 64) return csaw__maxk_in_warp_by<T, 1>(vectors, k, most_shared, blocks);
    if (job->m.cols <= 128) return csaw__maxk_in_warp_by<T, 2>(vectors, k, most_shared, blocks);
    if (job->m.cols <= 256) return csaw__maxk_in_warp_by<T, 4>(vectors, k, most_shared, blocks);
    if (job->m.cols <= 512) return csaw__maxk_in_warp_by<T, 8>(vectors, k, most_shared, blocks);
    return csaw__maxk_in_warp_by<T, 16>(vectors, k, most_shared, blocks);
}

#endif

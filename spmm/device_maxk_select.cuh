/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_select.cuh - device code of csaw_maxk() for rows that a few lanes of a warp hold. A warp has 2,048
 * elements at once, a tile, in shared memory, and a lane 64 of them as halves (device_maxk_key.cuh), 32 words, in
 * registers; half as many of each where a row has up to 32 columns. A row is cut between two halves
 * (device_maxk_cut.cuh); where elements between them are more than belong to the k largest, at most a few in most rows,
 * their keys decide, and of equal keys the column (device_maxk_rest.cuh). Kept entries are listed in shared memory and
 * handed out from there side by side (device_maxk_entries.cuh).
 *
 * Limit on an H200 (a microbenchmark), 256 columns, k = 8 to 64: float32, which waits for memory, 1.17 to 1.25 times a
 * copy of as many bytes; 16 bits, half as many bytes and as many instructions, 1.25 to 1.34 times. A tile takes 1,170
 * at k = 32: some 105 for each of the 3.6 pivots that are tried before the last of 8 rows is cut, 95 and 70 for the
 * sets at its ends, 210 to compare what is left, 7 for each entry of the lane that has most, 80 to hand all out. By ncu
 * 79% of all slots issue, and the unit that compares is busy 66% of the time. Tried and no faster: sums of comparisons
 * by tensor cores, which issue as long as the additions they save; the next tile asked for earlier. In a simulation:
 * pivots that aim further past k than one element. */
#ifndef CSAW_SPMM_DEVICE_MAXK_SELECT_CUH
#define CSAW_SPMM_DEVICE_MAXK_SELECT_CUH

#include "spmm/device_maxk_entries.cuh"
#include "spmm/device_maxk_guess.cuh"
#include "spmm/device_maxk_rest.cuh"

/* Float32 waits for memory, and larger blocks do not help it; 16 bits for instructions, so that no warp must be done
 * before the others. A lane of one strip has registers for more. */
template <csaw_dtype T, int STRIPS> struct csaw__maxk_block {
    enum {
        THREADS = STRIPS == 1     ? (T == CSAW_F32 ? 192 : 576)
                  : T == CSAW_F32 ? 256
                                  : 896,
        ON_ONE = STRIPS == 1     ? (T == CSAW_F32 ? 6 : 2)
                 : T == CSAW_F32 ? 3
                                 : 1 /* on a multiprocessor, at least */
    };
};

/* ---- a warp ---- */

/* The k largest of each row. ranks: for each strip of the lane, how many of them stand before it in the row. guess,
 * spacing: of the rows before, and then of these. shared: csaw__maxk_shared_of_few(). */
template <csaw_dtype T, int LANES, int STRIPS>
static __device__ __forceinline__ csaw__maxk_set csaw__maxk_largest(const csaw__maxk_tile<T, LANES, STRIPS> &tile,
                                                                    uint32_t k, unsigned char *shared, float *guess,
                                                                    float *spacing, uint32_t *ranks) {
    typedef csaw__maxk_lanes<LANES> lanes;
    enum { WORDS = csaw__maxk_tile<T, LANES, STRIPS>::WORDS };
    uint32_t words[WORDS];
    const float asked = (float)k;
    tile.take(words);
    if (*spacing == 0) csaw__maxk_first_guess<T, WORDS>(words, asked, (float)tile.n, guess, spacing);
    csaw__maxk_cut<T> cut((float)tile.n, asked, *guess, *spacing);
    for (uint32_t step = 0; __any_sync(CSAW__ALL_LANES, cut.open != 0); step++) {
        float least, most;
        cut.take(csaw__maxk_count<T, LANES, WORDS>(words, cut.at) - asked, step >= CSAW__MAXK_FAR);
        if (step <= CSAW__MAXK_FAR || step % 2 == 0) continue;
        csaw__maxk_between<T, LANES, WORDS>(words, cut.low, cut.high, &least, &most);
        cut.tighten(least, most);
    }
    const float apart = cut.spacing(*spacing);
    *guess = lanes::mean_of_rows(cut.low + cut.over * apart);
    *spacing = lanes::mean_of_rows(apart);
    csaw__maxk_set set = csaw__maxk_not_below<T, STRIPS>(words, cut.low);
#pragma unroll
    for (int s = 0; s < STRIPS; s++) set.of[s] &= tile.exist[s];
    const bool unsettled = cut.over != 0;
    if (__any_sync(CSAW__ALL_LANES, unsettled)) {
        const csaw__maxk_set above = csaw__maxk_not_below<T, STRIPS>(words, cut.high);
        const bool beyond = cut.high != cut.high; /* infinity */
        csaw__maxk_set rest = {};
#pragma unroll
        for (int s = 0; s < STRIPS; s++) {
            rest.of[s] = !unsettled ? 0 : beyond ? set.of[s] : set.of[s] & ~above.of[s];
            set.of[s] ^= rest.of[s];
        }
        const uint32_t need = unsettled ? (uint32_t)-cut.under : 0;
        const bool many = unsettled && cut.over - cut.under > (float)CSAW__MAXK_FEW;
        csaw__maxk_set few = {};
#pragma unroll
        for (int s = 0; s < STRIPS; s++) {
            few.of[s] = many ? 0 : rest.of[s];
            rest.of[s] ^= few.of[s];
        }
        csaw__maxk_add_of_few(tile, few, many ? 0 : need, shared, &set, ranks);
        if (!__any_sync(CSAW__ALL_LANES, many)) return set;
        const csaw__maxk_set kept = csaw__maxk_by_key(tile, rest, many ? need : 0, T != CSAW_F32 && !beyond, lanes());
#pragma unroll
        for (int s = 0; s < STRIPS; s++) set.of[s] |= kept.of[s];
    }
    lanes::before(set, ranks);
    return set;
}

/* The shared memory of a warp, in bytes: the tile, what few elements are compared by, and the list of entries. */
template <csaw_dtype T, int LANES, int STRIPS> struct csaw__maxk_room {
    typedef csaw__maxk_tile<T, LANES, STRIPS> tile;
    typedef typename tile::raw raw;
    enum { FEW = tile::ELEMENTS * sizeof(raw), PLACES = FEW + csaw__maxk_shared_of_few<LANES, STRIPS>() };
    static __host__ __device__ __forceinline__ uint32_t all(uint64_t k) {
        return (
            uint32_t)(PLACES +
                      (tile::ROWS * csaw__maxk_places_apart<LANES>((uint32_t)k) * sizeof(typename tile::index) + 15) /
                          16 * 16);
    }
};

/* ---- kernel ---- */

/* A block has a share of the tiles, side by side; its warps take one after the other. */
template <csaw_dtype T, int LANES, int STRIPS, int VECTOR>
static __global__ void __launch_bounds__(csaw__maxk_block<T, STRIPS>::THREADS, csaw__maxk_block<T, STRIPS>::ON_ONE)
    csaw__maxk_in_warp(const __grid_constant__ csaw__maxk_rows job) {
    typedef csaw__maxk_tile<T, LANES, STRIPS> tile_type;
    typedef typename tile_type::raw raw;
    typedef typename tile_type::index index;
    typedef csaw__maxk_room<T, LANES, STRIPS> room;
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, k = (uint32_t)job.m.k;
    unsigned char *const shared = csaw__launch_shared<unsigned char>(), *const own = shared + 16 + warp * room::all(k);
    const csaw__shared_array<uint32_t> taken((uint32_t *)shared); /* tiles of the block */
    const tile_type tile((raw *)own, (uint32_t)job.m.cols);
    index *const places = (index *)(own + room::PLACES);
    float guess = 0, spacing = 0; /* nothing is known */
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
    const raw *const from = x + lane * VECTOR / tile_type::COLUMNS * job.x.stride + lane * VECTOR % tile_type::COLUMNS;
    const auto bring = [&](uint32_t t) {
        if (t < share)
            tile.template bring<VECTOR>(from + t * (tile_type::ROWS * job.x.stride), job.x.stride, rows_of(t));
    };
    const uint32_t by = ((1u << 22) + k - 1) / k;
    const bool whole = k % (16 / sizeof(raw)) == 0 && ((uintptr_t)values | (uintptr_t)columns) % 16 == 0;
    if (!threadIdx.x) taken.put(0, blockDim.x / 32);
    __syncthreads();
    tile.pad();
    bring(warp);
    for (uint32_t t = warp, next = 0; t < share; t = next) {
        uint32_t ranks[CSAW__MAXK_STRIPS];
        next = taken.count_if(!lane);
        csaw__maxk_arrived();
        const csaw__maxk_set set = csaw__maxk_largest(tile, k, own + room::FEW, &guess, &spacing, ranks);
        csaw__maxk_list(tile, set, k, ranks, places);
        __syncwarp();
        const uint64_t at = t * (uint64_t)(tile_type::ROWS * k);
        csaw__maxk_hand_out(tile, places, k, rows_of(t) * k, by, whole, values + at, columns + at);
        next = __shfl_sync(CSAW__ALL_LANES, next, 0);
        __syncwarp();
        bring(next);
    }
}

/* As many warps to a block as its shared memory lets; blocks of few tiles rather than few blocks. */
template <csaw_dtype T, int LANES, int STRIPS>
static csaw__maxk_rows_kernel *csaw__maxk_in_warp_by(bool vectors, uint64_t k, uint64_t most_shared,
                                                     csaw__maxk_blocks *blocks) {
    typedef csaw__maxk_block<T, STRIPS> block;
    const uint64_t share = (most_shared + 1024) / block::ON_ONE - 1024; /* of each block a GPU keeps 1,024 bytes */
    const uint64_t bytes = csaw__maxk_room<T, LANES, STRIPS>::all(k),
                   fit = share > 16 + bytes ? (share - 16) / bytes : 1;
    const uint64_t warps = fit < block::THREADS / 32 ? fit : (uint64_t)block::THREADS / 32;
    *blocks = {(unsigned)warps * 32, 4 * (32 / LANES), 16 + warps * bytes, true};
    constexpr int VECTOR = T == CSAW_F32 ? CSAW__VECTOR : CSAW__VECTOR_16; /* 16 bytes */
    return vectors ? csaw__maxk_in_warp<T, LANES, STRIPS, VECTOR> : csaw__maxk_in_warp<T, LANES, STRIPS, 1>;
}

/* The kernel for rows of up to CSAW__MAXK_IN_WARP columns. most_shared: bytes that a block can have. */
template <csaw_dtype T>
static csaw__maxk_rows_kernel *csaw__maxk_in_warp_of(const csaw__maxk_rows *job, uint64_t most_shared,
                                                     csaw__maxk_blocks *blocks) {
    const uint64_t k = job->m.k;
    const uint32_t vector = T == CSAW_F32 ? CSAW__VECTOR : CSAW__VECTOR_16;
    const bool vectors = job->m.cols % vector == 0 && csaw__takes_vectors_of(&job->x, vector);
    if (job->m.cols <= 32) return csaw__maxk_in_warp_by<T, 1, 1>(vectors, k, most_shared, blocks);
    if (job->m.cols <= 64) return csaw__maxk_in_warp_by<T, 1, CSAW__MAXK_STRIPS>(vectors, k, most_shared, blocks);
    if (job->m.cols <= 128) return csaw__maxk_in_warp_by<T, 2, CSAW__MAXK_STRIPS>(vectors, k, most_shared, blocks);
    if (job->m.cols <= 256) return csaw__maxk_in_warp_by<T, 4, CSAW__MAXK_STRIPS>(vectors, k, most_shared, blocks);
    if (job->m.cols <= 512) return csaw__maxk_in_warp_by<T, 8, CSAW__MAXK_STRIPS>(vectors, k, most_shared, blocks);
    if (job->m.cols <= 1024) return csaw__maxk_in_warp_by<T, 16, CSAW__MAXK_STRIPS>(vectors, k, most_shared, blocks);
    return csaw__maxk_in_warp_by<T, 32, CSAW__MAXK_STRIPS>(vectors, k, most_shared, blocks);
}

#endif

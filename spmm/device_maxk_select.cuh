/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_select.cuh - device code of csaw_maxk() for rows that a few lanes of a warp hold. A warp has 2,048
 * elements at once, in shared memory, and a lane 64 of them as halves (device_maxk_key.cuh), 32 words, in registers.
 * A row is cut between two halves; where elements between them are more than belong to the k largest, at most a few in
 * most rows, their keys decide, and of equal keys the column. Kept entries go through shared memory, so that they
 * are stored side by side.
 *
 * Limit on an H200, 256 columns of float32: 1.2 to 1.3 times a copy of as many bytes; of 16 bits, where there are half
 * as many bytes and as many instructions, 2.3 to 2.7 times. A warp's 2,048 elements take some 1,000, at k = 32: 90 to
 * load and pack them, 100 for each of the 5 pivots that are tried before the last of 8 rows is cut, 150 to mark what is
 * kept, 120 to compare what is left, 13 for each entry of the lane that has most. Before these were cut down from
 * 1,750, ncu saw the ALU busy 59% of the time, DRAM 49% (docs/measured/2026-11-23-gpu-6.md). */
#ifndef CSAW_SPMM_DEVICE_MAXK_SELECT_CUH
#define CSAW_SPMM_DEVICE_MAXK_SELECT_CUH

#include "spmm/device_maxk_key.cuh"
#include "spmm/device_shared.cuh"

enum {
    CSAW__MAXK_TILE = 2048,                                    /* elements that a warp has at once */
    CSAW__MAXK_BLOCKS = 2,                                     /* of 32 columns, that a lane has of a row */
    CSAW__MAXK_WORDS = CSAW__MAXK_TILE / 32 / 2,               /* of halves, that a lane has */
    CSAW__MAXK_OF_BLOCK = CSAW__MAXK_WORDS / CSAW__MAXK_BLOCKS /* words */
};

/* ---- rows in shared memory ---- */

/* From global to shared memory; there when csaw__maxk_arrived() returns. */
template <typename T> static __device__ __forceinline__ void csaw__maxk_bring(T *to, const T *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(to);
    if constexpr (sizeof(T) == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
    else if constexpr (sizeof(T) >= 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(sizeof(T)) : "memory");
    else
        *to = *from;
#else
    *to = *from;
#endif
}

static __device__ __forceinline__ void csaw__maxk_arrived() { /* what the lanes of the warp brought */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    __syncwarp();
}

template <int BYTES> struct csaw__maxk_bits; /* of so many bytes */
template <> struct csaw__maxk_bits<4> { typedef uint32_t type; };
template <> struct csaw__maxk_bits<2> { typedef uint16_t type; };
template <> struct csaw__maxk_bits<1> { typedef uint8_t type; };

/* The tile of a warp: 32 / LANES rows, each of LANES lanes. Lane l of a row has the blocks l and l + LANES. */
template <csaw_dtype T, int LANES> struct csaw__maxk_tile {
    typedef typename csaw__maxk_bits<T == CSAW_F32 ? 4 : 2>::type raw;
    typedef csaw__pack<raw, 16 / sizeof(raw)> chunk;
    enum {
        ROWS = 32 / LANES,
        COLUMNS = 32 * CSAW__MAXK_BLOCKS * LANES,
        WIDE = 16 / sizeof(raw),
        CHUNKS = 32 / WIDE, /* of a block */
        TURN = 8 / CHUNKS
    };
    typedef typename csaw__maxk_bits<COLUMNS <= 256 ? 1 : 2>::type index; /* csaw_cbsr_index_bytes() */
    raw *element;                                                         /* [CSAW__MAXK_TILE] */
    uint32_t lane, n;

    /* The chunks of a block change places by the lane that has it, so that lanes that read theirs at once do so from
     * different banks. */
    static __device__ __forceinline__ uint32_t turned(uint32_t column, uint32_t owner) {
        return column ^ owner / TURN % CHUNKS * WIDE;
    }
    static __device__ __forceinline__ uint32_t at(uint32_t row, uint32_t column) {
        return row * COLUMNS + turned(column, row * LANES + column / 32 % LANES);
    }

    __device__ __forceinline__ uint32_t row() const { return lane / LANES; }
    __device__ __forceinline__ uint32_t first(int block) const { /* column */
        return (lane % LANES + (uint32_t)block * LANES) * 32;
    }
    __device__ __forceinline__ uint32_t own(int block, uint32_t i) const { /* where it stands; i: of its block */
        return row() * COLUMNS + first(block) + turned(i, lane);
    }

    /* The columns of a block that there are, a bit each. */
    __device__ __forceinline__ uint32_t exist(int block) const {
        const uint32_t before = first(block);
        return n >= before + 32 ? ~0u : n > before ? (1u << (n - before)) - 1 : 0;
    }

    /* Columns that do not exist, once for all tiles: no larger than any. */
    __device__ __forceinline__ void pad() const {
        const raw least = T == CSAW_F32 ? (raw)0xff800000u : T == CSAW_F16 ? (raw)0xfc00 : (raw)0xff80;
        if (n == COLUMNS) return;
        for (uint32_t i = lane; i < CSAW__MAXK_TILE; i += 32)
            if (i % COLUMNS >= n) element[at(i / COLUMNS, i % COLUMNS)] = least;
    }

    /* Begins to bring `rows` rows; the others are the last of them once more. */
    template <int VECTOR> __device__ __forceinline__ void bring(const raw *from, uint64_t stride, uint32_t rows) const {
        typedef csaw__pack<raw, VECTOR> pack;
        const auto piece = [&](uint32_t r, uint32_t source, uint32_t c) {
            csaw__maxk_bring((pack *)(element + at(r, c)), (const pack *)(from + source * stride + c));
        };
        if (rows == ROWS && n == COLUMNS) {
#pragma unroll
            for (uint32_t i = 0; i < CSAW__MAXK_TILE; i += 32 * VECTOR) {
                const uint32_t of_lane = i | lane * VECTOR;
                piece(of_lane / COLUMNS, of_lane / COLUMNS, of_lane % COLUMNS);
            }
            return;
        }
#pragma unroll 1
        for (uint32_t i = lane * VECTOR; i < CSAW__MAXK_TILE; i += 32 * VECTOR) {
            const uint32_t r = i / COLUMNS, c = i % COLUMNS;
            if (c < n) piece(r, r < rows ? r : rows - 1, c);
        }
    }

    static __device__ __forceinline__ void halves_of(const chunk &lower, const chunk &upper, uint32_t *words) {
        if constexpr (T == CSAW_F32) {
#pragma unroll
            for (int i = 0; i < WIDE; i++)
                words[i] = csaw__maxk_halves_of(__uint_as_float(lower.at[i]), __uint_as_float(upper.at[i]));
        } else {
#pragma unroll
            for (int i = 0; i < WIDE; i++) words[i] = (uint32_t)lower.at[i] | (uint32_t)upper.at[i] << 16;
        }
    }

    /* The lane's elements: of each block the word i has columns i and i + 16. */
    __device__ __forceinline__ void take(uint32_t *words) const {
#pragma unroll
        for (int b = 0; b < CSAW__MAXK_BLOCKS; b++)
#pragma unroll
            for (int c = 0; c < CHUNKS / 2; c++)
                halves_of(*(const chunk *)(element + own(b, (uint32_t)c * WIDE)),
                          *(const chunk *)(element + own(b, (uint32_t)(c + CHUNKS / 2) * WIDE)),
                          words + b * CSAW__MAXK_OF_BLOCK + c * WIDE);
    }

    __device__ __forceinline__ int32_t key(int block, uint32_t i) const {
        const raw bits = element[own(block, i)];
        if constexpr (T == CSAW_F32)
            return csaw__maxk_key_of(__uint_as_float(bits));
        else
            return csaw__maxk_key_of(csaw__widen<T>(bits));
    }
};

/* ---- the lanes of a row ---- */

/* Of a lane's columns some, a bit each. */
struct csaw__maxk_set {
    uint32_t of[CSAW__MAXK_BLOCKS];
    template <typename F>
    __device__ __forceinline__ void each(const F &f) const { /* f(block, i), the last of a block first */
#pragma unroll
        for (int b = 0; b < CSAW__MAXK_BLOCKS; b++)
            for (uint32_t left = of[b], i; left; left ^= 1u << i) {
                i = 31 - (uint32_t)__clz((int)left);
                f(b, i);
            }
    }
};

template <int LANES> struct csaw__maxk_lanes {
    static __device__ __forceinline__ uint32_t sum(uint32_t x) {
#pragma unroll
        for (int d = LANES / 2; d; d /= 2) x += __shfl_xor_sync(CSAW__ALL_LANES, x, d);
        return x;
    }
    static __device__ __forceinline__ int32_t most(int32_t x) {
#pragma unroll
        for (int d = LANES / 2; d; d /= 2) {
            const int32_t other = __shfl_xor_sync(CSAW__ALL_LANES, x, d);
            x = other > x ? other : x;
        }
        return x;
    }
    static __device__ __forceinline__ float mean_of_rows(float x) {
#pragma unroll
        for (int d = LANES; d < 32; d *= 2) x += __shfl_xor_sync(CSAW__ALL_LANES, x, d);
        return x * ((float)LANES / 32);
    }

    /* For each block of the lane, how many of the set stand in blocks of the row before it. */
    static __device__ __forceinline__ void before(const csaw__maxk_set &set, uint32_t *ranks) {
        const uint32_t own = (uint32_t)__popc(set.of[0]) | (uint32_t)__popc(set.of[1]) << 16;
        uint32_t upto = own;
#pragma unroll
        for (int d = 1; d < LANES; d *= 2) {
            const uint32_t left = __shfl_up_sync(CSAW__ALL_LANES, upto, (uint32_t)d, LANES);
            if (threadIdx.x % LANES >= (uint32_t)d) upto += left;
        }
        const uint32_t all = __shfl_sync(CSAW__ALL_LANES, upto, LANES - 1, LANES);
        ranks[0] = (upto - own) & 0xffff;
        ranks[1] = (all & 0xffff) + ((upto - own) >> 16);
    }
};

/* How many halves of the row are not less than half `at`. Words of sets are summed as they are: with L lower and
 * U upper halves that is 2^16 (L - U) - L. */
template <csaw_dtype T, int LANES>
static __device__ __forceinline__ uint32_t csaw__maxk_count(const uint32_t *words, float at) {
    const uint32_t half = csaw__maxk_half<T>::twice(at);
    uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < CSAW__MAXK_WORDS; i++) sum += csaw__maxk_not_less<T>(words[i], half);
    sum = csaw__maxk_lanes<LANES>::sum(sum);
    const uint32_t lower = (0 - sum) & 0xffff;
    return (2 * lower - ((sum + lower) >> 16)) & 0xffff;
}

/* Which of the lane's are not less. */
template <csaw_dtype T>
static __device__ __forceinline__ csaw__maxk_set csaw__maxk_not_below(const uint32_t *words, float at) {
    const uint32_t half = csaw__maxk_half<T>::twice(at);
    csaw__maxk_set set;
#pragma unroll
    for (int b = 0; b < CSAW__MAXK_BLOCKS; b++) {
        set.of[b] = 0;
#pragma unroll
        for (int i = 0; i < CSAW__MAXK_OF_BLOCK; i++)
            set.of[b] |= csaw__maxk_not_less<T>(words[b * CSAW__MAXK_OF_BLOCK + i], half) & 0x10001u << i;
    }
    return set;
}

/* The `need` largest of a set of at most CSAW__MAXK_FEW elements of the row, by keys, and of equal ones by column: each
 * is compared with all. keys: [rows of the tile, CSAW__MAXK_FEW], shared. */
template <csaw_dtype T, int LANES>
static __device__ __forceinline__ csaw__maxk_set csaw__maxk_of_few(const csaw__maxk_tile<T, LANES> &tile,
                                                                   const csaw__maxk_set &set, uint32_t need,
                                                                   int32_t *keys) {
    typedef csaw__pack<int32_t, CSAW__MAXK_FEW> few;
    int32_t *const of_row = keys + tile.row() * CSAW__MAXK_FEW;
    uint32_t ranks[CSAW__MAXK_BLOCKS];
    csaw__maxk_lanes<LANES>::before(set, ranks);
    csaw__maxk_set kept = {};
    const auto place = [&](int b, uint32_t i) { return ranks[b] + (uint32_t)__popc(set.of[b] & ((1u << i) - 1)); };
    for (uint32_t i = tile.lane; i < 32 / LANES * CSAW__MAXK_FEW; i += 32) keys[i] = INT32_MIN; /* of no element */
    __syncwarp();
    set.each([&](int b, uint32_t i) { of_row[place(b, i)] = tile.key(b, i); });
    __syncwarp();
    const few all = *(const few *)of_row;
    set.each([&](int b, uint32_t i) {
        const int32_t key = tile.key(b, i);
        const uint32_t own = place(b, i);
        uint32_t before = 0;
#pragma unroll
        for (uint32_t j = 0; j < CSAW__MAXK_FEW; j++) before += all.at[j] > key || (all.at[j] == key && j < own);
        if (before < need) kept.of[b] |= 1u << i;
    });
    return kept;
}

/* The same of any set. Halves the range of keys until it is settled. */
template <csaw_dtype T, int LANES>
static __device__ __forceinline__ csaw__maxk_set csaw__maxk_by_key(const csaw__maxk_tile<T, LANES> &tile,
                                                                   const csaw__maxk_set &set, uint32_t need) {
    typedef csaw__maxk_lanes<LANES> lanes;
    int32_t least = INT32_MAX, high = INT32_MIN + 1;
    set.each([&](int b, uint32_t i) {
        const int32_t key = tile.key(b, i);
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
        set.each([&](int b, uint32_t i) { count += tile.key(b, i) > middle; });
        count = lanes::sum(count);
        if (done || high - 1 == low) continue;
        if (count >= need) low = middle;
        if (count < need) high = middle, above = count;
        done = count == need;
    }
    csaw__maxk_set larger = {}, equal = {};
    set.each([&](int b, uint32_t i) {
        const int32_t key = tile.key(b, i);
        if (key > (done ? low : high))
            larger.of[b] |= 1u << i;
        else if (!done && key == high)
            equal.of[b] |= 1u << i;
    });
    uint32_t ranks[CSAW__MAXK_BLOCKS];
    lanes::before(equal, ranks);
    const uint32_t ties = need - above;
#pragma unroll
    for (int b = 0; b < CSAW__MAXK_BLOCKS; b++)
        for (uint32_t left = equal.of[b], rank = ranks[b]; left && rank < ties; left &= left - 1, rank++)
            larger.of[b] |= left & (0 - left);
    return larger;
}

/* ---- a warp ---- */

/* guess, spacing: of the rows before, and then of these. keys: as above. */
template <csaw_dtype T, int LANES>
static __device__ __forceinline__ csaw__maxk_set csaw__maxk_largest(const csaw__maxk_tile<T, LANES> &tile, uint32_t k,
                                                                    int32_t *keys, float *guess, float *spacing) {
    typedef csaw__maxk_lanes<LANES> lanes;
    uint32_t words[CSAW__MAXK_WORDS];
    tile.take(words);
    csaw__maxk_cut<T> cut(tile.n, *guess, *spacing);
    for (uint32_t step = 0; __any_sync(CSAW__ALL_LANES, !cut.done(k)); step++)
        cut.take(csaw__maxk_count<T, LANES>(words, cut.at), k, step >= 6 && step % 2);
    *guess = lanes::mean_of_rows(cut.place(k));
    *spacing = lanes::mean_of_rows(cut.spacing);
    csaw__maxk_set set = csaw__maxk_not_below<T>(words, cut.low);
#pragma unroll
    for (int b = 0; b < CSAW__MAXK_BLOCKS; b++) set.of[b] &= tile.exist(b);
    const bool unsettled = cut.at_low != k;
    if (!__any_sync(CSAW__ALL_LANES, unsettled)) return set;
    csaw__maxk_set above = csaw__maxk_not_below<T>(words, cut.high), rest = {};
    const bool beyond = cut.high != cut.high; /* infinity */
#pragma unroll
    for (int b = 0; b < CSAW__MAXK_BLOCKS; b++)
        rest.of[b] = !unsettled ? 0 : beyond ? set.of[b] : set.of[b] & ~above.of[b];
    const uint32_t need = unsettled ? k - cut.at_high : 0;
    const bool many = unsettled && cut.at_low - cut.at_high > CSAW__MAXK_FEW;
    const csaw__maxk_set kept = __any_sync(CSAW__ALL_LANES, many) ? csaw__maxk_by_key(tile, rest, need)
                                                                  : csaw__maxk_of_few(tile, rest, need, keys);
#pragma unroll
    for (int b = 0; b < CSAW__MAXK_BLOCKS; b++) set.of[b] = (set.of[b] & ~rest.of[b]) | kept.of[b];
    return set;
}

/* From shared memory, 16 bytes a lane where that is possible. */
template <typename U>
static __device__ __forceinline__ void csaw__maxk_store(U *to, const U *from, uint32_t count, uint32_t lane) {
    typedef csaw__pack<U, 16 / sizeof(U)> pack;
    if (((uintptr_t)to | count * sizeof(U)) % 16 == 0)
        for (uint32_t i = lane; i < count * sizeof(U) / 16; i += 32) ((pack *)to)[i] = ((const pack *)from)[i];
    else
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

template <csaw_dtype T, int LANES, int VECTOR>
static __global__ void __launch_bounds__(CSAW__MAXK_THREADS, 6)
    csaw__maxk_in_warp(const __grid_constant__ csaw__maxk_rows job) {
    typedef csaw__maxk_tile<T, LANES> tile_type;
    typedef typename tile_type::raw raw;
    typedef typename tile_type::index index;
    typedef csaw__maxk_room<T, LANES> room;
    const uint32_t lane = threadIdx.x % 32, k = (uint32_t)job.m.k;
    unsigned char *const own = csaw__launch_shared<unsigned char>() + threadIdx.x / 32 * room::all(k);
    const tile_type tile = {(raw *)own, lane, (uint32_t)job.m.cols};
    int32_t *const keys = (int32_t *)(own + room::KEYS);
    raw *const value = (raw *)(own + room::VALUES);
    index *const column = (index *)(own + room::indices(k));
    float guess = 0, spacing = 0.01f;
    const uint64_t warps = gridDim.x * (uint64_t)(blockDim.x / 32),
                   tiles = (job.m.rows + tile_type::ROWS - 1) / tile_type::ROWS;
    const uint64_t warp = blockIdx.x * (uint64_t)(blockDim.x / 32) + threadIdx.x / 32;
    const uint64_t most = tiles / warps, more = tiles % warps; /* so many warps have a tile more */
    uint64_t first = (warp * most + (warp < more ? warp : more)) * tile_type::ROWS;
    const uint64_t left = job.m.rows - first, share = (most + (warp < more)) * tile_type::ROWS,
                   end = first + (left < share ? left : share);
    const raw *const x = (const raw *)job.x.data;
    if (!share) return; /* the whole warp */
    const auto rows_at = [&](uint64_t r) { return (uint32_t)(end - r < tile_type::ROWS ? end - r : tile_type::ROWS); };
    tile.pad();
    tile.template bring<VECTOR>(x + first * job.x.stride, job.x.stride, rows_at(first));
    for (; first < end; first += tile_type::ROWS) {
        const uint32_t rows = rows_at(first);
        uint32_t rank[CSAW__MAXK_BLOCKS];
        csaw__maxk_arrived();
        const csaw__maxk_set set = csaw__maxk_largest(tile, k, keys, &guess, &spacing);
        csaw__maxk_lanes<LANES>::before(set, rank);
#pragma unroll
        for (int b = 0; b < CSAW__MAXK_BLOCKS; b++) rank[b] += tile.row() * k + (uint32_t)__popc(set.of[b]);
        set.each([&](int b, uint32_t i) {
            rank[b]--;
            value[rank[b]] = tile.element[tile.own(b, i)];
            column[rank[b]] = (index)(tile.first(b) + i);
        });
        __syncwarp();
        const uint64_t next = first + tile_type::ROWS;
        if (next < end) tile.template bring<VECTOR>(x + next * job.x.stride, job.x.stride, rows_at(next));
        csaw__maxk_store((raw *)job.m.values + first * k, value, rows * k, lane);
        csaw__maxk_store((index *)job.m.index + first * k, column, rows * k, lane);
    }
}

typedef void csaw__maxk_rows_kernel(csaw__maxk_rows);

struct csaw__maxk_blocks { /* of a launch */
    unsigned threads;
    uint64_t rows;   /* of a block, at least */
    uint64_t shared; /* bytes */
    bool resident;   /* no more blocks than there can be at once: each takes its share of all rows */
};

/* As many warps to a block as its shared memory lets. */
template <csaw_dtype T, int LANES>
static csaw__maxk_rows_kernel *csaw__maxk_in_warp_by(bool vectors, uint64_t k, csaw__maxk_blocks *blocks) {
    const uint64_t bytes = csaw__maxk_room<T, LANES>::all(k), fit = CSAW__MOST_SHARED / bytes;
    const uint64_t warps = fit < CSAW__MAXK_THREADS / 32 ? fit : (uint64_t)CSAW__MAXK_THREADS / 32;
    *blocks = {(unsigned)warps * 32, warps * (32 / LANES), warps * bytes, true};
    return vectors ? csaw__maxk_in_warp<T, LANES, CSAW__VECTOR> : csaw__maxk_in_warp<T, LANES, 1>;
}

/* The kernel for rows of up to CSAW__MAXK_IN_WARP columns. */
template <csaw_dtype T>
static csaw__maxk_rows_kernel *csaw__maxk_in_warp_of(const csaw__maxk_rows *job, csaw__maxk_blocks *blocks) {
    const uint64_t k = job->m.k;
    const bool vectors = job->m.cols % CSAW__VECTOR == 0 && csaw__takes_vectors(&job->x);
    if (job->m.cols <= 64) return csaw__maxk_in_warp_by<T, 1>(vectors, k, blocks);
    if (job->m.cols <= 128) return csaw__maxk_in_warp_by<T, 2>(vectors, k, blocks);
    if (job->m.cols <= 256) return csaw__maxk_in_warp_by<T, 4>(vectors, k, blocks);
    if (job->m.cols <= 512) return csaw__maxk_in_warp_by<T, 8>(vectors, k, blocks);
    return csaw__maxk_in_warp_by<T, 16>(vectors, k, blocks);
}

#endif

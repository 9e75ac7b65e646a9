/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_tile.cuh - rows of csaw_maxk() that a warp has in shared memory, and the elements of each lane as
 * halves (device_maxk_key.cuh). */
#ifndef CSAW_SPMM_DEVICE_MAXK_TILE_CUH
#define CSAW_SPMM_DEVICE_MAXK_TILE_CUH

#include "spmm/device_maxk_key.cuh"
#include "spmm/device_shared.cuh"

enum {
    CSAW__MAXK_STRIPS = 2,                                      /* of 32 columns, that a lane has of a row at most */
    CSAW__MAXK_OF_STRIP = 16,                                   /* words of halves */
    CSAW__MAXK_WORDS = CSAW__MAXK_STRIPS * CSAW__MAXK_OF_STRIP, /* that a lane has at most */
    CSAW__MAXK_TILE = 32 * 2 * CSAW__MAXK_WORDS                 /* elements that a warp has at once, at most */
};

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

/* x, in a register: ptxas would rather work it out again for each tile. */
static __device__ __forceinline__ uint32_t csaw__maxk_held(uint32_t x) {
    return __shfl_sync(CSAW__ALL_LANES, x, (int)(threadIdx.x % 32));
}

template <int BYTES> struct csaw__maxk_bits; /* of so many bytes */
template <> struct csaw__maxk_bits<4> { typedef uint32_t type; };
template <> struct csaw__maxk_bits<2> { typedef uint16_t type; };
template <> struct csaw__maxk_bits<1> { typedef uint8_t type; };

/* The tile of a warp: 32 / LANES rows, each of LANES lanes. Lane l of a row has the strips l and, of two, l + LANES. */
template <csaw_dtype T, int LANES, int STRIPS = CSAW__MAXK_STRIPS> struct csaw__maxk_tile {
    typedef typename csaw__maxk_bits<T == CSAW_F32 ? 4 : 2>::type raw;
    typedef csaw__pack<uint32_t, 4> chunk;
    enum {
        ROWS = 32 / LANES,
        COLUMNS = 32 * STRIPS * LANES,
        ELEMENTS = ROWS * COLUMNS,
        WORDS = STRIPS * CSAW__MAXK_OF_STRIP, /* that a lane has */
        WIDE = 16 / sizeof(raw),
        CHUNKS = 32 / WIDE, /* of a strip */
        TURN = 8 / CHUNKS
    };
    typedef typename csaw__maxk_bits<COLUMNS <= 256 ? 1 : 2>::type index; /* csaw_cbsr_index_bytes() */
    raw *element;                                                         /* [ELEMENTS] */
    uint32_t lane, n;
    uint32_t mine;          /* where the lane's first column stands */
    uint32_t exist[STRIPS]; /* the columns of the lane that there are, a bit each */

    __device__ __forceinline__ csaw__maxk_tile(raw *shared, uint32_t columns)
        : element(shared), lane(threadIdx.x % 32), n(columns) {
        mine = csaw__maxk_held(at(row(), first(0)));
#pragma unroll
        for (int s = 0; s < STRIPS; s++) {
            const uint32_t before = first(s);
            exist[s] = csaw__maxk_held(n >= before + 32 ? ~0u : n > before ? (1u << (n - before)) - 1 : 0);
        }
    }

    /* The chunks of a strip change places by the lane that has it, so that lanes that read theirs at once do so from
     * different banks. */
    static __device__ __forceinline__ uint32_t turned(uint32_t column, uint32_t owner) {
        return column ^ owner / TURN % CHUNKS * WIDE;
    }
    static __device__ __forceinline__ uint32_t place_of(uint32_t row,
                                                        uint32_t column) { /* where it stands in its row */
        return turned(0, row * LANES) ^ turned(column, column / 32 % LANES);
    }
    static __device__ __forceinline__ uint32_t at(uint32_t row, uint32_t column) { /* and in the tile */
        return row * COLUMNS + place_of(row, column);
    }
    /* The columns that stand in places of a row, all at once that a word of `index` has. */
    static __device__ __forceinline__ uint32_t columns_of(uint32_t row, uint32_t places) {
        constexpr uint32_t each = sizeof(index) == 1 ? 0x1010101 : 0x10001;
        constexpr uint32_t turns = LANES / TURN > CHUNKS ? CHUNKS : LANES / TURN ? LANES / TURN : 1;
        static_assert(WIDE * 8 == TURN * 32, "so that turned() has a place's strip, over TURN, 3 bits lower");
        return places ^ turned(0, row * LANES) * each ^ (places >> 3 & (turns - 1) * WIDE * each);
    }

    __device__ __forceinline__ uint32_t row() const { return lane / LANES; }
    __device__ __forceinline__ uint32_t first(int strip) const { /* column */
        return (lane % LANES + (uint32_t)strip * LANES) * 32;
    }
    __device__ __forceinline__ uint32_t own(int strip, uint32_t i) const { /* where it stands; i: of its strip */
        return (mine ^ i) + (uint32_t)strip * (32 * LANES);
    }

    /* Columns that do not exist, once for all tiles: no larger than any. */
    __device__ __forceinline__ void pad() const {
        const raw least = T == CSAW_F32 ? (raw)0xff800000u : T == CSAW_F16 ? (raw)0xfc00 : (raw)0xff80;
        if (n == COLUMNS) return;
        for (uint32_t i = lane; i < ELEMENTS; i += 32)
            if (i % COLUMNS >= n) element[at(i / COLUMNS, i % COLUMNS)] = least;
    }

    /* Begins to bring `rows` rows; the others are the last of them once more. from: what the lane brings first, if
     * there are so many rows. */
    template <int VECTOR> __device__ __forceinline__ void bring(const raw *from, uint64_t stride, uint32_t rows) const {
        typedef csaw__pack<raw, VECTOR> pack;
        const uint32_t row = lane * VECTOR / COLUMNS, column = lane * VECTOR % COLUMNS;
        const auto piece = [&](uint32_t i,
                               const raw *of) { /* element i of the tile, and what is as far behind `of` */
                                                const uint32_t to = i | lane * VECTOR;
                                                csaw__maxk_bring((pack *)(element + at(to / COLUMNS, to % COLUMNS)),
                                                                 (const pack *)(of + i % COLUMNS));
        };
        if (rows == ROWS && n == COLUMNS) {
#pragma unroll
            for (uint32_t i = 0; i < ELEMENTS; i += 32 * VECTOR) piece(i, from + i / COLUMNS * stride);
            return;
        }
        from -= row * stride;
#pragma unroll 1
        for (uint32_t i = 0; i < ELEMENTS; i += 32 * VECTOR) {
            const uint32_t r = row + i / COLUMNS;
            if (column + i % COLUMNS < n) piece(i, from + (r < rows ? r : rows - 1) * stride);
        }
    }

    __device__ __forceinline__ chunk chunk_at(uint32_t i) const {
#ifdef __CUDA_ARCH__
        return *(const chunk *)(element + i);
#else
        chunk all;
        memcpy(&all, element + i, sizeof all);
        return all;
#endif
    }

    /* The lane's elements: of each strip the word i has columns 2 i and 2 i + 1. */
    __device__ __forceinline__ void take(uint32_t *words) const {
#pragma unroll
        for (int s = 0; s < STRIPS; s++)
#pragma unroll
            for (int c = 0; c < CHUNKS; c++) {
                const chunk all = chunk_at(own(s, (uint32_t)c * WIDE));
                uint32_t *const of = words + s * CSAW__MAXK_OF_STRIP + c * (WIDE / 2);
#pragma unroll
                for (int i = 0; i < WIDE / 2; i++)
                    if constexpr (T == CSAW_F32)
                        of[i] =
                            csaw__maxk_halves_of(__uint_as_float(all.at[i * 2]), __uint_as_float(all.at[i * 2 + 1]));
                    else
                        of[i] = all.at[i];
            }
    }

    __device__ __forceinline__ int32_t key(int strip, uint32_t i) const { return key_at(own(strip, i)); }
    __device__ __forceinline__ int32_t key_at(uint32_t place) const { /* in shared memory */
        const raw bits = element[place];
        if constexpr (T == CSAW_F32)
            return csaw__maxk_key_of(__uint_as_float(bits));
        else
            return csaw__maxk_key_of(csaw__widen<T>(bits));
    }
};

#endif

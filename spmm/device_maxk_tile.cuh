/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_tile.cuh - rows of csaw_maxk() that a warp has in shared memory, and the elements of each lane as
 * halves (device_maxk_key.cuh). */
#ifndef CSAW_SPMM_DEVICE_MAXK_TILE_CUH
#define CSAW_SPMM_DEVICE_MAXK_TILE_CUH

#include "spmm/device_maxk_key.cuh"
#include "spmm/device_shared.cuh"

enum {
    CSAW__MAXK_TILE = 2048,                                    /* elements that a warp has at once */
    CSAW__MAXK_STRIPS = 2,                                     /* of 32 columns, that a lane has of a row */
    CSAW__MAXK_WORDS = CSAW__MAXK_TILE / 32 / 2,               /* of halves, that a lane has */
    CSAW__MAXK_OF_STRIP = CSAW__MAXK_WORDS / CSAW__MAXK_STRIPS /* words */
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

template <int BYTES> struct csaw__maxk_bits; /* of so many bytes */
template <> struct csaw__maxk_bits<4> { typedef uint32_t type; };
template <> struct csaw__maxk_bits<2> { typedef uint16_t type; };
template <> struct csaw__maxk_bits<1> { typedef uint8_t type; };

/* The tile of a warp: 32 / LANES rows, each of LANES lanes. Lane l of a row has the strips l and l + LANES. */
template <csaw_dtype T, int LANES> struct csaw__maxk_tile {
    typedef typename csaw__maxk_bits<T == CSAW_F32 ? 4 : 2>::type raw;
    typedef csaw__pack<uint32_t, 4> chunk;
    enum {
        ROWS = 32 / LANES,
        COLUMNS = 32 * CSAW__MAXK_STRIPS * LANES,
        WIDE = 16 / sizeof(raw),
        CHUNKS = 32 / WIDE, /* of a strip */
        TURN = 8 / CHUNKS
    };
    typedef typename csaw__maxk_bits<COLUMNS <= 256 ? 1 : 2>::type index; /* csaw_cbsr_index_bytes() */
    raw *element;                                                         /* [CSAW__MAXK_TILE] */
    uint32_t lane, n;

    /* The chunks of a strip change places by the lane that has it, so that lanes that read theirs at once do so from
     * different banks. */
    static __device__ __forceinline__ uint32_t turned(uint32_t column, uint32_t owner) {
        return column ^ owner / TURN % CHUNKS * WIDE;
    }
    static __device__ __forceinline__ uint32_t at(uint32_t row, uint32_t column) {
        return row * COLUMNS + turned(column, row * LANES + column / 32 % LANES);
    }

    __device__ __forceinline__ uint32_t row() const { return lane / LANES; }
    __device__ __forceinline__ uint32_t first(int strip) const { /* column */
        return (lane % LANES + (uint32_t)strip * LANES) * 32;
    }
    __device__ __forceinline__ uint32_t own(int strip, uint32_t i) const { /* where it stands; i: of its strip */
        return (row() * COLUMNS + first(strip) + turned(0, lane)) ^ i;
    }

    /* The columns of a strip that there are, a bit each. */
    __device__ __forceinline__ uint32_t exist(int strip) const {
        const uint32_t before = first(strip);
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
#pragma unroll
        for (int i = 0; i < 4; i++)
            if constexpr (T == CSAW_F32)
                words[i] = csaw__maxk_halves_of(__uint_as_float(lower.at[i]), __uint_as_float(upper.at[i]));
            else
                csaw__maxk_pair(lower.at[i], upper.at[i], words + i * 2);
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

    /* The lane's elements: of each strip the word i has columns i and i + 16. */
    __device__ __forceinline__ void take(uint32_t *words) const {
#pragma unroll
        for (int s = 0; s < CSAW__MAXK_STRIPS; s++)
#pragma unroll
            for (int c = 0; c < CHUNKS / 2; c++)
                halves_of(chunk_at(own(s, (uint32_t)c * WIDE)), chunk_at(own(s, (uint32_t)(c + CHUNKS / 2) * WIDE)),
                          words + s * CSAW__MAXK_OF_STRIP + c * WIDE);
    }

    __device__ __forceinline__ int32_t key(int strip, uint32_t i) const {
        const raw bits = element[own(strip, i)];
        if constexpr (T == CSAW_F32)
            return csaw__maxk_key_of(__uint_as_float(bits));
        else
            return csaw__maxk_key_of(csaw__widen<T>(bits));
    }
};

#endif

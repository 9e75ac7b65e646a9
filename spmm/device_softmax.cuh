/* SPDX-License-Identifier: MIT */
/* spmm/device_softmax.cuh - device code of the softmax over edges: rows of up to CSAW_CHUNK edges by a group of lanes
 * for each head; of longer ones, one pass over all chunks after the other, a warp each, with their results merged in
 * order in between. Edges that follow each other are lanes that do, so that a warp reads and writes whole sectors and
 * takes exponentials side by side. Sums stay those of the CPU, one edge after the other: summands go to shared memory,
 * where every lane of the group reads all of them. To be compiled without contraction of a * b + c.
 *
 * Limit on an H100, graphs of tests: launches of 7 to 20 us, with 6 to 14% of the issue slots; on all of arxiv 0.073
 * ms, twenty times the floor of its bytes (docs/measured/2026-11-26-gpu-14.md). */
#ifndef CSAW_SPMM_DEVICE_SOFTMAX_CUH
#define CSAW_SPMM_DEVICE_SOFTMAX_CUH

#include "spmm/device_element.cuh"
#include "spmm/device_group.cuh"
#include "spmm/softmax_passes.h"

typedef enum csaw__pass {
    CSAW__LARGEST,
    CSAW__EXPONENTIALS,
    CSAW__DIVIDE,
    CSAW__PRODUCTS, /* of the gradient */
    CSAW__GRADIENTS
} csaw__pass;

enum {
    CSAW__SOFTMAX_THREADS = 256,
    CSAW__SOFTMAX_HELD = 2,   /* edges that a lane has on their way */
    CSAW__SOFTMAX_LANES = 8,  /* of a row, where rows are short */
    CSAW__SOFTMAX_SHORT = 16, /* edges of a row on average, below which they are */
    /* of one group: what two that are beside each other read is in different banks */
    CSAW__SOFTMAX_PAD = 2,
    CSAW__SOFTMAX_ROOM =
        CSAW__SOFTMAX_THREADS * CSAW__SOFTMAX_HELD + CSAW__SOFTMAX_THREADS / CSAW__SOFTMAX_LANES * CSAW__SOFTMAX_PAD
};

typedef struct csaw__device_softmax_job {
    const uint64_t *rowptr;
    uint64_t rows;
    csaw__softmax of;
    csaw__long_rows split;
    double *partial;       /* [most_chunks, heads] */
    double *before;        /* [most_rows, heads] what the pass before found */
    uint32_t chunk_blocks; /* of a launch over chunks */
} csaw__device_softmax_job;

/* ---- numbers of a group of lanes, in shared memory ---- */

/* The LANES lanes of a group: 0 + value(0, load(0)) + value(1, load(1)) + ..., in this order. Every lane ends with the
 * result. All lanes of a warp call this. */
template <int LANES, typename LOAD, typename VALUE>
static __device__ __forceinline__ double csaw__sum_in_turn(uint64_t count, double *room, LOAD load, VALUE value) {
    constexpr int HELD = CSAW__SOFTMAX_HELD, TURN = HELD * LANES;
    typedef csaw__pack<double, 2> pack;
    const uint32_t lane = threadIdx.x % LANES;
    double *const turn = room + threadIdx.x / LANES * (TURN + CSAW__SOFTMAX_PAD);
    double sum = 0;
    for (uint64_t first = 0; __any_sync(0xffffffffu, first < count); first += TURN) {
        decltype(load(0)) loaded[HELD];
#pragma unroll
        for (int j = 0; j < HELD; j++)
            if (first + j * LANES + lane < count) loaded[j] = load(first + j * LANES + lane);
#pragma unroll
        for (int j = 0; j < HELD; j++) {
            const uint64_t k = first + j * LANES + lane;
            turn[j * LANES + lane] = k < count ? value(k, loaded[j]) : -0.0; /* which changes no sum */
        }
        __syncwarp();
        for (uint32_t k = 0; k < TURN && first + k < count; k += LANES) {
#pragma unroll
            for (int i = 0; i < LANES; i += 2) {
                const pack two = *(const pack *)(turn + k + i);
                sum += two.at[0];
                sum += two.at[1];
            }
        }
        __syncwarp(); /* before the next turn is written */
    }
    return sum;
}

/* The largest of value(0), value(1), ..., as csaw__softmax_larger() has it; which zero it is differs, and shows
 * nowhere. */
template <int LANES, typename VALUE>
static __device__ __forceinline__ double csaw__largest_of(uint64_t count, VALUE value) {
    double most = -csaw__infinity();
    for (uint64_t k = threadIdx.x % LANES; k < count; k += LANES) most = csaw__softmax_larger(most, value(k));
#pragma unroll
    for (int d = LANES / 2; d; d /= 2) most = csaw__softmax_larger(most, __shfl_xor_sync(0xffffffffu, most, d));
    return most;
}

/* ---- passes ---- */

/* Edges first .. first + count - 1 of a head, by a group. before: what the pass before found. */
template <csaw__pass PASS, int LANES>
static __device__ __forceinline__ double csaw__pass_over(const csaw__softmax &of, double before, uint64_t first,
                                                         uint32_t count, uint32_t head, double *room) {
    struct both {
        float out, dout;
    };
    const uint64_t heads = of.heads, from = first * heads + head;
    if constexpr (PASS == CSAW__LARGEST) {
        return csaw__largest_of<LANES>(count, [&](uint64_t k) { return (double)of.in[from + k * heads]; });
    } else if constexpr (PASS == CSAW__EXPONENTIALS) {
        const auto load = [&](uint64_t k) { return of.in[from + k * heads]; };
        return csaw__sum_in_turn<LANES>(count, room, load, [&](uint64_t k, float score) {
            const double e = csaw__softmax_exponential(score, before);
            of.out[from + k * heads] = (float)e;
            return e;
        });
    } else if constexpr (PASS == CSAW__PRODUCTS) {
        const auto load = [&](uint64_t k) { return both{of.in[from + k * heads], of.dout[from + k * heads]}; };
        return csaw__sum_in_turn<LANES>(count, room, load,
                                        [&](uint64_t, const both &e) { return csaw__softmax_product(e.out, e.dout); });
    } else {
        for (uint32_t k = threadIdx.x % LANES; k < count; k += LANES) {
            const uint64_t p = from + k * heads;
            of.out[p] = PASS == CSAW__DIVIDE ? csaw__softmax_share(of.out[p], before)
                                             : csaw__softmax_gradient(of.in[p], of.dout[p], before);
        }
        return 0;
    }
}

/* The warp's chunk and head of all that are in the launch. */
template <csaw__pass PASS>
static __device__ __forceinline__ void csaw__pass_over_chunk(const csaw__device_softmax_job &j, double *room) {
    const uint64_t i = csaw__thread_number() / 32, number = j.of.heads == 1 ? i : i / j.of.heads;
    const uint32_t head = (uint32_t)(i - number * j.of.heads);
    if (number >= j.split.most_chunks || number >= j.split.count[0]) return;
    const csaw__chunk chunk = j.split.chunk[number];
    const bool is_first = PASS == CSAW__LARGEST || PASS == CSAW__PRODUCTS;
    const double before = is_first ? 0 : j.before[(uint64_t)chunk.row * j.of.heads + head];
    const double value = csaw__pass_over<PASS, 32>(j.of, before, chunk.first, chunk.count, head, room);
    if (threadIdx.x % 32 == 0) j.partial[i] = value;
}

/* ---- kernels ---- */

/* The first pass over chunks, by the first blocks; LANES lanes a row and head, by the others. */
template <bool BACK, int LANES>
static __global__ void __launch_bounds__(CSAW__SOFTMAX_THREADS)
    csaw__softmax_rows(const __grid_constant__ csaw__device_softmax_job j) {
    alignas(16) __shared__ double room[CSAW__SOFTMAX_ROOM];
    if (blockIdx.x < j.chunk_blocks) {
        csaw__pass_over_chunk<BACK ? CSAW__PRODUCTS : CSAW__LARGEST>(j, room);
        return;
    }
    const uint64_t i = ((uint64_t)(blockIdx.x - j.chunk_blocks) * blockDim.x + threadIdx.x) / LANES;
    const uint64_t row = j.of.heads == 1 ? i : i / j.of.heads;
    const uint32_t head = (uint32_t)(i - row * j.of.heads);
    const uint64_t begin = row < j.rows ? j.rowptr[row] : 0, length = row < j.rows ? j.rowptr[row + 1] - begin : 0;
    const uint32_t count = length > CSAW_CHUNK ? 0 : (uint32_t)length; /* of a long row none */
    if (BACK) {
        const double sum = csaw__pass_over<CSAW__PRODUCTS, LANES>(j.of, 0, begin, count, head, room);
        csaw__pass_over<CSAW__GRADIENTS, LANES>(j.of, sum, begin, count, head, room);
    } else {
        const double largest = csaw__pass_over<CSAW__LARGEST, LANES>(j.of, 0, begin, count, head, room);
        const double sum = csaw__pass_over<CSAW__EXPONENTIALS, LANES>(j.of, largest, begin, count, head, room);
        csaw__pass_over<CSAW__DIVIDE, LANES>(j.of, sum, begin, count, head, room);
    }
}

/* A warp a chunk and head. */
template <csaw__pass PASS>
static __global__ void __launch_bounds__(CSAW__SOFTMAX_THREADS)
    csaw__softmax_chunks(const __grid_constant__ csaw__device_softmax_job j) {
    alignas(16) __shared__ double room[CSAW__SOFTMAX_ROOM];
    csaw__pass_over_chunk<PASS>(j, room);
}

/* A warp a long row and head. No sum of a chunk is -0, so that to begin with 0 is to begin with the first. */
template <csaw__pass PASS>
static __global__ void __launch_bounds__(CSAW__SOFTMAX_THREADS)
    csaw__softmax_merge(const __grid_constant__ csaw__device_softmax_job j) {
    alignas(16) __shared__ double room[CSAW__SOFTMAX_ROOM];
    const uint64_t i = csaw__thread_number() / 32, heads = j.of.heads, number = i / heads;
    if (number >= j.split.most_rows || number >= j.split.count[1]) return;
    const csaw__long_row row = j.split.row[number];
    const uint64_t chunks = (j.rowptr[row.row + 1] - j.rowptr[row.row] + CSAW_CHUNK - 1) / CSAW_CHUNK;
    const double *const partial = j.partial + row.chunk * heads + i % heads;
    const auto load = [&](uint64_t k) { return partial[k * heads]; };
    double value;
    if constexpr (PASS == CSAW__LARGEST)
        value = csaw__largest_of<32>(chunks, load);
    else
        value = csaw__sum_in_turn<32>(chunks, room, load, [](uint64_t, double sum) { return sum; });
    if (threadIdx.x % 32 == 0) j.before[i] = value;
}

/* ---- launches ---- */

typedef void csaw__softmax_kernel(csaw__device_softmax_job);

/* The kernel of rows for a matrix of so many edges, and the blocks that it takes beside those of chunks. */
static inline csaw__softmax_kernel *csaw__softmax_rows_at(const csaw__device_softmax_job *j, uint64_t edges,
                                                          uint64_t *blocks) {
    const bool is_short = edges / CSAW__SOFTMAX_SHORT < j->rows;
    const uint64_t groups = CSAW__SOFTMAX_THREADS / (is_short ? CSAW__SOFTMAX_LANES : 32);
    *blocks = (j->rows * j->of.heads + groups - 1) / groups;
    if (j->of.dout) return is_short ? csaw__softmax_rows<true, CSAW__SOFTMAX_LANES> : csaw__softmax_rows<true, 32>;
    return is_short ? csaw__softmax_rows<false, CSAW__SOFTMAX_LANES> : csaw__softmax_rows<false, 32>;
}

#endif

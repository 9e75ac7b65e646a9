/* SPDX-License-Identifier: MIT */
/* spmm/device_long.cuh - rows of more than CSAW_CHUNK edges: found, and the results of their chunks merged in order.
 */
#ifndef CSAW_SPMM_DEVICE_LONG_CUH
#define CSAW_SPMM_DEVICE_LONG_CUH

#include "spmm/device_product.h"
#include "spmm/device_slice.cuh"

/* One thread a row. With chunk NULL it counts them only; count: zero. Their order differs from run to run, and decides
 * nothing. */
static __global__ void csaw__find_long(const uint64_t *rowptr, uint64_t rows, csaw__long_rows out) {
    const uint64_t row = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t begin = row < rows ? rowptr[row] : 0, length = row < rows ? rowptr[row + 1] - begin : 0;
    const uint64_t chunks = length > CSAW_CHUNK ? (length + CSAW_CHUNK - 1) / CSAW_CHUNK : 0;
    unsigned long long at = 0, number = 0;
    if (chunks) {
        at = atomicAdd((unsigned long long *)out.count, (unsigned long long)chunks);
        number = atomicAdd((unsigned long long *)out.count + 1, 1ull);
        if (out.chunk) out.row[number] = csaw__long_row{row, at};
    }
    if (!out.chunk) return;
    for (uint32_t rest = __ballot_sync(CSAW__ALL_LANES, chunks != 0); rest; rest &= rest - 1) { /* a warp a row */
        const int from = __ffs((int)rest) - 1;
        const uint64_t first = __shfl_sync(CSAW__ALL_LANES, begin, from), to = __shfl_sync(CSAW__ALL_LANES, at, from);
        const uint64_t edges = __shfl_sync(CSAW__ALL_LANES, length, from);
        const uint32_t of = __shfl_sync(CSAW__ALL_LANES, (uint32_t)number, from);
        for (uint64_t k = threadIdx.x & 31; k * CSAW_CHUNK < edges; k += 32) {
            const uint64_t left = edges - k * CSAW_CHUNK;
            out.chunk[to + k] =
                csaw__chunk{first + k * CSAW_CHUNK, (uint32_t)(left < CSAW_CHUNK ? left : CSAW_CHUNK), of};
        }
    }
}

/* One thread a long row and column of the launch's slices, columns of a slice side by side. */
static __global__ void csaw__merge(const __grid_constant__ csaw__product p) {
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t column = (uint32_t)(thread % p.width);
    const uint64_t number = thread / p.width % p.split.most_rows, slice_number = thread / p.width / p.split.most_rows;
    if (slice_number >= p.slices || number >= p.split.count[1]) return;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    if (column >= slice.width) return;
    const csaw__long_row row = p.split.row[number];
    const uint64_t begin = p.rowptr[row.row], length = p.rowptr[row.row + 1] - begin;
    const uint64_t chunks = (length + CSAW_CHUNK - 1) / CSAW_CHUNK;
    const uint64_t first = (slice_number * p.split.most_chunks + row.chunk) * p.width + column;
    const bool extreme = p.reduce == CSAW_MAX || p.reduce == CSAW_MIN;
    float value = p.partial[first];
    uint64_t best = 0;
#pragma unroll 8
    for (uint64_t k = 1; k < chunks; k++) {
        const float next = p.partial[first + k * p.width];
        if (!extreme)
            value += next;
        else if (csaw__larger(next, value)) {
            value = next;
            best = k;
        }
    }
    if (p.reduce == CSAW_MEAN) value /= (float)length;
    if (p.reduce == CSAW_MIN) value = -value;
    if (extreme && p.arg)
        p.arg[row.row * p.y.cols + slice.first + column] = begin + best * CSAW_CHUNK + p.place[first + best * p.width];
    csaw__store<1>(&p.y, row.row, slice.first + column, &value);
}

#endif

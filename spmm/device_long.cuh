/* SPDX-License-Identifier: MIT */
/* spmm/device_long.cuh - rows of more than CSAW_CHUNK edges: found, and the results of their chunks merged in order.
 *
 * Limit on an H200 (csaw__merge), all of reddit, 256 columns, before many chunks were waited for at once: 33% of the
 * issue slots, 28% of the throughput of L2. docs/measured/2026-11-24-gpu-11.md. */
#ifndef CSAW_SPMM_DEVICE_LONG_CUH
#define CSAW_SPMM_DEVICE_LONG_CUH

#include "spmm/device_merge.cuh"
#include "spmm/device_product.h"

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

enum { CSAW__MERGE_LANES = 32 /* of a long row and slice of the launch */ };

static __global__ void csaw__merge(const __grid_constant__ csaw__product p) {
    const uint64_t warp = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / CSAW__MERGE_LANES;
    const uint64_t slice_number = p.slices == 1 ? 0 : warp / p.split.most_rows;
    const uint64_t number = warp - slice_number * p.split.most_rows;
    if (slice_number >= p.slices || number >= p.split.count[1]) return;
    const csaw__long_row row = p.split.row[number];
    const uint64_t begin = p.rowptr[row.row], length = p.rowptr[row.row + 1] - begin;
    const uint64_t first_chunk = slice_number * p.split.most_chunks + row.chunk;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const bool extreme = p.reduce == CSAW_MAX || p.reduce == CSAW_MIN;
    const uint64_t last_chunk = first_chunk + (length - 1) / CSAW_CHUNK;
    if (p.vector >= CSAW__VECTOR)
        csaw__merge_row<CSAW__VECTOR>(p, slice, row.row, begin, length, extreme, first_chunk, last_chunk);
    else
        csaw__merge_row<1>(p, slice, row.row, begin, length, extreme, first_chunk, last_chunk);
}

#endif

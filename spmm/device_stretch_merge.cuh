/* SPDX-License-Identifier: MIT */
/* spmm/device_stretch_merge.cuh - the sums of long rows' chunks, as stretches (spmm/device_stretch.cuh) left them in
 * work memory, added up in order. */
#ifndef CSAW_SPMM_DEVICE_STRETCH_MERGE_CUH
#define CSAW_SPMM_DEVICE_STRETCH_MERGE_CUH

#include "spmm/device_beside.cuh"
#include "spmm/device_slice.cuh"
#include "spmm/device_stretch_layout.cuh"

/* Where the sum of a long row's chunk stands that begins with this edge. */
static __device__ __forceinline__ uint64_t csaw__chunk_place(const csaw__product &p, uint64_t edge, bool last) {
    return edge / CSAW_CHUNK + (last ? p.split.most_chunks / 2 : 0);
}

/* VECTOR columns of a long row at a time, chunk by chunk. */
template <int VECTOR>
static __device__ __forceinline__ void csaw__merge_chunks(const csaw__product &p, const csaw__slice &slice,
                                                          uint64_t slice_number, uint64_t row, uint64_t begin,
                                                          uint64_t length) { /* row: of y */
    typedef csaw__pack<float, VECTOR> pack;
    const uint64_t chunks = (length + CSAW_CHUNK - 1) / CSAW_CHUNK;
    for (uint32_t column = threadIdx.x % 32 * VECTOR; column < slice.width; column += 32 * VECTOR) {
        const float *const partial = p.partial + slice_number * p.split.most_chunks * p.width + column;
        pack sum = *(const pack *)(partial + csaw__chunk_place(p, begin, false) * p.width);
#pragma unroll 8
        for (uint64_t k = 1; k < chunks; k++) {
            const uint64_t at = csaw__chunk_place(p, begin + k * CSAW_CHUNK, k + 1 == chunks);
            const pack next = *(const pack *)(partial + at * p.width);
#pragma unroll
            for (int i = 0; i < VECTOR; i++) sum.at[i] += next.at[i];
        }
        if (p.reduce == CSAW_MEAN)
#pragma unroll
            for (int i = 0; i < VECTOR; i++) sum.at[i] /= (float)length;
        csaw__store<VECTOR>(&p.y, row, slice.first + column, sum.at);
    }
}

/* A warp a long row that is listed, or else what is long of some rows; of each slice. What it needs of the rows it
 * reads before the stretches are done. */
static __global__ void csaw__merge_stretches(const __grid_constant__ csaw__product p,
                                             const csaw__reordered_row *moved) {
    const uint32_t lane = threadIdx.x % 32;
    const uint64_t warp = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const uint64_t of_slice = csaw__stretch_mergers(&p), slice_number = p.slices == 1 ? 0 : warp / of_slice;
    const uint64_t number = warp - slice_number * of_slice;
    const bool listed = p.split.row != nullptr, here = warp < of_slice * p.slices;
    const uint32_t each = listed ? 1 : csaw__stretch_merged_rows(p.rows);
    const uint64_t row = !here || lane >= each ? p.rows : listed ? p.split.row[number].row : number * each + lane;
    const uint64_t begin = row < p.rows ? p.rowptr[row] : 0, length = row < p.rows ? p.rowptr[row + 1] - begin : 0;
    const uint64_t own = moved && length > CSAW_CHUNK ? moved[row].row : row;
    csaw__end_after_last();
    for (uint32_t rest = __ballot_sync(CSAW__ALL_LANES, length > CSAW_CHUNK); rest; rest &= rest - 1) {
        const int from = __ffs((int)rest) - 1;
        const uint64_t of = __shfl_sync(CSAW__ALL_LANES, own, from), first = __shfl_sync(CSAW__ALL_LANES, begin, from);
        const uint64_t edges = __shfl_sync(CSAW__ALL_LANES, length, from);
        const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
        if (p.vector >= 4)
            csaw__merge_chunks<4>(p, slice, slice_number, of, first, edges);
        else if (p.vector == 2)
            csaw__merge_chunks<2>(p, slice, slice_number, of, first, edges);
        else
            csaw__merge_chunks<1>(p, slice, slice_number, of, first, edges);
    }
}

#endif

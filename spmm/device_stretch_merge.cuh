/* SPDX-License-Identifier: MIT */
/* spmm/device_stretch_merge.cuh - the results of long rows' chunks, as stretches (spmm/device_stretch.cuh) left them in
 * work memory, merged. */
#ifndef CSAW_SPMM_DEVICE_STRETCH_MERGE_CUH
#define CSAW_SPMM_DEVICE_STRETCH_MERGE_CUH

#include "spmm/device_beside.cuh"
#include "spmm/device_merge.cuh"
#include "spmm/device_stretch_layout.cuh"

/* Where the result of a long row's chunk stands that begins with this edge. */
static __device__ __forceinline__ uint64_t csaw__chunk_place(const csaw__product &p, uint64_t edge, bool last) {
    return edge / CSAW_CHUNK + (last ? p.split.most_chunks / 2 : 0);
}

/* A warp a long row that is listed, or else what is long of some rows; of each slice. What it needs of the rows it
 * reads before the stretches are done. */
template <bool EXTREME>
static __global__ void __launch_bounds__(CSAW__THREADS, 4)
    csaw__merge_stretches(const __grid_constant__ csaw__product p, const csaw__reordered_row *moved) {
    const uint32_t lane = threadIdx.x % 32;
    const uint64_t warp = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const uint64_t of_slice = csaw__stretch_mergers(&p), slice_number = p.slices == 1 ? 0 : warp / of_slice;
    const uint64_t number = warp - slice_number * of_slice;
    const bool listed = p.split.row != nullptr, here = warp < of_slice * p.slices;
    const uint32_t each = listed ? 1 : csaw__stretch_merged_rows(p.rows);
    const uint64_t row = !here || lane >= each ? p.rows : listed ? p.split.row[number].row : number * each + lane;
    const uint64_t begin = row < p.rows ? p.rowptr[row] : 0, length = row < p.rows ? p.rowptr[row + 1] - begin : 0;
    const bool is_long = length > CSAW_CHUNK, is_moved = moved && is_long;
    const uint64_t own = is_moved ? moved[row].row : row, first = is_moved ? moved[row].edge : begin;
    csaw__end_after_last();
    for (uint32_t rest = __ballot_sync(CSAW__ALL_LANES, is_long); rest; rest &= rest - 1) {
        const int from = __ffs((int)rest) - 1;
        const auto of = [&](uint64_t x) { return __shfl_sync(CSAW__ALL_LANES, x, from); };
        const uint64_t to = of(own), own_edge = EXTREME ? of(first) : 0, edge = of(begin), edges = of(length);
        const uint64_t before = slice_number * p.split.most_chunks, last = (edges - 1) / CSAW_CHUNK * CSAW_CHUNK;
        const uint64_t chunk = before + csaw__chunk_place(p, edge, false);
        const uint64_t last_chunk = before + csaw__chunk_place(p, edge + last, true);
        const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
        if (p.vector >= 4)
            csaw__merge_row<4>(p, slice, to, own_edge, edges, EXTREME, chunk, last_chunk);
        else if (p.vector == 2)
            csaw__merge_row<2>(p, slice, to, own_edge, edges, EXTREME, chunk, last_chunk);
        else
            csaw__merge_row<1>(p, slice, to, own_edge, edges, EXTREME, chunk, last_chunk);
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/device_merge.cuh - the results of a long row's chunks, as kernels left them in work memory, merged in order. */
#ifndef CSAW_SPMM_DEVICE_MERGE_CUH
#define CSAW_SPMM_DEVICE_MERGE_CUH

#include "spmm/device_address.cuh"
#include "spmm/device_slice.cuh"

enum { CSAW__MERGED = 16 /* chunks that a lane has on their way; half as many of four columns at a time */ };

/* VECTOR columns at a time, by a warp, of a row of two chunks or more. Where their results stand in work memory: of the
 * first in `chunk`, of those that follow after it, but of the last in last_chunk. row: of y; first: its first edge in
 * the matrix's own order. extreme: of MAX and MIN. */
template <int VECTOR>
static __device__ __forceinline__ void csaw__merge_row(const csaw__product &p, const csaw__slice &slice, uint64_t row,
                                                       uint64_t first, uint64_t length, bool extreme, uint64_t chunk,
                                                       uint64_t last_chunk) {
    typedef csaw__pack<float, VECTOR> pack;
    constexpr uint32_t AT_ONCE = VECTOR < 4 ? CSAW__MERGED : CSAW__MERGED / 2;
    const uint32_t last = (uint32_t)((length - 1) / CSAW__LONG), bytes = p.width * (uint32_t)sizeof(float);
    for (uint32_t column = threadIdx.x % 32 * VECTOR; column < slice.width; column += 32 * VECTOR) {
        const char *from = (const char *)(p.partial + chunk * p.width + column);
        csaw__work_out(from);
        const pack end = *(const pack *)(p.partial + last_chunk * p.width + column);
        pack value = *(const pack *)from;
        uint32_t best[VECTOR] = {}; /* chunk */
        const auto take = [&](const pack &next, uint32_t k) {
#pragma unroll
            for (int i = 0; i < VECTOR; i++) {
                const bool larger = extreme && csaw__larger(next.at[i], value.at[i]);
                if (!extreme) value.at[i] += next.at[i];
                if (larger) value.at[i] = next.at[i], best[i] = k;
            }
        };
#pragma unroll 1
        for (uint32_t k = 1; k < last; k += AT_ONCE) {
            pack next[AT_ONCE];
#pragma unroll
            for (uint32_t n = 0; n < AT_ONCE; n++)
                if (k + n < last) next[n] = *(const pack *)csaw__address(from, k + n, bytes);
#pragma unroll
            for (uint32_t n = 0; n < AT_ONCE; n++)
                if (k + n < last) take(next[n], k + n);
        }
        take(end, last);
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
            if (p.reduce == CSAW_MEAN) value.at[i] /= (float)length;
            if (p.reduce == CSAW_MIN) value.at[i] = -value.at[i];
        }
        if (extreme && p.arg) {
            csaw_edge edge[VECTOR];
#pragma unroll
            for (int i = 0; i < VECTOR; i++) {
                const uint64_t of = best[i] == last ? last_chunk : chunk + best[i];
                edge[i] = first + (uint64_t)best[i] * CSAW__LONG + p.place[of * p.width + column + i];
            }
            csaw__put_arg<VECTOR>(p.arg + row * p.y.cols + slice.first + column, edge);
        }
        csaw__store<VECTOR>(&p.y, row, slice.first + column, value.at);
    }
}

#endif

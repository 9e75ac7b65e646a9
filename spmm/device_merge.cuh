/* SPDX-License-Identifier: MIT */
/* spmm/device_merge.cuh - the results of a long row's chunks, as kernels left them in work memory, merged in order. */
#ifndef CSAW_SPMM_DEVICE_MERGE_CUH
#define CSAW_SPMM_DEVICE_MERGE_CUH

#include "spmm/device_slice.cuh"

/* VECTOR columns at a time, by a warp. chunk(k): where the k-th chunk stands in work memory. row: of y; first: its
 * first edge in the matrix's own order. extreme: of MAX and MIN. */
template <int VECTOR, typename CHUNK>
static __device__ __forceinline__ void csaw__merge_row(const csaw__product &p, const csaw__slice &slice, uint64_t row,
                                                       uint64_t first, uint64_t length, bool extreme, CHUNK chunk) {
    typedef csaw__pack<float, VECTOR> pack;
    const uint64_t chunks = (length + CSAW__LONG - 1) / CSAW__LONG;
    for (uint32_t column = threadIdx.x % 32 * VECTOR; column < slice.width; column += 32 * VECTOR) {
        const auto at = [&](uint64_t k) { return chunk(k) * p.width + column; };
        pack value = *(const pack *)(p.partial + at(0));
        uint64_t best[VECTOR] = {}; /* chunk */
        if (extreme) {
#pragma unroll 4
            for (uint64_t k = 1; k < chunks; k++) {
                const pack next = *(const pack *)(p.partial + at(k));
#pragma unroll
                for (int i = 0; i < VECTOR; i++) {
                    const bool larger = csaw__larger(next.at[i], value.at[i]);
                    value.at[i] = larger ? next.at[i] : value.at[i];
                    best[i] = larger ? k : best[i];
                }
            }
        } else {
#pragma unroll 8
            for (uint64_t k = 1; k < chunks; k++) {
                const pack next = *(const pack *)(p.partial + at(k));
#pragma unroll
                for (int i = 0; i < VECTOR; i++) value.at[i] += next.at[i];
            }
        }
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
            if (p.reduce == CSAW_MEAN) value.at[i] /= (float)length;
            if (p.reduce == CSAW_MIN) value.at[i] = -value.at[i];
        }
        if (extreme && p.arg) {
            csaw_edge edge[VECTOR];
#pragma unroll
            for (int i = 0; i < VECTOR; i++) edge[i] = first + best[i] * CSAW__LONG + p.place[at(best[i]) + i];
            csaw__put_arg<VECTOR>(p.arg + row * p.y.cols + slice.first + column, edge);
        }
        csaw__store<VECTOR>(&p.y, row, slice.first + column, value.at);
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_dots.cuh - device code of csaw_maxk_spmm_backward_weight(): for every edge the product of a row of
 * dy and a CBSR row, at the entries of the latter, in the order of spmm/maxk_weight.c. A group of lanes holds the
 * sixteen sums of an edge, VECTOR a lane, and takes some edges that follow each other. To be compiled without
 * contraction of a * b + c.
 *
 * Limit on an H200, a twentieth of reddit: 89% of the throughput of L1, 66% of that of L2, 64% of the issue slots.
 * docs/measured/2026-11-24-gpu-11.md. */
#ifndef CSAW_SPMM_DEVICE_MAXK_DOTS_CUH
#define CSAW_SPMM_DEVICE_MAXK_DOTS_CUH

#include "spmm/device_dots.cuh"
#include "spmm/device_maxk.h"

typedef struct csaw__maxk_dots {
    csaw_sparse a;
    csaw_dense dy; /* stride filled in */
    csaw_cbsr x;
    bool mean;
    float *out; /* [num_edges] */
} csaw__maxk_dots;

template <csaw_dtype X, typename INDEX, int VECTOR>
static __global__ void csaw__maxk_dots_of_edges(const __grid_constant__ csaw__maxk_dots d) {
    constexpr uint32_t lanes = CSAW__SUMS / VECTOR;
    const uint64_t first = csaw__thread_number() / lanes * CSAW__DOTS_EDGES, k = d.x.k;
    uint64_t row = first < d.a.num_edges ? csaw__row_at(d.a.rowptr, d.a.rows, first) : 0;
    for (uint64_t e = first; e < first + CSAW__DOTS_EDGES; e++) {
        const bool is_edge = e < d.a.num_edges; /* all lanes of the warp go on together */
        float sum[VECTOR] = {0};
        if (is_edge) {
            const uint64_t column = d.a.col[e];
            row = csaw__row_on(d.a.rowptr, row, d.a.rows, e);
#pragma unroll 4
            for (uint64_t t = threadIdx.x % lanes * VECTOR; t < k; t += CSAW__SUMS) {
                const uint64_t at = column * k + t;
                float x[VECTOR];
                const csaw__pack<INDEX, VECTOR> c = *(const csaw__pack<INDEX, VECTOR> *)((const INDEX *)d.x.index + at);
                csaw__load<X, VECTOR>((const char *)d.x.values + at * (X == CSAW_F32 ? 4 : 2), x);
#pragma unroll
                for (int i = 0; i < VECTOR; i++) sum[i] += csaw__element(&d.dy, row, c.at[i]) * x[i];
            }
        }
        float value = csaw__sum_of_sums<VECTOR>(sum);
        if (!is_edge || threadIdx.x % lanes) continue;
        if (d.mean) value /= (float)(d.a.rowptr[row + 1] - d.a.rowptr[row]);
        d.out[e] = value;
    }
}

typedef void csaw__maxk_dots_kernel(csaw__maxk_dots);

template <csaw_dtype X, int VECTOR> static csaw__maxk_dots_kernel *csaw__maxk_dots_for(const csaw__maxk_dots *d) {
    return d->x.cols <= 256 ? csaw__maxk_dots_of_edges<X, uint8_t, VECTOR>
                            : csaw__maxk_dots_of_edges<X, uint16_t, VECTOR>;
}

template <csaw_dtype X> static csaw__maxk_dots_kernel *csaw__maxk_dots_of(const csaw__maxk_dots *d, bool vectors) {
    return vectors ? csaw__maxk_dots_for<X, CSAW__VECTOR>(d) : csaw__maxk_dots_for<X, 1>(d);
}

/* The kernel for this storage; *threads: how many it takes. */
static inline csaw__maxk_dots_kernel *csaw__maxk_dots_at(const csaw__maxk_dots *d, uint64_t *threads) {
    const uint64_t bytes = d->x.dtype == CSAW_F32 ? 4 : 2, index = d->x.cols <= 256 ? 1 : 2;
    const bool vectors = d->x.k % CSAW__VECTOR == 0 && (uintptr_t)d->x.values % (CSAW__VECTOR * bytes) == 0 &&
                         (uintptr_t)d->x.index % (CSAW__VECTOR * index) == 0;
    *threads = (d->a.num_edges + CSAW__DOTS_EDGES - 1) / CSAW__DOTS_EDGES * (CSAW__SUMS / (vectors ? CSAW__VECTOR : 1));
    if (d->x.dtype == CSAW_F32) return csaw__maxk_dots_of<CSAW_F32>(d, vectors);
    return d->x.dtype == CSAW_F16 ? csaw__maxk_dots_of<CSAW_F16>(d, vectors)
                                  : csaw__maxk_dots_of<CSAW_BF16>(d, vectors);
}

#endif

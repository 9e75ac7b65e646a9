/* SPDX-License-Identifier: MIT */
/* spmm/device_batched_dots.cuh - device code of the gradients of a batch's weights: a dot product for every entry, in
 * the order of csaw/batched.h. A group of lanes holds the sixteen partial sums of an entry, VECTOR a lane. Entries go
 * by row, so that those of one warp share rows of dy. To be compiled without contraction of a * b + c. */
#ifndef CSAW_SPMM_DEVICE_BATCHED_DOTS_CUH
#define CSAW_SPMM_DEVICE_BATCHED_DOTS_CUH

#include "spmm/device_batched.cuh"

/* What a lane reads of an entry: elements begin, begin + 16, ... and those beside them in a vector. */
struct csaw__batched_pair {
    const char *x, *dy;
    const uint32_t *arg; /* [cols] of MAX and MIN, of which those are counted that are */
    uint32_t wanted;
};

/* UNROLL steps from column c on; those from column `end` on read column c again, and are not added. */
template <csaw_dtype X, csaw_dtype DY, int VECTOR, bool EXTREME, bool WHOLE>
static __device__ __forceinline__ void csaw__batched_dot_steps(const csaw__batched_pair &of, uint64_t c, uint64_t end,
                                                               float *sum) {
    constexpr uint32_t COUNT = CSAW__DOTS_UNROLL;
    csaw__batched_pack<X, VECTOR> u[COUNT];
    csaw__batched_pack<DY, VECTOR> v[COUNT];
    uint32_t won[EXTREME ? COUNT : 1][VECTOR];
#pragma unroll
    for (uint32_t n = 0; n < COUNT; n++) {
        const uint64_t at = c + n * CSAW__SUMS < end ? c + n * CSAW__SUMS : c;
        u[n] = csaw__batched_load<X, VECTOR, WHOLE>(of.x + at * (X == CSAW_F32 ? 4 : 2));
        v[n] = csaw__batched_load<DY, VECTOR, WHOLE>(of.dy + at * (DY == CSAW_F32 ? 4 : 2));
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            if (EXTREME) won[EXTREME ? n : 0][i] = of.arg[at + i];
    }
#pragma unroll
    for (uint32_t n = 0; n < COUNT; n++)
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            if (c + n * CSAW__SUMS < end && (!EXTREME || won[EXTREME ? n : 0][i] == of.wanted))
                sum[i] += csaw__widen<X>(u[n].at[i]) * csaw__widen<DY>(v[n].at[i]);
}

template <csaw_dtype X, csaw_dtype DY, int VECTOR, bool EXTREME>
static __global__ void __launch_bounds__(CSAW__DOTS_THREADS)
    csaw__batched_dots_of_entries(const __grid_constant__ csaw__batched_dots d) {
    constexpr uint32_t lanes = CSAW__SUMS / VECTOR, x_bytes = X == CSAW_F32 ? 4 : 2, dy_bytes = DY == CSAW_F32 ? 4 : 2;
    const uint64_t number = csaw__thread_number() / lanes, e = number < d.edges ? number : d.edges - 1;
    const uint32_t lane = threadIdx.x % lanes, row = d.row_of[e], col = d.a.entry[e].other, entry = d.number[e];
    const csaw__batched_row of_row = d.a.row[row];
    const uint64_t x = csaw__batched_shift(&d.x, d.graph, of_row.graph, true) + col * d.x.stride * x_bytes;
    const uint64_t dy = csaw__batched_shift(&d.dy, d.graph, of_row.graph, false) + row * d.dy.stride * dy_bytes;
    const csaw__batched_pair pair = {csaw__batched_at(d.x.data, x), csaw__batched_at(d.dy.data, dy),
                                     EXTREME ? d.arg + row * d.cols : nullptr, entry};
    const bool whole =
        VECTOR == 1 || ((uintptr_t)pair.x % (VECTOR * x_bytes) == 0 && (uintptr_t)pair.dy % (VECTOR * dy_bytes) == 0);
    constexpr uint64_t width = CSAW__DOTS_UNROLL * CSAW__SUMS;
    float sum[VECTOR] = {0};
    const uint64_t full = whole ? d.cols / width * width : 0; /* columns that need not be asked for one by one */
    uint64_t c = lane * VECTOR;
    for (; c < full; c += width) csaw__batched_dot_steps<X, DY, VECTOR, EXTREME, true>(pair, c, ~0ull, sum);
    if (whole && c < d.cols) csaw__batched_dot_steps<X, DY, VECTOR, EXTREME, true>(pair, c, d.cols, sum);
    for (; !whole && c < d.cols; c += width)
        csaw__batched_dot_steps<X, DY, VECTOR, EXTREME, false>(pair, c, d.cols, sum);
    float value = csaw__sum_of_sums<VECTOR>(sum); /* with all lanes of the warp */
    if (number >= d.edges || lane) return;
    if (d.mean) value /= (float)of_row.count;
    d.dw[d.graph[of_row.graph].num_begin + entry] = value;
}

/* ---- kernels by storage and shape ---- */

typedef void csaw__batched_dots_kernel(csaw__batched_dots);

template <csaw_dtype X, csaw_dtype DY>
static csaw__batched_dots_kernel *csaw__batched_dots_kernel_as(const csaw__batched_dots *d, uint32_t vector) {
    if (vector > 1)
        return d->arg ? csaw__batched_dots_of_entries<X, DY, CSAW__VECTOR, true>
                      : csaw__batched_dots_of_entries<X, DY, CSAW__VECTOR, false>;
    return d->arg ? csaw__batched_dots_of_entries<X, DY, 1, true> : csaw__batched_dots_of_entries<X, DY, 1, false>;
}

template <csaw_dtype X>
static csaw__batched_dots_kernel *csaw__batched_dots_kernel_for(const csaw__batched_dots *d, uint32_t vector) {
    if (d->dy.dtype == CSAW_F32) return csaw__batched_dots_kernel_as<X, CSAW_F32>(d, vector);
    return d->dy.dtype == CSAW_F16 ? csaw__batched_dots_kernel_as<X, CSAW_F16>(d, vector)
                                   : csaw__batched_dots_kernel_as<X, CSAW_BF16>(d, vector);
}

/* The kernel for these storages; *threads: how many it takes. */
static csaw__batched_dots_kernel *csaw__batched_dots_kernel_at(const csaw__batched_dots *d, uint64_t *threads) {
    const uint32_t vector =
        d->cols % CSAW__VECTOR == 0 && csaw__batched_takes_vectors(&d->x) && csaw__batched_takes_vectors(&d->dy)
            ? CSAW__VECTOR
            : 1;
    *threads = d->edges * (CSAW__SUMS / vector);
    if (d->x.dtype == CSAW_F32) return csaw__batched_dots_kernel_for<CSAW_F32>(d, vector);
    return d->x.dtype == CSAW_F16 ? csaw__batched_dots_kernel_for<CSAW_F16>(d, vector)
                                  : csaw__batched_dots_kernel_for<CSAW_BF16>(d, vector);
}

#endif

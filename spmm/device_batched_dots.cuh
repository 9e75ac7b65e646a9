/* SPDX-License-Identifier: MIT */
/* spmm/device_batched_dots.cuh - device code of the gradients of a batch's weights: a dot product for every entry, in
 * the order of csaw/batched.h. A group of lanes holds the sixteen partial sums of an entry, VECTOR a lane: each sum is
 * one lane's, so that the bits are the same by any number of lanes. Entries go by row, so that those of one warp share
 * rows of dy. To be compiled without contraction of a * b + c.
 *
 * Limit on an H200, 50 graphs of 50 rows, 512 columns, by 8 blocks a multiprocessor: 27% of the throughput of L2: it
 * ends before it is limited (docs/measured/2026-11-24-gpu-11.md; not profiled since). */
#ifndef CSAW_SPMM_DEVICE_BATCHED_DOTS_CUH
#define CSAW_SPMM_DEVICE_BATCHED_DOTS_CUH

#include "spmm/device_batched.cuh"

/* Blocks that a multiprocessor is to hold at once, by registers: the compiler, unasked, saves those that loads on their
 * way need. narrow: of at most two steps, which need fewer; extreme: beside arg. */
static __host__ __device__ constexpr int csaw__dots_blocks(bool narrow, bool extreme) {
    return extreme ? 8 : narrow ? 12 : 9;
}

/* What a lane reads of an entry: elements begin, begin + 16, ... and those beside them in a vector. */
struct csaw__batched_pair {
    const char *x, *dy;
    const uint32_t *arg; /* [cols] of MAX and MIN, of which those are counted that are */
    uint32_t wanted;
};

/* COUNT steps from column c on, whose loads are on their way together, but for those from column `end` on; ~0 where all
 * are known to be there. */
template <csaw_dtype X, csaw_dtype DY, int VECTOR, bool EXTREME, bool WHOLE, uint32_t COUNT>
static __device__ __forceinline__ void csaw__batched_dot_steps(const csaw__batched_pair &of, uint64_t c, uint64_t end,
                                                               float *sum) {
    csaw__batched_pack<X, VECTOR> u[COUNT];
    csaw__batched_pack<DY, VECTOR> v[COUNT];
    csaw__pack<uint32_t, VECTOR> won[EXTREME ? COUNT : 1];
#pragma unroll
    for (uint32_t n = 0; n < COUNT; n++) {
        const uint64_t at = c + n * CSAW__SUMS;
        if (n && at >= end) continue;
        u[n] = csaw__batched_load<X, VECTOR, WHOLE>(of.x + at * (X == CSAW_F32 ? 4 : 2));
        v[n] = csaw__batched_load<DY, VECTOR, WHOLE>(of.dy + at * (DY == CSAW_F32 ? 4 : 2));
        if (EXTREME) won[EXTREME ? n : 0] = *(const csaw__pack<uint32_t, VECTOR> *)(of.arg + at);
    }
#pragma unroll
    for (uint32_t n = 0; n < COUNT; n++)
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            if (c + n * CSAW__SUMS < end && (!EXTREME || won[EXTREME ? n : 0].at[i] == of.wanted))
                sum[i] += csaw__widen<X>(u[n].at[i]) * csaw__widen<DY>(v[n].at[i]);
}

template <csaw_dtype X, csaw_dtype DY, int VECTOR, bool EXTREME, bool NARROW>
static __global__ void __launch_bounds__(CSAW__DOTS_THREADS, csaw__dots_blocks(NARROW, EXTREME))
    csaw__batched_dots_of_entries(const __grid_constant__ csaw__batched_dots d) {
    constexpr uint32_t lanes = CSAW__SUMS / VECTOR, x_bytes = X == CSAW_F32 ? 4 : 2, dy_bytes = DY == CSAW_F32 ? 4 : 2;
    /* steps; but for narrow rows, many are the same bytes of a lane by any number of lanes */
    constexpr uint32_t many = NARROW ? CSAW__DOTS_NARROW : lanes, few = NARROW ? CSAW__DOTS_NARROW : 4;
    const uint64_t number = csaw__thread_number() / lanes, e = number < d.edges ? number : d.edges - 1;
    const uint32_t lane = threadIdx.x % lanes, row = d.row_of[e], col = d.a.entry[e].other;
    const uint64_t place = d.in_order ? e : d.a.named[e].number; /* comes while columns do */
    csaw__batched_row of_row = {};
    if (EXTREME || d.mean || d.x.each || d.dy.each) of_row = d.a.row[row];
    const uint32_t entry = EXTREME ? (uint32_t)place - of_row.begin : 0; /* as arg counts */
    const uint64_t x = csaw__batched_shift(&d.x, d.graph, of_row.graph, true) + col * d.x.stride * x_bytes;
    const uint64_t dy = csaw__batched_shift(&d.dy, d.graph, of_row.graph, false) + row * d.dy.stride * dy_bytes;
    const csaw__batched_pair pair = {csaw__batched_at(d.x.data, x), csaw__batched_at(d.dy.data, dy),
                                     EXTREME ? d.arg + row * d.cols : nullptr, entry};
    const bool whole =
        VECTOR == 1 || ((uintptr_t)pair.x % (VECTOR * x_bytes) == 0 && (uintptr_t)pair.dy % (VECTOR * dy_bytes) == 0);
    float sum[VECTOR] = {0};
    const uint64_t full = whole ? d.cols / (many * CSAW__SUMS) * (many * CSAW__SUMS) : 0;
    uint64_t c = lane * VECTOR;
    for (; c < full; c += many * CSAW__SUMS)
        csaw__batched_dot_steps<X, DY, VECTOR, EXTREME, true, many>(pair, c, ~0ull, sum);
    for (; whole && c < d.cols; c += few * CSAW__SUMS)
        csaw__batched_dot_steps<X, DY, VECTOR, EXTREME, true, few>(pair, c, d.cols, sum);
    for (; c < d.cols; c += few * CSAW__SUMS)
        csaw__batched_dot_steps<X, DY, VECTOR, EXTREME, false, few>(pair, c, d.cols, sum);
    float value = csaw__sum_of_sums<VECTOR>(sum); /* with all lanes of the warp */
    if (number >= d.edges || lane) return;
    d.dw[place] = d.mean ? value / (float)of_row.count : value;
}

/* ---- kernels by storage and shape ---- */

typedef void csaw__batched_dots_kernel(csaw__batched_dots);

template <csaw_dtype X, csaw_dtype DY, int VECTOR>
static csaw__batched_dots_kernel *csaw__batched_dots_kernel_by(const csaw__batched_dots *d) {
    constexpr bool MAY_BE_NARROW = VECTOR == CSAW__VECTOR;
    if (MAY_BE_NARROW && d->cols <= CSAW__DOTS_NARROW * CSAW__SUMS)
        return d->arg ? csaw__batched_dots_of_entries<X, DY, VECTOR, true, MAY_BE_NARROW>
                      : csaw__batched_dots_of_entries<X, DY, VECTOR, false, MAY_BE_NARROW>;
    return d->arg ? csaw__batched_dots_of_entries<X, DY, VECTOR, true, false>
                  : csaw__batched_dots_of_entries<X, DY, VECTOR, false, false>;
}

template <csaw_dtype X, csaw_dtype DY>
static csaw__batched_dots_kernel *csaw__batched_dots_kernel_as(const csaw__batched_dots *d, uint32_t lanes) {
    return lanes == 16  ? csaw__batched_dots_kernel_by<X, DY, 1>(d)
           : lanes == 8 ? csaw__batched_dots_kernel_by<X, DY, 2>(d)
                        : csaw__batched_dots_kernel_by<X, DY, CSAW__VECTOR>(d);
}

template <csaw_dtype X>
static csaw__batched_dots_kernel *csaw__batched_dots_kernel_for(const csaw__batched_dots *d, uint32_t lanes) {
    if (d->dy.dtype == CSAW_F32) return csaw__batched_dots_kernel_as<X, CSAW_F32>(d, lanes);
    return d->dy.dtype == CSAW_F16 ? csaw__batched_dots_kernel_as<X, CSAW_F16>(d, lanes)
                                   : csaw__batched_dots_kernel_as<X, CSAW_BF16>(d, lanes);
}

/* The kernel for these storages, by 4, 8 or 16 lanes an entry; by 4 and 8 csaw__batched_vector_of() is not 1. */
static csaw__batched_dots_kernel *csaw__batched_dots_kernel_at(const csaw__batched_dots *d, uint32_t lanes) {
    if (d->x.dtype == CSAW_F32) return csaw__batched_dots_kernel_for<CSAW_F32>(d, lanes);
    return d->x.dtype == CSAW_F16 ? csaw__batched_dots_kernel_for<CSAW_F16>(d, lanes)
                                  : csaw__batched_dots_kernel_for<CSAW_BF16>(d, lanes);
}

#endif

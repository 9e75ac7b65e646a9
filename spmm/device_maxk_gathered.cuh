/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_gathered.cuh - device code of csaw_maxk_spmm_backward(): A^T dy at the entries of a CBSR matrix, by
 * rows of A^T. A group of lanes takes a unit and some entries of its row (a slice), whose columns stay in registers;
 * of every edge it gathers from dy's row the elements that these name. Sums belong to lanes, so their order is that of
 * the edges; results of chunks are left for csaw__merge(). To be compiled without contraction of a * b + c.
 *
 * Limit on an H200, reddit, k = 8: 98% of the throughput of L2, which misses six sectors in seven: 35 GB from
 * memory. docs/measured/2026-11-24-gpu-11.md. */
#ifndef CSAW_SPMM_DEVICE_MAXK_GATHERED_CUH
#define CSAW_SPMM_DEVICE_MAXK_GATHERED_CUH

#include "spmm/device_maxk.h"
#include "spmm/device_unit.cuh"

/* FACTOR entries a lane, LANES apart. */
template <csaw_dtype X, typename INDEX, int LANES, int FACTOR>
static __global__ void __launch_bounds__(CSAW__MAXK_THREADS)
    csaw__maxk_gathered(const __grid_constant__ csaw__maxk_product m) {
    typedef typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type raw;
    struct gathered {
        raw x[FACTOR];
    };
    constexpr uint32_t bytes = sizeof(raw), BATCH = CSAW__UNROLL / 2 / FACTOR;
    __shared__ csaw__ring<csaw__edge_here, LANES> rings[CSAW__MAXK_THREADS / LANES];
    const uint32_t lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
    const csaw__unit unit = csaw__unit_at(&m.p, (uint64_t)blockIdx.x * (CSAW__MAXK_THREADS / LANES) + group);
    const csaw__slice slice = csaw__slice_at(&m.p, m.p.first_slice);
    const uint64_t row = unit.stored && unit.is_chunk ? m.p.split.row[m.p.split.chunk[unit.row].row].row : unit.row;
    const csaw_vertex *const col = m.p.col + unit.first;
    const float *const weight = m.p.weight ? m.p.weight + unit.first : nullptr;
    const uint64_t row_bytes = m.p.x.stride * bytes;
    const char *dy[FACTOR]; /* the column of each entry, in the first row */
    float sum[FACTOR];
#pragma unroll
    for (int f = 0; f < FACTOR; f++) {
        const uint32_t t = lane + f * LANES; /* of the slice; those beyond it take its first */
        const uint64_t at = row * m.m.k + slice.first + (t < slice.width ? t : 0);
        dy[f] = (const char *)m.p.x.data + (unit.count ? (uint32_t)((const INDEX *)m.m.index)[at] * bytes : 0);
        sum[f] = 0;
    }
    const auto fetch = [&](uint32_t k) { return csaw__edge_here{col[k], weight ? weight[k] : 1.0f}; };
    const auto load = [&](const csaw__edge_here &edge, gathered *to) {
#pragma unroll
        for (int f = 0; f < FACTOR; f++) to->x[f] = *(const raw *)(dy[f] + edge.col * row_bytes);
    };
    const auto take = [&](uint32_t, bool there, const csaw__edge_here &edge, const gathered &of) {
#pragma unroll
        for (int f = 0; f < FACTOR; f++)
            if (there) sum[f] += edge.weight * csaw__widen<X>(of.x[f]);
    };
    csaw__walk<LANES, BATCH, false, gathered>(unit.count, rings + group, fetch, load, take);
    if (!unit.stored) return;
#pragma unroll
    for (int f = 0; f < FACTOR; f++) {
        const uint32_t t = lane + f * LANES;
        if (t >= slice.width) continue;
        if (unit.is_chunk)
            m.p.partial[unit.row * m.p.width + t] = sum[f];
        else
            csaw__store<1>(&m.p.y, unit.row, slice.first + t, sum + f);
    }
}

/* Fills in the layout. */
template <csaw_dtype X, typename INDEX> static csaw__maxk_kernel *csaw__maxk_gathered_by(csaw__maxk_product *m) {
    const uint64_t k = m->m.k;
    m->entries = (uint32_t)k;
    m->width = k <= 8 ? 8 : k <= 16 ? 16 : k <= 32 ? 32 : k <= 64 ? 64 : 128;
    m->groups = k <= 8 ? CSAW__MAXK_THREADS / 8 : k <= 16 ? CSAW__MAXK_THREADS / 16 : CSAW__MAXK_THREADS / 32;
    if (k <= 8) return csaw__maxk_gathered<X, INDEX, 8, 1>;
    if (k <= 16) return csaw__maxk_gathered<X, INDEX, 16, 1>;
    if (k <= 32) return csaw__maxk_gathered<X, INDEX, 32, 1>;
    return k <= 64 ? csaw__maxk_gathered<X, INDEX, 32, 2> : csaw__maxk_gathered<X, INDEX, 32, 4>;
}

template <csaw_dtype X> static csaw__maxk_kernel *csaw__maxk_gathered_of(csaw__maxk_product *m) {
    return m->m.cols <= 256 ? csaw__maxk_gathered_by<X, uint8_t>(m) : csaw__maxk_gathered_by<X, uint16_t>(m);
}

#endif

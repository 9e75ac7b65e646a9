/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_forward.cuh - device code of csaw_maxk_spmm(): row-wise product (MaxK-GNN, section 4.1, algorithm
 * 1). A group of lanes takes a unit, with a row of sums in shared memory; columns of one edge differ, so lanes add
 * without atomics, one edge after the other. The sums are stored side by side, or of a chunk left for csaw__merge(). To
 * be compiled without contraction of a * b + c.
 *
 * Limit on an H200, reddit, k = 8: 99% of the throughput of L1, in whose shared memory the sums are; 69% of that
 * of L2. docs/measured/2026-11-24-gpu-11.md. */
#ifndef CSAW_SPMM_DEVICE_MAXK_FORWARD_CUH
#define CSAW_SPMM_DEVICE_MAXK_FORWARD_CUH

#include "spmm/device_maxk_steps.cuh"
#include "spmm/device_shared.cuh"

template <csaw_dtype X, typename INDEX, int VECTOR> struct csaw__maxk_entries { /* as stored */
    typedef csaw__pack<typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type, VECTOR> stored;
    typedef csaw__pack<INDEX, VECTOR> columns;
    stored x;
    columns column;
};

/* VECTOR columns at a time to y, of a whole row divided by its edges if that is asked, or to partial. */
template <typename SHAPE, int VECTOR>
static __device__ __forceinline__ void csaw__maxk_store(const csaw__product *p, const csaw__unit &unit,
                                                        const csaw__slice &slice, const float *sum) {
    constexpr uint32_t LANES = SHAPE::LANES;
    for (uint32_t c = threadIdx.x % LANES * VECTOR; c < slice.width; c += LANES * VECTOR) {
        csaw__pack<float, VECTOR> value = *(const csaw__pack<float, VECTOR> *)(sum + SHAPE::word_of(c));
        if (unit.is_chunk) {
            csaw__put<VECTOR>(p->partial + unit.row * p->width + c, value.at);
            continue;
        }
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            if (p->reduce == CSAW_MEAN && unit.count) value.at[i] /= (float)unit.count;
        csaw__store<VECTOR>(&p->y, unit.row, slice.first + c, value.at);
    }
}

template <csaw_dtype X, typename INDEX, typename SHAPE>
static __global__ void __launch_bounds__(CSAW__MAXK_THREADS)
    csaw__maxk_forward(const __grid_constant__ csaw__maxk_product m) {
    constexpr int LANES = SHAPE::LANES, VECTOR = SHAPE::VECTOR, WIDTH = SHAPE::WIDTH;
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2;
    typedef csaw__maxk_entries<X, INDEX, VECTOR> entries;
    typedef typename SHAPE::steps steps;
    __shared__ typename SHAPE::ring rings[SHAPE::GROUPS];
    __shared__ csaw__pack<float, 4> sums[SHAPE::GROUPS * WIDTH / 4];
    const uint32_t lane = threadIdx.x % LANES, group = threadIdx.x / LANES, k = (uint32_t)m.m.k;
    const csaw__unit unit = csaw__unit_at(&m.p, (uint64_t)blockIdx.x * SHAPE::GROUPS + group);
    const csaw__slice slice = csaw__slice_at(&m.p, m.p.first_slice);
    const char *const values = (const char *)m.m.values + lane * VECTOR * bytes;
    const INDEX *const index = (const INDEX *)m.m.index + lane * VECTOR;
    float *const sum = (float *)sums + SHAPE::first_word();
    const csaw__shared_array<float> shared(sum);
    for (uint32_t c = lane * 4; c < slice.width; c += LANES * 4)
        *(csaw__pack<float, 4> *)(sum + SHAPE::word_of(c)) = csaw__pack<float, 4>{};
    const auto load = [&](const typename SHAPE::step &step, entries *to) {
        if (lane * VECTOR >= steps::count(step, k)) return;
        to->x =
            *(const typename entries::stored *)(values + (uint64_t)step.col * (k * bytes) + steps::first(step) * bytes);
        to->column = *(const typename entries::columns *)(index + (uint64_t)step.col * k + steps::first(step));
    };
    const auto take = [&](uint32_t, bool there, const typename SHAPE::step &step, const entries &of) {
        float before[VECTOR];
        uint32_t at[VECTOR];
        bool held[VECTOR];
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
            const uint32_t c = csaw__maxk_place<INDEX, WIDTH>(of.column.at[i], (uint32_t)slice.first);
            held[i] = there && lane * VECTOR < steps::count(step, k) && (sizeof(INDEX) == 1 || c < WIDTH);
            at[i] = SHAPE::word_of(c);
            if (held[i]) before[i] = shared.get(at[i]);
        }
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            if (held[i]) shared.put(at[i], before[i] + step.weight * csaw__widen<X>(of.x.at[i]));
        __syncwarp(); /* before the next edge is added */
    };
    __syncwarp();
    csaw__maxk_walk<SHAPE, true, entries>(&m, unit, rings + group, load, take);
    if (!unit.stored) return;
    if (m.p.vector == CSAW__VECTOR)
        csaw__maxk_store<SHAPE, CSAW__VECTOR>(&m.p, unit, slice, sum);
    else
        csaw__maxk_store<SHAPE, 1>(&m.p, unit, slice, sum);
}

template <csaw_dtype X, typename INDEX, typename SHAPE> struct csaw__maxk_forward_kernels {
    enum { ANY_ORDER = false };
    static csaw__maxk_kernel *get() { return csaw__maxk_forward<X, INDEX, SHAPE>; }
};

template <csaw_dtype X> static csaw__maxk_kernel *csaw__maxk_forward_of(csaw__maxk_product *m) {
    const uint64_t k = m->m.k, index = m->m.cols <= CSAW__MAXK_NARROW ? 1 : 2, bytes = X == CSAW_F32 ? 4 : 2;
    uint32_t vector = CSAW__MAXK_ENTRIES;
    while (!csaw__maxk_takes(m->m.values, k, bytes, vector) || !csaw__maxk_takes(m->m.index, k, index, vector))
        vector /= 2;
    return csaw__maxk_kernel_by<csaw__maxk_forward_kernels, X>(m, vector, (uint32_t)k);
}

#endif

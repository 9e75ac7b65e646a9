/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_outer.cuh - device code of csaw_maxk_spmm_backward() unless it is to be deterministic: outer product
 * (MaxK-GNN, section 4.2, algorithm 2). A group of lanes takes a unit, with its row of dy in shared memory; for every
 * edge it reads the index of the column and adds the products to that row of the result by atomic additions, whose
 * order nothing fixes. On an H200 and a graph of 110 million edges, 233,000 rows, k = 64, 128 and 192 took 10.7, 24.7
 * and 37.9 ms by 32 entries a launch, whole 12.8, 30.3 and 51.0; on one of 123 million edges and 2.4 million rows, of
 * which not even 32 entries fit the L2 cache, k = 64 took 27.7 and 25.0.
 *
 * Limit on an H200, reddit, k = 8: 88% of the throughput of L1, 80% of that of L2, half of its sectors atomic
 * additions, 78% of the issue slots. docs/measured/2026-11-24-gpu-11.md. */
#ifndef CSAW_SPMM_DEVICE_MAXK_OUTER_CUH
#define CSAW_SPMM_DEVICE_MAXK_OUTER_CUH

#include "spmm/device_maxk_steps.cuh"
#include "spmm/device_shared.cuh"

/* Adds to elements side by side, at a place aligned to as many. */
template <int VECTOR> static __device__ __forceinline__ void csaw__maxk_add(float *to, const float *x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if constexpr (VECTOR == 4)
        atomicAdd((float4 *)to, make_float4(x[0], x[1], x[2], x[3]));
    else if constexpr (VECTOR == 2)
        atomicAdd((float2 *)to, make_float2(x[0], x[1]));
    else
        atomicAdd(to, x[0]);
#else
#pragma unroll
    for (int i = 0; i < VECTOR; i++) atomicAdd(to + i, x[i]);
#endif
}

/* A row of dy, or a slice of it, to the shared memory of a group, VECTOR columns of a lane at a time. */
template <csaw_dtype X, typename SHAPE, int VECTOR>
static __device__ __forceinline__ void csaw__maxk_row_in(const csaw__product &p, const csaw__slice &slice, uint64_t row,
                                                         float *dy) {
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2;
    const char *const from = (const char *)p.x.data + (row * p.x.stride + slice.first) * bytes;
#pragma unroll 8
    for (uint32_t c = threadIdx.x % SHAPE::LANES * VECTOR; c < slice.width; c += SHAPE::LANES * VECTOR) {
        csaw__pack<float, VECTOR> x;
        csaw__load<X, VECTOR>(from + c * bytes, x.at);
        *(csaw__pack<float, VECTOR> *)(dy + SHAPE::word_of(c)) = x;
    }
}

template <csaw_dtype X, typename INDEX, typename SHAPE>
static __global__ void __launch_bounds__(CSAW__MAXK_THREADS)
    csaw__maxk_outer(const __grid_constant__ csaw__maxk_product m) {
    constexpr int VECTOR = SHAPE::VECTOR, WIDTH = SHAPE::WIDTH;
    typedef csaw__pack<INDEX, VECTOR> columns;
    typedef typename SHAPE::steps steps;
    __shared__ typename SHAPE::ring rings[SHAPE::GROUPS];
    __shared__ csaw__pack<float, 4> rows[SHAPE::GROUPS * WIDTH / 4];
    const uint32_t first = threadIdx.x % SHAPE::OF_EDGE * VECTOR, group = threadIdx.x / SHAPE::LANES; /* first: entry */
    const uint32_t k = (uint32_t)m.m.k, taken = csaw__maxk_taken(&m);
    const csaw__unit unit = csaw__unit_at(&m.p, (uint64_t)blockIdx.x * SHAPE::GROUPS + group);
    const csaw__slice slice = csaw__slice_at(&m.p, m.p.first_slice);
    const uint64_t row = unit.stored && unit.is_chunk ? m.p.split.row[m.p.split.chunk[unit.row].row].row : unit.row;
    const float edges = m.mean && unit.count ? (float)(m.p.rowptr[row + 1] - m.p.rowptr[row]) : 1.0f;
    const INDEX *const index = (const INDEX *)m.m.index + m.first_entry + first;
    float *const to = m.sums + m.first_entry + first, *const dy = (float *)rows + SHAPE::first_word();
    const csaw__shared_array<float> shared(dy);
    if (unit.count && m.p.vector == CSAW__VECTOR) csaw__maxk_row_in<X, SHAPE, CSAW__VECTOR>(m.p, slice, row, dy);
    if (unit.count && m.p.vector != CSAW__VECTOR) csaw__maxk_row_in<X, SHAPE, 1>(m.p, slice, row, dy);
    const auto load = [&](const typename SHAPE::step &step, columns *loaded) {
        if (first >= steps::count(step, taken)) return;
        *loaded = *(const columns *)(index + (uint64_t)step.col * k + steps::first(step));
    };
    const auto take = [&](uint32_t, bool there, const typename SHAPE::step &step, const columns &of) {
        if (!there || first >= steps::count(step, taken)) return;
        const float weight = m.mean ? step.weight / edges : step.weight;
        float product[VECTOR];
        bool any = false;
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
            const uint32_t c = csaw__maxk_place<INDEX, WIDTH>(of.at[i], (uint32_t)slice.first);
            const bool held = sizeof(INDEX) == 1 || c < WIDTH; /* or of another slice */
            product[i] = held ? weight * shared.get(SHAPE::word_of(c)) : 0.0f;
            any = any || held;
        }
        if (any) csaw__maxk_add<VECTOR>(to + (uint64_t)step.col * k + steps::first(step), product);
    };
    __syncwarp();
    csaw__maxk_walk<SHAPE, false, columns>(&m, unit, rings + group, load, take);
}

/* One thread an element of sums: to the values of m. */
static __global__ void csaw__maxk_narrow(const __grid_constant__ csaw__maxk_product m) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m.m.rows * m.m.k) return;
    const csaw_dense values = {1, m.m.rows * m.m.k, 0, m.m.dtype, m.m.values};
    csaw__store<1>(&values, 0, i, m.sums + i);
}

template <csaw_dtype X, typename INDEX, typename SHAPE> struct csaw__maxk_outer_kernels {
    enum { ANY_ORDER = true };
    static csaw__maxk_kernel *get() { return csaw__maxk_outer<X, INDEX, SHAPE>; }
};

/* Entries of a row that a launch takes. All; but where the result is added to often, and with its index is larger than
 * the L2 cache, as many as stay there: each launch reads the edges again. If not even 32 do, that would be for nothing.
 */
static inline uint64_t csaw__maxk_outer_entries(const csaw__maxk_product *m, uint64_t index, uint64_t l2_bytes) {
    const uint64_t k = m->m.k, rows = m->m.rows, of_entry = rows * (sizeof *m->sums + index);
    if (!rows || m->p.num_edges / rows < CSAW__OFTEN || k * of_entry <= l2_bytes) return k;
    for (uint64_t entries = 128; entries >= 32; entries /= 2)
        if (entries < k && entries * of_entry <= l2_bytes) return entries;
    return k;
}

template <csaw_dtype X> static csaw__maxk_kernel *csaw__maxk_outer_of(csaw__maxk_product *m, uint64_t l2_bytes) {
    const uint64_t k = m->m.k, index = m->m.cols <= CSAW__MAXK_NARROW ? 1 : 2;
    uint32_t vector = CSAW__MAXK_ENTRIES;
    m->p.vector = m->p.x.cols % CSAW__VECTOR == 0 && csaw__takes_vectors(&m->p.x) ? CSAW__VECTOR : 1;
    while (!csaw__maxk_takes(m->sums, k, 4, vector) || !csaw__maxk_takes(m->m.index, k, index, vector)) vector /= 2;
    return csaw__maxk_kernel_by<csaw__maxk_outer_kernels, X>(m, vector,
                                                             (uint32_t)csaw__maxk_outer_entries(m, index, l2_bytes));
}

#endif

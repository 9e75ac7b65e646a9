/* SPDX-License-Identifier: MIT */
/* spmm/device_reducer.cuh - device code of csaw_spmm() by a reduction of the caller's: compiled after its file by nvcc
 * or NVRTC, with its functions inlined. Layout: spmm/device_reducer.h; order of edges: csaw/reducer.h. To be compiled
 * without contraction of a * b + c.
 *
 * Limit on an H200, a twentieth of reddit, 64 columns: 68% of the issue slots, 71% of the throughput of L1.
 * docs/measured/2026-11-24-gpu-11.md. */
#ifndef CSAW_SPMM_DEVICE_REDUCER_CUH
#define CSAW_SPMM_DEVICE_REDUCER_CUH

#include "spmm/device_in_order.cuh"
#include "spmm/device_walk.cuh"

/* FUNCTIONS: csaw__begin() and csaw__add(), as CSAW_REDUCER defines them. A group of lanes a short row. */
template <typename FUNCTIONS, csaw_dtype X, int LANES, int VECTOR>
static __device__ __forceinline__ void csaw__reduce_short(const csaw__product &p) {
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2;
    typedef csaw__pack<typename csaw__stored<bytes>::type, VECTOR> features; /* as stored */
    constexpr int BATCH = CSAW__UNROLL / 2;                                  /* edges */
    __shared__ csaw__ring<csaw__edge_here, LANES> rings[CSAW__THREADS / LANES];
    const uint32_t lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
    const uint32_t slice_number = blockIdx.x / (uint32_t)p.blocks, block = blockIdx.x % (uint32_t)p.blocks;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const uint64_t row = (uint64_t)block * (blockDim.x / LANES) + group;
    const uint64_t begin = row < p.rows ? p.rowptr[row] : 0, edges = row < p.rows ? p.rowptr[row + 1] - begin : 0;
    const bool is_long = edges > CSAW__LONG; /* which is a block's */
    const uint32_t column = lane * VECTOR;   /* of the slice; a lane beyond it loads the first, and stores nothing */
    const bool holds = column < slice.width;
    const char *const x = (const char *)p.x.data + (slice.first + (holds ? column : 0)) * bytes;
    const uint64_t row_bytes = p.x.stride * bytes;
    const csaw_vertex *const col = p.col + begin;
    const float *const weight = p.weight ? p.weight + begin * p.heads + slice.head : nullptr;
    const uint32_t heads = p.heads;
    float value[VECTOR];
#pragma unroll
    for (int i = 0; i < VECTOR; i++) value[i] = FUNCTIONS::csaw__begin();
    const auto fetch = [&](uint32_t k) { return csaw__edge_here{col[k], weight ? weight[(uint64_t)k * heads] : 1.0f}; };
    const auto load = [&](const csaw__edge_here &edge, features *to) {
        *to = *(const features *)(x + edge.col * row_bytes);
    };
    const auto take = [&](uint32_t, bool there, const csaw__edge_here &edge, const features &of) {
        float element[VECTOR];
        if (!there) return;
        csaw__widen_pack<X>(of, element);
#pragma unroll
        for (int i = 0; i < VECTOR; i++) value[i] = FUNCTIONS::csaw__add(value[i], edge.weight * element[i]);
    };
    csaw__walk<LANES, BATCH, false, features>(is_long ? 0 : (uint32_t)edges, rings + group, fetch, load, take);
    if (row < p.rows && !is_long && holds) csaw__store<VECTOR>(&p.y, row, slice.first + column, value);
}

/* A block a long row. */
template <typename FUNCTIONS, csaw_dtype X>
static __device__ __forceinline__ void csaw__reduce_long(const csaw__product &p) {
    typedef typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type stored;
    const uint32_t lane = threadIdx.x % 32, blocks = (uint32_t)p.blocks, slice_number = blockIdx.x / blocks;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const uint32_t place = blockIdx.x - slice_number * blocks;
    if (place >= p.split.count[1]) return; /* the whole block */
    const uint64_t row = p.split.row[place].row, first = p.rowptr[row];
    const bool holds = lane < slice.width; /* a lane beyond it loads the first column, and stores nothing */
    const stored *const x = (const stored *)p.x.data + slice.first + (holds ? lane : 0);
    const csaw_vertex *const col = p.col + first;
    const float *const weight = p.weight ? p.weight + first * p.heads + slice.head : nullptr;
    float value = FUNCTIONS::csaw__begin();
    csaw__in_order<csaw__edge_here>(
        p.rowptr[row + 1] - first,
        [&](uint64_t k) {
            return csaw__edge_here{col[k], weight ? weight[k * p.heads] : 1.0f};
        },
        [&](const csaw__edge_here &edge) { return x[edge.col * p.x.stride]; },
        [&](const csaw__edge_here &edge, stored of) { return edge.weight * csaw__widen<X>(of); },
        [&](float product) { value = FUNCTIONS::csaw__add(value, product); });
    if (threadIdx.x >= 32 * CSAW__LOADERS && holds) csaw__store<1>(&p.y, row, slice.first + lane, &value);
}

template <typename FUNCTIONS, csaw_dtype X, int LANES, int VECTOR>
static __global__ void __launch_bounds__(LANES == CSAW__IN_ORDER_THREADS ? LANES : CSAW__THREADS)
    csaw__reduce_by(const __grid_constant__ csaw__product p) {
    if constexpr (LANES == CSAW__IN_ORDER_THREADS)
        csaw__reduce_long<FUNCTIONS, X>(p);
    else
        csaw__reduce_short<FUNCTIONS, X, LANES, VECTOR>(p);
}

#ifdef __CUDACC_RTC__ /* NVRTC makes code of the kernel alone that is named */
#define CSAW__INSTANTIATE_REDUCER(STORAGE, LANES, VECTOR)                                             \
    template __global__ void csaw__reduce_by<csaw__reducer_functions, CSAW_##STORAGE, LANES, VECTOR>( \
        const __grid_constant__ csaw__product);
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/device_reducer.cuh - device code of csaw_spmm() by a reduction of the caller's: compiled after its file by nvcc
 * or NVRTC, with its functions inlined. Layout: spmm/device_reducer.h; order of edges: csaw/reducer.h. To be compiled
 * without contraction of a * b + c. */
#ifndef CSAW_SPMM_DEVICE_REDUCER_CUH
#define CSAW_SPMM_DEVICE_REDUCER_CUH

#include "spmm/device_arguments.h"
#include "spmm/device_walk.cuh"

enum { CSAW__REDUCER_EDGES = 2048 }; /* of a row that a group walks through at once: numbers of 32 bits within */

/* FUNCTIONS: csaw__begin() and csaw__add(), as CSAW_REDUCER defines them. */
template <typename FUNCTIONS, csaw_dtype X, int LANES, int VECTOR>
static __global__ void __launch_bounds__(CSAW__THREADS) csaw__reduce_by(const __grid_constant__ csaw__product p) {
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2;
    typedef csaw__pack<typename csaw__stored<bytes>::type, VECTOR> features; /* as stored */
    constexpr int BATCH = CSAW__UNROLL / 2;                                  /* edges */
    __shared__ csaw__ring<csaw__edge_here, LANES> rings[CSAW__THREADS / LANES];
    const uint32_t lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
    const uint32_t slice_number = blockIdx.x / (uint32_t)p.blocks, block = blockIdx.x % (uint32_t)p.blocks;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const uint64_t row = (uint64_t)block * (blockDim.x / LANES) + group;
    const uint64_t begin = row < p.rows ? p.rowptr[row] : 0, end = row < p.rows ? p.rowptr[row + 1] : 0;
    const uint32_t column = lane * VECTOR; /* of the slice; a lane beyond it loads the first, and stores nothing */
    const bool holds = column < slice.width;
    const char *const x = (const char *)p.x.data + (slice.first + (holds ? column : 0)) * bytes;
    const uint64_t row_bytes = p.x.stride * bytes;
    const uint32_t heads = p.heads;
    float value[VECTOR];
#pragma unroll
    for (int i = 0; i < VECTOR; i++) value[i] = FUNCTIONS::csaw__begin();
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
    for (uint64_t first = begin; __any_sync(CSAW__ALL_LANES, first < end); first += CSAW__REDUCER_EDGES) {
        const uint64_t left = first < end ? end - first : 0;
        const csaw_vertex *const col = p.col + first;
        const float *const weight = p.weight ? p.weight + first * heads + slice.head : nullptr;
        const auto fetch = [&](uint32_t k) {
            return csaw__edge_here{col[k], weight ? weight[(uint64_t)k * heads] : 1.0f};
        };
        csaw__walk<LANES, BATCH, false, features>((uint32_t)(left < CSAW__REDUCER_EDGES ? left : CSAW__REDUCER_EDGES),
                                                  rings + group, fetch, load, take);
        __syncwarp(); /* the last edges of the ring were read */
    }
    if (row < p.rows && holds) csaw__store<VECTOR>(&p.y, row, slice.first + column, value);
}

#ifdef __CUDACC_RTC__ /* NVRTC makes code of the kernel alone that is named */
#define CSAW__INSTANTIATE_REDUCER(STORAGE, LANES, VECTOR)                                             \
    template __global__ void csaw__reduce_by<csaw__reducer_functions, CSAW_##STORAGE, LANES, VECTOR>( \
        const __grid_constant__ csaw__product);
#endif

#endif

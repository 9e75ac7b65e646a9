/* SPDX-License-Identifier: MIT */
/* spmm/device_reduce.cuh - device code of csaw_spmm(): rows, and chunks of long ones, reduced by groups of lanes.
 * Layout and sources: spmm/device_product.h; order of sums: csaw/spmm.h. To be compiled without contraction of a * b +
 * c.
 *
 * Limit on an H200, gradients of reddit's first 32 entries a row, 64 columns of float32 and of 16 bits: 66 and 51% of
 * what L2 sends at most, 45 and 61% of the issue slots, 42 and 36% of the warps, of listed units and loads of a batch
 * that the compiler had put apart. docs/measured/2026-11-28-gpu-27.md. */
#ifndef CSAW_SPMM_DEVICE_REDUCE_CUH
#define CSAW_SPMM_DEVICE_REDUCE_CUH

#include "spmm/device_rounds.cuh"
#include "spmm/device_unit.cuh"

enum {
    CSAW__REDUCE_AT_ONCE = 4,     /* vectors of features that a lane has on their way at once */
    CSAW__RESIDENT_THREADS = 1024 /* of a block that stays on its multiprocessor */
};

/* Blocks of a multiprocessor: as many as its registers are for, since it is other warps that wait for memory. Several
 * vectors an edge get the registers that the compiler wants. */
static constexpr int csaw__reduce_blocks(int vector, int factor, bool extreme) {
    return factor > 1 ? 1 : extreme ? 8 : vector == CSAW__VECTOR_16 ? 7 : 9;
}

/* A unit, by its group of lanes. */
template <csaw_dtype X, int LANES, int VECTOR, int FACTOR, bool EXTREME>
static __device__ __forceinline__ void csaw__reduce_unit(const csaw__product &p, const csaw__slice &slice,
                                                         uint32_t slice_number, const csaw__unit &unit,
                                                         csaw__ring<csaw__cached, LANES> *ring) {
    typedef csaw__features<X, VECTOR, FACTOR> features;
    typedef typename features::vector vector;
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2;
    constexpr int BATCH = CSAW__REDUCE_AT_ONCE / FACTOR; /* edges */
    const uint32_t lane = threadIdx.x % LANES;
    const uint32_t column = lane * VECTOR; /* of the slice; a lane beyond it loads the first, and stores nothing */
    const uint32_t held = column < slice.width ? (slice.width - column + LANES * VECTOR - 1) / (LANES * VECTOR) : 0;
    const char *const x = (const char *)p.x.data + (slice.first + (held ? column : 0)) * bytes;
    const csaw_vertex *const col = p.col + unit.first;
    const float *const weight = p.weight ? p.weight + unit.first * p.heads + slice.head : nullptr;
    const uint64_t row_bytes = p.x.stride * bytes;
    const uint32_t heads = p.heads;
    const float sign = p.reduce == CSAW_MIN ? -1.0f : 1.0f;
    csaw__found<X, VECTOR, FACTOR, EXTREME> found;
    found.clear();
    const auto fetch = [&](uint32_t k) {
        return csaw__cached{col[k] * row_bytes, sign * (weight ? weight[(uint64_t)k * heads] : 1.0f)};
    };
    const auto load = [&](const csaw__cached &edge, features *to) {
        const char *const from = x + edge.at;
#pragma unroll
        for (int j = 0; j < FACTOR; j++)
            if (j == 0 || j < held) to->x[j] = *(const vector *)(from + j * (LANES * VECTOR * bytes));
    };
    const auto take = [&](uint32_t k, const csaw__cached &edge, const features &of) {
        found.take(k, true, edge.weight, of);
    };
    csaw__go_in_rounds<LANES, BATCH, features>(unit.count, ring, fetch, load, take);
    csaw__keep<X, LANES>(p, slice, slice_number, unit, column, sign, found);
}

template <csaw_dtype X, int LANES, int VECTOR, int FACTOR, bool EXTREME>
static __global__ void __launch_bounds__(CSAW__THREADS, csaw__reduce_blocks(VECTOR, FACTOR, EXTREME))
    csaw__reduce(const __grid_constant__ csaw__product p) {
    __shared__ csaw__ring<csaw__cached, LANES> rings[CSAW__THREADS / LANES];
    const uint32_t group = threadIdx.x / LANES;
    const uint32_t slice_number = blockIdx.x / (uint32_t)p.blocks, block = blockIdx.x % (uint32_t)p.blocks;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    const csaw__unit unit = csaw__unit_at(&p, (uint64_t)block * (blockDim.x / LANES) + group);
    csaw__reduce_unit<X, LANES, VECTOR, FACTOR, EXTREME>(p, slice, slice_number, unit, rings + group);
}

/* Sums by CSAW_SPMM_SUBWARP8, of blocks that stay, whose warps take units until none is left: no block waits for the
 * longest unit of another. next: [slices of the launch] zeros, as which all blocks count the units that they have
 * taken. */
template <csaw_dtype X, int VECTOR>
static __global__ void __launch_bounds__(CSAW__RESIDENT_THREADS, 1)
    csaw__reduce_resident(const __grid_constant__ csaw__product p, uint32_t *next) {
    constexpr int LANES = 8;
    constexpr uint32_t GROUPS = 32 / LANES;
    __shared__ csaw__ring<csaw__cached, LANES> rings[CSAW__RESIDENT_THREADS / LANES];
    const uint32_t group = threadIdx.x / LANES;
    const uint64_t units = p.split.most_chunks + p.rows;
    for (uint32_t slice_number = 0; slice_number < p.slices; slice_number++) {
        const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
        uint32_t taken = 0;
        if (threadIdx.x % 32 == 0) taken = atomicAdd(next + slice_number, 1u);
        for (;;) {
            const uint64_t first = (uint64_t)__shfl_sync(CSAW__ALL_LANES, taken, 0) * GROUPS;
            if (first >= units) break;
            if (threadIdx.x % 32 == 0) taken = atomicAdd(next + slice_number, 1u); /* comes while the unit goes on */
            const csaw__unit unit = csaw__unit_at(&p, first + group % GROUPS);
            csaw__reduce_unit<X, LANES, VECTOR, 1, false>(p, slice, slice_number, unit, rings + group);
            __syncwarp(); /* the last edges of the ring were read */
        }
    }
}

/* ---- one kernel for each method ---- */

typedef void csaw__kernel(csaw__product);
typedef void csaw__resident_kernel(csaw__product, uint32_t *);

template <csaw_dtype X, int LANES, int FACTOR> static csaw__kernel *csaw__kernel_for(uint32_t vector, bool extreme) {
    if (X != CSAW_F32 && vector == CSAW__VECTOR_16) {
        constexpr int VECTOR = X == CSAW_F32 ? CSAW__VECTOR : CSAW__VECTOR_16; /* no such kernel of float32 */
        return extreme ? csaw__reduce<X, LANES, VECTOR, FACTOR, true> : csaw__reduce<X, LANES, VECTOR, FACTOR, false>;
    }
    if (vector == CSAW__VECTOR)
        return extreme ? csaw__reduce<X, LANES, CSAW__VECTOR, FACTOR, true>
                       : csaw__reduce<X, LANES, CSAW__VECTOR, FACTOR, false>;
    return extreme ? csaw__reduce<X, LANES, 1, FACTOR, true> : csaw__reduce<X, LANES, 1, FACTOR, false>;
}

template <csaw_dtype X> static csaw__kernel *csaw__kernel_of(csaw_spmm_method method, uint32_t vector, bool extreme) {
    switch (method) {
    case CSAW_SPMM_CRC: return csaw__kernel_for<X, 32, 1>(vector, extreme);
    case CSAW_SPMM_CWM2: return csaw__kernel_for<X, 32, 2>(vector, extreme);
    case CSAW_SPMM_CWM4: return csaw__kernel_for<X, 32, 4>(vector, extreme);
    case CSAW_SPMM_SUBWARP16: return csaw__kernel_for<X, 16, 1>(vector, extreme);
    case CSAW_SPMM_SUBWARP8: return csaw__kernel_for<X, 8, 1>(vector, extreme);
    default: return csaw__kernel_for<X, 4, 1>(vector, extreme);
    }
}

/* Of what csaw__auto_way says is resident: whole vectors of 16-bit storage. */
template <csaw_dtype X> static csaw__resident_kernel *csaw__resident_kernel_of(uint32_t vector) {
    return vector == CSAW__VECTOR_16 ? csaw__reduce_resident<X, CSAW__VECTOR_16>
                                     : csaw__reduce_resident<X, CSAW__VECTOR>;
}

#endif

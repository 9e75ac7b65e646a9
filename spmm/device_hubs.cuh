/* SPDX-License-Identifier: MIT */
/* spmm/device_hubs.cuh - device code of csaw_spmm() with the features of hubs in shared memory, and of finding them.
 * Hubs are the columns that most edges name. A plan has the columns of all edges recoded, so that an edge says by
 * itself where its features are; edges keep their order, and so the results are those of every other kernel. A block
 * stays on its multiprocessor: it fetches the hubs' features of a slice of columns once, then its warps take units
 * until none is left. To be compiled without contraction of a * b + c.
 *
 * Limit on an H200, a twentieth of reddit, 64 columns (csaw__reduce_hubs): 61% of the issue slots, 54% of the
 * throughput of L1, 44% of that of L2. docs/measured/2026-11-24-gpu-11.md. */
#ifndef CSAW_SPMM_DEVICE_HUBS_CUH
#define CSAW_SPMM_DEVICE_HUBS_CUH

#include "spmm/device_group.cuh"
#include "spmm/device_shared.cuh"
#include "spmm/device_unit.cuh"

enum {
    CSAW__HUB_LANES = 8, /* of a unit */
    CSAW__HUB_THREADS = 1024,
    CSAW__HUB_BYTES = CSAW__HUB_LANES * 16, /* of a hub's features in shared memory, at most */
    CSAW__HUB_ROOM = 100 << 10 /* of all hubs: loads on their way need the L1 cache, which is the same memory */
};

typedef csaw__ring<csaw__edge_here, CSAW__HUB_LANES> csaw__hub_ring;

/* Bytes of a block's rings, which come before the hubs. */
static __host__ __device__ __forceinline__ uint32_t csaw__hub_rings(uint32_t threads) {
    return (threads / CSAW__HUB_LANES * (uint32_t)sizeof(csaw__hub_ring) + 15) / 16 * 16;
}

/* ---- products ---- */

/* All threads: the hubs' features of a slice, from `kept` on. */
template <typename T, int LANES>
static __device__ __forceinline__ void csaw__fetch_hubs(const csaw__hubs &hubs, const char *x, uint64_t row_bytes,
                                                        uint32_t vectors, char *kept) {
    for (uint32_t i = threadIdx.x; i < hubs.count * LANES; i += blockDim.x) {
        const uint32_t hub = i / LANES, lane = i % LANES;
        if (lane < vectors) ((T *)kept)[i] = *((const T *)(x + hubs.column[hub] * row_bytes) + lane);
    }
}

/* next: [slices of the launch] zeros, as which all blocks count the units that they have taken. */
template <csaw_dtype X, int VECTOR, bool EXTREME>
static __global__ void __launch_bounds__(CSAW__HUB_THREADS, 1)
    csaw__reduce_hubs(const __grid_constant__ csaw__product p, const __grid_constant__ csaw__hubs hubs,
                      uint32_t *next) {
    typedef csaw__features<X, VECTOR, 1> features;
    typedef typename features::vector vector;
    constexpr int LANES = CSAW__HUB_LANES, BATCH = CSAW__UNROLL / 2; /* edges */
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2, hub_bytes = LANES * VECTOR * bytes, GROUPS = 32 / LANES;
    csaw__hub_ring *const rings = csaw__launch_shared<csaw__hub_ring>();
    char *const kept = csaw__launch_shared<char>() + csaw__hub_rings(blockDim.x);
    const uint32_t lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
    const uint64_t units = p.split.most_chunks + p.rows, row_bytes = p.x.stride * bytes;
    const uint32_t heads = p.heads, columns = hubs.columns;
    const float sign = p.reduce == CSAW_MIN ? -1.0f : 1.0f;
    for (uint32_t slice_number = 0; slice_number < p.slices; slice_number++) {
        const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
        const uint32_t column = lane * VECTOR;
        const uint32_t mine = column < slice.width ? column * bytes : 0; /* a lane beyond it loads the first */
        const char *const x = (const char *)p.x.data + slice.first * bytes;
        const csaw__shared_bytes of_hubs(kept + mine);
        __syncthreads(); /* the slice before was read */
        csaw__fetch_hubs<vector, LANES>(hubs, x, row_bytes, slice.width / VECTOR, kept);
        __syncthreads();
        uint32_t taken = 0;
        if (threadIdx.x % 32 == 0) taken = atomicAdd(next + slice_number, 1u);
        for (;;) {
            const uint64_t first = (uint64_t)__shfl_sync(CSAW__ALL_LANES, taken, 0) * GROUPS;
            if (first >= units) break;
            if (threadIdx.x % 32 == 0) taken = atomicAdd(next + slice_number, 1u); /* comes while the unit goes on */
            const csaw__unit unit = csaw__unit_at(&p, first + group % GROUPS);
            const csaw_vertex *const code = hubs.code + unit.first;
            const float *const weight = p.weight ? p.weight + unit.first * heads + slice.head : nullptr;
            csaw__found<X, VECTOR, 1, EXTREME> found;
            found.clear();
            const auto fetch = [&](uint32_t k) {
                return csaw__edge_here{code[k], sign * (weight ? weight[(uint64_t)k * heads] : 1.0f)};
            };
            const auto load = [&](const csaw__edge_here &edge, features *to) {
                of_hubs.get_or(edge.col >= columns, (edge.col - columns) * hub_bytes, x + mine + edge.col * row_bytes,
                               to->x);
            };
            const auto take = [&](uint32_t k, bool there, const csaw__edge_here &edge, const features &of) {
                found.take(k, there, edge.weight, of);
            };
            csaw__walk<LANES, BATCH, false, features>(unit.count, rings + group, fetch, load, take);
            csaw__keep<X, LANES>(p, slice, slice_number, unit, column, sign, found);
            __syncwarp(); /* the last edges of the ring were read */
        }
    }
}

typedef void csaw__hubs_kernel(csaw__product, csaw__hubs, uint32_t *);

template <csaw_dtype X> static csaw__hubs_kernel *csaw__hubs_kernel_of(uint32_t vector, bool extreme) {
    if (X != CSAW_F32 && vector == CSAW__VECTOR_16) {
        constexpr int VECTOR = X == CSAW_F32 ? CSAW__VECTOR : CSAW__VECTOR_16; /* no such kernel of float32 */
        return extreme ? csaw__reduce_hubs<X, VECTOR, true> : csaw__reduce_hubs<X, VECTOR, false>;
    }
    if (vector == CSAW__VECTOR)
        return extreme ? csaw__reduce_hubs<X, CSAW__VECTOR, true> : csaw__reduce_hubs<X, CSAW__VECTOR, false>;
    return extreme ? csaw__reduce_hubs<X, 1, true> : csaw__reduce_hubs<X, 1, false>;
}

/* ---- hubs found ---- */

/* Thread j: column j and how many edges name it, by the transpose's rowptr. */
static __global__ void csaw__count_edges(const uint64_t *rowptr, uint64_t cols, uint32_t *edges, csaw_vertex *column) {
    const uint64_t j = csaw__thread_number();
    if (j >= cols) return;
    const uint64_t count = rowptr[j + 1] - rowptr[j];
    edges[j] = count < 0xffffffffu ? (uint32_t)count : 0xffffffffu;
    column[j] = (csaw_vertex)j;
}

/* number: [cols] all ones; thread i gives hub i its number. */
static __global__ void csaw__number_hubs(const csaw_vertex *hub, uint32_t count, uint32_t *number) {
    const uint64_t i = csaw__thread_number();
    if (i < count) number[hub[i]] = (uint32_t)i;
}

static __global__ void csaw__recode(const __grid_constant__ csaw_sparse a, const uint32_t *number, csaw_vertex *code) {
    const uint64_t e = csaw__thread_number();
    if (e >= a.num_edges) return;
    const uint32_t hub = number[a.col[e]];
    code[e] = hub == 0xffffffffu ? a.col[e] : (csaw_vertex)(a.cols + hub);
}

#endif

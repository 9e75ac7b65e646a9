/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_second_order.cu - what second-order steps ask for arcs besides the graph: the filter of arcs
 * (runtime/base/arc_filter.h), made on the GPU by a warp a row, bits set by atomic or, whose order does not matter; and
 * where GPUs hold the graph together, a copy of where all arcs lead in the memory of each. A search reads some ten
 * places one after the other: over NVLink two H200 did 0.9 of one GPU's weighted node2vec steps (p = .25, q = 4)
 * without it (docs/measured/2026-11-23-gpu-5.md).
 *
 * Limit on an H200, R-MAT 20: atomics; 1 ms for 31 M arcs, with 46% of the throughput of L1, 29% of the issue slots. */
#include "runtime/base/arc_filter.h"
#include "runtime/base/job.h"
#include "runtime/engine/device_array.cuh"

namespace {

__device__ uint64_t offset(const csaw__rows &rows, uint64_t v) {
    return rows.wide ? ((const uint64_t *)rows.offset)[v] : ((const uint32_t *)rows.offset)[v];
}

__global__ void __launch_bounds__(256) set_bits(const csaw__rows rows, uint32_t *filter) {
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t warps = (uint64_t)gridDim.x * (blockDim.x / 32);
    for (uint64_t v = (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) / 32; v < rows.count; v += warps) {
        const uint64_t row = offset(rows, v);
        const uint32_t n = (uint32_t)(offset(rows, v + 1) - row);
        for (uint64_t i = lane; i < n; i += 32) {
            const csaw_vertex dst = rows.col[row + i];
            atomicOr(&filter[csaw__filter_word(row, n, dst)], csaw__filter_bits(dst));
        }
    }
}

} // namespace

uint64_t csaw__device_filter_bytes(uint64_t num_arcs) {
    return ((num_arcs >> CSAW__FILTER_SHIFT) + 1) * sizeof(uint32_t);
}

/* What is of use while half of the free memory is left; NULL without it: searches of the graph give the same answers.
 */
static csaw_status take_spare(csaw__device *device, void **out, uint64_t bytes, const char *what) {
    size_t free_bytes = 0, total = 0;
    CSAW_CUDA(cudaMemGetInfo(&free_bytes, &total));
    if (bytes > free_bytes / 2) return CSAW_OK;
    const csaw_status status = csaw__device_alloc(device, out, bytes, what);
    return status == CSAW_EDEVMEM ? CSAW_OK : status;
}

static csaw_status make_filter(csaw__device *device) {
    const uint64_t bytes = csaw__device_filter_bytes(device->num_arcs), most_blocks = 1 << 16;
    void *filter = nullptr;
    CSAW_TRY(take_spare(device, &filter, bytes, "a filter of arcs"));
    if (!filter) return CSAW_OK;
    csaw__rows rows = device->rows;
    if (rows.own_col) rows.col = rows.own_col;
    const uint64_t blocks = ((uint64_t)rows.count + 7) / 8;
    cudaError_t error = cudaMemsetAsync(filter, 0, bytes, device->stream);
    if (error == cudaSuccess && blocks > 0) {
        set_bits<<<(unsigned)(blocks < most_blocks ? blocks : most_blocks), 256, 0, device->stream>>>(
            rows, (uint32_t *)filter);
        error = cudaGetLastError();
    }
    if (error != cudaSuccess) csaw__device_free(device, filter);
    CSAW_CUDA(error);
    device->rows.filter = (const uint32_t *)filter;
    return CSAW_OK;
}

static csaw_status copy_arcs(csaw__device *device) {
    const uint64_t bytes = device->num_arcs * sizeof *device->rows.col;
    void *own = nullptr;
    if (!device->joint || device->rows.own_col) return CSAW_OK;
    CSAW_TRY(take_spare(device, &own, bytes, "a GPU's own arcs"));
    if (!own) return CSAW_OK;
    const csaw_status status = csaw__joint_get(device, own, device->rows.col, bytes);
    if (status == CSAW_OK)
        device->rows.own_col = (const csaw_vertex *)own;
    else
        csaw__device_free(device, own);
    return status;
}

csaw_status csaw__device_second_order(csaw__device *device, const csaw_sampler *sampler) {
    if (device->asks || !(sampler->traits() & CSAW__TRAIT_SECOND_ORDER)) return CSAW_OK;
    CSAW_TRY(copy_arcs(device));
    CSAW_TRY(make_filter(device));
    device->asks = true;
    return CSAW_OK;
}

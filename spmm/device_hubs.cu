/* SPDX-License-Identifier: MIT */
/* spmm/device_hubs.cu - csaw_spmm() with hubs in shared memory: the hubs of a plan found, and its kernels, launched. */
#include "spmm/device_hubs.cuh"

#include <cub/device/device_radix_sort.cuh>

#include "spmm/device_private.cuh"
#include "spmm/device_shared_limit.cuh"

static csaw__hubs_kernel *kernel_of(const csaw__product *p) {
    const bool extreme = csaw__is_extreme(p->reduce);
    if (p->x.dtype == CSAW_F32) return csaw__hubs_kernel_of<CSAW_F32>(p->vector, extreme);
    return p->x.dtype == CSAW_F16 ? csaw__hubs_kernel_of<CSAW_F16>(p->vector, extreme)
                                  : csaw__hubs_kernel_of<CSAW_BF16>(p->vector, extreme);
}

csaw_status csaw__launch_hubs(const place &where, const csaw__product *p, const csaw__hubs *hubs, uint32_t *next) {
    csaw__hubs_kernel *const kernel = kernel_of(p);
    const uint32_t bytes =
        csaw__hub_rings(CSAW__HUB_THREADS) + hubs->count * p->width * (uint32_t)csaw__dtype_bytes(p->x.dtype);
    int blocks = 0;
    CSAW_CUDA(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, where.ordinal));
    CSAW_TRY(allow_shared(where, (const void *)kernel));
    CSAW_CUDA(cudaMemsetAsync(next, 0, p->slices * sizeof *next, where.stream));
    return csaw__device_launch_shared(where.stream, (unsigned)blocks, CSAW__HUB_THREADS, bytes, kernel, *p, *hubs,
                                      next);
}

/* The columns, those that most edges name first. */
static csaw_status sort_columns(const place &where, uint64_t cols, const uint64_t *rowptr, csaw_vertex *sorted) {
    work<uint32_t> edges, descending;
    work<csaw_vertex> column;
    work<char> room;
    size_t bytes = 0;
    CSAW_TRY(edges.take(where, cols, "columns being sorted"));
    CSAW_TRY(descending.take(where, cols, "columns being sorted"));
    CSAW_TRY(column.take(where, cols, "columns being sorted"));
    CSAW_CUDA(cub::DeviceRadixSort::SortPairsDescending(nullptr, bytes, edges.get(), descending.get(), column.get(),
                                                        sorted, (int64_t)cols, 0, 32, where.stream));
    CSAW_TRY(room.take(where, bytes, "columns being sorted"));
    CSAW__LAUNCH(where, cols, csaw__count_edges, rowptr, cols, edges.get(), column.get());
    CSAW_CUDA(cub::DeviceRadixSort::SortPairsDescending(room.get(), bytes, edges.get(), descending.get(), column.get(),
                                                        sorted, (int64_t)cols, 0, 32, where.stream));
    return CSAW_OK;
}

csaw_status csaw__device_hubs_find(const place &where, const csaw_sparse *a, const uint64_t *by_column,
                                   csaw__hubs *out) {
    work<csaw_vertex> sorted, column, code;
    work<uint32_t> number;
    int bytes = 0;
    CSAW_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, where.ordinal));
    const uint64_t left = (uint64_t)bytes - csaw__hub_rings(CSAW__HUB_THREADS);
    const uint64_t room = (left < CSAW__HUB_ROOM ? left : (uint64_t)CSAW__HUB_ROOM) / CSAW__HUB_BYTES;
    const uint64_t codes = 0xffffffffull - a->cols; /* that name no column */
    const uint64_t most = room < codes ? room : codes, count = a->cols < most ? a->cols : most;
    CSAW_TRY(column.take(where, count, "the hubs of a matrix"));
    CSAW_TRY(code.take(where, a->num_edges, "the columns of edges, recoded"));
    CSAW_TRY(sorted.take(where, a->cols, "columns being sorted"));
    CSAW_TRY(number.take(where, a->cols, "columns being sorted"));
    CSAW_CUDA(cudaMemsetAsync(number.get(), 0xff, a->cols * sizeof(uint32_t), where.stream));
    if (a->cols) CSAW_TRY(sort_columns(where, a->cols, by_column, sorted.get()));
    CSAW_CUDA(cudaMemcpyAsync(column.get(), sorted.get(), count * sizeof(csaw_vertex), cudaMemcpyDeviceToDevice,
                              where.stream));
    if (count) CSAW__LAUNCH(where, count, csaw__number_hubs, column.get(), (uint32_t)count, number.get());
    if (a->num_edges) CSAW__LAUNCH(where, a->num_edges, csaw__recode, *a, number.get(), code.get());
    *out = {code.leave(), column.leave(), (uint32_t)count, (uint32_t)a->cols};
    return CSAW_OK;
}

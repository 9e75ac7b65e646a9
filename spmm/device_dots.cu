/* SPDX-License-Identifier: MIT */
/* spmm/device_dots.cu - SDDMM on a GPU. */
#include "spmm/device_dots.cuh"

#include <cub/device/device_radix_sort.cuh>

#include "spmm/device_private.cuh"

csaw_status csaw__device_dots_order(const place &where, const csaw_sparse *a, csaw__dots_order *out) {
    const uint64_t groups = csaw__dots_groups(a->num_edges);
    const int bits = a->cols > 1 ? 64 - __builtin_clzll(a->cols - 1) : 1;
    work<csaw_vertex> key, sorted;
    work<uint64_t> number, group;
    work<char> room;
    size_t bytes = 0;
    if (!a->rows || a->num_edges / a->rows < CSAW__OFTEN) return CSAW_OK;
    CSAW_TRY(key.take(where, groups, "groups of edges being sorted"));
    CSAW_TRY(sorted.take(where, groups, "groups of edges being sorted"));
    CSAW_TRY(number.take(where, groups, "groups of edges being sorted"));
    CSAW_TRY(group.take(where, groups, "the order of groups of edges"));
    CSAW_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, key.get(), sorted.get(), number.get(), group.get(),
                                              (int64_t)groups, 0, bits, where.stream));
    CSAW_TRY(room.take(where, bytes, "groups of edges being sorted"));
    CSAW__LAUNCH(where, groups, csaw__dots_keys, *a, key.get(), number.get());
    CSAW_CUDA(cub::DeviceRadixSort::SortPairs(room.get(), bytes, key.get(), sorted.get(), number.get(), group.get(),
                                              (int64_t)groups, 0, bits, where.stream));
    CSAW__LAUNCH(where, groups, csaw__dots_rows, *a, group.get(), sorted.get()); /* which has been read */
    *out = {group.leave(), sorted.leave()};
    return CSAW_OK;
}

csaw_status csaw__device_dots(const place &where, const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y,
                              uint32_t heads, bool mean, const csaw_spmm_plan *plan, float *out) {
    csaw__device_dots_job d = {*a, *x, *y, heads, mean, out, {}, 0};
    uint64_t threads = 0;
    d.x.stride = csaw__stride(x), d.y.stride = csaw__stride(y);
    if (plan) d.order = plan->device->dots;
    csaw__dots_kernel *const kernel = csaw__dots_kernel_at(&d, &threads);
    CSAW__LAUNCH(where, threads, kernel, d);
    return CSAW_OK;
}

csaw_status csaw__device_sddmm(const csaw_sparse *a, int ordinal, const csaw_dense *x, const csaw_dense *y,
                               const csaw_edge_options *options, float *out) {
    place where;
    CSAW_TRY(where.enter(ordinal, options->stream, nullptr));
    return csaw__device_dots(where, a, x, y, options->heads, false, nullptr, out);
}

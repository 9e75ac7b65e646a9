/* SPDX-License-Identifier: MIT */
/* spmm/device_reducer.cu - csaw_spmm() by a reduction of the caller's on a GPU: its kernels are launched by the file
 * that nvcc compiled them in, or here, if they were compiled at run time. Waits for nothing. */
#include "spmm/device_private.cuh"
#include "spmm/device_reducer.h"

static csaw_status launch(const place &where, const csaw__device_reducer *device, int kernel, unsigned threads,
                          csaw__product p) {
    const void *function = nullptr;
    if (!p.blocks) return CSAW_OK;
    CSAW_REQUIRE(p.blocks <= 0x7fffffffu, CSAW_EINVAL,
                 "%llu rows take %llu blocks, but a launch has at most 2^31 - 1; split the matrix by rows",
                 (unsigned long long)p.rows, (unsigned long long)p.blocks);
    if (!device->launch) CSAW_TRY((csaw_status)device->find(device, kernel, where.ordinal, &function));
    const uint64_t slices = p.slices_of_head * p.heads, most = 0x7fffffffu / p.blocks;
    for (; p.first_slice < slices; p.first_slice += p.slices) {
        p.slices = slices - p.first_slice < most ? slices - p.first_slice : most;
        const unsigned blocks = (unsigned)(p.slices * p.blocks);
        void *arguments[] = {&p};
        if (device->launch)
            CSAW_CUDA((cudaError_t)device->launch(kernel, blocks, threads, where.stream, &p));
        else
            CSAW_CUDA(cudaLaunchKernel(function, dim3(blocks), dim3(threads), arguments, 0, where.stream));
    }
    return CSAW_OK;
}

csaw_status csaw__device_reduce_by(const csaw__call *call, const csaw_sparse *a, const csaw_dense *x,
                                   const csaw_dense *y) {
    const csaw__device_reducer *const device = call->options.reducer->device;
    const csaw_spmm_plan *const plan = call->options.plan;
    csaw__device_split split;
    place where;
    csaw__product rows = csaw__product_of(call, a, x, y), hubs = rows;
    if (!a->rows || !x->cols) return CSAW_OK;
    CSAW_TRY(where.enter(call->ordinal, call->options.stream, csaw__pool_of(plan)));
    where.counted = call->work;
    CSAW_TRY(split.open(where, plan ? &plan->device->matrix : nullptr, &hubs));
    if (where.counted) return CSAW_OK;
    CSAW_TRY(split.find(where, hubs));
    const int of_rows = csaw__lay_out_reducer(&rows, CSAW__THREADS), of_hubs = csaw__lay_out_long_reducer(&hubs);
    CSAW_TRY(launch(where, device, of_hubs, CSAW__IN_ORDER_THREADS, hubs));
    return launch(where, device, of_rows, CSAW__THREADS, rows);
}

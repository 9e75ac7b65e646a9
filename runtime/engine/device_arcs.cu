/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_arcs.cu - see device_arcs.h. */
#include "runtime/engine/device_arcs.h"

csaw_status csaw__device_arcs_take(csaw__device *device, csaw_samples *samples, uint64_t instances, uint64_t arcs,
                                   uint64_t seeds) {
    void *block = nullptr;
    csaw__device_arcs_free(samples);
    CSAW_TRY(csaw__device_alloc(device, &block, csaw__arcs_bytes(instances, arcs, seeds), "sampled arcs"));
    samples->device_arcs = csaw__arcs_in(block, CSAW_DEVICE, instances, arcs);
    device->references++;
    return CSAW_OK;
}

void csaw__device_arcs_free(csaw_samples *samples) {
    if (!samples->device_arcs.offset) return;
    csaw__device_free(samples->device, (void *)samples->device_arcs.offset);
    samples->device_arcs = csaw_arcs();
    csaw__device_close(samples->device);
}

static cudaError_t fetch(const csaw__device *device, const void *to, const void *from, uint64_t bytes) {
    if (bytes == 0) return cudaSuccess;
    return cudaMemcpyAsync((void *)to, from, bytes, cudaMemcpyDeviceToHost, device->delivery);
}

csaw_status csaw__device_arcs_to_host(csaw_samples *samples) {
    csaw__device *const device = samples->device;
    const csaw_arcs *const from = &samples->device_arcs;
    csaw_arcs *const to = &samples->arcs;
    const uint64_t instances = from->num_instances;
    uint64_t count[2] = {0, 0}; /* arcs, seeds */
    CSAW_CUDA(cudaSetDevice(device->ordinal));
    CSAW_CUDA(fetch(device, &count[0], from->offset + instances, sizeof count[0]));
    CSAW_CUDA(fetch(device, &count[1], from->seed_offset + instances, sizeof count[1]));
    CSAW_CUDA(cudaStreamSynchronize(device->delivery));
    CSAW_TRY(csaw__arcs_create(samples->spare, instances, count[0], count[1], to));
    cudaError_t error = fetch(device, to->offset, from->offset, (instances + 1) * sizeof *to->offset);
    const auto also = [&](const void *host, const void *there, uint64_t bytes) {
        if (error == cudaSuccess) error = fetch(device, host, there, bytes);
    };
    also(to->seed_offset, from->seed_offset, (instances + 1) * sizeof *to->seed_offset);
    also(to->edge, from->edge, count[0] * sizeof *to->edge);
    also(to->src, from->src, count[0] * sizeof *to->src);
    also(to->dst, from->dst, count[0] * sizeof *to->dst);
    also(to->depth, from->depth, count[0] * sizeof *to->depth);
    also(to->seed, from->seed, count[1] * sizeof *to->seed);
    const cudaError_t last = cudaStreamSynchronize(device->delivery); /* in any case: copies may be under way */
    if (error == cudaSuccess) error = last;
    if (error != cudaSuccess) csaw__arcs_free(samples->spare, to);
    CSAW_CUDA(error);
    to->first = from->first;
    return CSAW_OK;
}

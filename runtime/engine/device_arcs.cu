/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_arcs.cu - see device_arcs.h. */
#include "runtime/engine/device_arcs.h"

#include "runtime/base/device_copy.h"

csaw_status csaw__device_arcs_take(csaw__device *device, csaw_samples *samples, uint64_t instances, uint64_t arcs,
                                   uint64_t seeds) {
    void *block = nullptr;
    csaw__device_arcs_free(samples);
    samples->device_bytes = csaw__arcs_bytes(instances, arcs, seeds);
    CSAW_TRY(csaw__device_alloc_kept(device, &block, &samples->device_bytes, "sampled arcs"));
    samples->device_arcs = csaw__arcs_in(block, CSAW_DEVICE, instances, arcs);
    samples->device_counts[0] = arcs;
    samples->device_counts[1] = seeds;
    samples->device_counted = true;
    device->references++;
    return CSAW_OK;
}

void csaw__device_arcs_free(csaw_samples *samples) {
    if (!samples->device_arcs.offset) return;
    csaw__device_keep(samples->device, (void *)samples->device_arcs.offset, samples->device_bytes);
    samples->device_arcs = csaw_arcs();
    csaw__device_close(samples->device);
}

static cudaError_t fetch(const csaw__device *device, const void *to, const void *from, uint64_t bytes) {
    if (bytes == 0) return cudaSuccess;
    return csaw__copy_async((void *)to, from, bytes, cudaMemcpyDeviceToHost, device->delivery);
}

csaw_status csaw__device_count_arcs(const csaw_samples *samples, uint64_t count[2]) {
    const csaw__device *const device = samples->device;
    const csaw_arcs *const from = &samples->device_arcs;
    if (samples->device_counted) {
        count[0] = samples->device_counts[0];
        count[1] = samples->device_counts[1];
        return CSAW_OK;
    }
    CSAW_CUDA(cudaSetDevice(device->ordinal));
    CSAW_CUDA(fetch(device, &count[0], from->offset + from->num_instances, sizeof count[0]));
    const cudaError_t error = fetch(device, &count[1], from->seed_offset + from->num_instances, sizeof count[1]);
    CSAW_CUDA(cudaStreamSynchronize(device->delivery)); /* the first goes on, even if the second failed to begin */
    CSAW_CUDA(error);
    return CSAW_OK;
}

csaw_status csaw__device_begin_arcs(const csaw_samples *samples, const uint64_t count[2], const csaw_arcs *to) {
    const csaw__device *const device = samples->device;
    const csaw_arcs *const from = &samples->device_arcs;
    const uint64_t instances = from->num_instances;
    CSAW_CUDA(cudaSetDevice(device->ordinal));
    CSAW_CUDA(fetch(device, to->offset + 1, from->offset + 1, instances * sizeof *to->offset));
    CSAW_CUDA(fetch(device, to->seed_offset + 1, from->seed_offset + 1, instances * sizeof *to->seed_offset));
    CSAW_CUDA(fetch(device, to->edge, from->edge, count[0] * sizeof *to->edge));
    CSAW_CUDA(fetch(device, to->src, from->src, count[0] * sizeof *to->src));
    CSAW_CUDA(fetch(device, to->dst, from->dst, count[0] * sizeof *to->dst));
    CSAW_CUDA(fetch(device, to->depth, from->depth, count[0] * sizeof *to->depth));
    CSAW_CUDA(fetch(device, to->seed, from->seed, count[1] * sizeof *to->seed));
    return CSAW_OK;
}

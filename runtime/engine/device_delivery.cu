/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_delivery.cu - walks on their way from the GPU to the host, and the host memory that they go to.
 * Arcs of samples: device_arcs.cu.
 *
 * Delivery has a stream of its own, and walks and samples are complete before anyone is given them, so it waits for
 * nothing that is being drawn meanwhile. Walks stand step by step on the device and are transposed there first. */
#include "runtime/base/memory.h"
#include "runtime/engine/device_arcs.h"
#include "runtime/engine/transpose.cuh"

static uint64_t turned_bytes(const csaw_samples *samples, uint64_t walks) {
    const uint64_t length = samples->length, path = walks * (length + 1) * sizeof *samples->device_path,
                   edge = samples->edges ? walks * length * sizeof *samples->device_edge : 0;
    return path > edge ? path : edge;
}

static csaw_status take_turned(csaw_samples *samples) {
    csaw__device *const device = samples->device;
    return csaw__device_alloc_in(device, device->delivery, &samples->device_turned,
                                 turned_bytes(samples, samples->device_walks), "walks being transposed");
}

csaw_status csaw__device_reserve(csaw_samples *samples) {
    if (samples->is_sample) return CSAW_OK; /* arcs stand as they are delivered */
    CSAW_CUDA(cudaSetDevice(samples->device->ordinal));
    return take_turned(samples);
}

void csaw__device_unreserve(csaw_samples *samples) {
    if (!samples->device_turned) return;
    cudaSetDevice(samples->device->ordinal);
    cudaFreeAsync(samples->device_turned, samples->device->delivery);
    samples->device_turned = nullptr;
}

/* from: [rows, columns] -> to (host): [columns, rows] */
template <typename T>
static csaw_status deliver(csaw_samples *samples, const T *from, T *to, uint64_t rows, uint64_t columns) {
    const cudaStream_t stream = samples->device->delivery;
    T *const turned = (T *)samples->device_turned;
    CSAW_CUDA(csaw__transpose(from, turned, rows, columns, stream));
    CSAW_CUDA(cudaMemcpyAsync(to, turned, rows * columns * sizeof(T), cudaMemcpyDeviceToHost, stream));
    CSAW_CUDA(cudaStreamSynchronize(stream));
    return CSAW_OK;
}

static csaw_status take_host_arrays(csaw_samples *samples) {
    const uint64_t walks = samples->device_walks, length = samples->length;
    if (!samples->host_path)
        CSAW_TRY(csaw__block_take(samples->spare, walks * (length + 1) * sizeof *samples->host_path, "paths of walks",
                                  (void **)&samples->host_path));
    if (samples->edges && !samples->host_edge)
        CSAW_TRY(csaw__block_take(samples->spare, walks * length * sizeof *samples->host_edge, "arcs of walks",
                                  (void **)&samples->host_edge));
    return CSAW_OK;
}

static csaw_status deliver_walks(csaw_samples *samples) {
    const uint64_t walks = samples->num_walks, length = samples->length;
    CSAW_TRY(deliver(samples, samples->device_path, samples->host_path, length + 1, walks));
    if (!samples->edges) return CSAW_OK;
    return deliver(samples, (const unsigned long long *)samples->device_edge, (unsigned long long *)samples->host_edge,
                   length, walks);
}

csaw_status csaw__device_to_host(csaw_samples *samples) {
    const bool reserved = samples->device_turned != nullptr;
    CSAW_CUDA(cudaSetDevice(samples->device->ordinal));
    CSAW_TRY(take_host_arrays(samples));
    if (!reserved) CSAW_TRY(take_turned(samples));
    const csaw_status status = deliver_walks(samples);
    if (!reserved) csaw__device_unreserve(samples);
    CSAW_TRY(status);
    samples->host_current = true;
    return CSAW_OK;
}

void csaw__device_release(csaw_samples *samples) {
    csaw__device *device = samples->device;
    if (!samples->device_path && !samples->device_arcs.offset) return; /* the device may be gone */
    cudaSetDevice(device->ordinal);
    csaw__device_arcs_free(samples);
    if (!samples->device_path) return;
    csaw__device_unreserve(samples);
    csaw__device_free(device, samples->device_path);
    csaw__device_free(device, samples->device_edge);
    csaw__device_close(device);
}

void *csaw__device_pin(uint64_t bytes) {
    void *memory = nullptr;
    if (!csaw__alloc_allowed() || cudaMallocHost(&memory, bytes) != cudaSuccess) {
        cudaGetLastError(); /* a refused request does not stick */
        return nullptr;
    }
    return memory;
}

void csaw__device_unpin(void *memory) { cudaFreeHost(memory); }

/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_delivery.cu - walks on their way from the GPU to the host, and the host memory that they go to.
 * Arcs of samples: device_arcs.cu.
 *
 * Delivery has a stream of its own, and walks and samples are complete before anyone is given them, so it waits for
 * nothing that is being drawn meanwhile. Walks stand step by step on the device and are transposed there first, unless
 * they stand walk by walk. Copies go on after they are begun, so that several GPUs copy at the same time (deliver.c).
 */
#include "runtime/base/device_copy.h"
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
    if (samples->is_sample || samples->device_by_walk) return CSAW_OK; /* they stand as they are delivered */
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
static csaw_status begin(csaw_samples *samples, const T *from, T *to, uint64_t rows, uint64_t columns) {
    const cudaStream_t stream = samples->device->delivery;
    T *const turned = (T *)samples->device_turned;
    CSAW_CUDA(csaw__transpose(from, turned, rows, columns, stream));
    CSAW_CUDA(csaw__copy_async(to, turned, rows * columns * sizeof(T), cudaMemcpyDeviceToHost, stream));
    return CSAW_OK;
}

static csaw_status begin_as_they_stand(const csaw_samples *samples, csaw_vertex *path, csaw_edge *edge) {
    const uint64_t walks = samples->num_walks, length = samples->length;
    const cudaStream_t stream = samples->device->delivery;
    CSAW_CUDA(csaw__copy_async(path, samples->device_path, walks * (length + 1) * sizeof *path, cudaMemcpyDeviceToHost,
                               stream));
    if (edge)
        CSAW_CUDA(csaw__copy_async(edge, samples->device_edge, walks * length * sizeof *edge, cudaMemcpyDeviceToHost,
                                   stream));
    return CSAW_OK;
}

csaw_status csaw__device_begin_walks(csaw_samples *samples, csaw_vertex *path, csaw_edge *edge) {
    const bool reserved = samples->device_turned != nullptr;
    const uint64_t walks = samples->num_walks, length = samples->length;
    CSAW_CUDA(cudaSetDevice(samples->device->ordinal));
    if (samples->device_by_walk) return begin_as_they_stand(samples, path, edge);
    if (!reserved) CSAW_TRY(take_turned(samples));
    csaw_status status = begin(samples, samples->device_path, path, length + 1, walks);
    if (status == CSAW_OK && edge)
        status =
            begin(samples, (const unsigned long long *)samples->device_edge, (unsigned long long *)edge, length, walks);
    if (!reserved) csaw__device_unreserve(samples); /* in the order of the stream: after the copies */
    return status;
}

csaw_status csaw__device_finish(const csaw_samples *samples) {
    CSAW_CUDA(cudaSetDevice(samples->device->ordinal));
    CSAW_CUDA(cudaStreamSynchronize(samples->device->delivery));
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

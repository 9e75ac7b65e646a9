/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_memory.cu - device memory, all of it from the pool of a plan, so that a run allocates without a
 * round trip. A pool maps large blocks anew where smaller ones stand in between, so the last samples' block is kept for
 * the next ones, and given up where memory is short. */
#include "runtime/base/memory.h"
#include "runtime/engine/device_parts.h"
#include "runtime/engine/device_private.h"

/* The block that was kept, if it has at least so many bytes, and an eighth of it more at most; 0: whatever it has. */
static void *take_kept(csaw__device *device, uint64_t *bytes) {
    void *out = nullptr;
    pthread_mutex_lock(&device->lock);
    if (device->kept &&
        (!*bytes || (device->kept_bytes >= *bytes && device->kept_bytes - device->kept_bytes / 8 <= *bytes))) {
        out = device->kept;
        *bytes = device->kept_bytes;
        device->kept = nullptr;
    }
    pthread_mutex_unlock(&device->lock);
    return out;
}

static bool drop_kept(csaw__device *device) {
    uint64_t all = 0;
    void *const kept = take_kept(device, &all);
    if (kept) cudaFreeAsync(kept, device->stream);
    return kept;
}

void csaw__device_give_up(csaw__device *device) {
    drop_kept(device);
    csaw__device_fanouts_drop(device);
    csaw__device_free(device, (void *)device->rows.own_col);
    device->rows.own_col = nullptr;
}

csaw_status csaw__device_alloc_in(csaw__device *device, cudaStream_t stream, void **out, uint64_t bytes,
                                  const char *what) {
    cudaError_t error = cudaErrorMemoryAllocation;
    if (csaw__alloc_allowed()) {
        error = cudaMallocFromPoolAsync(out, bytes ? bytes : 16, device->pool, stream);
        if (error == cudaErrorMemoryAllocation && drop_kept(device)) {
            cudaGetLastError();                    /* nobody else is to find it */
            cudaStreamSynchronize(device->stream); /* now it is the pool's */
            error = cudaMallocFromPoolAsync(out, bytes ? bytes : 16, device->pool, stream);
        }
    }
    if (error == cudaErrorMemoryAllocation)
        return csaw__device_refused(what, bytes,
                                    "take fewer walks or samples at a time (csaw_sample_each), or use device 'cpu'");
    CSAW_CUDA(error);
    return CSAW_OK;
}

csaw_status csaw__device_alloc(csaw__device *device, void **out, uint64_t bytes, const char *what) {
    return csaw__device_alloc_in(device, device->stream, out, bytes, what);
}

void csaw__device_free(csaw__device *device, void *memory) {
    if (memory) cudaFreeAsync(memory, device->stream);
}

csaw_status csaw__device_alloc_kept(csaw__device *device, void **out, uint64_t *bytes, const char *what) {
    if (csaw__alloc_allowed()) *out = take_kept(device, bytes);
    return *out ? CSAW_OK : csaw__device_alloc(device, out, *bytes, what);
}

void csaw__device_keep(csaw__device *device, void *memory, uint64_t bytes) {
    pthread_mutex_lock(&device->lock);
    void *const before = device->kept;
    device->kept = memory;
    device->kept_bytes = bytes;
    pthread_mutex_unlock(&device->lock);
    csaw__device_free(device, before);
}

void csaw__device_trim(csaw_plan *plan) {
    csaw__device *const device = plan->device;
    cudaSetDevice(device->ordinal);
    csaw__device_give_up(device);
    cudaStreamSynchronize(device->stream);
    if (device->delivery) cudaStreamSynchronize(device->delivery);
    cudaMemPoolTrimTo(device->pool, 0);
    cudaGetLastError(); /* whoever launched what failed has told */
}

csaw_status csaw__device_room(const csaw_plan *plan, uint64_t *out) {
    const csaw__device *const device = plan->device;
    uint64_t reserved = 0, used = 0;
    CSAW_TRY(csaw__device_free_memory(device->ordinal, out));
    CSAW_CUDA(cudaMemPoolGetAttribute(device->pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
    CSAW_CUDA(cudaMemPoolGetAttribute(device->pool, cudaMemPoolAttrUsedMemCurrent, &used));
    *out += reserved - used;
    return CSAW_OK;
}

uint64_t csaw__device_peak(const csaw__device *device) {
    uint64_t bytes = 0;
    if (device && cudaMemPoolGetAttribute(device->pool, cudaMemPoolAttrReservedMemHigh, &bytes) != cudaSuccess)
        cudaGetLastError(); /* there is nothing to tell */
    return bytes;
}

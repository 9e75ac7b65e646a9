/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_upload.cu - host memory to device memory.
 *
 * Method: pages of the caller's are copied by several threads into one of two page-locked blocks, from which the device
 * fetches them while the other block is filled. The driver's own way with such memory has one thread copy. What was
 * copied may change at once; up to two blocks wait for nothing, more wait for the stream. Where page-locked memory is
 * refused the driver does it all, for the plan's life. */
#include "runtime/base/copy.h"
#include "runtime/base/device_copy.h"
#include "runtime/base/memory.h"
#include "runtime/engine/device_private.h"

static const uint64_t block_bytes = (uint64_t)4 << 20;

/* The device's two blocks, made when first asked for; false: they are refused. */
static bool staging_open(csaw__staging *staging) {
    if (staging->block[0]) return true;
    if (staging->refused) return false;
    char *const blocks = (char *)csaw__device_pin(2 * block_bytes);
    bool ready = blocks != nullptr;
    for (int i = 0; i < 2 && ready; i++)
        ready = cudaEventCreateWithFlags(&staging->fetched[i], cudaEventDisableTiming) == cudaSuccess;
    staging->refused = !ready;
    if (!ready) {
        cudaGetLastError(); /* a refused request does not stick */
        if (blocks) csaw__device_unpin(blocks);
        for (cudaEvent_t &event : staging->fetched) {
            if (event) cudaEventDestroy(event);
            event = nullptr;
        }
        return false;
    }
    staging->block[0] = blocks;
    staging->block[1] = blocks + block_bytes;
    return true;
}

void csaw__device_staging_close(csaw__device *device) {
    csaw__staging *const staging = &device->staging;
    if (!staging->block[0]) return;
    cudaStreamSynchronize(device->stream);
    for (cudaEvent_t event : staging->fetched) cudaEventDestroy(event);
    csaw__device_unpin(staging->block[0]);
}

csaw_status csaw__device_put(csaw__device *device, void *to, const void *from, uint64_t bytes) {
    csaw__staging *const staging = &device->staging;
    if (bytes && !staging_open(staging)) {
        CSAW_CUDA(csaw__copy_async(to, from, bytes, cudaMemcpyHostToDevice, device->stream));
        CSAW_CUDA(cudaStreamSynchronize(device->stream)); /* from may go now */
        return CSAW_OK;
    }
    for (uint64_t done = 0; done < bytes; done += block_bytes) {
        const uint64_t left = bytes - done, now = left < block_bytes ? left : block_bytes;
        const int turn = staging->turn++ & 1;
        CSAW_CUDA(cudaEventSynchronize(staging->fetched[turn]));
        csaw__copy(staging->block[turn], (const char *)from + done, now);
        CSAW_CUDA(
            cudaMemcpyAsync((char *)to + done, staging->block[turn], now, cudaMemcpyHostToDevice, device->stream));
        CSAW_CUDA(cudaEventRecord(staging->fetched[turn], device->stream));
    }
    return CSAW_OK;
}

csaw_status csaw__device_upload(csaw__device *device, const void **out, const void *from, uint64_t bytes,
                                const char *what) {
    void *memory = nullptr;
    CSAW_TRY(csaw__device_alloc(device, &memory, bytes, what));
    const csaw_status status = csaw__device_put(device, memory, from, bytes);
    if (status == CSAW_OK)
        *out = memory;
    else
        csaw__device_free(device, memory);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* spmm/device_pool.cu - pools of device memory. One of the GPU's own gives back what is free whenever somebody waits
 * for the GPU, so that the call after it maps memory anew, which takes longer than a minibatch's product. */
#include <pthread.h>

#include "spmm/device_memory.cuh"

enum { MOST_GPUS = 64 };
enum { KEPT_SHARE = 64 }; /* of the GPU's memory: the work of a minibatch is some MiB, of a large product some 100 */

csaw_status csaw__pool_create(int ordinal, uint64_t kept, cudaMemPool_t *out) {
    cudaMemPoolProps props = {};
    cudaMemPool_t pool = nullptr;
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = ordinal;
    CSAW_CUDA(cudaMemPoolCreate(&pool, &props));
    const cudaError_t error = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept);
    if (error != cudaSuccess) cudaMemPoolDestroy(pool);
    CSAW_CUDA(error);
    *out = pool;
    return CSAW_OK;
}

static csaw_status create_work_pool(int ordinal, cudaMemPool_t *out) {
    size_t free_bytes = 0, total = 0;
    CSAW_CUDA(cudaMemGetInfo(&free_bytes, &total));
    return csaw__pool_create(ordinal, total / KEPT_SHARE, out);
}

csaw_status csaw__work_pool(int ordinal, cudaMemPool_t *out) {
    static cudaMemPool_t pool[MOST_GPUS];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(ordinal >= 0 && ordinal < MOST_GPUS, CSAW_EUNSUPPORTED, "device 'cuda:%d': GPUs are numbered up to %d",
                 ordinal, MOST_GPUS - 1);
    pthread_mutex_lock(&lock);
    if (!pool[ordinal]) {
        /* the first call may be recorded in a CUDA graph, into which this does not go */
        cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
        cudaThreadExchangeStreamCaptureMode(&mode);
        status = create_work_pool(ordinal, &pool[ordinal]);
        cudaThreadExchangeStreamCaptureMode(&mode); /* as it was */
    }
    *out = pool[ordinal];
    pthread_mutex_unlock(&lock);
    return status;
}

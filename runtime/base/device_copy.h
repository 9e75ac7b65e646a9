/* SPDX-License-Identifier: MIT */
/* runtime/base/device_copy.h - copies between a GPU and memory of the host that may be locked in part. CUDA refuses
 * those: an array that begins or ends within a page beside a locked array, a graph's say, has that page locked with it
 * and the others not. */
#ifndef CSAW_BASE_DEVICE_COPY_H
#define CSAW_BASE_DEVICE_COPY_H

#include <cuda_runtime.h>
#include <stdint.h>
#include <unistd.h>

/* As cudaMemcpyAsync(), of cudaMemcpyHostToDevice or cudaMemcpyDeviceToHost; what is refused goes page by page, each of
 * which is locked or not: some microseconds a page. Of these none is under way any more after an error. */
static inline cudaError_t csaw__copy_async(void *to, const void *from, uint64_t bytes, cudaMemcpyKind kind,
                                           cudaStream_t stream) {
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, stream);
    if (error != cudaErrorInvalidValue) return error;
    cudaGetLastError(); /* a refused request does not stick */
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uintptr_t host = kind == cudaMemcpyHostToDevice ? (uintptr_t)from : (uintptr_t)to;
    if (host % page + bytes <= page) return error; /* it was refused for another reason */
    for (uint64_t done = 0, now = 0; done < bytes; done += now) {
        now = page - (host + done) % page;
        if (now > bytes - done) now = bytes - done;
        error = cudaMemcpyAsync((char *)to + done, (const char *)from + done, now, kind, stream);
        if (error == cudaSuccess) continue;
        cudaStreamSynchronize(stream);
        return error;
    }
    return cudaSuccess;
}

#endif

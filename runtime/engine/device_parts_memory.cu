/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_parts_memory.cu - memory of a GPU to which partitions come: within a budget that counts what
 * allocations are padded by; to it and from it; and memory of the host that the GPU writes to. */
#include "runtime/base/copy.h"
#include "runtime/base/device_copy.h"
#include "runtime/base/memory.h"
#include "runtime/engine/device_parts.h"

#ifndef CSAW__CUDA_GRANULE
#define CSAW__CUDA_GRANULE ((uint64_t)2 << 20) /* bytes that cudaMalloc hands out at once */
#endif

namespace {

enum { ALLOCATIONS = 8 /* at most: each may take up to a granule more than it asks for */ };
const uint64_t block_bytes = (uint64_t)4 << 20;

uint64_t granules(uint64_t bytes) {
    return (bytes ? (bytes + CSAW__CUDA_GRANULE - 1) / CSAW__CUDA_GRANULE : 1) * CSAW__CUDA_GRANULE;
}

/* Of a copy all of the host's memory is page-locked, or none, says CUDA, but pages may have been locked for what lies
 * beside. So what is not known to be locked goes by way of a block that is. */
bool is_locked(const void *at) {
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, at) == cudaSuccess) return attributes.type == cudaMemoryTypeHost;
    cudaGetLastError(); /* memory that CUDA does not know */
    return false;
}

bool are_locked(const void *array, uint64_t bytes) {
    return !array || bytes == 0 || (is_locked(array) && is_locked((const char *)array + bytes - 1));
}

} // namespace

/* ---- of the device ---- */

extern "C" csaw_status csaw__device_count(int *out) {
    CSAW_TRY(csaw__device_use(0)); /* or why there is none */
    CSAW_CUDA(cudaGetDeviceCount(out));
    return CSAW_OK;
}

extern "C" csaw_status csaw__device_free_memory(int ordinal, uint64_t *out) {
    size_t free_bytes = 0, total = 0;
    CSAW_TRY(csaw__device_use(ordinal));
    CSAW_CUDA(cudaMemGetInfo(&free_bytes, &total));
    *out = free_bytes;
    return CSAW_OK;
}

/* What walks, partitions and all else may take: what was asked for, less what allocations are padded by, and the
 * tables to find partitions by, of which each partition has some more. */
csaw_status csaw__cuda_take_budget(csaw__cuda_parts *c, csaw__fit_request *request) {
    const uint64_t padding = ALLOCATIONS * CSAW__CUDA_GRANULE + CSAW__RANGES_BYTES;
    uint64_t there = 0;
    CSAW_TRY(csaw__device_free_memory(c->ordinal, &there));
    CSAW_REQUIRE(request->memory <= there, CSAW_EDEVMEM,
                 "gpu_memory is %.1f MiB, but of the memory of cuda:%d %.1f MiB are free; give no more than that",
                 (double)request->memory / 1048576, c->ordinal, (double)there / 1048576);
    c->memory = request->memory ? request->memory : there - there / 16;
    CSAW_REQUIRE(c->memory >= 2 * padding, CSAW_EDEVMEM,
                 "gpu_memory is %.1f MiB; partitions that come and go need %.1f at least, since a GPU hands out memory "
                 "by %.1f",
                 (double)c->memory / 1048576, 2.0 * (double)padding / 1048576, (double)CSAW__CUDA_GRANULE / 1048576);
    request->memory = c->memory - padding;
    request->table_bytes = CSAW__PART_TABLE_BYTES;
    return CSAW_OK;
}

void csaw__cuda_end_samples(csaw__cuda_parts *c) {
    const uint64_t taken = c->use.used + csaw__device_peak(c->sampling);
    c->use.peak = taken > c->use.peak ? taken : c->use.peak;
    csaw__cuda_drop_samples(c->parts);
    csaw__leave_free(c);
    csaw__device_close(c->sampling);
    c->sampling = nullptr;
}

/* What samples had, walks and partitions may have. */
csaw_status csaw__cuda_alloc(void *self, uint64_t bytes, const char *what, void **out) {
    csaw__cuda_parts *const c = (csaw__cuda_parts *)self;
    csaw__cuda_end_samples(c);
    const uint64_t takes = granules(bytes);
    CSAW_REQUIRE(takes <= c->memory - c->use.used, CSAW_EDEVMEM,
                 "no device memory for %s: %.1f MiB, but of %.1f MiB %.1f are taken; give more gpu_memory, or fewer "
                 "walks at a time",
                 what, (double)takes / 1048576, (double)c->memory / 1048576, (double)c->use.used / 1048576);
    cudaError_t error = cudaErrorMemoryAllocation;
    if (csaw__alloc_allowed()) error = cudaMalloc(out, bytes ? bytes : 1);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* a refused request does not stick */
        return csaw__fail(CSAW_EDEVMEM,
                          "no device memory for %s: %.1f MiB were refused, though gpu_memory of %.1f MiB allows it; "
                          "others use the GPU: give less gpu_memory",
                          what, (double)bytes / 1048576, (double)c->memory / 1048576);
    }
    CSAW_CUDA(error);
    c->use.used += takes;
    c->use.peak = c->use.used > c->use.peak ? c->use.used : c->use.peak;
    return CSAW_OK;
}

void csaw__cuda_free(void *self, void *memory, uint64_t bytes) {
    csaw__cuda_parts *const c = (csaw__cuda_parts *)self;
    if (!memory) return;
    cudaFree(memory);
    c->use.used -= granules(bytes);
}

csaw_status csaw__cuda_put(void *self, void *to, const void *from, uint64_t bytes) {
    csaw__cuda_parts *const c = (csaw__cuda_parts *)self;
    for (uint64_t done = 0; done < bytes; done += block_bytes) {
        const uint64_t now = bytes - done < block_bytes ? bytes - done : block_bytes;
        csaw__copy(c->block, (const char *)from + done, now);
        CSAW_CUDA(csaw__copy_async((char *)to + done, c->block, now, cudaMemcpyHostToDevice, c->side));
        CSAW_CUDA(cudaStreamSynchronize(c->side));
    }
    return CSAW_OK;
}

csaw_status csaw__cuda_get(void *self, void *to, const void *from, uint64_t bytes) {
    csaw__cuda_parts *const c = (csaw__cuda_parts *)self;
    const bool direct = bytes && is_locked(to) && is_locked((char *)to + bytes - 1);
    const uint64_t most = direct ? bytes : block_bytes;
    for (uint64_t done = 0; done < bytes; done += most) {
        const uint64_t now = bytes - done < most ? bytes - done : most;
        void *const at = direct ? to : c->block;
        CSAW_CUDA(csaw__copy_async(at, (const char *)from + done, now, cudaMemcpyDeviceToHost, c->side));
        CSAW_CUDA(cudaStreamSynchronize(c->side));
        if (!direct) csaw__copy((char *)to + done, c->block, now);
    }
    return CSAW_OK;
}

csaw_status csaw__cuda_take_block(csaw__cuda_parts *c) {
    c->block = csaw__device_pin(block_bytes);
    c->block_is_locked = c->block != nullptr;
    return c->block ? CSAW_OK : csaw__alloc_bytes(&c->block, block_bytes, 1, "a block for copies to a GPU");
}

void csaw__cuda_free_block(csaw__cuda_parts *c) {
    if (c->block_is_locked)
        csaw__device_unpin(c->block);
    else
        csaw__free(c->block);
}

/* ---- of the host ---- */

bool csaw__cuda_can_hold(const csaw__parts *parts) { return parts->cuda->in_place; }

csaw_status csaw__cuda_hold(csaw__parts *parts, const csaw__job *job, bool *held) {
    csaw__cuda_parts *const c = parts->cuda;
    const uint64_t walks = job->num_walks, length = job->length;
    const csaw__span span[] = {{job->path, walks * (length + 1) * sizeof *job->path},
                               {job->edge, job->edge ? walks * length * sizeof *job->edge : 0}};
    CSAW_CUDA(cudaSetDevice(c->ordinal));
    *held = c->in_place;
    if (!*held || (are_locked(span[0].begin, span[0].bytes) && are_locked(span[1].begin, span[1].bytes)))
        return CSAW_OK;
    CSAW_TRY(csaw__pages_lock(&c->results, span, 2));
    *held = !c->results.refused;
    return CSAW_OK;
}

void csaw__cuda_let_go(csaw__parts *parts) { csaw__pages_unlock(&parts->cuda->results); }

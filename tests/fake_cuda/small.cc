// SPDX-License-Identifier: MIT
// tests/fake_cuda/small.cc - the GPU engine for samples of small instances, against the fake CUDA: the library's own
// code, compiled here, but for the opening of a device and the engines that other samples take.
#include <functional>
#include <utility>

#include "tests/fake_cuda/launch.h"
#include "tests/fake_cuda/pinned.h"

#include "runtime/engine/device_arcs.cu"
#include "runtime/engine/device_each.cu"
#include "runtime/engine/device_memory.cu"
#include "runtime/engine/device_sample.cu"
#include "runtime/engine/device_upload.cu"

csaw_status csaw__device_lists(csaw__device *, const csaw_sampler *, const csaw__job *, csaw_samples *, csaw__fault *) {
    return csaw__fail(CSAW_EUNSUPPORTED, "not here");
}
bool csaw__device_alone_fits(const csaw_sampler *, const csaw__job *) { return false; }
csaw_status csaw__device_alone(csaw__device *, uint64_t, const csaw_sampler *, const csaw__job *, csaw_samples *,
                               csaw__fault *) {
    return csaw__fail(CSAW_EUNSUPPORTED, "not here");
}
csaw_status csaw__device_depths(csaw__device *, uint64_t, const csaw_sampler *, const csaw__job *, csaw_samples *,
                                csaw__fault *) {
    return csaw__fail(CSAW_EDEVMEM, "not here");
}
csaw_status csaw__device_second_order(csaw__device *, const csaw_sampler *) { return CSAW_OK; }

csaw_status csaw__device_launch(csaw__device *device, const csaw_sampler *sampler, int kernel, uint64_t threads,
                                const csaw__job *job) {
    const unsigned each = kernel < CSAW__KERNEL_EACH ? CSAW__LAST_THREADS : CSAW__EACH_THREADS;
    const unsigned blocks = (unsigned)((threads + each - 1) / each);
    if (blocks) CSAW_CUDA((cudaError_t)sampler->device->launch(kernel, blocks, each, device->stream, job));
    return CSAW_OK;
}

extern "C" {

csaw_status csaw__device_open(const csaw_graph *graph, int ordinal, const csaw__joint_member *, char *, size_t,
                              csaw__device **out) {
    const csaw_csr *const csr = &graph->csr;
    csaw__device *device = nullptr;
    CSAW_TRY(csaw__alloc_zero(&device, 1, "a device"));
    device->ordinal = ordinal;
    device->references = 1;
    device->lock = PTHREAD_MUTEX_INITIALIZER;
    device->rows.offset = csr->rowptr;
    device->rows.wide = 1;
    device->rows.col = csr->col;
    device->rows.count = (csaw_vertex)csr->num_vertices;
    cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&device->delivery, cudaStreamNonBlocking);
    *out = device;
    return csaw__device_alloc(device, (void **)&device->record, 2 * sizeof *device->record, "a record of faults");
}

void csaw__device_close(csaw__device *device) {
    if (!device || --device->references > 0) return;
    csaw__device_free(device, device->record);
    csaw__device_give_up(device);
    csaw__device_staging_close(device);
    for (cudaStream_t stream : {device->stream, device->delivery}) {
        cudaStreamSynchronize(stream);
        cudaStreamDestroy(stream);
    }
    csaw__free(device);
}

csaw_status csaw__device_prepare(csaw_plan *, const csaw_sampler *, const csaw__job *) { return CSAW_OK; }
bool csaw__device_is_prepared(const csaw_plan *, const csaw_sampler *, const csaw__job *) { return true; }
csaw_status csaw__device_finish(const csaw_samples *s) {
    CSAW_CUDA(cudaStreamSynchronize(s->device->delivery));
    return CSAW_OK;
}
void csaw__device_release(csaw_samples *s) { csaw__device_arcs_free(s); }
csaw_status csaw__device_count(int *out) {
    *out = fake_cuda::devices;
    return CSAW_OK;
}
csaw_status csaw__device_free_memory(int, uint64_t *out) {
    *out = fake_cuda::total - fake_cuda::used;
    return CSAW_OK;
}

} // extern "C"

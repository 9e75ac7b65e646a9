// SPDX-License-Identifier: MIT
// tests/fake_cuda/samples.cc - the GPU engine for samples that need one row at a time, to which partitions come,
// against the fake CUDA: the library's own code, compiled here, but for the opening of a device.
#include <functional>
#include <utility>

#include "tests/fake_cuda/launch.h"
#include "tests/fake_cuda/pinned.h"

#include "runtime/engine/device_alone.cu"
#include "runtime/engine/device_arcs.cu"
#include "runtime/engine/device_depths.cu"
#include "runtime/engine/device_layer.cu"
#include "runtime/engine/device_memory.cu"
#include "runtime/engine/device_parts_batches.cu"
#include "runtime/engine/device_parts_layer.cu"
#include "runtime/engine/device_parts_layer_way.cu"
#include "runtime/engine/device_parts_leave.cu"
#include "runtime/engine/device_parts_sample.cu"
#include "runtime/engine/device_sample.cu"
#include "runtime/engine/device_upload.cu"

csaw_status csaw__library_take(csaw__library **, const csaw_sampler *, int) {
    return csaw__fail(CSAW_EUNSUPPORTED, "a fake GPU has no NVRTC");
}
csaw_status csaw__library_launch(csaw__library *, int, unsigned, unsigned, void *, const csaw__job *) {
    return csaw__fail(CSAW_EUNSUPPORTED, "a fake GPU has no NVRTC");
}
void csaw__library_free(csaw__library *) {}

// Engines that read the graph whole.
bool csaw__device_each_fits(const csaw__device *, const csaw_sampler *, const csaw__job *, csaw__job *) {
    return false;
}
csaw_status csaw__device_each(csaw__device *, const csaw_sampler *, const csaw__job *, csaw_samples *, csaw__fault *) {
    return csaw__fail(CSAW_EUNSUPPORTED, "not here");
}
csaw_status csaw__device_lists(csaw__device *, const csaw_sampler *, const csaw__job *, csaw_samples *, csaw__fault *) {
    return csaw__fail(CSAW_EUNSUPPORTED, "not here");
}
csaw_status csaw__device_second_order(csaw__device *, const csaw_sampler *) { return CSAW_OK; }

csaw_status csaw__device_open_for_parts(int ordinal, uint64_t bytes, csaw__device **out) {
    csaw__device *device = nullptr;
    cudaMemPoolProps props = {};
    props.maxSize = bytes;
    CSAW_TRY(csaw__alloc_zero(&device, 1, "a device"));
    device->ordinal = ordinal;
    device->references = 1;
    device->lock = PTHREAD_MUTEX_INITIALIZER;
    device->most_work = csaw__pick_words(bytes);
    cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&device->delivery, cudaStreamNonBlocking);
    csaw_status status = cudaMemPoolCreate(&device->pool, &props) == cudaSuccess ? CSAW_OK : CSAW_ECUDA;
    if (status == CSAW_OK)
        status = csaw__device_alloc(device, (void **)&device->record, 2 * sizeof *device->record, "a record of faults");
    if (status == CSAW_OK)
        *out = device;
    else
        csaw__device_close(device);
    return status;
}

extern "C" {

void csaw__device_close(csaw__device *device) {
    if (!device || --device->references > 0) return;
    csaw__device_free(device, device->record);
    csaw__device_give_up(device);
    csaw__device_staging_close(device);
    for (cudaStream_t stream : {device->stream, device->delivery}) {
        cudaStreamSynchronize(stream);
        cudaStreamDestroy(stream);
    }
    if (device->pool) cudaMemPoolDestroy(device->pool);
    csaw__free(device);
}

csaw_status csaw__device_finish(const csaw_samples *s) {
    CSAW_CUDA(cudaStreamSynchronize(s->device->delivery));
    return CSAW_OK;
}

void csaw__device_release(csaw_samples *s) {
    if (s->device_arcs.offset) csaw__device_arcs_free(s);
}

} // extern "C"

csaw_status csaw__device_launch_on(csaw__device *, cudaStream_t stream, const csaw_sampler *sampler, int kernel,
                                   uint64_t threads, const csaw__job *job) {
    const bool alone = kernel >= CSAW__KERNEL_ALONE && kernel < CSAW__KERNEL_EACH;
    const unsigned each = alone ? csaw__alone_threads_of(sampler) : 256;
    const unsigned blocks = (unsigned)((threads + each - 1) / each);
    if (blocks) CSAW_CUDA((cudaError_t)sampler->device->launch(kernel, blocks, each, stream, job));
    return CSAW_OK;
}
csaw_status csaw__device_launch(csaw__device *device, const csaw_sampler *sampler, int kernel, uint64_t threads,
                                const csaw__job *job) {
    return csaw__device_launch_on(device, device->stream, sampler, kernel, threads, job);
}

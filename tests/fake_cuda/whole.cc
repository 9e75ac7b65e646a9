// SPDX-License-Identifier: MIT
// tests/fake_cuda/whole.cc - a GPU engine with the whole graph, against the fake CUDA: it draws by the CPU engine, and
// puts what it drew into the GPU's memory in the order of the engine's stream. What is made of that there is the
// library's own code, compiled here. There are no tables: methods without them.
#include <algorithm>
#include <array>
#include <mutex>

#include "tests/fake_cuda/launch.h"
#include "tests/fake_cuda/pinned.h"

#include "runtime/engine/device_arcs.cu"
#include "runtime/engine/device_blocks.cu"
#include "runtime/engine/device_loader.cu"
#include "runtime/engine/device_memory.cu"
#include "runtime/engine/device_upload.cu"

namespace {

csaw_status begin_walk(csaw_samples *s, const void *from, void **out, uint64_t bytes) {
    CSAW_TRY(csaw__device_alloc(s->device, out, bytes, "walks"));
    return csaw__device_put(s->device, *out, from, bytes);
}

// A device keeps no more of a fault.
void keep(const csaw__fault &found, csaw__fault *fault) {
    if (found.kind == CSAW__FAULT_NONE) return;
    fault->kind = CSAW__FAULT_EDGE;
    fault->instance = found.instance;
    fault->depth = found.depth;
    fault->edge = CSAW_NO_EDGE;
}

csaw_status put_arcs(csaw__device *device, const csaw_arcs &from, csaw_samples *s) {
    const uint64_t n = from.num_instances, arcs = from.offset[n], seeds = from.seed_offset[n];
    CSAW_TRY(csaw__device_arcs_take(device, s, n, arcs, seeds));
    s->device_arcs.first = from.first;
    return csaw__device_put(device, (void *)s->device_arcs.offset, from.offset, csaw__arcs_bytes(n, arcs, seeds));
}

} // namespace

extern "C" {

csaw_status csaw__device_open(const csaw_graph *graph, int ordinal, const csaw__joint_member *, char *, size_t,
                              csaw__device **out) {
    csaw__device *device = nullptr;
    CSAW_TRY(csaw__alloc_zero(&device, 1, "a device"));
    device->ordinal = ordinal;
    device->references = 1;
    device->rows.weight = graph->csr.weight; // that memory is the emulated GPU's as well
    cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&device->delivery, cudaStreamNonBlocking);
    *out = device;
    return CSAW_OK;
}

void csaw__device_close(csaw__device *device) {
    if (!device || --device->references > 0) return;
    csaw__device_staging_close(device);
    csaw__device_give_up(device);
    for (cudaStream_t stream : {device->stream, device->delivery}) {
        cudaStreamSynchronize(stream);
        cudaStreamDestroy(stream);
    }
    csaw__free(device);
}

csaw_status csaw__device_prepare(csaw_plan *, const csaw_sampler *, const csaw__job *) { return CSAW_OK; }
bool csaw__device_is_prepared(const csaw_plan *, const csaw_sampler *, const csaw__job *) { return true; }

csaw_status csaw__device_walk(csaw_plan *, const csaw_sampler *sampler, csaw__job *job, csaw_samples *s,
                              csaw__fault *fault) {
    const uint64_t walks = s->num_walks, length = s->length;
    std::vector<csaw_vertex> path(walks * (length + 1));
    std::vector<csaw_edge> edge(s->edges ? walks * length : 0);
    csaw__fault found = {};
    s->host_current = false;
    s->device_walks = walks;
    job->path = path.data(); // walk by walk
    job->edge = s->edges ? edge.data() : nullptr;
    for (uint64_t w = 0; w < walks && found.kind == CSAW__FAULT_NONE; w++) sampler->walk(job, w, 1, &found);
    keep(found, fault);
    CSAW_TRY(begin_walk(s, path.data(), (void **)&s->device_path, path.size() * sizeof *path.data()));
    s->device->references++;
    if (s->edges) CSAW_TRY(begin_walk(s, edge.data(), (void **)&s->device_edge, edge.size() * sizeof *edge.data()));
    CSAW_CUDA(cudaStreamSynchronize(s->device->stream));
    return CSAW_OK;
}

csaw_status csaw__device_sample(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job, csaw_samples *s,
                                csaw__fault *fault) {
    csaw_plan mine = {}; // the CPU engine's workers in plan are nobody's
    csaw_samples drawn = {};
    csaw__fault found = {};
    CSAW_CUDA(cudaSetDevice(plan->device->ordinal));
    mine.graph = plan->graph;
    mine.threads = 1;
    csaw_status status = csaw__cpu_sample(&mine, sampler, job, false, nullptr, &drawn, &found);
    csaw__workers_free(&mine);
    keep(found, fault);
    if (status == CSAW_OK && found.kind == CSAW__FAULT_NONE) status = put_arcs(plan->device, drawn.arcs, s);
    csaw__arcs_free(nullptr, &drawn.arcs);
    CSAW_TRY(status);
    CSAW_CUDA(cudaStreamSynchronize(plan->device->stream));
    return CSAW_OK;
}

csaw_status csaw__device_finish(const csaw_samples *s) {
    CSAW_CUDA(cudaStreamSynchronize(s->device->delivery));
    return CSAW_OK;
}

csaw_status csaw__device_begin_walks(csaw_samples *s, csaw_vertex *path, csaw_edge *edge) {
    const uint64_t walks = s->num_walks, length = s->length;
    const cudaStream_t stream = s->device->delivery;
    CSAW_CUDA(cudaMemcpyAsync(path, s->device_path, walks * (length + 1) * 4, cudaMemcpyDeviceToHost, stream));
    if (edge) CSAW_CUDA(cudaMemcpyAsync(edge, s->device_edge, walks * length * 8, cudaMemcpyDeviceToHost, stream));
    return CSAW_OK;
}

void csaw__device_release(csaw_samples *s) {
    csaw__device *const device = s->device;
    if (!s->device_path && !s->device_arcs.offset) return;
    csaw__device_arcs_free(s);
    if (!s->device_path) return;
    csaw__device_free(device, s->device_path);
    csaw__device_free(device, s->device_edge);
    csaw__device_close(device);
}

csaw_status csaw__device_count(int *out) {
    *out = fake_cuda::devices;
    return CSAW_OK;
}

csaw_status csaw__device_free_memory(int, uint64_t *out) {
    *out = fake_cuda::total - fake_cuda::used;
    return CSAW_OK;
}

} // extern "C"

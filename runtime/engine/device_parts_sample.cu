/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_parts_sample.cu - samples on a GPU to which partitions come: the GPU engine advances a batch of
 * instances depth by depth (device_depths.cu), and the vertices of a frontier pick when their partition is there.
 *
 * Method: entries are sorted by partition, so that a launch has those of one side by side; within a depth none leads to
 * another, so each partition at which any wait is brought once a depth. Degrees and pools are on the device. The
 * partitions' memory is as for walks; all else that the engine takes is bounded by the memory for instances.
 *
 * Where a launch needs rows of several partitions at a time, those of a layer, of prev, of a pool that is a list, no
 * partition comes: kernels read the graph in place, from the host's page-locked memory. */
#include <cub/device/device_radix_sort.cuh>

#include "runtime/engine/device_arcs.h"
#include "runtime/engine/device_parts.h"
#include "runtime/engine/device_run.h"

namespace {

/* A frontier whose entries wait at their partitions. */
struct waiting_entries {
    run *r;
    array<uint32_t> list;        /* [count] entries, those of a partition side by side */
    array<uint64_t> work;        /* memory to pick in, of all entries at once */
    host_array<uint64_t> begin;  /* [parts + 1] in list */
    host_array<uint64_t> active; /* [parts] */
    uint64_t hubs;
};

/* part: [count] whose; counted: [parts] how many each has. */
__global__ void name_parts(const csaw_vertex *at, uint64_t count, const csaw_vertex *first, const uint32_t *owner,
                           uint32_t shift, uint32_t *part, uint32_t *entry, unsigned long long *counted) {
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i >= count) return;
    const uint32_t p = csaw__owner_of(first, owner, shift, at[i]);
    part[i] = p;
    entry[i] = (uint32_t)i;
    atomicAdd(&counted[p], 1ull);
}

csaw_status sort_entries(csaw__cuda_parts *c, waiting_entries *w, uint64_t count) {
    csaw__device *const device = w->r->device;
    const uint32_t parts = c->parts->ranges.count;
    array<uint32_t> part, sorted, entry;
    array<char> room;
    size_t bytes = 0;
    int bits = 1;
    while (bits < 32 && parts >> bits) bits++;
    CSAW_REQUIRE(count < UINT32_MAX, CSAW_EDEVMEM,
                 "%llu vertices in one frontier on the GPU; at most 2^32 - 2: take fewer instances at a time "
                 "(csaw_sample_each)",
                 (unsigned long long)count);
    CSAW_TRY(part.take(device, count, "a frontier by partitions"));
    CSAW_TRY(sorted.take(device, count, "a frontier by partitions"));
    CSAW_TRY(entry.take(device, count, "a frontier by partitions"));
    CSAW_TRY(w->list.take(device, count, "a frontier by partitions"));
    CSAW_CUDA(cudaMemsetAsync(c->waiting, 0, parts * sizeof *c->waiting, device->stream));
    LAUNCH(device, count, name_parts, w->r->job.wave.at, count, c->first, c->owner, c->parts->ranges.shift, part.get(),
           entry.get(), c->waiting);
    CSAW_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, part.get(), sorted.get(), entry.get(), w->list.get(),
                                              (int64_t)count, 0, bits, device->stream));
    CSAW_TRY(room.take(device, bytes, "a frontier by partitions"));
    CSAW_CUDA(cub::DeviceRadixSort::SortPairs(room.get(), bytes, part.get(), sorted.get(), entry.get(), w->list.get(),
                                              (int64_t)count, 0, bits, device->stream));
    CSAW_TRY(read(device, (const uint64_t *)c->waiting, w->active.get(), parts));
    w->begin[0] = 0;
    for (uint32_t p = 0; p < parts; p++) w->begin[p + 1] = w->begin[p] + w->active[p];
    return CSAW_OK;
}

csaw_status launch(csaw__cuda_parts *c, uint32_t part, uint32_t slot, uint32_t, cudaStream_t stream) {
    waiting_entries *const w = (waiting_entries *)c->worker;
    csaw__device *const device = w->r->device;
    csaw__job job = w->r->job;
    const int hub_kernel = job.kernel == CSAW__KERNEL_RACE ? CSAW__KERNEL_HUBS_RACE : CSAW__KERNEL_HUBS_ITS;
    job.rows = c->slot[slot].rows;
    job.wave.list = w->list.get();
    job.wave.first = w->begin[part];
    job.wave.count = w->begin[part + 1];
    job.wave.work_first = 0;
    job.wave.work = w->work.get();
    w->active[part] = 0;
    CSAW_TRY(csaw__device_launch_on(device, stream, w->r->sampler, CSAW__KERNEL_EXPAND + (int)job.kernel,
                                    (job.wave.count - job.wave.first) * 32 /* lanes */, &job));
    return csaw__device_launch_on(device, stream, w->r->sampler, hub_kernel, w->hubs * 256, &job);
}

csaw_status counts(csaw__cuda_parts *c, uint64_t *active) {
    const waiting_entries *const w = (const waiting_entries *)c->worker;
    for (uint32_t p = 0; p < c->parts->ranges.count; p++) active[p] = w->active[p];
    return CSAW_OK;
}

uint32_t need(const csaw__cuda_parts *, uint64_t) { return 1; } /* launches see to it themselves */

const csaw__cuda_work expanding = {launch, counts, need};

/* The engine without a graph, in the memory for instances. */
csaw_status open_engine(csaw__cuda_parts *c) {
    if (c->sampling) return CSAW_OK;
    return csaw__device_open_for_parts(c->ordinal, csaw__parts_instance_bytes(c->parts), &c->sampling);
}

csaw_status check_in_place(const csaw__cuda_parts *c, const csaw_sampler *sampler, const csaw__job *job) {
    CSAW_REQUIRE(c->in_place && !(job->rows.alias && c->tables.refused), CSAW_EUNSUPPORTED,
                 "sampler '%s' has CSAW_LAYER, CSAW_SECOND_ORDER or CSAW_REPLACE_POOL, so its samples read the graph "
                 "in place from the host's memory, and the system refused to lock the pages; raise the limit of locked "
                 "memory (ulimit -l), or load the graph from a file other than .csaw, or use device 'cpu'",
                 csaw_sampler_name(sampler));
    return CSAW_OK;
}

} // namespace

csaw_status csaw_device::csaw__device_expand_in_parts(run *r, uint64_t count, uint64_t words, uint64_t hubs) {
    csaw__parts *const parts = r->device->parts;
    csaw__cuda_parts *const c = parts->cuda;
    waiting_entries w;
    w.r = r;
    w.hubs = hubs;
    CSAW_TRY(w.begin.take((uint64_t)parts->ranges.count + 1, "a frontier by partitions"));
    CSAW_TRY(w.active.take(parts->ranges.count, "a frontier by partitions"));
    CSAW_TRY(sort_entries(c, &w, count));
    CSAW_TRY(w.work.take(r->device, words, "memory to pick in"));
    CSAW_CUDA(cudaStreamSynchronize(r->device->stream)); /* launches are on streams of their own */
    c->work = &expanding;
    c->worker = &w;
    c->sees_all = false;
    return csaw__schedule_run(&parts->schedule, &parts->on);
}

extern "C" csaw_status csaw__parts_sample_on_gpu(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *given,
                                                 csaw_samples *samples, csaw__fault *fault) {
    csaw__cuda_parts *const c = plan->parts->cuda;
    const unsigned long long record[2] = {~0ull, 0};
    CSAW_CUDA(cudaSetDevice(c->ordinal));
    CSAW_REQUIRE(given->num_walks < UINT32_MAX, CSAW_EINVAL,
                 "%llu instances in one batch on the GPU; at most 2^32 - 2: csaw_sample_each takes fewer at a time",
                 (unsigned long long)given->num_walks);
    csaw__device_arcs_free(samples); /* of the batch before */
    CSAW_TRY(open_engine(c));
    csaw__device *const device = c->sampling;
    const bool in_place = csaw__sample_reads_in_place(sampler);
    if (in_place) CSAW_TRY(check_in_place(c, sampler, given));
    samples->device = device;
    device->parts = in_place ? nullptr : c->parts;
    csaw__job job = *given;
    if (!in_place) job.rows = {};
    job.degree = plan->parts->degree;
    job.fault = device->record;
    CSAW_TRY(csaw__device_put(device, device->record, record, sizeof record));
    const csaw_status status =
        sampler->traits() >> CSAW__TRAIT_FLAGS & CSAW_REPLACE_POOL
            ? csaw__device_lists(device, sampler, &job, samples, fault)
            : csaw__device_depths(device, plan->graph->max_degree, sampler, &job, samples, fault);
    /* views in device memory are read in streams of the caller's; nor does a kernel read the host's memory any more */
    const cudaError_t ended = cudaStreamSynchronize(device->stream);
    if (status != CSAW_OK) return status;
    CSAW_CUDA(ended);
    return CSAW_OK;
}

/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_sample.cu - samples on the GPU: which of its engines a batch takes. Pools that are lists:
 * device_lists.cu; small instances, each by itself: device_each.cu; few instances whose depths follow
 * each other, each by itself: device_alone.cu; all others, depth by depth: device_depths.cu. No choice
 * changes a bit of a sample, or which fault is told. */
#include "runtime/engine/device_arcs.h"
#include "runtime/engine/device_array.cuh"

void csaw__device_name_fault(unsigned long long lowest, csaw__fault *fault) {
    if (lowest == ~0ull) return;
    fault->kind = CSAW__FAULT_EDGE; /* which, and where in the row, the host finds out */
    fault->instance = lowest >> 24;
    fault->depth = (uint32_t)(lowest & 0xffffff);
    fault->edge = CSAW_NO_EDGE;
}

csaw_status csaw__device_fault(csaw__device *device, csaw__fault *fault) {
    unsigned long long lowest = 0;
    CSAW_TRY(read(device, device->record, &lowest, 1));
    csaw__device_name_fault(lowest, fault);
    return CSAW_OK;
}

/* Arcs to samples, still on their way when this returns. */
static csaw_status sample_on(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *given,
                             csaw_samples *samples, csaw__fault *fault) {
    csaw__device *device = plan->device;
    csaw__job job = *given;
    job.rows = device->rows;
    job.fault = &device->record[0];
    if (sampler->traits() >> CSAW__TRAIT_FLAGS & CSAW_REPLACE_POOL)
        return csaw__device_lists(device, sampler, &job, samples, fault);
    csaw__job each = job;
    if (csaw__device_each_fits(device, sampler, given, &each)) {
        const csaw_status status = csaw__device_each(device, sampler, &each, samples, fault);
        if (status != CSAW_EDEVMEM)
            return status; /* else: it may ask for the most that there could be, the next does not */
    }
    if (csaw__device_alone_fits(sampler, given)) {
        const csaw_status status = csaw__device_alone(device, plan->graph->max_degree, sampler, &job, samples, fault);
        if (status != CSAW_EDEVMEM) return status; /* else: all its instances have room of their own, these have not */
    }
    return csaw__device_depths(device, plan->graph->max_degree, sampler, &job, samples, fault);
}

extern "C" csaw_status csaw__device_sample(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job,
                                           csaw_samples *samples, csaw__fault *fault) {
    csaw__device *device = plan->device;
    CSAW_REQUIRE(job->num_walks < UINT32_MAX, CSAW_EINVAL,
                 "%llu instances in one batch on the GPU; at most 2^32 - 2: csaw_sample_each takes fewer at a time",
                 (unsigned long long)job->num_walks);
    CSAW_CUDA(cudaSetDevice(device->ordinal));
    CSAW_TRY(csaw__device_second_order(device, sampler));
    CSAW_CUDA(cudaMemsetAsync(device->record, 0xff, 2 * sizeof *device->record, device->stream));
    csaw__device_arcs_free(samples); /* of the batch before */
    CSAW_TRY(sample_on(plan, sampler, job, samples, fault));
    CSAW_CUDA(cudaStreamSynchronize(device->stream)); /* views in device memory are read in streams of the caller's */
    return CSAW_OK;
}

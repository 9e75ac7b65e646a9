/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_parts_batches.cu - batches of samples on a GPU to which partitions come, several of them under
 * way together, each at a depth of its own.
 *
 * Method: each depth of a batch needs all partitions at which its frontier stands, which are all of them if the batch
 * is not small. What is brought for one serves all (device_parts_sample.cu), so the batches of a lot are at the same
 * depth, and while those of the first lot are at their last one, the lot behind is at the depth before, and so on. Of B
 * batches of D depths in lots of L the graph comes B / L + D - 1 times, not B * D. A lot takes little more memory than
 * a batch: what it picks at its last depth, with fanouts that multiply most of it all, leaves for the host as soon as
 * it is picked (device_parts_leave.h), and comes back batch by batch to be delivered. Of more depths than there may be
 * lots, each lot is several behind the one before. Batches that follow are those that csaw_sample_each will ask for
 * (csaw__run_next()); they stay under way while one is delivered, and are dropped where something fails and when the
 * run ends. If there is no memory for all of them, the run asks for smaller batches, which costs fewer passes than one
 * after the other; where it may not, fewer are under way from then on, and the first begins anew.
 *
 * Where a launch needs rows of several partitions at a time, those of a layer of distinct vertices, of prev, of a pool
 * that is a list, no partition comes: kernels read the graph in place, from the host's page-locked memory. Other layers
 * are exchanged (device_parts_layer.cu), and the arcs that they pick are read in place. */
#include <new>

#include "runtime/engine/device_arcs.h"
#include "runtime/engine/device_parts.h"
#include "runtime/engine/device_run.h"
#include "runtime/engine/run.h"

namespace {

/* What is asked for. */
struct asked {
    csaw__cuda_parts *c;
    const csaw__run *of;
    csaw__job job;  /* of the batch; its degrees and faults are on the device */
    uint32_t apart; /* depths between lots; 0: batches come one after the other */
    bool together;  /* there are others that may be under way with it */
};

/* The engine without a graph, in the memory for instances. */
csaw_status open_engine(csaw__cuda_parts *c) {
    if (c->sampling) return CSAW_OK;
    return csaw__device_open_for_parts(c->ordinal, csaw__parts_instance_bytes(c->parts), &c->sampling);
}

void drop_all(csaw__cuda_parts *c) {
    while (c->batches) delete c->batch[--c->batches];
}

csaw_status begin(const asked *a, uint64_t first, uint64_t count) {
    csaw__cuda_parts *const c = a->c;
    csaw__job job = a->job;
    job.first = first;
    job.num_walks = count;
    run *const made = csaw__alloc_allowed() ? new (std::nothrow) run : nullptr;
    CSAW_REQUIRE(made, CSAW_ENOMEM, "no memory for a batch of samples, %zu bytes", sizeof(run));
    made->leaves = a->together;
    c->batch[c->batches++] = made;
    return csaw__run_begin(made, c->sampling, c->parts->graph->max_degree, a->of->sampler, &job, nullptr);
}

csaw_status clear_record(csaw__device *device) {
    const unsigned long long record[2] = {~0ull, 0};
    return csaw__device_put(device, device->record, record, sizeof record);
}

/* The one that is asked for, if it is not under way. */
csaw_status begin_asked(const asked *a) {
    csaw__cuda_parts *const c = a->c;
    const csaw__job *const first = c->batches ? &c->batch[0]->job : nullptr;
    if (first && first->first == a->job.first && first->num_walks == a->job.num_walks) return CSAW_OK;
    drop_all(c);
    CSAW_TRY(clear_record(c->sampling));
    return begin(a, a->job.first, a->job.num_walks);
}

/* Whether one more is to begin: with the last lot, if that has not picked yet and is not full; or as the first of the
 * next lot, as soon as the last one is far enough on. */
bool may_begin(const asked *a) {
    const csaw__cuda_parts *const c = a->c;
    const run *const last = c->batch[c->batches - 1];
    uint32_t fresh = 0;
    if (!a->together || c->batches >= c->most_batches) return false;
    while (fresh < c->batches && !c->batch[c->batches - 1 - fresh]->first) fresh++;
    return fresh ? fresh < CSAW__LOT : last->ended || last->job.wave.depth >= a->apart;
}

csaw_status begin_following(const asked *a) {
    csaw__cuda_parts *const c = a->c;
    uint64_t first, count;
    while (may_begin(a)) {
        const run *const last = c->batch[c->batches - 1];
        if (!csaw__run_next(a->of, last->job.first, &first, &count)) return CSAW_OK;
        CSAW_TRY(begin(a, first, count));
    }
    return CSAW_OK;
}

/* All that have not ended, by a depth. */
csaw_status advance(const csaw__cuda_parts *c) {
    run *going[CSAW__MOST_BATCHES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->batches; i++)
        if (!c->batch[i]->ended) going[count++] = c->batch[i];
    return csaw__runs_advance(going, count);
}

/* The batches' record of faults is one: its lowest is of the first batch, or none of that is. */
csaw_status find_fault(const asked *a, csaw__fault *fault) {
    CSAW_TRY(csaw__device_fault(a->c->sampling, fault));
    if (fault->kind == CSAW__FAULT_NONE || fault->instance - a->job.first < a->job.num_walks) return CSAW_OK;
    fault->kind = CSAW__FAULT_NONE;
    return CSAW_OK;
}

csaw_status draw(const asked *a, csaw_samples *samples, csaw__fault *fault) {
    csaw__cuda_parts *const c = a->c;
    CSAW_TRY(begin_asked(a));
    while (!c->batch[0]->ended) {
        CSAW_TRY(begin_following(a));
        CSAW_TRY(advance(c));
    }
    CSAW_TRY(find_fault(a, fault));
    if (fault->kind == CSAW__FAULT_NONE) CSAW_TRY(csaw__run_deliver(c->batch[0], samples));
    delete c->batch[0];
    c->batches--;
    for (uint32_t i = 0; i < c->batches; i++) c->batch[i] = c->batch[i + 1];
    return CSAW_OK;
}

/* The same, with as many others as there is memory for, if the run has no smaller batches. */
csaw_status draw_within_memory(const asked *a, csaw_samples *samples, csaw__fault *fault) {
    csaw__cuda_parts *const c = a->c;
    if (!c->most_batches) c->most_batches = CSAW__MOST_BATCHES;
    for (;;) {
        const csaw_status status = draw(a, samples, fault);
        const uint32_t together = c->batches;
        if (status == CSAW_OK) return CSAW_OK;
        drop_all(c);
        if (status != CSAW_EDEVMEM || together < 2 || a->of->divides) return status;
        c->most_batches = together / 2;
    }
}

/* Pools that are lists have an engine of their own. */
csaw_status draw_lists(const asked *a, csaw_samples *samples, csaw__fault *fault) {
    CSAW_TRY(clear_record(a->c->sampling));
    return csaw__device_lists(a->c->sampling, a->of->sampler, &a->job, samples, fault);
}

} // namespace

void csaw__cuda_drop_samples(csaw__parts *parts) {
    csaw__cuda_parts *const c = parts->cuda;
    c->most_batches = 0;
    if (c->batches) {
        const csaw__on_device its(c->ordinal);
        drop_all(c);
    }
}

extern "C" csaw_status csaw__parts_sample_on_gpu(const csaw__run *r, const csaw__job *given, csaw_samples *samples,
                                                 csaw__fault *fault) {
    csaw__cuda_parts *const c = r->plan->parts->cuda;
    CSAW_CUDA(cudaSetDevice(c->ordinal));
    CSAW_REQUIRE(given->num_walks < UINT32_MAX, CSAW_EINVAL,
                 "%llu instances in one batch on the GPU; at most 2^32 - 2: csaw_sample_each takes fewer at a time",
                 (unsigned long long)given->num_walks);
    csaw__device_arcs_free(samples); /* of the batch before */
    CSAW_TRY(open_engine(c));
    csaw__device *const device = c->sampling;
    const csaw__sample_way way = csaw__sample_way_of(r->sampler, given->kernel);
    const bool in_place = way == CSAW__SAMPLE_STAYS || c->parts->fit.in_place;
    samples->device = device;
    device->parts = in_place ? nullptr : c->parts;
    uint64_t next, count;
    asked a = {c, r, *given, in_place ? 0 : csaw__parts_depths_apart(c->parts, r->sampler, given), false};
    a.together = a.apart && (c->batches > 1 || csaw__run_next(r, given->first, &next, &count));
    if (!in_place && way == CSAW__SAMPLE_BRINGS) a.job.rows = {};
    a.job.degree = c->parts->degree;
    a.job.fault = device->record;
    const bool by_lists = r->sampler->traits() >> CSAW__TRAIT_FLAGS & CSAW_REPLACE_POOL;
    const csaw_status status = by_lists ? draw_lists(&a, samples, fault) : draw_within_memory(&a, samples, fault);
    /* views in device memory are read in streams of the caller's; nor does a kernel read the host's memory any more */
    const cudaError_t ended = cudaStreamSynchronize(device->stream);
    if (status != CSAW_OK) return status;
    CSAW_CUDA(ended);
    return CSAW_OK;
}

/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_alone.cu - samples of few instances, each run by a block of the GPU to its end
 * (device_alone.cuh): who does, their launch, and those that turn out to be too large, which advance together, depth by
 * depth.
 *
 * Method: a batch that advances together costs a dozen launches and some ways to the host a depth, however few its
 * instances; a block costs an instance's own time, but has the lanes of two warps, or of eight for a layer. So few
 * instances run alone, and many together; of layers many run alone too, a lot after the other, whose arcs are packed
 * before the next lot takes the room. Where the arcs of a lot belong is known from their counts; those of regions and
 * those of the batch are then brought there.
 *
 * Limit on an H200: widen_both, put_counts and get_places are launches, of 3 to 4 us each and 11% of the
 * warps at most. docs/measured/2026-11-24-gpu-12.md. */
#include "runtime/engine/device_arcs.h"
#include "runtime/engine/device_few.cuh"
#include "runtime/engine/device_regions.cuh"
#include "runtime/engine/device_run.h"

#include <new>

#ifndef CSAW__ALONE_PLACES /* arcs of an instance, at most; a power of two, 32 at least */
#define CSAW__ALONE_PLACES 1024
#endif
#ifndef CSAW__ALONE_INSTANCES /* that run alone, at most; more run together. Another number is for measurements */
#define CSAW__ALONE_INSTANCES (24 << 10)
#endif
#ifndef CSAW__ALONE_LAYERS /* of a lot, with samplers of layers, which a batch is faster at in no number */
#define CSAW__ALONE_LAYERS (1 << 17)
#endif
#ifndef CSAW__ALONE_LANES /* of all blocks: each has memory of its own, and takes one instance after the other */
#define CSAW__ALONE_LANES (1 << 17)
#endif

namespace {

const uint64_t most_lanes = CSAW__ALONE_LANES;

/* ---- device code ---- */

/* out: [2 * (count + 1)] counts of arcs, then of seeds; a thread an instance, and one more. */
__global__ void widen_both(const uint32_t *arcs, const uint32_t *seeds, uint64_t count, uint64_t *out) {
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i > count) return;
    out[i] = i < count ? arcs[i] : 0;
    out[count + 1 + i] = i < count ? seeds[i] : 0;
}

/* Counts of owners to those of their instances. owner_arcs, first: as csaw__run_count() has them. A thread an owner. */
__global__ void put_counts(const uint32_t *number, uint64_t owners, const uint64_t *owner_arcs, const uint64_t *first,
                           uint64_t count, uint64_t *out) {
    const uint64_t o = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (o >= owners) return;
    out[number[o]] = owner_arcs[o];
    out[count + 1 + number[o]] = first[o + 1] - first[o];
}

/* Offsets of instances to those of their owners. A thread an owner. */
__global__ void get_places(const uint32_t *number, uint64_t owners, const uint64_t *arcs, const uint64_t *seeds,
                           uint64_t *place, uint64_t *seed_place) {
    const uint64_t o = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (o >= owners) return;
    place[o] = arcs[number[o]];
    seed_place[o] = seeds[number[o]];
}

/* Offsets of a lot to those of all: [count], before: the arcs, or seeds, of the lots before. A thread an instance. */
__global__ void shift(const uint64_t *offset, uint64_t count, uint64_t before, uint64_t *out) {
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < count) out[i] = offset[i] + before;
}

/* ---- host code ---- */

/* What blocks work in. */
struct block_arrays {
    array<uint64_t> memory;
    array<uint32_t> owner, left;
    array<unsigned long long> counters; /* turn, num_left */
};

csaw_status take_blocks(csaw__device *device, uint64_t blocks, uint32_t flags, csaw__job *job, block_arrays *a) {
    csaw__alone *const alone = &job->alone;
    const bool biased_layer = flags & CSAW_LAYER && job->kernel != CSAW__KERNEL_UNIFORM;
    alone->places = CSAW__ALONE_PLACES;
    alone->words = CSAW__ALONE_WORDS(alone->places) + (biased_layer ? CSAW__ALONE_LAYER * alone->places + 1 : 0);
    CSAW_TRY(a->memory.take(device, blocks * alone->words, "frontiers of instances"));
    CSAW_TRY(a->owner.take(device, alone->places, "frontiers of instances"));
    CSAW_TRY(a->left.take(device, job->num_walks, "instances"));
    CSAW_TRY(a->counters.take(device, 2, "instances"));
    CSAW_TRY(a->owner.fill(0, alone->places));
    CSAW_TRY(a->counters.fill(0, 2));
    alone->memory = a->memory.get();
    alone->owner = a->owner.get();
    alone->left = a->left.get();
    alone->turn = a->counters.get();
    alone->num_left = a->counters.get() + 1;
    return CSAW_OK;
}

/* The instances that were left, together. */
struct rest {
    host_array<uint32_t> number;
    array<uint64_t> arcs, first, place, seed_place; /* of owners */
    run r = {};
};

csaw_status run_rest(csaw__device *device, uint64_t max_degree, const csaw_sampler *sampler, const csaw__job *given,
                     const uint32_t *left, uint64_t count, rest *out) {
    csaw__job job = *given;
    run *const runs[] = {&out->r};
    job.num_walks = count;
    CSAW_TRY(out->number.take(count, "instances"));
    CSAW_TRY(read(device, left, out->number.get(), count));
    CSAW_TRY(csaw__run_begin(&out->r, device, max_degree, sampler, &job, out->number.get()));
    while (!out->r.ended) CSAW_TRY(csaw__runs_advance(runs, 1));
    CSAW_TRY(out->arcs.take(device, count + 1, "counts of arcs"));
    CSAW_TRY(out->first.take(device, count + 1, "counts of seeds"));
    CSAW_TRY(out->place.take(device, count, "counts of arcs"));
    CSAW_TRY(out->seed_place.take(device, count, "counts of seeds"));
    return csaw__run_count(&out->r, out->arcs.get(), out->first.get());
}

/* Arcs of a lot that waits for the others. */
struct lot {
    lot *next = nullptr;
    array<char> block; /* that of arcs */
    csaw_arcs arcs = {};
    uint64_t num_arcs = 0, num_seeds = 0;
    csaw_status take(csaw__device *device, uint64_t instances, uint64_t count, uint64_t seeds) {
        CSAW_TRY(block.take(device, csaw__arcs_bytes(instances, count, seeds), "sampled arcs"));
        arcs = csaw__arcs_in(block.get(), CSAW_DEVICE, instances, count);
        num_arcs = count;
        num_seeds = seeds;
        return CSAW_OK;
    }
};

/* Arcs of a lot to where they belong: in `apart`, or, if that is NULL, in samples. */
csaw_status deliver(csaw__device *device, const csaw__job *job, rest *left, lot *apart, csaw_samples *samples) {
    const csaw__regions &regions = job->regions;
    const uint64_t n = regions.count, owners = left->r.owners;
    uint64_t total[2];
    array<uint64_t> counts, offsets; /* of arcs, of seeds: [n + 1] each */
    CSAW_TRY(counts.take(device, 2 * (n + 1), "counts of arcs"));
    CSAW_TRY(offsets.take(device, 2 * (n + 1), "counts of arcs"));
    LAUNCH(device, n + 1, widen_both, regions.arcs, regions.seeds, n, counts.get());
    LAUNCH(device, owners, put_counts, job->alone.left, owners, left->arcs.get(), left->first.get(), n, counts.get());
    CSAW_TRY(few_sums(device, counts.get(), offsets.get(), n + 1));
    CSAW_TRY(few_sums(device, counts.get() + n + 1, offsets.get() + n + 1, n + 1));
    CSAW_TRY(read(device, offsets.get() + n, &total[0], 1));
    CSAW_TRY(read(device, offsets.get() + 2 * n + 1, &total[1], 1));
    CSAW_TRY(apart ? apart->take(device, n, total[0], total[1])
                   : csaw__device_arcs_take(device, samples, n, total[0], total[1]));
    const csaw_arcs &to = apart ? apart->arcs : samples->device_arcs;
    CSAW_CUDA(cudaMemcpyAsync((void *)to.offset, offsets.get(), 2 * (n + 1) * sizeof *to.offset,
                              cudaMemcpyDeviceToDevice, device->stream)); /* offset and seed_offset are one array */
    LAUNCH(device, (n * regions.places + 3) / 4, put_arcs, regions, to.offset, (csaw_vertex *)to.src,
           (csaw_vertex *)to.dst, (csaw_edge *)to.edge, (uint32_t *)to.depth);
    LAUNCH(device, n * regions.seed_places, put_seeds, regions, to.seed_offset, (csaw_vertex *)to.seed);
    if (!owners) return CSAW_OK;
    LAUNCH(device, owners, get_places, job->alone.left, owners, to.offset, to.seed_offset, left->place.get(),
           left->seed_place.get());
    return csaw__run_put(&left->r, left->place.get(), left->first.get(), left->seed_place.get(), to);
}

/* Whether an instance of so many seeds has room for as many arcs as there could be, as far as is known before. */
bool may_fit(const csaw_sampler *sampler, const csaw__job *job, uint64_t seeds) {
    const uint32_t traits = sampler->traits(), flags = traits >> CSAW__TRAIT_FLAGS;
    const uint64_t size = traits & CSAW__TRAIT_SIZE ? sampler->frontier_size(job->params) : UINT64_MAX;
    uint64_t pool = seeds, arcs = 0;
    if (seeds > CSAW__ALONE_PLACES) return false;
    for (uint32_t d = 0; d < job->length && !(traits & CSAW__TRAIT_FANOUT); d++) {
        const uint64_t k = job->fanout ? job->fanout[d] : 1, frontier = pool < size ? pool : size;
        if (k == CSAW_ALL) return true; /* it depends on degrees */
        const uint64_t picks = flags & CSAW_LAYER ? k : frontier * k;
        pool = flags & CSAW_KEEP_POOL ? pool + picks : picks;
        arcs += picks;
        if (arcs > CSAW__ALONE_PLACES || pool > CSAW__ALONE_PLACES) return false;
    }
    return true;
}

/* The instances of a job, a block each: their arcs to `apart`, or to samples, as above, unless a hook broke its rules.
 */
csaw_status run_lot(csaw__device *device, uint64_t max_degree, const csaw_sampler *sampler, const csaw__job *given,
                    lot *apart, csaw_samples *samples, csaw__fault *fault) {
    const uint64_t n = given->num_walks, threads = csaw__alone_threads_of(sampler), most_blocks = most_lanes / threads,
                   blocks = n < most_blocks ? n : most_blocks;
    csaw__job job = *given;
    csaw__regions *const regions = &job.regions;
    array<uint64_t> seeds;
    array<uint64_t> room;
    block_arrays work;
    rest left;
    unsigned long long num_left = 0;
    CSAW_TRY(put_pools(device, given, &seeds, &job));
    const uint32_t flags = sampler->traits() >> CSAW__TRAIT_FLAGS;
    CSAW_TRY(take_blocks(device, blocks, flags, &job, &work));
    job.selection.size = sampler->frontier_size(job.params);
    regions->first = 0;
    regions->count = n;
    regions->places = CSAW__ALONE_PLACES;
    regions->seed_places = most_seeds(given);
    CSAW_TRY(take_regions(device, n, regions, &room));
    CSAW_TRY(clear_counts(device, *regions, n));
    CSAW_TRY(csaw__device_launch(device, sampler, CSAW__KERNEL_ALONE + (int)job.kernel, blocks * threads, &job));
    CSAW_TRY(read(device, job.alone.num_left, &num_left, 1));
    if (num_left) CSAW_TRY(run_rest(device, max_degree, sampler, given, job.alone.left, num_left, &left));
    CSAW_TRY(csaw__device_fault(device, fault));
    return fault->kind != CSAW__FAULT_NONE ? CSAW_OK : deliver(device, &job, &left, apart, samples);
}

/* Lots one after the other. */
struct lots {
    lot *first = nullptr, *last = nullptr;
    ~lots() {
        while (first) {
            lot *const next = first->next;
            delete first;
            first = next;
        }
    }
    csaw_status add() {
        lot *const made = csaw__alloc_allowed() ? new (std::nothrow) lot : nullptr;
        CSAW_REQUIRE(made, CSAW_ENOMEM, "no memory for the arcs of some instances, %zu bytes", sizeof(lot));
        (last ? last->next : first) = made;
        last = made;
        return CSAW_OK;
    }
};

template <typename T>
csaw_status put_behind(csaw__device *device, const T *to, uint64_t before, const T *from, uint64_t count) {
    if (count == 0) return CSAW_OK;
    CSAW_CUDA(cudaMemcpyAsync((T *)to + before, from, count * sizeof *to, cudaMemcpyDeviceToDevice, device->stream));
    return CSAW_OK;
}

/* Arcs of lots, `instances` in all, behind each other. */
csaw_status join(csaw__device *device, const lots &of, uint64_t instances, csaw_samples *samples) {
    uint64_t arcs = 0, seeds = 0, at = 0;
    for (const lot *l = of.first; l; l = l->next) {
        arcs += l->num_arcs;
        seeds += l->num_seeds;
    }
    CSAW_TRY(csaw__device_arcs_take(device, samples, instances, arcs, seeds));
    const csaw_arcs &to = samples->device_arcs;
    arcs = seeds = 0;
    for (const lot *l = of.first; l; l = l->next) {
        const csaw_arcs &from = l->arcs;
        const uint64_t n = from.num_instances;
        LAUNCH(device, n + 1, shift, from.offset, n + 1, arcs, (uint64_t *)to.offset + at);
        LAUNCH(device, n + 1, shift, from.seed_offset, n + 1, seeds, (uint64_t *)to.seed_offset + at);
        CSAW_TRY(put_behind(device, to.src, arcs, from.src, l->num_arcs));
        CSAW_TRY(put_behind(device, to.dst, arcs, from.dst, l->num_arcs));
        CSAW_TRY(put_behind(device, to.edge, arcs, from.edge, l->num_arcs));
        CSAW_TRY(put_behind(device, to.depth, arcs, from.depth, l->num_arcs));
        CSAW_TRY(put_behind(device, to.seed, seeds, from.seed, l->num_seeds));
        at += n;
        arcs += l->num_arcs;
        seeds += l->num_seeds;
    }
    return CSAW_OK;
}

uint64_t most_of_lot(const csaw_sampler *sampler) {
    return sampler->traits() >> CSAW__TRAIT_FLAGS & CSAW_LAYER ? CSAW__ALONE_LAYERS : CSAW__ALONE_INSTANCES;
}

} // namespace

bool csaw__device_alone_fits(const csaw_sampler *sampler, const csaw__job *job) {
    const uint32_t traits = sampler->traits(), flags = traits >> CSAW__TRAIT_FLAGS;
    const bool by_depth = traits & (CSAW__TRAIT_FANOUT | CSAW__TRAIT_SIZE | CSAW__TRAIT_USER) ||
                          flags & (CSAW_VISITED | CSAW_LAYER | CSAW_KEEP_POOL);
    if (!by_depth || flags & CSAW_REPLACE_POOL || job->num_walks == 0) return false;
    if (!(flags & CSAW_LAYER) && job->num_walks > most_of_lot(sampler)) return false;
    return may_fit(sampler, job, most_seeds(job));
}

csaw_status csaw__device_alone(csaw__device *device, uint64_t max_degree, const csaw_sampler *sampler,
                               const csaw__job *given, csaw_samples *samples, csaw__fault *fault) {
    const uint64_t n = given->num_walks, most = most_of_lot(sampler);
    lots all;
    if (n <= most)
        CSAW_TRY(run_lot(device, max_degree, sampler, given, nullptr, samples, fault));
    else { /* of the first lot that has a fault it is the lowest */
        for (uint64_t at = 0; at < n && fault->kind == CSAW__FAULT_NONE; at += most) {
            csaw__job job = *given;
            job.first += at;
            job.num_walks = n - at < most ? n - at : most;
            CSAW_TRY(all.add());
            CSAW_TRY(run_lot(device, max_degree, sampler, &job, all.last, nullptr, fault));
        }
        if (fault->kind == CSAW__FAULT_NONE) CSAW_TRY(join(device, all, n, samples));
    }
    if (fault->kind == CSAW__FAULT_NONE) samples->device_arcs.first = given->first;
    return CSAW_OK;
}

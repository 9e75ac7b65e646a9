/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_each.cu - samples of small instances, each run by itself (device_each.cuh): who is small
 * enough, and their launches.
 *
 * Method: instances get room for as many arcs as there could be, as many instances at a time as there is memory for,
 * and their arcs are then brought side by side. By UNIFORM, and by ALIAS and stored sums where every arc has a positive
 * bias, a vertex's degree says how many arcs it gets: then instances stop before the last depth, which has most of the
 * arcs, sums of their counts say where all of them belong, and a second launch writes those of the last depth there.
 *
 * Limit on an H200 (put_offsets): a launch, of 3.6 us; 58% of the warps, 20% of the issue slots and of L2.
 * docs/measured/2026-11-24-gpu-12.md. */
#include "runtime/base/device_copy.h"
#include "runtime/engine/device_arcs.h"
#include "runtime/engine/device_few.cuh"
#include "runtime/engine/device_regions.cuh"

namespace {

const uint64_t most_places = (uint64_t)1 << 26; /* of all regions of a launch, 20 bytes each */
const uint64_t most_unread =
    (uint64_t)1 << 24; /* arcs that samples get room for before it is known how many there are */

uint32_t table_cells(uint32_t keys) {
    uint32_t cells = 4;
    while (cells < 2 * keys) cells *= 2;
    return cells;
}

uint32_t fanout_of(const csaw__job *job, uint32_t depth) { return job->fanout ? job->fanout[depth] : 1; }

/* Rounds of work of all tiles of a warp for one instance each, if they have 2^log_width lanes, 1 at least; 0: a row
 * does not fit. */
uint64_t cost(const csaw__job *job, uint32_t depths, uint64_t seeds, uint32_t log_width) {
    const uint32_t width = 1u << log_width;
    uint64_t pool = seeds, rounds = 0;
    for (uint32_t d = 0; d < depths; d++) {
        const uint32_t k = fanout_of(job, d);
        if (k > width) return 0;
        rounds += (pool + width / k - 1) / (width / k);
        pool *= k;
    }
    return rounds * width + 1;
}

/* Depths at which arcs are picked. */
uint32_t depths_of(const csaw__job *job) {
    uint32_t d = 0;
    while (d < job->length && fanout_of(job, d)) d++;
    return d;
}

/* Whether a vertex's degree says how many arcs it gets. */
bool counts_are_known(const csaw__device *device, const csaw__job *job) {
    const bool stored = job->kernel == CSAW__KERNEL_ITS && job->rows.upto;
    return job->kernel == CSAW__KERNEL_UNIFORM ||
           ((job->kernel == CSAW__KERNEL_ALIAS || stored) && device->tables.positive);
}

} // namespace

bool csaw__device_each_fits(const csaw__device *device, const csaw_sampler *sampler, const csaw__job *job,
                            csaw__job *out) {
    const uint32_t traits = sampler->traits(), flags = traits >> CSAW__TRAIT_FLAGS;
    const bool reject = job->kernel == CSAW__KERNEL_REJECT || job->kernel == CSAW__KERNEL_REJECT_ALIAS,
               scans = (job->kernel == CSAW__KERNEL_ITS && !out->rows.upto) || job->kernel == CSAW__KERNEL_RACE;
    if (reject && job->replace) return false; /* undecided slots scan the row */
    if (flags & ~(uint32_t)(CSAW_SECOND_ORDER | CSAW_WITH_REPLACEMENT)) return false;
    if (traits & (CSAW__TRAIT_FANOUT | CSAW__TRAIT_SIZE | CSAW__TRAIT_USER)) return false;
    const uint32_t length = depths_of(job);
    const bool last_apart = length && counts_are_known(device, out);
    const uint32_t depths = last_apart ? length - 1 : length;
    const uint64_t seeds = most_seeds(job);
    uint64_t pool = seeds, largest = seeds, places = 0;
    if (seeds > 256) return false;
    for (uint32_t d = 0; d < length; d++) {
        const uint32_t k = fanout_of(job, d);
        if (pool > 256 || k > 32) return false; /* CSAW_ALL too */
        largest = pool > largest ? pool : largest;
        if (d == depths) break;
        pool *= k;
        places += pool;
    }
    uint64_t least = 0;
    for (uint32_t log_width = scans ? 5 : 2; log_width <= 5; log_width++) {
        const uint64_t width = 1u << log_width, cells = table_cells((uint32_t)largest);
        const uint64_t words = 2 * width + cells + (flags & CSAW_SECOND_ORDER ? 4 : 2) * largest;
        const uint64_t now = cost(job, depths, seeds, log_width);
        if (words > width * CSAW__LANE_WORDS || now == 0 || (least && now >= least)) continue;
        least = now;
        out->each.log_width = log_width;
        out->each.pool_room = (uint32_t)largest;
        out->each.table_mask = (uint32_t)cells - 1;
    }
    out->length = length;
    out->regions.places = places;
    out->regions.seed_places = seeds;
    out->last.room = last_apart ? (uint32_t)pool : 0;
    /* instances that take long are left to kernels that share one out, unless there are enough of them */
    const uint64_t rounds = least >> out->each.log_width, at_once = places ? most_places / places : job->num_walks;
    const uint64_t tiles = at_once < job->num_walks ? at_once : job->num_walks;
    return least && (tiles >= 4096 || (rounds <= 16 && !scans));
}

namespace {

/* sum: [count + 1] arcs, or seeds, of the instances before; offset[first] is known. A thread an instance. */
__global__ void put_offsets(const uint32_t *sum, uint64_t first, uint64_t count, uint64_t *offset) {
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < count) offset[first + i + 1] = offset[first] + sum[i + 1];
}

int kernel_of(const csaw__job *job) {
    const bool stored = job->kernel == CSAW__KERNEL_ITS && job->rows.upto;
    if (job->each.log_width == 5) return stored ? CSAW__KERNEL_EACH_STORED : CSAW__KERNEL_EACH + (int)job->kernel;
    switch (job->kernel) { /* RACE, and ITS without stored sums, have whole warps */
    case CSAW__KERNEL_UNIFORM: return CSAW__KERNEL_TILES_UNIFORM;
    case CSAW__KERNEL_ALIAS: return CSAW__KERNEL_TILES_ALIAS;
    case CSAW__KERNEL_REJECT: return CSAW__KERNEL_TILES_REJECT;
    case CSAW__KERNEL_REJECT_ALIAS: return CSAW__KERNEL_TILES_REJECT_ALIAS;
    default: return CSAW__KERNEL_TILES_STORED;
    }
}

csaw_status launch(csaw__device *device, const csaw_sampler *sampler, const csaw__job *job) {
    return csaw__device_launch(device, sampler, kernel_of(job), job->regions.count << job->each.log_width, job);
}

/* sum: [count + 1], to work in */
csaw_status put(csaw__device *device, const csaw__regions &from, uint32_t *sum, const csaw_arcs &to) {
    CSAW_TRY(few_sums(device, from.arcs, sum, from.count + 1));
    LAUNCH(device, from.count, put_offsets, sum, from.first, from.count, (uint64_t *)to.offset);
    CSAW_TRY(few_sums(device, from.seeds, sum, from.count + 1));
    LAUNCH(device, from.count, put_offsets, sum, from.first, from.count, (uint64_t *)to.seed_offset);
    LAUNCH(device, (from.count * from.places + 3) / 4, put_arcs, from, to.offset, (csaw_vertex *)to.src,
           (csaw_vertex *)to.dst, (csaw_edge *)to.edge, (uint32_t *)to.depth);
    LAUNCH(device, from.count * from.seed_places, put_seeds, from, to.seed_offset, (csaw_vertex *)to.seed);
    return CSAW_OK;
}

/* By regions that have room for all that there could be. */
csaw_status run_apart(csaw__device *device, const csaw_sampler *sampler, const csaw__job *given, csaw__job *job,
                      csaw_samples *samples) {
    csaw__regions *const regions = &job->regions;
    const uint64_t owners = job->num_walks;
    const uint64_t largest = regions->places > regions->seed_places ? regions->places : regions->seed_places;
    uint64_t at_once = largest ? most_places / largest : owners;
    at_once = at_once < owners ? at_once : owners;
    array<uint64_t> pools, room;
    array<uint32_t> sum;
    CSAW_TRY(put_pools(device, given, &pools, job));
    CSAW_TRY(take_regions(device, at_once, regions, &room));
    CSAW_TRY(sum.take(device, at_once + 1, "counts of arcs"));
    CSAW_TRY(csaw__device_arcs_take(device, samples, owners, owners * regions->places, owners * regions->seed_places));
    samples->device_counted = false;
    const csaw_arcs &to = samples->device_arcs;
    CSAW_CUDA(cudaMemsetAsync((void *)to.offset, 0, sizeof *to.offset, device->stream));
    CSAW_CUDA(cudaMemsetAsync((void *)to.seed_offset, 0, sizeof *to.seed_offset, device->stream));
    for (uint64_t first = 0; first < owners; first += at_once) {
        regions->first = first;
        regions->count = owners - first < at_once ? owners - first : at_once;
        CSAW_TRY(clear_counts(device, *regions, at_once));
        CSAW_TRY(launch(device, sampler, job));
        CSAW_TRY(put(device, *regions, sum.get(), to));
    }
    return CSAW_OK;
}

/* Instances of one seed each: offset[i] = i, [count + 1], and their seeds; *total: arcs of all, which begin at
 * arcs_offset. A thread an instance, and one more. */
__global__ void put_one_seed_each(const csaw_vertex *from, uint64_t count, const uint64_t *arcs_offset,
                                  uint64_t *offset, csaw_vertex *seed, unsigned long long *total) {
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i > count) return;
    offset[i] = i;
    if (i < count)
        seed[i] = from[i];
    else
        *total = arcs_offset[count];
}

csaw_status put_one_each(csaw__device *device, const csaw__job *job, const csaw_arcs &to) {
    LAUNCH(device, job->num_walks + 1, put_one_seed_each, job->regions.seed, job->num_walks, to.offset,
           (uint64_t *)to.seed_offset, (csaw_vertex *)to.seed, &device->record[1]);
    return CSAW_OK;
}

/* Counts of all arcs are in job->last.arcs, of seeds in job->regions.seeds: where they belong, room for them, and
 * seeds. Pools of one seed each need no count. The host waits for the counts. */
csaw_status take_counted(csaw__device *device, const csaw__job *job, csaw_samples *samples) {
    const uint64_t owners = job->num_walks, bytes = (owners + 1) * sizeof(uint64_t);
    const bool one_each = !job->seed_offset;
    uint64_t arcs = 0, seeds = owners;
    array<uint64_t> offset, seed_offset;
    CSAW_TRY(offset.take(device, owners + 1, "counts of arcs"));
    CSAW_TRY(few_sums(device, job->last.arcs, offset.get(), owners + 1));
    if (!one_each) {
        CSAW_TRY(seed_offset.take(device, owners + 1, "counts of seeds"));
        CSAW_TRY(few_sums(device, job->regions.seeds, seed_offset.get(), owners + 1));
        CSAW_TRY(read(device, seed_offset.get() + owners, &seeds, 1));
    }
    CSAW_TRY(read(device, offset.get() + owners, &arcs, 1));
    CSAW_TRY(csaw__device_arcs_take(device, samples, owners, arcs, seeds));
    const csaw_arcs &to = samples->device_arcs;
    uint64_t *const seeds_at = (uint64_t *)to.seed_offset;
    CSAW_CUDA(cudaMemcpyAsync((void *)to.offset, offset.get(), bytes, cudaMemcpyDeviceToDevice, device->stream));
    if (one_each) return put_one_each(device, job, to);
    CSAW_CUDA(cudaMemcpyAsync(seeds_at, seed_offset.get(), bytes, cudaMemcpyDeviceToDevice, device->stream));
    LAUNCH(device, owners * job->regions.seed_places, put_seeds, job->regions, seeds_at, (csaw_vertex *)to.seed);
    return CSAW_OK;
}

/* The same where there is room for all the arcs that there could be, which are not many: the host waits for nothing. */
csaw_status take_unread(csaw__device *device, const csaw__job *job, csaw_samples *samples) {
    const csaw_arcs &to = samples->device_arcs;
    samples->device_counted = false;
    CSAW_TRY(few_sums(device, job->last.arcs, (uint64_t *)to.offset, job->num_walks + 1));
    return put_one_each(device, job, to);
}

/* Whether samples got that room. most: arcs of an instance. */
csaw_status take_most(csaw__device *device, const csaw__job *job, uint64_t most, csaw_samples *samples, bool *taken) {
    *taken = false;
    if (job->seed_offset || job->num_walks * most > most_unread) return CSAW_OK;
    const csaw_status status =
        csaw__device_arcs_take(device, samples, job->num_walks, job->num_walks * most, job->num_walks);
    *taken = status == CSAW_OK;
    return status == CSAW_EDEVMEM ? CSAW_OK : status; /* there may be fewer */
}

int last_kernel_of(const csaw__job *job) {
    return job->kernel == CSAW__KERNEL_UNIFORM ? CSAW__KERNEL_LAST_UNIFORM
           : job->kernel == CSAW__KERNEL_ALIAS ? CSAW__KERNEL_LAST_ALIAS
                                               : CSAW__KERNEL_LAST_STORED;
}

/* Instances whose seeds have come begin while others are on their way. */
struct beginning {
    csaw__device *device;
    const csaw_sampler *sampler;
    const csaw__job *job; /* of all instances, the first of a warp */
};

csaw_status begin_some(void *user, const csaw_vertex *seed, uint64_t first, uint64_t count) {
    const beginning *const b = (const beginning *)user;
    csaw__job job = *b->job;
    job.roots = (const csaw_vertex *)((uintptr_t)seed - first * sizeof *seed); /* that of instance i stands at i */
    csaw__regions *const regions = &job.regions;
    const uint64_t places = first * regions->places, warps = first >> (5 - job.each.log_width);
    regions->first = first;
    regions->count = count;
    regions->edge += places;
    regions->src += places;
    regions->dst += places;
    regions->depth += places;
    regions->seed += first * regions->seed_places;
    regions->arcs += first;
    regions->seeds += first;
    job.last.entry += warps * job.last.room;
    job.last.entries += warps;
    job.last.arcs += first;
    return launch(b->device, b->sampler, &job);
}

/* The last depth apart. job: given, as the device is to have it. */
csaw_status run_last_apart(csaw__device *device, const csaw_sampler *sampler, const csaw__job *given, csaw__job *job,
                           csaw_samples *samples) {
    const uint64_t owners = job->num_walks;
    const uint32_t log_a_warp = 5 - job->each.log_width; /* instances */
    csaw__last *const last = &job->last;
    csaw__regions *const regions = &job->regions;
    const uint64_t most = regions->places + (uint64_t)last->room * fanout_of(given, job->length - 1);
    array<uint64_t> pools, block; /* block: frontiers; regions; counts of all arcs, [owners + 1]; of entries, [warps] */
    beginning b = {device, sampler, job};
    bool unread = false;
    last->warps = (owners + (1u << log_a_warp) - 1) >> log_a_warp;
    last->room <<= log_a_warp;
    const uint64_t entries = last->warps * last->room, entry_words = sizeof *last->entry / sizeof(uint64_t),
                   words = region_words(owners, *regions);
    CSAW_TRY(block.take(device, entries * entry_words + words + (owners + 1 + last->warps + 1) / 2, "frontiers"));
    last->entry = (csaw__last_entry *)block.get();
    place_regions(block.get() + entries * entry_words, owners, regions);
    last->arcs = (uint32_t *)(block.get() + entries * entry_words + words);
    last->entries = last->arcs + owners + 1;
    regions->first = 0;
    regions->count = owners;
    /* behind the counts, which instances write, stands one more, for sums */
    CSAW_CUDA(cudaMemsetAsync(last->arcs + owners, 0, sizeof *last->arcs, device->stream));
    if (job->seed_offset)
        CSAW_CUDA(cudaMemsetAsync(regions->seeds + owners, 0, sizeof *regions->seeds, device->stream));
    CSAW_TRY(put_pools(device, given, &pools, job, {begin_some, &b}));
    CSAW_TRY(take_most(device, job, most, samples, &unread));
    CSAW_TRY(unread ? take_unread(device, job, samples) : take_counted(device, job, samples));
    const csaw_arcs &to = samples->device_arcs;
    last->offset = to.offset;
    last->src = (csaw_vertex *)to.src;
    last->dst = (csaw_vertex *)to.dst;
    last->edge = (csaw_edge *)to.edge;
    last->depth = (uint32_t *)to.depth;
    return csaw__device_launch(device, sampler, last_kernel_of(job), last->warps * 32, job);
}

} // namespace

csaw_status csaw__device_each(csaw__device *device, const csaw_sampler *sampler, const csaw__job *given,
                              csaw_samples *samples, csaw__fault *fault) {
    csaw__job job = *given;
    unsigned long long record[2];
    CSAW_TRY(job.last.room ? run_last_apart(device, sampler, given, &job, samples)
                           : run_apart(device, sampler, given, &job, samples));
    samples->device_arcs.first = job.first;
    CSAW_TRY(read(device, device->record, record, 2));
    csaw__device_name_fault(record[0], fault);
    if (record[1] == ~0ull) return CSAW_OK;
    samples->device_counts[0] = record[1];
    samples->device_counted = true;
    return CSAW_OK;
}

/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_regions.cuh - instances that run each by itself on the GPU: their pools on the way there, the
 * regions that they fill, and arcs on their way out of them. Shared by device_each.cu and device_alone.cu.
 *
 * Limit on an H200 (put_arcs): 84% of the throughput of L2, 67% of that of memory.
 * docs/measured/2026-11-24-gpu-11.md. */
#ifndef CSAW_ENGINE_DEVICE_REGIONS_CUH
#define CSAW_ENGINE_DEVICE_REGIONS_CUH

#include "runtime/engine/device_array.cuh"

#ifndef CSAW__FEW_SEEDS
#define CSAW__FEW_SEEDS 16384
#endif

namespace {

/* Pools of the batch: first .. end - 1, or all if it goes past the last one. */
struct pools {
    uint64_t first, end;
};

pools pools_of(const csaw__job *job) {
    const uint64_t first = job->num_roots ? job->first % job->num_roots : 0;
    if (job->num_walks > job->num_roots - first) return {0, job->num_roots};
    return {first, first + job->num_walks};
}

uint64_t most_seeds(const csaw__job *job) {
    const pools at_hand = pools_of(job);
    uint64_t most = job->seed_offset ? 0 : 1;
    for (uint64_t j = at_hand.first; job->seed_offset && j < at_hand.end; j++) {
        const uint64_t seeds = job->seed_offset[j + 1] - job->seed_offset[j];
        most = seeds > most ? seeds : most;
    }
    return most;
}

/* Whether a kernel had better read so many seeds, a tile each, in the host's memory than wait for a copy: by PCIe come
 * sectors of 32 bytes, which the seeds of a warp are to fill, unless there are few. Wide tiles took 10% longer for all
 * of a sample, by uniform bias, of 2,000,000 seeds (docs/measured/2026-11-27-gpu-19.md). */
bool had_better_read(const csaw__job *job, uint64_t seeds) {
    const uint64_t of_warp = 32 >> job->each.log_width, of_sector = 32 / sizeof(csaw_vertex);
    return seeds <= CSAW__FEW_SEEDS || of_warp >= of_sector;
}

/* job: the batch's, as host has it; then with pools in device memory, all of them in one block, and fanouts that the
 * device keeps. come: told of the batch's instances as their seeds come, if every one has one seed, and a seed one
 * instance; else of all of them at the end. Where the kernels that it launches read seeds in the host's memory, no
 * later one may: job->roots is NULL then. */
csaw_status put_pools(csaw__device *device, const csaw__job *host, array<uint64_t> *block, csaw__job *job,
                      csaw__seeds_come come = {}) {
    const pools at_hand = pools_of(host);
    const uint64_t pools = at_hand.end - at_hand.first;
    const uint64_t first_seed = host->seed_offset ? host->seed_offset[at_hand.first] : at_hand.first;
    const uint64_t seeds = (host->seed_offset ? host->seed_offset[at_hand.end] : at_hand.end) - first_seed;
    const uint64_t offsets = host->seed_offset ? pools + 1 : 0, roots = host->roots ? seeds : 0;
    job->each.phase = host->num_roots ? host->first % host->num_roots : 0;
    job->each.first_pool = at_hand.first;
    job->each.first_seed = first_seed;
    if (host->fanout) CSAW_TRY(csaw__device_fanouts(device, host->fanout, job->length, &job->fanout));
    const bool in_turn = roots && !offsets && pools == host->num_walks && at_hand.first == job->each.phase;
    job->roots = nullptr;
    if (come.came && in_turn && had_better_read(job, seeds))
        return csaw__device_show_seeds(device, host, first_seed, seeds, come);
    if (offsets + roots) CSAW_TRY(block->take(device, offsets + (roots + 1) / 2, "seeds"));
    uint64_t *const seed_offset = block->get();
    csaw_vertex *const root = (csaw_vertex *)(seed_offset + offsets);
    job->roots = host->roots ? root : nullptr;
    job->seed_offset = host->seed_offset ? seed_offset : nullptr;
    if (offsets)
        CSAW_TRY(csaw__device_put(device, seed_offset, host->seed_offset + at_hand.first, offsets * sizeof(uint64_t)));
    const csaw__seeds_come whole = {}, *const how = in_turn ? &come : &whole;
    if (roots) CSAW_TRY(csaw__device_put_seeds(device, host, root, first_seed, roots, *how));
    return come.came && !in_turn ? come.came(come.user, job->roots, 0, host->num_walks) : CSAW_OK;
}

/* Words of a block for the arrays of regions, counts of arcs and of seeds side by side. */
uint64_t region_words(uint64_t count, const csaw__regions &regions) {
    const uint64_t places = count * regions.places, narrow = 3 * places + count * regions.seed_places + 2 * (count + 1);
    return places + (narrow + 1) / 2;
}

void place_regions(uint64_t *block, uint64_t count, csaw__regions *regions) {
    const uint64_t places = count * regions->places;
    regions->edge = block;
    regions->src = (csaw_vertex *)(regions->edge + places);
    regions->dst = regions->src + places;
    regions->depth = regions->dst + places;
    regions->seed = regions->depth + places;
    regions->arcs = regions->seed + count * regions->seed_places;
    regions->seeds = regions->arcs + count + 1;
}

csaw_status take_regions(csaw__device *device, uint64_t count, csaw__regions *regions, array<uint64_t> *block) {
    CSAW_TRY(block->take(device, region_words(count, *regions), "arcs being sampled"));
    place_regions(block->get(), count, regions);
    return CSAW_OK;
}

/* Counts of arcs and of seeds, of so many instances, to 0. */
csaw_status clear_counts(csaw__device *device, const csaw__regions &regions, uint64_t count) {
    CSAW_CUDA(cudaMemsetAsync(regions.arcs, 0, 2 * (count + 1) * sizeof *regions.arcs, device->stream));
    return CSAW_OK;
}

const uint32_t places_of_block = 1024;

/* A block has so many places of regions, a thread four of them: it asks for all before it stores the first. */
static __global__ void __launch_bounds__(256) put_arcs(csaw__regions from, const uint64_t *offset, csaw_vertex *src,
                                                       csaw_vertex *dst, csaw_edge *edge, uint32_t *depth) {
    const uint32_t places = (uint32_t)from.places;
    uint64_t to[4];
    csaw_vertex a[4], b[4];
    unsigned long long e[4];
    uint32_t d[4];
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const uint32_t t = blockIdx.x * places_of_block + r * 256 + threadIdx.x, i = t / places, j = t - i * places;
        to[r] = i < from.count && j < from.arcs[i] ? offset[from.first + i] + j : ~0ull;
        if (to[r] == ~0ull) continue;
        a[r] = __ldcs(from.src + t);
        b[r] = __ldcs(from.dst + t);
        e[r] = __ldcs((const unsigned long long *)from.edge + t);
        d[r] = __ldcs(from.depth + t);
    }
#pragma unroll
    for (int r = 0; r < 4; r++) {
        if (to[r] == ~0ull) continue;
        __stcs(src + to[r], a[r]);
        __stcs(dst + to[r], b[r]);
        __stcs((unsigned long long *)edge + to[r], e[r]);
        __stcs(depth + to[r], d[r]);
    }
}

/* A thread a place. */
static __global__ void put_seeds(csaw__regions from, const uint64_t *offset, csaw_vertex *seed) {
    const uint64_t t = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x, i = t / from.seed_places,
                   j = t - i * from.seed_places;
    if (i < from.count && j < from.seeds[i]) seed[offset[from.first + i] + j] = from.seed[t];
}

} // namespace

#endif

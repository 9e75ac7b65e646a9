/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_lists.cu - samples whose pools are lists (CSAW_REPLACE_POOL) on the GPU: some instances at a
 * time, as many as a bounded memory holds pools and arcs of, each run by a team of lanes (device_lists.cuh) into a
 * region of its own; regions are then brought together.
 *
 * Limit on an H200, pools of 64 on 46,776 vertices: latency; 2 to 5 microseconds a kernel, on 12% of the warps.
 * docs/measured/2026-11-23-gpu-7.md. */
#include <new>

#include "runtime/base/frontier.h"
#include "runtime/engine/device_arcs.h"
#include "runtime/engine/device_run.h"

/* ---- device code ---- */

static __global__ void widen_counts(const uint32_t *count, uint64_t n, uint64_t *out) { /* out: [n + 1] */
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i <= n) out[i] = i < n ? count[i] : 0;
}

typedef struct dense { /* arcs and first frontiers of a launch's owners, without gaps */
    csaw_vertex *src, *dst, *seed;
    csaw_edge *edge;
    uint32_t *depth;
} dense;

/* A warp an owner. arc, seed: [count + 1], where each owner's begin. */
static __global__ void close_gaps(csaw__regions r, const uint64_t *arc, const uint64_t *seed, dense out) {
    const uint64_t i = (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) / 32;
    if (i >= r.count) return;
    for (uint64_t j = threadIdx.x & 31; j < r.arcs[i]; j += 32) {
        const uint64_t from = i * r.places + j, to = arc[i] + j;
        out.src[to] = r.src[from];
        out.dst[to] = r.dst[from];
        out.edge[to] = r.edge[from];
        out.depth[to] = r.depth[from];
    }
    for (uint64_t j = threadIdx.x & 31; j < r.seeds[i]; j += 32) out.seed[seed[i] + j] = r.seed[i * r.seed_places + j];
}

static __global__ void put_sums(const uint64_t *sum, uint64_t count, uint64_t base, uint64_t *out) {
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i <= count) out[i] = base + sum[i];
}

/* ---- host code ---- */

namespace {

/* What a launch has found, kept until delivery. */
struct part {
    part *next = nullptr; /* of the owners that come next */
    uint64_t first = 0, count = 0, arcs = 0, seeds = 0;
    array<uint64_t> arc_offset, seed_offset; /* [count + 1] */
    array<csaw_vertex> src, dst, seed;
    array<csaw_edge> edge;
    array<uint32_t> depth;
};

struct lists_run {
    csaw__device *device;
    const csaw_sampler *sampler;
    csaw__job job;         /* as the kernel gets it */
    const csaw__job *host; /* roots and seed_offset in host memory */
    uint64_t owners;
    bool has_size;
    array<csaw_vertex> roots;
    array<uint64_t> seed_offset;
    array<uint32_t> fanouts;
    part *first_part = nullptr, *last_part = nullptr;
    ~lists_run() {
        while (first_part) {
            part *const next = first_part->next;
            delete first_part;
            first_part = next;
        }
    }
};

csaw_status add_part(lists_run *r, part **out) {
    part *const made = csaw__alloc_allowed() ? new (std::nothrow) part : nullptr;
    CSAW_REQUIRE(made, CSAW_ENOMEM, "no memory for the arcs of some instances, %zu bytes", sizeof(part));
    (r->last_part ? r->last_part->next : r->first_part) = made;
    *out = r->last_part = made;
    return CSAW_OK;
}

/* ---- memory of a launch ---- */

/* What an instance needs whose list has at most so many places. */
struct needs {
    uint64_t room, frontier, picks, words, places, bytes;
};

needs needs_of(const lists_run *r, uint64_t room) {
    const uint32_t size = r->job.lists.size;
    needs n = {};
    n.room = room;
    n.frontier = r->has_size && size < room ? size : room;
    n.picks = r->has_size ? n.frontier : 0;
    n.words = r->has_size && size < room ? (uint64_t)CSAW__PICK_WORDS * size : 0;
    n.places = n.frontier * r->job.length;
    n.bytes = room * (2 * sizeof(csaw_vertex) + sizeof(float)) + (r->has_size ? 16 * room + 8 : 0) +
              8 * (n.picks + n.words) + n.frontier * sizeof(csaw_vertex) + 8 +
              n.places * (2 * sizeof(csaw_vertex) + sizeof(csaw_edge) + sizeof(uint32_t));
    return n;
}

/* As many owners from first on as a launch takes: their end, and what each needs. */
csaw_status plan_launch(const lists_run *r, uint64_t first, uint64_t *end, needs *out) {
    const csaw__job *host = r->host;
    const uint64_t most = r->device->most_work * 8;
    *out = needs_of(r, 0);
    for (*end = first; *end < r->owners; ++*end) {
        const uint64_t pool = (host->first + *end) % host->num_roots;
        const uint64_t seeds = host->seed_offset ? host->seed_offset[pool + 1] - host->seed_offset[pool] : 1;
        CSAW_REQUIRE(seeds < UINT32_MAX, CSAW_EINVAL,
                     "a pool of %llu seeds; a pool that is a list has at most 2^32 - 2", (unsigned long long)seeds);
        const needs wider = needs_of(r, seeds > out->room ? seeds : out->room);
        if (*end > first && wider.bytes > most / (*end + 1 - first)) break;
        *out = wider;
    }
    CSAW_REQUIRE(
        out->places <= UINT32_MAX, CSAW_EUNSUPPORTED,
        "an instance of up to %llu arcs, one for each place of its frontier at %u depths; the GPU keeps at most "
        "2^32 - 1 of an instance: take fewer depths, or use device 'cpu'",
        (unsigned long long)out->places, r->job.length);
    return CSAW_OK;
}

/* Pools and regions of a launch. */
struct launch_arrays {
    array<csaw_vertex> at, prev, src, dst, seed;
    array<float> bias;
    array<uint64_t> mass, tree, pick, work;
    array<uint32_t> arcs, seeds, depth;
    array<csaw_edge> edge;
};

csaw_status take_pools(lists_run *r, const needs &n, uint64_t count, launch_arrays *a) {
    csaw__lists *lists = &r->job.lists;
    CSAW_TRY(a->at.take(r->device, count * n.room, "pools"));
    CSAW_TRY(a->prev.take(r->device, count * n.room, "pools"));
    CSAW_TRY(a->bias.take(r->device, count * n.room, "biases of pools"));
    if (r->has_size) {
        CSAW_TRY(a->mass.take(r->device, count * n.room, "masses of pools"));
        CSAW_TRY(a->tree.take(r->device, count * (n.room + 1), "sums of pools"));
        CSAW_TRY(a->pick.take(r->device, count * n.picks, "places of pools"));
        CSAW_TRY(a->work.take(r->device, count * n.words, "memory to pick in"));
    }
    lists->room = n.room;
    lists->at = a->at.get();
    lists->prev = a->prev.get();
    lists->bias = a->bias.get();
    lists->mass = a->mass.get();
    lists->tree = a->tree.get();
    lists->pick = a->pick.get();
    lists->work = a->work.get();
    lists->picks = n.picks;
    lists->words = n.words;
    return CSAW_OK;
}

csaw_status take_regions(lists_run *r, const needs &n, uint64_t first, uint64_t count, launch_arrays *a) {
    csaw__regions *regions = &r->job.regions;
    CSAW_TRY(a->arcs.take(r->device, count, "counts of arcs"));
    CSAW_TRY(a->seeds.take(r->device, count, "counts of seeds"));
    CSAW_TRY(a->src.take(r->device, count * n.places, "sampled arcs"));
    CSAW_TRY(a->dst.take(r->device, count * n.places, "sampled arcs"));
    CSAW_TRY(a->edge.take(r->device, count * n.places, "sampled arcs"));
    CSAW_TRY(a->depth.take(r->device, count * n.places, "sampled arcs"));
    CSAW_TRY(a->seed.take(r->device, count * n.frontier, "first frontiers"));
    regions->first = first;
    regions->count = count;
    regions->places = n.places;
    regions->seed_places = n.frontier;
    regions->arcs = a->arcs.get();
    regions->seeds = a->seeds.get();
    regions->src = a->src.get();
    regions->dst = a->dst.get();
    regions->edge = a->edge.get();
    regions->depth = a->depth.get();
    regions->seed = a->seed.get();
    return CSAW_OK;
}

/* ---- a launch, and what it found ---- */

csaw_status sum_counts(csaw__device *device, const uint32_t *counts, uint64_t n, array<uint64_t> *offset,
                       uint64_t *total) {
    array<uint64_t> wide;
    CSAW_TRY(wide.take(device, n + 1, "counts of arcs"));
    CSAW_TRY(offset->take(device, n + 1, "counts of arcs"));
    LAUNCH(device, n + 1, widen_counts, counts, n, wide.get());
    CSAW_TRY(sums(device, wide.get(), offset->get(), n + 1));
    return read(device, offset->get() + n, total, 1);
}

csaw_status collect(csaw__device *device, const csaw__regions &regions, part *p) {
    p->first = regions.first;
    p->count = regions.count;
    CSAW_TRY(sum_counts(device, regions.arcs, p->count, &p->arc_offset, &p->arcs));
    CSAW_TRY(sum_counts(device, regions.seeds, p->count, &p->seed_offset, &p->seeds));
    CSAW_TRY(p->src.take(device, p->arcs, "sampled arcs"));
    CSAW_TRY(p->dst.take(device, p->arcs, "sampled arcs"));
    CSAW_TRY(p->edge.take(device, p->arcs, "sampled arcs"));
    CSAW_TRY(p->depth.take(device, p->arcs, "sampled arcs"));
    CSAW_TRY(p->seed.take(device, p->seeds, "first frontiers"));
    const dense to = {p->src.get(), p->dst.get(), p->seed.get(), p->edge.get(), p->depth.get()};
    LAUNCH(device, p->count * 32, close_gaps, regions, p->arc_offset.get(), p->seed_offset.get(), to);
    return CSAW_OK;
}

csaw_status run_part(lists_run *r, uint64_t first, uint64_t end, const needs &n) {
    launch_arrays a;
    part *p = nullptr;
    CSAW_TRY(add_part(r, &p));
    CSAW_TRY(take_pools(r, n, end - first, &a));
    CSAW_TRY(take_regions(r, n, first, end - first, &a));
    CSAW_TRY(csaw__device_launch(r->device, r->sampler, CSAW__KERNEL_LISTS + (int)r->job.kernel,
                                 (end - first) * 32 /* lanes */, &r->job));
    return collect(r->device, r->job.regions, p);
}

/* ---- delivery ---- */

template <typename T> csaw_status copy(csaw__device *device, const T *from, const T *to, uint64_t count) {
    CSAW_CUDA(cudaMemcpyAsync((void *)to, from, count * sizeof(T), cudaMemcpyDeviceToDevice, device->stream));
    return CSAW_OK;
}

csaw_status deliver(lists_run *r, csaw_samples *samples) {
    csaw__device *device = r->device;
    uint64_t arcs = 0, seeds = 0;
    for (const part *p = r->first_part; p; p = p->next) {
        arcs += p->arcs;
        seeds += p->seeds;
    }
    CSAW_TRY(csaw__device_arcs_take(device, samples, r->owners, arcs, seeds));
    samples->device_arcs.first = r->job.first;
    const csaw_arcs &out = samples->device_arcs;
    CSAW_CUDA(cudaMemsetAsync((void *)out.offset, 0, sizeof *out.offset, device->stream));
    CSAW_CUDA(cudaMemsetAsync((void *)out.seed_offset, 0, sizeof *out.seed_offset, device->stream));
    arcs = seeds = 0;
    for (const part *p = r->first_part; p; p = p->next) {
        LAUNCH(device, p->count + 1, put_sums, p->arc_offset.get(), p->count, arcs, (uint64_t *)out.offset + p->first);
        LAUNCH(device, p->count + 1, put_sums, p->seed_offset.get(), p->count, seeds,
               (uint64_t *)out.seed_offset + p->first);
        CSAW_TRY(copy(device, p->src.get(), out.src + arcs, p->arcs));
        CSAW_TRY(copy(device, p->dst.get(), out.dst + arcs, p->arcs));
        CSAW_TRY(copy(device, p->edge.get(), out.edge + arcs, p->arcs));
        CSAW_TRY(copy(device, p->depth.get(), out.depth + arcs, p->arcs));
        CSAW_TRY(copy(device, p->seed.get(), out.seed + seeds, p->seeds));
        arcs += p->arcs;
        seeds += p->seeds;
    }
    return CSAW_OK;
}

csaw_status upload_job(lists_run *r) {
    const csaw__job *host = r->host;
    csaw__job *job = &r->job;
    const uint64_t seeds = host->seed_offset ? host->seed_offset[host->num_roots] : host->num_roots;
    if (host->roots) {
        CSAW_TRY(r->roots.take(r->device, seeds, "seeds"));
        CSAW_TRY(csaw__device_put_seeds(r->device, host, r->roots.get(), 0, seeds, {}));
    }
    if (host->seed_offset)
        CSAW_TRY(r->seed_offset.upload(r->device, host->seed_offset, host->num_roots + 1, "seeds of pools"));
    if (host->fanout) CSAW_TRY(r->fanouts.upload(r->device, host->fanout, host->length, "fanouts"));
    job->roots = r->roots.get();
    job->seed_offset = r->seed_offset.get();
    job->fanout = r->fanouts.get();
    job->wave.instance = job->first;
    job->lists.size = r->sampler->frontier_size(job->params);
    return CSAW_OK;
}

} // namespace

csaw_status csaw__device_lists(csaw__device *device, const csaw_sampler *sampler, const csaw__job *job,
                               csaw_samples *samples, csaw__fault *fault) {
    lists_run r;
    r.device = device;
    r.sampler = sampler;
    r.job = *job;
    r.host = job;
    r.owners = job->num_walks;
    r.has_size = sampler->traits() & CSAW__TRAIT_SIZE;
    CSAW_TRY(upload_job(&r));
    for (uint64_t first = 0, end = 0; first < r.owners; first = end) {
        needs n;
        CSAW_TRY(plan_launch(&r, first, &end, &n));
        CSAW_TRY(run_part(&r, first, end, n));
        CSAW_TRY(csaw__device_fault(device, fault));
        if (fault->kind != CSAW__FAULT_NONE) return CSAW_OK; /* of instances the lowest comes first */
    }
    return deliver(&r, samples);
}

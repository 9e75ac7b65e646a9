/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_parts_sample.cu - samples on a GPU to which partitions come: the GPU engine advances batches of
 * instances depth by depth (device_depths.cu), and the vertices of their frontiers pick when their partition is there.
 *
 * Method: entries of a frontier are sorted by partition, so that a launch has those of one side by side; within a depth
 * none leads to another, so each partition at which any wait is brought once, and none for vertices without arcs. It
 * serves the frontiers of all batches that are under way (device_parts_batches.cu): a launch each. Degrees and pools
 * are on the device. The partitions' memory is as for walks; all else that the engine takes is bounded by the memory
 * for instances. What a launch picks at the last depth, where batches share a pass, goes to memory of its stream, and
 * from there to the host (device_parts_leave.h).
 *
 * Limit on an H200, in a test (name_parts): a launch, of 3.4 us, 3% of the warps:
 * docs/measured/2026-11-24-gpu-11.md. */
#include <cub/device/device_radix_sort.cuh>

#include "runtime/engine/device_parts.h"
#include "runtime/engine/device_run.h"

namespace {

enum { TEAMS = 8 /* of a block: entries that it works on at a time */ };

/* A frontier whose entries wait at their partitions. */
struct waiting_entries {
    const run *r;
    array<uint32_t> list;        /* [count] entries, those of a partition side by side; last those that need none */
    array<uint64_t> work;        /* memory to pick in, of all entries at once */
    host_array<uint64_t> begin;  /* [parts + 1] in list */
    host_array<uint64_t> active; /* [parts] */
    host_array<uint64_t> place;  /* [parts + 1] where those of a partition pick, of what leaves */
    layer *to;
    uint64_t hubs;
    uint64_t leaving(uint32_t part) const { /* bytes */
        return to->leaves ? (place[part + 1] - place[part]) * CSAW__LEAVING_BYTES : 0;
    }
};

/* Of all batches. */
struct waiting_batches {
    waiting_entries of[CSAW__MOST_BATCHES];
    uint32_t count;
    array<char> room; /* for what a launch picks and leaves, of each stream: room_bytes */
    uint64_t room_bytes;
};

uint64_t blocks_of(uint64_t entries) { return (entries + TEAMS - 1) / TEAMS; }

/* part: [count] whose; parts: of vertices without arcs, if degree is given */
__global__ void name_parts(const csaw_vertex *at, uint64_t count, const uint32_t *degree, const csaw_vertex *first,
                           const uint32_t *owner, uint32_t shift, uint32_t parts, uint32_t *part, uint32_t *entry) {
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i >= count) return;
    part[i] = !degree || degree[at[i]] ? csaw__owner_of(first, owner, shift, at[i]) : parts;
    entry[i] = (uint32_t)i;
}

/* sorted: [count] partitions, ascending; begin: [parts + 1] where each one's begin. */
__global__ void find_begins(const uint32_t *sorted, uint64_t count, uint32_t parts, uint64_t *begin) {
    const uint64_t p = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    uint64_t low = 0;
    if (p > parts) return;
    for (uint64_t n = count; n > 0;) {
        const uint64_t half = n / 2;
        const bool below = sorted[low + half] < p;
        low = below ? low + half + 1 : low;
        n = below ? n - half - 1 : half;
    }
    begin[p] = low;
}

bool has_dead_ends(const csaw_sampler *sampler) { return sampler->traits() & CSAW__TRAIT_DEAD_END; }

/* Whether entries at vertices without arcs need no partition: they pick nothing, and where a hook says what comes of
 * that, it finds their rows in the host's memory. */
bool ends_without(const csaw__cuda_parts *c, const csaw_sampler *sampler) {
    return !has_dead_ends(sampler) || c->in_place;
}

csaw_status sort_entries(csaw__cuda_parts *c, waiting_entries *w, uint64_t count) {
    csaw__device *const device = w->r->device;
    const uint32_t parts = c->parts->ranges.count;
    array<uint32_t> part, sorted, entry;
    array<uint64_t> begin;
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
    CSAW_TRY(begin.take(device, (uint64_t)parts + 1, "a frontier by partitions"));
    LAUNCH(device, count, name_parts, w->r->job.wave.at, count,
           ends_without(c, w->r->sampler) ? c->parts->degree : nullptr, c->first, c->owner, c->parts->ranges.shift,
           parts, part.get(), entry.get());
    CSAW_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, part.get(), sorted.get(), entry.get(), w->list.get(),
                                              (int64_t)count, 0, bits, device->stream));
    CSAW_TRY(room.take(device, bytes, "a frontier by partitions"));
    CSAW_CUDA(cub::DeviceRadixSort::SortPairs(room.get(), bytes, part.get(), sorted.get(), entry.get(), w->list.get(),
                                              (int64_t)count, 0, bits, device->stream));
    LAUNCH(device, (uint64_t)parts + 1, find_begins, sorted.get(), count, parts, begin.get());
    CSAW_TRY(read(device, begin.get(), w->begin.get(), (uint64_t)parts + 1));
    for (uint32_t p = 0; p < parts; p++) w->active[p] = w->begin[p + 1] - w->begin[p];
    return CSAW_OK;
}

/* The wave's places of the partition are in that room, in which they stand as on the host: edge, src, dst. */
void pick_in(const waiting_entries *w, uint32_t part, char *room, csaw__wave *wave) {
    const uint64_t first = w->place[part], places = w->place[part + 1] - first;
    const uintptr_t at = (uintptr_t)room;
    wave->edge = (csaw_edge *)(at - first * sizeof *wave->edge);
    wave->src = (csaw_vertex *)(at + places * sizeof *wave->edge - first * sizeof *wave->src);
    wave->dst = wave->src + places;
}

/* What was picked there, to the host. */
csaw_status leave(const waiting_entries *w, uint32_t part, const char *room, cudaStream_t stream) {
    const uint64_t first = w->place[part], places = w->place[part + 1] - first, all = w->to->places;
    const csaw_edge *const edge = (const csaw_edge *)room;
    const csaw_vertex *const src = (const csaw_vertex *)(edge + places);
    csaw_edge *const to = (csaw_edge *)w->to->away->at;
    csaw_vertex *const to_src = (csaw_vertex *)(to + all);
    CSAW_CUDA(csaw__copy_async(to + first, edge, places * sizeof *edge, cudaMemcpyDeviceToHost, stream));
    CSAW_CUDA(csaw__copy_async(to_src + first, src, places * sizeof *src, cudaMemcpyDeviceToHost, stream));
    CSAW_CUDA(
        csaw__copy_async(to_src + all + first, src + places, places * sizeof *src, cudaMemcpyDeviceToHost, stream));
    return CSAW_OK;
}

/* A batch's. Rows that are scanned by a block have one each. */
csaw_status launch_one(csaw__cuda_parts *c, waiting_entries *w, uint32_t part, uint32_t slot, uint64_t blocks,
                       char *room, cudaStream_t stream) {
    csaw__device *const device = w->r->device;
    csaw__job job = w->r->job;
    const int hub_kernel = job.kernel == CSAW__KERNEL_RACE ? CSAW__KERNEL_HUBS_RACE : CSAW__KERNEL_HUBS_ITS;
    job.rows = c->slot[slot].rows;
    job.wave.list = w->list.get();
    job.wave.first = w->begin[part];
    job.wave.count = w->begin[part + 1];
    job.wave.work_first = 0;
    job.wave.work = w->work.get();
    if (w->to->leaves) pick_in(w, part, room, &job.wave);
    w->active[part] = 0;
    CSAW_TRY(csaw__device_launch_on(device, stream, w->r->sampler, CSAW__KERNEL_EXPAND + (int)job.kernel, blocks * 256,
                                    &job));
    CSAW_TRY(csaw__device_launch_on(device, stream, w->r->sampler, hub_kernel, w->hubs * 256, &job));
    c->use.left_bytes += w->leaving(part);
    return w->to->leaves ? leave(w, part, room, stream) : CSAW_OK;
}

/* The batches' launches come one after the other in the stream, so each has all of its blocks. */
csaw_status launch(csaw__cuda_parts *c, uint32_t part, uint32_t slot, uint32_t blocks, uint32_t stream) {
    waiting_batches *const waiting = (waiting_batches *)c->worker;
    char *room = waiting->room.get() + stream * waiting->room_bytes;
    for (uint32_t i = 0; i < waiting->count; i++) {
        waiting_entries *const w = &waiting->of[i];
        const uint64_t most = blocks_of(w->active[part]);
        if (most == 0) continue;
        CSAW_TRY(launch_one(c, w, part, slot, blocks < most ? blocks : most, room, c->stream[stream].runs));
        room += w->leaving(part);
    }
    return CSAW_OK;
}

csaw_status counts(csaw__cuda_parts *c, uint64_t *active) {
    const waiting_batches *const waiting = (const waiting_batches *)c->worker;
    for (uint32_t p = 0; p < c->parts->ranges.count; p++) {
        active[p] = 0;
        for (uint32_t i = 0; i < waiting->count; i++) active[p] += waiting->of[i].active[p];
    }
    return CSAW_OK;
}

uint32_t need(const csaw__cuda_parts *, uint64_t entries) {
    const uint64_t blocks = blocks_of(entries);
    return blocks < 1 ? 1 : blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX;
}

const csaw__cuda_work expanding = {launch, counts, need};

/* Entries that need no partition. */
csaw_status end_entries(csaw__cuda_parts *c, waiting_entries *w, uint64_t count) {
    csaw__device *const device = w->r->device;
    csaw__job job = w->r->job;
    job.wave.list = w->list.get();
    job.wave.first = w->begin[c->parts->ranges.count];
    job.wave.count = count;
    job.wave.work_first = 0;
    if (job.wave.first == count) return CSAW_OK;
    if (!has_dead_ends(w->r->sampler)) return w->to->got.fill(0, count);
    job.rows = csaw__cuda_rows_of_host(c);
    return csaw__device_launch(device, w->r->sampler, CSAW__KERNEL_EXPAND + (int)job.kernel,
                               (count - job.wave.first) * 32 /* lanes */, &job);
}

/* What the batch is to pick, by partitions. */
csaw_status sort_batch(csaw__cuda_parts *c, const run *r, const picking &at, waiting_entries *w) {
    const uint64_t count = at.to->from.count;
    w->r = r;
    w->to = at.to;
    w->hubs = at.hubs;
    CSAW_TRY(w->begin.take((uint64_t)c->parts->ranges.count + 1, "a frontier by partitions"));
    CSAW_TRY(w->active.take(c->parts->ranges.count, "a frontier by partitions"));
    CSAW_TRY(sort_entries(c, w, count));
    CSAW_TRY(end_entries(c, w, count));
    if (w->to->leaves) {
        CSAW_TRY(w->place.take((uint64_t)c->parts->ranges.count + 1, "arcs by partitions"));
        CSAW_TRY(csaw__leave_places(c, r->device, at, w->list.get(), w->begin.get(), w->place.get()));
    }
    return w->work.take(r->device, at.words, "memory to pick in");
}

/* As much as any partition picks that leaves. Places where nothing is picked leave with the others: not as they came
 * from the pool. */
csaw_status take_room(const csaw__cuda_parts *c, waiting_batches *waiting) {
    waiting->room_bytes = 0;
    for (uint32_t p = 0; p < c->parts->ranges.count; p++) {
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < waiting->count; i++) bytes += waiting->of[i].leaving(p);
        if (bytes > waiting->room_bytes) waiting->room_bytes = bytes;
    }
    if (!waiting->room_bytes) return CSAW_OK;
    CSAW_TRY(waiting->room.take(waiting->of[0].r->device, c->streams * waiting->room_bytes, "arcs that leave the GPU"));
    return waiting->room.fill(0, c->streams * waiting->room_bytes);
}

} // namespace

csaw_status csaw_device::csaw__device_expand_in_parts(run *const *runs, const picking *at, uint32_t count) {
    csaw__parts *const parts = runs[0]->device->parts;
    csaw__cuda_parts *const c = parts->cuda;
    waiting_batches waiting;
    waiting.count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (at[i].to) CSAW_TRY(sort_batch(c, runs[i], at[i], &waiting.of[waiting.count++]));
    CSAW_TRY(take_room(c, &waiting));
    CSAW_CUDA(cudaStreamSynchronize(runs[0]->device->stream)); /* launches are on streams of their own */
    c->work = &expanding;
    c->worker = &waiting;
    c->sees_all = false;
    return csaw__schedule_run(&parts->schedule, &parts->on);
}

/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_run.h - batches of samples on the GPU under way: their frontiers, what was picked at each
 * depth, what was visited. Shared by the files that advance them. */
#ifndef CSAW_ENGINE_DEVICE_RUN_H
#define CSAW_ENGINE_DEVICE_RUN_H

#include "runtime/engine/device_array.cuh"
#include "runtime/engine/device_parts_leave.h"

namespace csaw_device {

struct frontier {
    uint64_t count = 0;
    array<csaw_vertex> at, prev;
    array<uint32_t> owner;
};

/* What was picked at a depth; kept until delivery. */
struct layer {
    layer *next = nullptr; /* one depth on */
    frontier from;
    uint64_t count = 0;    /* groups of picks, in the order of delivery: one an entry, or more of a whole layer's */
    array<uint32_t> group; /* [count] whose; not there: the entries' */
    array<uint64_t> offset;
    array<uint32_t> got;
    array<csaw_vertex> src, dst;
    array<csaw_edge> edge;
    bool leaves = false;              /* src, dst and edge are on the host until delivery */
    uint64_t places = 0;              /* of each of them */
    csaw__host_block *away = nullptr; /* edge [places], then src, then dst */
    array<uint64_t> sum, ends; /* at delivery: [count + 1] sums of got; [2 * owners] each owner's begin, then its end */
    const uint32_t *owner() const { return group.get() ? group.get() : from.owner.get(); }
    ~layer() {
        if (away) away->taken = false;
    }
};

struct visited_set {
    uint64_t cells = 0, keys = 0; /* keys: at most */
    array<unsigned long long> table;
};

struct run {
    csaw__device *device;
    const uint32_t *number;  /* host: [owners] instances, counted from job.first; NULL: in turn */
    array<uint32_t> numbers; /* the same on the device */
    const csaw_sampler *sampler;
    csaw__job job = {};
    uint64_t owners;
    bool hubs;           /* there may be rows to scan that are for a block each */
    bool leaves = false; /* what is picked at the last depth goes to the host as soon as it is (device_parts_leave.h) */
    array<csaw_vertex> root;
    array<uint32_t> fanouts; /* of the run, by depth */
    array<uint64_t> user;    /* [4 * owners], where the sampler has user bytes */
    visited_set visited;
    frontier pool;                           /* at job.wave.depth, the next */
    bool ended = false;                      /* no depth is left, or nothing to go on from */
    layer *first = nullptr, *last = nullptr; /* depth 0 .. */
    ~run() {
        while (first) {
            layer *const next = first->next;
            delete first;
            first = next;
        }
    }
};

/* As many entries from first on as there is memory to pick in: their end. Memory that entry i needs: sum[i + 1] -
 * sum[i]. */
inline csaw_status end_of_launch(csaw__device *device, const uint64_t *sum, uint64_t first, uint64_t count,
                                 uint64_t *end, uint64_t *words) {
    uint64_t base = 0, at = 0, low = first + 1, high = count;
    CSAW_TRY(read(device, sum + first, &base, 1));
    CSAW_TRY(read(device, sum + count, &at, 1));
    while (at - base > device->most_work && low < high) { /* the last place within it, or first + 1 */
        const uint64_t middle = low + (high - low) / 2;
        uint64_t there = 0;
        CSAW_TRY(read(device, sum + middle + 1, &there, 1));
        if (there - base <= device->most_work)
            low = middle + 1;
        else
            high = middle;
    }
    *end = at - base > device->most_work ? low : count;
    CSAW_TRY(read(device, sum + *end, &at, 1));
    *words = at - base;
    return CSAW_OK;
}

/* What a run needs while it advances by a depth. */
struct picking {
    frontier chosen; /* of the pool, where not all of it goes on */
    layer *to = nullptr;
    array<uint64_t> room, work_offset, begin; /* room: [count + 1], and as many words of memory needed */
    array<uint32_t> fanout, from, hub;
    array<csaw_vertex> next; /* where picks lead, unless the depth is the last */
    uint64_t places = 0, words = 0, hubs = 0;
    uint64_t *need() const { return room.get() + to->from.count + 1; } /* [count], then 0 */
};

/* runtime/engine/device_depths.cu. A batch at its first frontier. job: as csaw__device_depths() has it; number:
 * [job->num_walks] its instances, counted from job->first, and lives as long as the run; NULL: in turn. */
csaw_status csaw__run_begin(run *r, csaw__device *device, uint64_t max_degree, const csaw_sampler *sampler,
                            const csaw__job *job, const uint32_t *number);
/* Each of them by a depth, of its own; none has ended. count: CSAW__MOST_BATCHES at most. What they pick of partitions
 * they pick together. */
csaw_status csaw__runs_advance(run *const *runs, uint32_t count);
csaw_status csaw__run_deliver(run *r, csaw_samples *samples);
/* The two halves of that. Device memory: arcs: [owners + 1] how many each has, then a 0; first: [owners + 1] where each
 * one's seeds begin among those of all. */
csaw_status csaw__run_count(run *r, uint64_t *arcs, uint64_t *first);
/* place, seed_place: [owners] where each one's go in out. place is changed. */
csaw_status csaw__run_put(run *r, uint64_t *place, const uint64_t *first, const uint64_t *seed_place,
                          const csaw_arcs &out);

/* runtime/engine/device_parts_sample.cu: the entries in their jobs' waves pick, each when its partition is there; of a
 * run that has nothing to pick, at[i].to is NULL. */
csaw_status csaw__device_expand_in_parts(run *const *runs, const picking *at, uint32_t count);

/* runtime/engine/device_parts_layer_way.cu. Which layers of a wave, whose room has degrees, partitions come for:
 * far_take: [owners] their take, CSAW_ALL of others; left empty: none is. Device memory: candidate, cost: [owners + 1]
 * sums of how many each has, and of words of memory to pick in; take: [owners] picks asked for. */
struct layer_costs {
    uint64_t owners;
    const uint64_t *candidate, *cost;
    const uint32_t *take;
};
csaw_status csaw__device_layer_way(csaw__device *device, const csaw__wave &wave, const layer_costs &layers,
                                   array<uint32_t> *far_take);

/* Layers of a depth, in a job's wave. Device memory: candidates: [owners + 1] sums of how many each has; take: [owners]
 * picks asked for, CSAW_ALL of owners that are not exchanged. */
struct far_layers {
    uint64_t owners;
    const uint64_t *candidates;
    const uint32_t *take;
};

/* runtime/engine/device_parts_layer.cu: the picks of layers that are exchanged, as csaw__layers has them. */
csaw_status csaw__device_layer_exchange(csaw__device *device, const csaw_sampler *sampler, const csaw__job &job,
                                        const far_layers &layers, array<uint64_t> *begin, array<uint64_t> *pick);

/* runtime/engine/device_layer.cu: the picks of a depth of a CSAW_LAYER sampler, from l->from, which stands in
 * r->job.wave. next, from: where their updates lead, and the entries they come from, unless this depth is the last;
 * begin: [owners + 1], where each owner's picks begin; *picks: how many there are. */
csaw_status csaw__device_layer(run *r, layer *l, bool last, array<csaw_vertex> *next, array<uint32_t> *from,
                               array<uint64_t> *begin, uint64_t *picks);

} // namespace csaw_device

#endif

/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_run.h - a batch of samples on the GPU under way: its frontiers, what was picked at each depth,
 * what was visited. Shared by the files that advance it. */
#ifndef CSAW_ENGINE_DEVICE_RUN_H
#define CSAW_ENGINE_DEVICE_RUN_H

#include "runtime/engine/device_array.cuh"

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
    array<uint64_t> sum, ends; /* at delivery: [count + 1] sums of got; [2 * owners] each owner's begin, then its end */
    const uint32_t *owner() const { return group.get() ? group.get() : from.owner.get(); }
};

struct visited_set {
    uint64_t cells = 0, keys = 0; /* keys: at most */
    array<unsigned long long> table;
};

struct run {
    csaw__device *device;
    const csaw_sampler *sampler;
    csaw__job job = {};
    uint64_t owners;
    bool hubs; /* there may be rows to scan that are for a block each */
    array<csaw_vertex> root;
    array<uint32_t> fanouts; /* of the run, by depth */
    array<uint64_t> user;    /* [4 * owners], where the sampler has user bytes */
    visited_set visited;
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

/* runtime/engine/device_parts_sample.cu: the entries in r->job.wave pick, each when its partition is there. words:
 * of memory that all pick in; hubs: how many stand in wave.hubs. */
csaw_status csaw__device_expand_in_parts(run *r, uint64_t count, uint64_t words, uint64_t hubs);

/* runtime/engine/device_layer.cu: the picks of a depth of a CSAW_LAYER sampler, from l->from, which stands in
 * r->job.wave. next, from: where their updates lead, and the entries they come from, unless this depth is the last;
 * begin: [owners + 1], where each owner's picks begin; *picks: how many there are. */
csaw_status csaw__device_layer(run *r, layer *l, bool last, array<csaw_vertex> *next, array<uint32_t> *from,
                               array<uint64_t> *begin, uint64_t *picks);

} // namespace csaw_device

#endif

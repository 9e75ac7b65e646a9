/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_frontier.cuh - vertices of pools on the GPU, owner after owner: which of them go on
 * (frontier_size), and pools that stay in front of what updates bring (CSAW_KEEP_POOL).
 *
 * Limit on an H200, pools of 1,024 seeds: latency; 3 to 6 microseconds a kernel, at most 1% of the throughput of L2, on
 * 2 to 12% of the warps. docs/measured/2026-11-23-gpu-7.md. */
#ifndef CSAW_ENGINE_DEVICE_FRONTIER_CUH
#define CSAW_ENGINE_DEVICE_FRONTIER_CUH

#include "runtime/base/frontier.h"
#include "runtime/engine/device_pools.cuh"
#include "runtime/engine/device_run.h"

/* ---- device code ---- */

/* first[o]: the first of the entries of owner o or of a later one; where offset is given, its place there. owner:
 * [count], ascending; first: [owners + 1]. */
static __global__ void find_first(const uint32_t *owner, uint64_t count, const uint64_t *offset, uint64_t owners,
                                  uint64_t *first) {
    const uint64_t o = CSAW__THREAD;
    if (o > owners) return;
    uint64_t lo = 0, n = count;
    while (n > 0) {
        const uint64_t half = n >> 1;
        const bool below = owner[lo + half] < o;
        lo = below ? lo + half + 1 : lo;
        n = below ? n - half - 1 : half;
    }
    first[o] = offset ? offset[lo] : lo;
}

/* Places that each owner's selection of size has, and words that it picks in. room, need: [owners + 1]. */
static __global__ void size_selections(const uint64_t *first, uint64_t owners, uint32_t size, uint64_t *room,
                                       uint64_t *need) {
    const uint64_t o = CSAW__THREAD;
    if (o > owners) return;
    const uint64_t n = o < owners ? first[o + 1] - first[o] : 0;
    room[o] = size < n ? size : n;
    need[o] = size < n ? (uint64_t)CSAW__PICK_WORDS * size : 0;
}

typedef struct entries {
    csaw_vertex *at, *prev;
    uint32_t *owner;
} entries;

/* place: [owners + 1], where each owner's picks go. */
static __global__ void take_selected(csaw__selection s, const uint64_t *place, entries pool, entries out) {
    const uint64_t p = CSAW__THREAD;
    if (p >= s.offset[s.owners]) return;
    uint64_t owner = 0, n = s.owners; /* whose pick it is: the last with offset[owner] <= p */
    while (n > 1) {
        const uint64_t half = n >> 1;
        owner = s.offset[owner + half] <= p ? owner + half : owner;
        n -= half;
    }
    const uint64_t j = p - s.offset[owner];
    if (j >= s.got[owner]) return;
    const uint64_t from = s.first[owner] + s.pick[p], to = place[owner] + j;
    out.at[to] = pool.at[from];
    out.prev[to] = pool.prev[from];
    out.owner[to] = (uint32_t)owner;
}

/* Pool entries to their places in front of their owners' candidates, which begin at first. */
static __global__ void put_staying(entries pool, uint64_t count, const uint64_t *first, entries out) {
    const uint64_t i = CSAW__THREAD;
    if (i >= count) return;
    const uint64_t to = i + first[pool.owner[i]];
    out.at[to] = pool.at[i];
    out.prev[to] = pool.prev[i];
    out.owner[to] = pool.owner[i];
}

/* Candidates behind their owners' pools, which begin at pool_first. */
static __global__ void put_reached(candidates c, const uint64_t *pool_first, entries out) {
    const uint64_t p = CSAW__THREAD;
    if (p >= c.count || c.vertex[p] == CSAW_NONE) return;
    const uint64_t entry = c.from[p];
    const uint64_t to = p + pool_first[c.owner[entry] + (uint64_t)1];
    out.at[to] = c.vertex[p];
    out.prev[to] = c.at[entry];
    out.owner[to] = c.owner[entry];
}

/* ---- host code ---- */

namespace {

csaw_status take_frontier(csaw__device *device, uint64_t count, frontier *out) {
    out->count = count;
    CSAW_TRY(out->at.take(device, count, "a frontier"));
    CSAW_TRY(out->prev.take(device, count, "a frontier"));
    return out->owner.take(device, count, "a frontier");
}

void swap_frontiers(frontier *a, frontier *b) {
    std::swap(a->count, b->count);
    a->at.swap(b->at);
    a->prev.swap(b->prev);
    a->owner.swap(b->owner);
}

entries entries_of(const frontier &f) { return {f.at.get(), f.prev.get(), f.owner.get()}; }

/* Where each owner's begin among places of the entries of from, which begin at offset. begin: [owners + 1]. */
csaw_status begins_of(csaw__device *device, uint64_t owners, const frontier &from, const uint64_t *offset,
                      array<uint64_t> *begin) {
    CSAW_TRY(begin->take(device, owners + 1, "pools"));
    LAUNCH(device, owners + 1, find_first, from.owner.get(), from.count, offset, owners, begin->get());
    return CSAW_OK;
}

/* The places of the pools that go on, in the order in which they were picked. job->wave: instance and depth. */
csaw_status select_frontier(csaw__device *device, const csaw_sampler *sampler, const csaw__job &given, uint64_t owners,
                            const frontier &pool, frontier *out) {
    csaw__job job = given;
    csaw__selection *s = &job.selection;
    array<uint64_t> first, room, need, offset, work_offset, work, upto, pick, got, place;
    uint64_t picks = 0, words = 0, count = 0;
    s->size = sampler->frontier_size(job.params);
    if (s->size == 0) return take_frontier(device, 0, out);
    CSAW_TRY(begins_of(device, owners, pool, nullptr, &first));
    CSAW_TRY(room.take(device, owners + 1, "pools"));
    CSAW_TRY(need.take(device, owners + 1, "pools"));
    CSAW_TRY(offset.take(device, owners + 1, "pools"));
    CSAW_TRY(work_offset.take(device, owners + 1, "pools"));
    CSAW_TRY(got.take(device, owners + 1, "pools"));
    CSAW_TRY(place.take(device, owners + 1, "pools"));
    LAUNCH(device, owners + 1, size_selections, first.get(), owners, s->size, room.get(), need.get());
    CSAW_TRY(sums(device, room.get(), offset.get(), owners + 1));
    CSAW_TRY(sums(device, need.get(), work_offset.get(), owners + 1));
    CSAW_TRY(read(device, offset.get() + owners, &picks, 1));
    CSAW_TRY(read(device, work_offset.get() + owners, &words, 1));
    CSAW_TRY(pick.take(device, picks, "places of pools"));
    CSAW_TRY(work.take(device, words, "memory to pick in"));
    if (sampler->traits() & CSAW__TRAIT_VERTEX) CSAW_TRY(upto.take(device, pool.count, "sums over pools"));
    CSAW_TRY(got.fill(0, owners + 1));
    s->owners = owners;
    s->at = pool.at.get();
    s->first = first.get();
    s->upto = upto.get();
    s->offset = offset.get();
    s->work = work.get();
    s->work_offset = work_offset.get();
    s->pick = pick.get();
    s->got = got.get();
    CSAW_TRY(csaw__device_launch(device, sampler, CSAW__KERNEL_SELECT, owners * 32 /* lanes */, &job));
    CSAW_TRY(sums(device, got.get(), place.get(), owners + 1));
    CSAW_TRY(read(device, place.get() + owners, &count, 1));
    CSAW_TRY(take_frontier(device, count, out));
    LAUNCH(device, picks, take_selected, *s, place.get(), entries_of(pool), entries_of(*out));
    return CSAW_OK;
}

/* The pools, and behind each what its owner reached, which begins at begin[owner]. *out is a view of *merged. */
csaw_status keep_pools(csaw__device *device, uint64_t owners, const frontier &pool, const uint64_t *begin,
                       const candidates &reached, frontier *merged, candidates *out) {
    array<uint64_t> pool_first;
    CSAW_TRY(begins_of(device, owners, pool, nullptr, &pool_first));
    CSAW_TRY(take_frontier(device, pool.count + reached.count, merged));
    CSAW_TRY(merged->at.fill(0xff, merged->count)); /* CSAW_NONE */
    LAUNCH(device, pool.count, put_staying, entries_of(pool), pool.count, begin, entries_of(*merged));
    LAUNCH(device, reached.count, put_reached, reached, pool_first.get(), entries_of(*merged));
    *out = {merged->count, merged->at.get(), nullptr, merged->owner.get(), merged->prev.get()};
    return CSAW_OK;
}

} // namespace

#endif

/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_depths.cu - samples on the GPU whose instances share it: all of a batch advance together, depth
 * by depth; what each vertex of the frontier picks and leads to is compiled with the sampler (device_expand.cuh; of
 * layers device_layer.cu; long rows that are scanned device_hubs.cuh), pools and the order of delivery are kept by
 * device_pools.cuh, frontiers by device_frontier.cuh. */
#include <new>

#include "runtime/base/device_copy.h"
#include "runtime/engine/device_arcs.h"
#include "runtime/engine/device_few.cuh"
#include "runtime/engine/device_frontier.cuh"
#include "runtime/engine/device_pools.cuh"
#include "runtime/engine/device_run.h"

namespace {

uint64_t table_size(uint64_t keys) {
    uint64_t size = 64;
    while (size < 2 * keys) size *= 2;
    return size;
}

csaw_status add_layer(run *r, layer **out) {
    layer *const made = csaw__alloc_allowed() ? new (std::nothrow) layer : nullptr;
    CSAW_REQUIRE(made, CSAW_ENOMEM, "no memory for the arcs of a depth, %zu bytes", sizeof(layer));
    (r->last ? r->last->next : r->first) = made;
    *out = r->last = made;
    return CSAW_OK;
}

/* ---- pools ---- */

/* The candidates in their order, of equal ones of an owner the first. */
csaw_status drop_repeats(csaw__device *device, const candidates &c, frontier *out) {
    CSAW_REQUIRE(c.count < UINT32_MAX, CSAW_EDEVMEM,
                 "%llu vertices in the pools of one batch on the GPU; at most 2^32 - 2: take fewer instances at a time "
                 "(csaw_sample_each)",
                 (unsigned long long)c.count);
    const uint64_t cells = table_size(c.count);
    array<unsigned long long> table; /* [cells]; behind it the least place of each */
    array<uint32_t> stays, place;
    CSAW_TRY(table.take(device, cells + cells / 2, "a table of vertices"));
    CSAW_TRY(stays.take(device, c.count + 1, "vertices of pools"));
    CSAW_TRY(place.take(device, c.count + 1, "vertices of pools"));
    CSAW_TRY(table.fill(0xff, cells + cells / 2));
    uint32_t *const least = (uint32_t *)(table.get() + cells);
    LAUNCH(device, c.count, find_least, c, table.get(), least, cells - 1);
    LAUNCH(device, c.count + 1, mark_least, c, table.get(), least, cells - 1, stays.get());
    CSAW_TRY(few_sums(device, stays.get(), place.get(), c.count + 1));
    uint32_t count = 0;
    CSAW_TRY(read(device, place.get() + c.count, &count, 1));
    CSAW_TRY(take_frontier(device, count, out));
    LAUNCH(device, c.count, gather, c, place.get(), out->at.get(), out->prev.get(), out->owner.get());
    return CSAW_OK;
}

/* Seeds of all owners, and their roots. */
csaw_status first_frontier(run *r, frontier *out) {
    const csaw__job *job = &r->job;
    host_array<csaw_vertex> seed; /* roots of all owners, then their seeds, then whose each is: one copy */
    uint64_t count = 0;
    const auto seeds_of =
        [&](uint64_t o, uint64_t *first) { /* of owner o: how many, from where on */
                                           const uint64_t pool = (job->first + o) % job->num_roots;
                                           *first = job->seed_offset ? job->seed_offset[pool] : pool;
                                           return (job->seed_offset ? job->seed_offset[pool + 1] : pool + 1) - *first;
        };
    for (uint64_t o = 0, first = 0; o < r->owners; o++) count += seeds_of(o, &first);
    CSAW_TRY(seed.take(r->owners + 2 * count, "seeds"));
    csaw_vertex *const vertex = seed.get() + r->owners;
    uint32_t *const owner = vertex + count;
    uint64_t p = 0;
    for (uint64_t o = 0; o < r->owners; o++) {
        uint64_t first = 0;
        const uint64_t seeds = seeds_of(o, &first);
        for (uint64_t s = first; s < first + seeds; s++) {
            vertex[p] = job->roots ? job->roots[s] : (csaw_vertex)s;
            owner[p++] = (uint32_t)o;
        }
        seed[o] = seeds ? vertex[p - seeds] : CSAW_NONE;
    }
    CSAW_TRY(r->root.upload(r->device, seed.get(), r->owners + 2 * count, "seeds"));
    const csaw_vertex *const there = r->root.get() + r->owners;
    const candidates c = {count, there, nullptr, there + count, nullptr};
    return drop_repeats(r->device, c, out);
}

bool keeps_pool(const run *r) { return r->sampler->traits() >> CSAW__TRAIT_FLAGS & CSAW_KEEP_POOL; }

/* What the pools hold has been visited. */
csaw_status add_visited(run *r, const frontier &pool) {
    visited_set *set = &r->visited;
    set->keys = keeps_pool(r) ? pool.count : set->keys + pool.count; /* a pool that stays holds them all */
    const uint64_t cells = table_size(set->keys);
    if (cells > set->cells) {
        array<unsigned long long> larger;
        CSAW_TRY(larger.take(r->device, cells, "visited vertices"));
        CSAW_TRY(larger.fill(0xff, cells));
        LAUNCH(r->device, set->cells, visit_again, set->table.get(), set->cells, larger.get(), cells - 1);
        set->table.swap(larger);
        set->cells = cells;
    }
    LAUNCH(r->device, pool.count, visit, pool.at.get(), pool.owner.get(), pool.count, set->table.get(), set->cells - 1);
    r->job.wave.visited = set->table.get();
    r->job.wave.visited_mask = set->cells - 1;
    return CSAW_OK;
}

/* ---- a depth ---- */

/* A team an entry, a block each of the hubs. all_words: of memory that the entries need to pick in, the last of
 * work_offset. */
csaw_status expand(run *r, uint64_t count, const uint64_t *work_offset, uint64_t all_words, uint64_t hubs) {
    const int hub_kernel = r->job.kernel == CSAW__KERNEL_RACE ? CSAW__KERNEL_HUBS_RACE : CSAW__KERNEL_HUBS_ITS;
    for (uint64_t first = 0, end = 0; first < count; first = end) {
        uint64_t words = all_words;
        array<uint64_t> work;
        end = count;
        if (all_words > r->device->most_work)
            CSAW_TRY(end_of_launch(r->device, work_offset, first, count, &end, &words));
        CSAW_TRY(work.take(r->device, words, "memory to pick in"));
        csaw__job job = r->job;
        job.wave.first = first;
        job.wave.count = end;
        job.wave.work = work.get();
        job.wave.work_first = first;
        CSAW_TRY(csaw__device_launch(r->device, r->sampler, CSAW__KERNEL_EXPAND + (int)job.kernel,
                                     (end - first) * 32 /* lanes */, &job));
        CSAW_TRY(csaw__device_launch(r->device, r->sampler, hub_kernel, hubs * 256, &job));
    }
    return CSAW_OK;
}

/* The next pools, of what the entries of l reached: each owner's begins at begin[owner], which is needed where pools
 * stay. pool: what the frontier was picked from; NULL where it is the frontier. */
csaw_status next_pools(run *r, const layer &l, const frontier *pool, const uint64_t *begin, const candidates &reached,
                       frontier *out) {
    frontier merged;
    candidates all = reached;
    if (keeps_pool(r)) CSAW_TRY(keep_pools(r->device, r->owners, pool ? *pool : l.from, begin, reached, &merged, &all));
    return drop_repeats(r->device, all, out);
}

/* entries: moved into a new layer; pool: as in next_pools(); out: the next one, unless this depth is the last. */
csaw_status one_depth(run *r, frontier *entries, const frontier *pool, bool last, frontier *out) {
    csaw__device *device = r->device;
    layer *l = nullptr;
    array<uint64_t> room, work_offset, begin; /* room: [count + 1], and as many words of memory needed */
    array<uint32_t> fanout, from, hub;
    array<csaw_vertex> next;
    uint64_t places = 0, words = 0, counts[2] = {0, 0}; /* of places, and of hubs, which stands behind the offsets */
    csaw__wave *wave = &r->job.wave;
    const uint64_t count = entries->count;
    CSAW_TRY(add_layer(r, &l));
    l->count = count;
    swap_frontiers(&l->from, entries);
    wave->first = 0;
    wave->count = count;
    wave->at = l->from.at.get();
    wave->prev = l->from.prev.get();
    wave->owner = l->from.owner.get();
    if (r->sampler->traits() >> CSAW__TRAIT_FLAGS & CSAW_LAYER) {
        CSAW_TRY(csaw__device_layer(r, l, last, &next, &from, &begin, &places));
        if (last) return CSAW_OK;
        return next_pools(r, *l, pool, begin.get(),
                          {places, next.get(), from.get(), l->from.owner.get(), l->from.at.get()}, out);
    }
    CSAW_TRY(room.take(device, 2 * (count + 1), "a frontier"));
    CSAW_TRY(work_offset.take(device, count + 1, "a frontier"));
    CSAW_TRY(l->offset.take(device, count + 2, "a frontier"));
    CSAW_TRY(fanout.take(device, count, "a frontier"));
    CSAW_TRY(l->got.take(device, count, "a frontier"));
    CSAW_TRY(room.fill(0, 2 * (count + 1)));
    uint64_t *const need = room.get() + count + 1;
    wave->fanout = fanout.get();
    wave->room = room.get();
    wave->need = need;
    if (r->hubs) {
        CSAW_TRY(hub.take(device, count, "a frontier"));
        CSAW_TRY(l->offset.fill(0, count + 2));
        wave->num_hubs = (unsigned long long *)l->offset.get() + count + 1;
    }
    wave->hubs = hub.get();
    CSAW_TRY(csaw__device_launch(device, r->sampler, CSAW__KERNEL_FANOUTS, count, &r->job));
    CSAW_TRY(few_sums(device, room.get(), l->offset.get(), count + 1));
    CSAW_TRY(few_sums(device, need, work_offset.get(), count + 1));
    CSAW_CUDA(
        csaw__copy_async(&words, work_offset.get() + count, sizeof words, cudaMemcpyDeviceToHost, device->stream));
    CSAW_TRY(read(device, l->offset.get() + count, counts, r->hubs ? 2 : 1)); /* waits for both */
    places = counts[0];
    CSAW_TRY(l->src.take(device, places, "sampled arcs"));
    CSAW_TRY(l->dst.take(device, places, "sampled arcs"));
    CSAW_TRY(l->edge.take(device, places, "sampled arcs"));
    if (!last) {
        CSAW_TRY(next.take(device, places, "where sampled arcs lead"));
        CSAW_TRY(from.take(device, places, "where sampled arcs lead"));
        CSAW_TRY(next.fill(0xff, places)); /* CSAW_NONE */
    }
    wave->offset = l->offset.get();
    wave->work_offset = work_offset.get();
    wave->got = l->got.get();
    wave->src = l->src.get();
    wave->dst = l->dst.get();
    wave->edge = l->edge.get();
    wave->next = next.get();
    wave->from = from.get();
    if (device->parts) {
        CSAW_TRY(csaw__device_expand_in_parts(r, count, words, counts[1]));
    } else {
        CSAW_TRY(expand(r, count, work_offset.get(), words, counts[1]));
    }
    if (last) return CSAW_OK;
    const candidates c = {places, next.get(), from.get(), l->from.owner.get(), l->from.at.get()};
    if (keeps_pool(r)) CSAW_TRY(begins_of(device, r->owners, l->from, l->offset.get(), &begin));
    return next_pools(r, *l, pool, begin.get(), c, out);
}

/* ---- delivery ---- */

csaw_status find_picks(run *r, layer *l) {
    csaw__device *const device = r->device;
    array<uint64_t> got;
    CSAW_TRY(got.take(device, l->count + 1, "counts of arcs"));
    CSAW_TRY(l->sum.take(device, l->count + 1, "counts of arcs"));
    CSAW_TRY(l->ends.take(device, 2 * r->owners, "counts of arcs"));
    LAUNCH(device, l->count + 1, widen, l->got.get(), l->count, got.get());
    CSAW_TRY(few_sums(device, got.get(), l->sum.get(), l->count + 1));
    CSAW_TRY(l->ends.fill(0, 2 * r->owners));
    LAUNCH(device, l->count, find_ends, l->owner(), l->sum.get(), l->count, l->ends.get(), l->ends.get() + r->owners);
    return CSAW_OK;
}

/* Of few picks that is kept until they are delivered. Of many it is made once more, since all layers are there then. */
bool keeps_picks(const run *r, const layer &l) { return l.count < CSAW__FEW && r->owners <= CSAW__FEW; }

void forget_picks(layer *l) {
    array<uint64_t>().swap(l->sum);
    array<uint64_t>().swap(l->ends);
}

/* First frontiers, which stand in the order of their owners. */
csaw_status deliver_seeds(run *r, const csaw_arcs &out) {
    const layer *l = r->first;
    const uint64_t count = l ? l->from.count : 0;
    LAUNCH(r->device, r->owners + 1, find_seeds, l ? l->from.owner.get() : nullptr, count, r->owners,
           (uint64_t *)out.seed_offset);
    if (count)
        CSAW_CUDA(cudaMemcpyAsync((void *)out.seed, l->from.at.get(), count * sizeof *out.seed,
                                  cudaMemcpyDeviceToDevice, r->device->stream));
    return CSAW_OK;
}

csaw_status deliver(run *r, csaw_samples *samples) {
    csaw__device *device = r->device;
    array<uint64_t> place, total;
    CSAW_TRY(place.take(device, r->owners + 1, "counts of arcs"));
    CSAW_TRY(total.take(device, r->owners + 1, "counts of arcs"));
    CSAW_TRY(total.fill(0, r->owners + 1));
    for (layer *l = r->first; l; l = l->next) {
        CSAW_TRY(find_picks(r, l));
        LAUNCH(device, r->owners, add_lengths, l->ends.get(), l->ends.get() + r->owners, r->owners, total.get());
        if (!keeps_picks(r, *l)) forget_picks(l);
    }
    CSAW_TRY(few_sums(device, total.get(), place.get(), r->owners + 1));
    uint64_t arcs = 0;
    CSAW_TRY(read(device, place.get() + r->owners, &arcs, 1));
    CSAW_TRY(csaw__device_arcs_take(device, samples, r->owners, arcs, r->first ? r->first->from.count : 0));
    samples->device_arcs.first = r->job.first;
    const csaw_arcs &out = samples->device_arcs;
    CSAW_CUDA(cudaMemcpyAsync((void *)out.offset, place.get(), (r->owners + 1) * sizeof *out.offset,
                              cudaMemcpyDeviceToDevice, device->stream));
    CSAW_TRY(deliver_seeds(r, out));
    const arcs_out to = {(csaw_vertex *)out.src, (csaw_vertex *)out.dst, (csaw_edge *)out.edge, (uint32_t *)out.depth};
    uint32_t d = 0;
    for (layer *at = r->first; at; at = at->next, d++) {
        const layer &l = *at;
        if (!keeps_picks(r, l)) CSAW_TRY(find_picks(r, at));
        const picks p = {l.count,     d,           l.owner(),   l.got.get(), l.offset.get(),
                         l.sum.get(), l.src.get(), l.dst.get(), l.edge.get()};
        LAUNCH(device, l.count * 32, scatter, p, l.ends.get(), place.get(), to);
        LAUNCH(device, r->owners, add_lengths, l.ends.get(), l.ends.get() + r->owners, r->owners, place.get());
        forget_picks(at);
    }
    return CSAW_OK;
}

/* ---- all depths ---- */

csaw_status run_depths(run *r, const csaw__job *given) {
    const uint32_t traits = r->sampler->traits();
    const bool chooses = traits & CSAW__TRAIT_SIZE;
    frontier pool;
    CSAW_TRY(first_frontier(r, &pool));
    csaw__wave *wave = &r->job.wave;
    wave->instance = given->first;
    wave->root = r->root.get();
    if (traits & CSAW__TRAIT_USER) {
        CSAW_TRY(r->user.take(r->device, 4 * r->owners, "user bytes"));
        CSAW_TRY(r->user.fill(0, 4 * r->owners));
        wave->user = (uint64_t(*)[4])r->user.get();
    }
    if (given->fanout) {
        CSAW_TRY(r->fanouts.upload(r->device, given->fanout, given->length, "fanouts"));
        r->job.fanout = r->fanouts.get();
    }
    for (uint32_t d = 0; d < given->length && pool.count; d++) {
        frontier chosen, next;
        wave->depth = d;
        if (traits >> CSAW__TRAIT_FLAGS & CSAW_VISITED) CSAW_TRY(add_visited(r, pool));
        if (chooses) {
            CSAW_TRY(select_frontier(r->device, r->sampler, r->job, r->owners, pool, &chosen));
            if (chosen.count == 0) break;
        }
        CSAW_TRY(one_depth(r, chooses ? &chosen : &pool, chooses ? &pool : nullptr, d + 1 == given->length, &next));
        swap_frontiers(&pool, &next);
    }
    return CSAW_OK;
}

} // namespace

csaw_status csaw__device_depths(csaw__device *device, uint64_t max_degree, const csaw_sampler *sampler,
                                const csaw__job *job, csaw_samples *samples, csaw__fault *fault) {
    run r;
    r.device = device;
    r.sampler = sampler;
    r.job = *job;
    r.owners = job->num_walks;
    r.hubs = (job->kernel == CSAW__KERNEL_RACE || (job->kernel == CSAW__KERNEL_ITS && !job->rows.upto)) &&
             max_degree >= CSAW__HUB_DEGREE;
    CSAW_TRY(run_depths(&r, job));
    CSAW_TRY(csaw__device_fault(device, fault));
    return fault->kind != CSAW__FAULT_NONE ? CSAW_OK : deliver(&r, samples);
}

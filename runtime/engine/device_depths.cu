/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_depths.cu - samples on the GPU whose instances share it: all of a batch advance together, depth
 * by depth, and several batches may, each at a depth of its own; what each vertex of a frontier picks and leads to is
 * compiled with the sampler (device_expand.cuh; of layers device_layer.cu; long rows that are scanned device_hubs.cuh),
 * pools and the order of delivery are kept by device_pools.cuh, frontiers by device_frontier.cuh. */
#include <new>

#include "runtime/base/device_copy.h"
#include "runtime/engine/device_arcs.h"
#include "runtime/engine/device_few.cuh"
#include "runtime/engine/device_frontier.cuh"
#include "runtime/engine/device_pools.cuh"
#include "runtime/engine/device_run.h"
#include "runtime/engine/run.h"

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

bool has(const run *r, uint32_t flags) { return r->sampler->traits() >> CSAW__TRAIT_FLAGS & flags; }
bool chooses(const run *r) { return r->sampler->traits() & CSAW__TRAIT_SIZE; }
bool is_last(const run *r) { return r->job.wave.depth + 1 == r->job.length; }

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
                                           const uint64_t number = r->number ? r->number[o] : o;
                                           const uint64_t pool = (job->first + number) % job->num_roots;
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
            if (vertex[p] >= job->num_vertices) return csaw__roots_refuse(job->roots, s, 1, job->num_vertices);
            owner[p++] = (uint32_t)o;
        }
        seed[o] = seeds ? vertex[p - seeds] : CSAW_NONE;
    }
    CSAW_TRY(r->root.upload(r->device, seed.get(), r->owners + 2 * count, "seeds"));
    const csaw_vertex *const there = r->root.get() + r->owners;
    const candidates c = {count, there, nullptr, there + count, nullptr};
    return drop_repeats(r->device, c, out);
}

/* What the pools hold has been visited. */
csaw_status add_visited(run *r, const frontier &pool) {
    visited_set *set = &r->visited;
    set->keys = has(r, CSAW_KEEP_POOL) ? pool.count : set->keys + pool.count; /* a pool that stays holds them all */
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

/* The graph is here whole: a team an entry, a block each of the hubs; as many at a time as there is memory to pick in.
 */
csaw_status expand(run *r, const picking &p) {
    const int hub_kernel = r->job.kernel == CSAW__KERNEL_RACE ? CSAW__KERNEL_HUBS_RACE : CSAW__KERNEL_HUBS_ITS;
    const uint64_t count = p.to->from.count;
    for (uint64_t first = 0, end = 0; first < count; first = end) {
        uint64_t words = p.words;
        array<uint64_t> work;
        end = count;
        if (words > r->device->most_work)
            CSAW_TRY(end_of_launch(r->device, p.work_offset.get(), first, count, &end, &words));
        CSAW_TRY(work.take(r->device, words, "memory to pick in"));
        csaw__job job = r->job;
        job.wave.first = first;
        job.wave.count = end;
        job.wave.work = work.get();
        job.wave.work_first = first;
        CSAW_TRY(csaw__device_launch(r->device, r->sampler, CSAW__KERNEL_EXPAND + (int)job.kernel,
                                     (end - first) * 32 /* lanes */, &job));
        CSAW_TRY(csaw__device_launch(r->device, r->sampler, hub_kernel, p.hubs * 256, &job));
    }
    return CSAW_OK;
}

/* The next pools, of what the entries of l reached: each owner's begins at begin[owner], which is needed where pools
 * stay. pool: what the frontier was picked from; NULL where it is the frontier. */
csaw_status next_pools(run *r, const layer &l, const frontier *pool, const uint64_t *begin, const candidates &reached,
                       frontier *out) {
    frontier merged;
    candidates all = reached;
    if (has(r, CSAW_KEEP_POOL))
        CSAW_TRY(keep_pools(r->device, r->owners, pool ? *pool : l.from, begin, reached, &merged, &all));
    return drop_repeats(r->device, all, out);
}

/* Room for the picks of a frontier that is in a layer. */
csaw_status take_room(run *r, picking *p) {
    csaw__device *const device = r->device;
    csaw__wave *const wave = &r->job.wave;
    layer *const l = p->to;
    const uint64_t count = l->from.count;
    uint64_t counts[2] = {0, 0}; /* of places, and of hubs, which stands behind the offsets */
    CSAW_TRY(p->room.take(device, 2 * (count + 1), "a frontier"));
    CSAW_TRY(p->work_offset.take(device, count + 1, "a frontier"));
    CSAW_TRY(l->offset.take(device, count + 2, "a frontier"));
    CSAW_TRY(p->fanout.take(device, count, "a frontier"));
    CSAW_TRY(l->got.take(device, count, "a frontier"));
    CSAW_TRY(p->room.fill(0, 2 * (count + 1)));
    wave->fanout = p->fanout.get();
    wave->room = p->room.get();
    wave->need = p->need();
    if (r->hubs) {
        CSAW_TRY(p->hub.take(device, count, "a frontier"));
        CSAW_TRY(l->offset.fill(0, count + 2));
        wave->num_hubs = (unsigned long long *)l->offset.get() + count + 1;
    }
    wave->hubs = p->hub.get();
    CSAW_TRY(csaw__device_launch(device, r->sampler, CSAW__KERNEL_FANOUTS, count, &r->job));
    CSAW_TRY(few_sums(device, p->room.get(), l->offset.get(), count + 1));
    CSAW_TRY(few_sums(device, p->need(), p->work_offset.get(), count + 1));
    CSAW_CUDA(csaw__copy_async(&p->words, p->work_offset.get() + count, sizeof p->words, cudaMemcpyDeviceToHost,
                               device->stream));
    const csaw_status both = read(device, l->offset.get() + count, counts, r->hubs ? 2 : 1); /* waits for both */
    if (both != CSAW_OK) cudaStreamSynchronize(device->stream); /* the first is on its way */
    CSAW_TRY(both);
    p->places = counts[0];
    p->hubs = counts[1];
    l->places = p->places;
    l->leaves = r->leaves && is_last(r);
    if (!l->leaves) {
        CSAW_TRY(l->src.take(device, p->places, "sampled arcs"));
        CSAW_TRY(l->dst.take(device, p->places, "sampled arcs"));
        CSAW_TRY(l->edge.take(device, p->places, "sampled arcs"));
    }
    if (!is_last(r)) {
        CSAW_TRY(p->next.take(device, p->places, "where sampled arcs lead"));
        CSAW_TRY(p->from.take(device, p->places, "where sampled arcs lead"));
        CSAW_TRY(p->next.fill(0xff, p->places)); /* CSAW_NONE */
    }
    wave->offset = l->offset.get();
    wave->work_offset = p->work_offset.get();
    wave->got = l->got.get();
    wave->src = l->src.get();
    wave->dst = l->dst.get();
    wave->edge = l->edge.get();
    wave->next = p->next.get();
    wave->from = p->from.get();
    return CSAW_OK;
}

/* The frontier of the next depth, in a layer of its own; of layers their picks, too. */
csaw_status prepare(run *r, picking *p) {
    csaw__wave *const wave = &r->job.wave;
    if (has(r, CSAW_VISITED)) CSAW_TRY(add_visited(r, r->pool));
    if (chooses(r)) {
        CSAW_TRY(select_frontier(r->device, r->sampler, r->job, r->owners, r->pool, &p->chosen));
        r->ended = p->chosen.count == 0;
        if (r->ended) return CSAW_OK;
    }
    CSAW_TRY(add_layer(r, &p->to));
    layer *const l = p->to;
    swap_frontiers(&l->from, chooses(r) ? &p->chosen : &r->pool);
    l->count = l->from.count;
    wave->first = 0;
    wave->count = l->from.count;
    wave->at = l->from.at.get();
    wave->prev = l->from.prev.get();
    wave->owner = l->from.owner.get();
    if (has(r, CSAW_LAYER)) return csaw__device_layer(r, l, is_last(r), &p->next, &p->from, &p->begin, &p->places);
    return take_room(r, p);
}

/* It has picked: to its next pool. */
csaw_status finish(run *r, picking *p) {
    frontier next;
    if (r->ended) return CSAW_OK;
    r->ended = is_last(r);
    if (r->ended) return CSAW_OK;
    const frontier &from = p->to->from;
    const candidates c = {p->places, p->next.get(), p->from.get(), from.owner.get(), from.at.get()};
    if (has(r, CSAW_KEEP_POOL) && !p->begin.get())
        CSAW_TRY(begins_of(r->device, r->owners, from, p->to->offset.get(), &p->begin));
    CSAW_TRY(next_pools(r, *p->to, chooses(r) ? &r->pool : nullptr, p->begin.get(), c, &next));
    swap_frontiers(&r->pool, &next);
    r->job.wave.depth++;
    r->ended = r->pool.count == 0;
    return CSAW_OK;
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

} // namespace

csaw_status csaw_device::csaw__run_count(run *r, uint64_t *arcs, uint64_t *first) {
    csaw__device *device = r->device;
    const layer *const seeds = r->first;
    CSAW_CUDA(cudaMemsetAsync(arcs, 0, (r->owners + 1) * sizeof *arcs, device->stream));
    for (layer *l = r->first; l; l = l->next) {
        CSAW_TRY(find_picks(r, l));
        LAUNCH(device, r->owners, add_lengths, l->ends.get(), l->ends.get() + r->owners, r->owners, arcs);
        if (!keeps_picks(r, *l)) forget_picks(l);
    }
    LAUNCH(device, r->owners + 1, find_seeds, seeds ? seeds->from.owner.get() : nullptr, seeds ? seeds->from.count : 0,
           r->owners, first);
    return CSAW_OK;
}

csaw_status csaw_device::csaw__run_put(run *r, uint64_t *place, const uint64_t *first, const uint64_t *seed_place,
                                       const csaw_arcs &out) {
    csaw__device *device = r->device;
    if (r->first)
        LAUNCH(device, r->first->from.count, put_first, r->first->from.at.get(), r->first->from.owner.get(),
               r->first->from.count, first, seed_place, (csaw_vertex *)out.seed);
    const arcs_out to = {(csaw_vertex *)out.src, (csaw_vertex *)out.dst, (csaw_edge *)out.edge, (uint32_t *)out.depth};
    uint32_t d = 0;
    for (layer *at = r->first; at; at = at->next, d++) {
        const layer &l = *at;
        if (!keeps_picks(r, l)) CSAW_TRY(find_picks(r, at));
        if (l.leaves) CSAW_TRY(csaw__leave_return(device, at));
        const picks p = {l.count,     d,           l.owner(),   l.got.get(), l.offset.get(),
                         l.sum.get(), l.src.get(), l.dst.get(), l.edge.get()};
        LAUNCH(device, l.count * 32, scatter, p, l.ends.get(), place, to);
        LAUNCH(device, r->owners, add_lengths, l.ends.get(), l.ends.get() + r->owners, r->owners, place);
        forget_picks(at);
    }
    return CSAW_OK;
}

csaw_status csaw_device::csaw__run_deliver(run *r, csaw_samples *samples) {
    csaw__device *device = r->device;
    array<uint64_t> place, count, first;
    CSAW_TRY(place.take(device, r->owners + 1, "counts of arcs"));
    CSAW_TRY(count.take(device, r->owners + 1, "counts of arcs"));
    CSAW_TRY(first.take(device, r->owners + 1, "counts of seeds"));
    CSAW_TRY(csaw__run_count(r, count.get(), first.get()));
    CSAW_TRY(few_sums(device, count.get(), place.get(), r->owners + 1));
    uint64_t arcs = 0;
    CSAW_TRY(read(device, place.get() + r->owners, &arcs, 1));
    CSAW_TRY(csaw__device_arcs_take(device, samples, r->owners, arcs, r->first ? r->first->from.count : 0));
    samples->device_arcs.first = r->job.first;
    const csaw_arcs &out = samples->device_arcs;
    CSAW_CUDA(cudaMemcpyAsync((void *)out.offset, place.get(), (r->owners + 1) * sizeof *out.offset,
                              cudaMemcpyDeviceToDevice, device->stream));
    CSAW_CUDA(cudaMemcpyAsync((void *)out.seed_offset, first.get(), (r->owners + 1) * sizeof *out.seed_offset,
                              cudaMemcpyDeviceToDevice, device->stream));
    return csaw__run_put(r, place.get(), first.get(), first.get(), out);
}

/* ---- all depths ---- */

csaw_status csaw_device::csaw__run_begin(run *r, csaw__device *device, uint64_t max_degree, const csaw_sampler *sampler,
                                         const csaw__job *job, const uint32_t *number) {
    csaw__wave *const wave = &r->job.wave;
    r->device = device;
    r->sampler = sampler;
    r->job = *job;
    r->owners = job->num_walks;
    r->number = number;
    r->hubs = (job->kernel == CSAW__KERNEL_RACE || (job->kernel == CSAW__KERNEL_ITS && !job->rows.upto)) &&
              max_degree >= CSAW__HUB_DEGREE;
    CSAW_TRY(first_frontier(r, &r->pool));
    wave->instance = job->first;
    wave->root = r->root.get();
    if (number) CSAW_TRY(r->numbers.upload(device, number, r->owners, "instances"));
    wave->number = r->numbers.get();
    if (sampler->traits() & CSAW__TRAIT_USER) {
        CSAW_TRY(r->user.take(device, 4 * r->owners, "user bytes"));
        CSAW_TRY(r->user.fill(0, 4 * r->owners));
        wave->user = (uint64_t(*)[4])r->user.get();
    }
    if (job->fanout) {
        CSAW_TRY(r->fanouts.upload(device, job->fanout, job->length, "fanouts"));
        r->job.fanout = r->fanouts.get();
    }
    r->ended = r->pool.count == 0 || job->length == 0;
    return CSAW_OK;
}

csaw_status csaw_device::csaw__runs_advance(run *const *runs, uint32_t count) {
    picking at[CSAW__MOST_BATCHES];
    for (uint32_t i = 0; i < count; i++) CSAW_TRY(prepare(runs[i], &at[i]));
    if (count && runs[0]->device->parts && !has(runs[0], CSAW_LAYER)) {
        CSAW_TRY(csaw__device_expand_in_parts(runs, at, count));
    } else {
        for (uint32_t i = 0; i < count; i++)
            if (at[i].to && !has(runs[i], CSAW_LAYER)) CSAW_TRY(expand(runs[i], at[i]));
    }
    for (uint32_t i = 0; i < count; i++) CSAW_TRY(finish(runs[i], &at[i]));
    return CSAW_OK;
}

csaw_status csaw__device_depths(csaw__device *device, uint64_t max_degree, const csaw_sampler *sampler,
                                const csaw__job *job, csaw_samples *samples, csaw__fault *fault) {
    run r, *const runs[] = {&r};
    CSAW_TRY(csaw__run_begin(&r, device, max_degree, sampler, job, nullptr));
    while (!r.ended) CSAW_TRY(csaw__runs_advance(runs, 1));
    CSAW_TRY(csaw__device_fault(device, fault));
    return fault->kind != CSAW__FAULT_NONE ? CSAW_OK : csaw__run_deliver(&r, samples);
}

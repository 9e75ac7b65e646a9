/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_sample.cu - samples on the GPU: all instances of a batch advance together, depth by depth; what
 * each vertex of the frontier picks and leads to is compiled with the sampler (device_expand.cuh), pools and the order
 * of delivery are kept by device_pools.cuh. */
#include <cstring>
#include <new>

#include "runtime/engine/device_array.cuh"
#include "runtime/engine/device_pools.cuh"

namespace {

const uint64_t most_work = (uint64_t)1 << 27; /* words for picking, at one launch: 1 GiB */

uint64_t table_size(uint64_t keys) {
    uint64_t size = 64;
    while (size < 2 * keys) size *= 2;
    return size;
}

struct frontier {
    uint64_t count = 0;
    array<csaw_vertex> at, prev;
    array<uint32_t> owner;
};

/* What was picked at a depth; kept until delivery. */
struct layer {
    layer *next = nullptr; /* one depth on */
    uint64_t count = 0;
    frontier from;
    array<uint64_t> offset;
    array<uint32_t> got;
    array<csaw_vertex> src, dst;
    array<csaw_edge> edge;
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
    array<csaw_vertex> root;
    array<uint32_t> fanouts; /* of the run, by depth */
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
    array<unsigned long long> table;
    array<uint32_t> least, stays, place;
    CSAW_TRY(table.take(device, cells, "a table of vertices"));
    CSAW_TRY(least.take(device, cells, "a table of vertices"));
    CSAW_TRY(stays.take(device, c.count + 1, "vertices of pools"));
    CSAW_TRY(place.take(device, c.count + 1, "vertices of pools"));
    CSAW_TRY(table.fill(0xff, cells));
    CSAW_TRY(least.fill(0xff, cells));
    LAUNCH(device, c.count, find_least, c, table.get(), least.get(), cells - 1);
    LAUNCH(device, c.count + 1, mark_least, c, table.get(), least.get(), cells - 1, stays.get());
    CSAW_TRY(sums(device, stays.get(), place.get(), c.count + 1));
    uint32_t count = 0;
    CSAW_TRY(read(device, place.get() + c.count, &count, 1));
    out->count = count;
    CSAW_TRY(out->at.take(device, count, "a frontier"));
    CSAW_TRY(out->prev.take(device, count, "a frontier"));
    CSAW_TRY(out->owner.take(device, count, "a frontier"));
    LAUNCH(device, c.count, gather, c, place.get(), out->at.get(), out->prev.get(), out->owner.get());
    return CSAW_OK;
}

/* Seeds of all owners, and their roots. */
csaw_status first_frontier(run *r, frontier *out) {
    const csaw__job *job = &r->job;
    host_array<csaw_vertex> vertex, root;
    host_array<uint32_t> owner;
    uint64_t count = 0;
    const auto seeds_of =
        [&](uint64_t o, uint64_t *first) { /* of owner o: how many, from where on */
                                           const uint64_t pool = (job->first + o) % job->num_roots;
                                           *first = job->seed_offset ? job->seed_offset[pool] : pool;
                                           return (job->seed_offset ? job->seed_offset[pool + 1] : pool + 1) - *first;
        };
    for (uint64_t o = 0, first = 0; o < r->owners; o++) count += seeds_of(o, &first);
    CSAW_TRY(root.take(r->owners, "seeds"));
    CSAW_TRY(vertex.take(count, "seeds"));
    CSAW_TRY(owner.take(count, "seeds"));
    uint64_t p = 0;
    for (uint64_t o = 0; o < r->owners; o++) {
        uint64_t first = 0;
        const uint64_t seeds = seeds_of(o, &first);
        for (uint64_t s = first; s < first + seeds; s++) {
            vertex[p] = job->roots ? job->roots[s] : (csaw_vertex)s;
            owner[p++] = (uint32_t)o;
        }
        root[o] = seeds ? vertex[p - seeds] : CSAW_NONE;
    }
    array<csaw_vertex> device_vertex;
    array<uint32_t> device_owner;
    CSAW_TRY(r->root.upload(r->device, root.get(), r->owners, "seeds"));
    CSAW_TRY(device_vertex.upload(r->device, vertex.get(), count, "seeds"));
    CSAW_TRY(device_owner.upload(r->device, owner.get(), count, "seeds"));
    const candidates c = {count, device_vertex.get(), nullptr, device_owner.get(), nullptr};
    return drop_repeats(r->device, c, out);
}

/* What the pools hold has been visited. */
csaw_status add_visited(run *r, const frontier &pool) {
    visited_set *set = &r->visited;
    set->keys += pool.count;
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

/* As many entries from first on as there is memory to pick in: their end. Memory that entry i needs: sum[i + 1] -
 * sum[i]. */
csaw_status end_of_launch(csaw__device *device, const uint64_t *sum, uint64_t first, uint64_t count, uint64_t *end,
                          uint64_t *words) {
    uint64_t base = 0, at = 0, low = first + 1, high = count;
    CSAW_TRY(read(device, sum + first, &base, 1));
    CSAW_TRY(read(device, sum + count, &at, 1));
    while (at - base > most_work && low < high) { /* the last place within it, or first + 1 */
        const uint64_t middle = low + (high - low) / 2;
        uint64_t there = 0;
        CSAW_TRY(read(device, sum + middle + 1, &there, 1));
        if (there - base <= most_work)
            low = middle + 1;
        else
            high = middle;
    }
    *end = at - base > most_work ? low : count;
    CSAW_TRY(read(device, sum + *end, &at, 1));
    *words = at - base;
    return CSAW_OK;
}

csaw_status expand(run *r, uint64_t count, const uint64_t *work_offset) {
    for (uint64_t first = 0, end = 0; first < count; first = end) {
        uint64_t words = 0;
        array<uint64_t> work;
        CSAW_TRY(end_of_launch(r->device, work_offset, first, count, &end, &words));
        CSAW_TRY(work.take(r->device, words, "memory to pick in"));
        csaw__job job = r->job;
        job.wave.first = first;
        job.wave.count = end;
        job.wave.work = work.get();
        CSAW_TRY(csaw__device_launch(r->device, r->sampler, CSAW__KERNEL_EXPAND + (int)job.kernel,
                                     (end - first) * 32 /* lanes */, &job));
    }
    return CSAW_OK;
}

/* pool: moved into a new layer; out: the next one, unless this depth is the last. */
csaw_status one_depth(run *r, frontier *pool, bool last, frontier *out) {
    csaw__device *device = r->device;
    layer *l = nullptr;
    array<uint64_t> room, need, work_offset;
    array<uint32_t> fanout, from;
    array<csaw_vertex> next;
    csaw__wave *wave = &r->job.wave;
    const uint64_t count = pool->count;
    CSAW_TRY(add_layer(r, &l));
    l->count = count;
    l->from.at.swap(pool->at);
    l->from.prev.swap(pool->prev);
    l->from.owner.swap(pool->owner);
    CSAW_TRY(room.take(device, count + 1, "a frontier"));
    CSAW_TRY(need.take(device, count + 1, "a frontier"));
    CSAW_TRY(work_offset.take(device, count + 1, "a frontier"));
    CSAW_TRY(l->offset.take(device, count + 1, "a frontier"));
    CSAW_TRY(fanout.take(device, count, "a frontier"));
    CSAW_TRY(l->got.take(device, count, "a frontier"));
    CSAW_TRY(room.fill(0, count + 1));
    CSAW_TRY(need.fill(0, count + 1));
    wave->first = 0;
    wave->count = count;
    wave->at = l->from.at.get();
    wave->prev = l->from.prev.get();
    wave->owner = l->from.owner.get();
    wave->fanout = fanout.get();
    wave->room = room.get();
    wave->need = need.get();
    CSAW_TRY(csaw__device_launch(device, r->sampler, CSAW__KERNEL_FANOUTS, count, &r->job));
    CSAW_TRY(sums(device, room.get(), l->offset.get(), count + 1));
    CSAW_TRY(sums(device, need.get(), work_offset.get(), count + 1));
    uint64_t places = 0;
    CSAW_TRY(read(device, l->offset.get() + count, &places, 1));
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
    CSAW_TRY(expand(r, count, work_offset.get()));
    if (last) return CSAW_OK;
    const candidates c = {places, next.get(), from.get(), l->from.owner.get(), l->from.at.get()};
    return drop_repeats(device, c, out);
}

/* ---- delivery ---- */

csaw_status sum_got(csaw__device *device, const layer &l, array<uint64_t> *sum) {
    array<uint64_t> got;
    CSAW_TRY(got.take(device, l.count + 1, "counts of arcs"));
    CSAW_TRY(sum->take(device, l.count + 1, "counts of arcs"));
    LAUNCH(device, l.count + 1, widen, l.got.get(), l.count, got.get());
    return sums(device, got.get(), sum->get(), l.count + 1);
}

csaw_status ends(run *r, const layer &l, const uint64_t *sum, array<uint64_t> *begin, array<uint64_t> *end) {
    CSAW_TRY(begin->fill(0, r->owners));
    CSAW_TRY(end->fill(0, r->owners));
    LAUNCH(r->device, l.count, find_ends, l.from.owner.get(), sum, l.count, begin->get(), end->get());
    return CSAW_OK;
}

/* First frontiers, which stand in the order of their owners. */
csaw_status deliver_seeds(run *r, csaw_arcs *out) {
    uint64_t *const offset = (uint64_t *)out->seed_offset;
    const layer *l = r->first;
    host_array<uint32_t> owner;
    memset(offset, 0, (r->owners + 1) * sizeof *offset);
    if (!l) return CSAW_OK;
    CSAW_TRY(owner.take(l->count, "first frontiers"));
    CSAW_TRY(read(r->device, l->from.at.get(), (csaw_vertex *)out->seed, l->count));
    CSAW_TRY(read(r->device, l->from.owner.get(), owner.get(), l->count));
    for (uint64_t i = 0; i < l->count; i++) offset[owner[i] + 1]++;
    for (uint64_t o = 0; o < r->owners; o++) offset[o + 1] += offset[o];
    return CSAW_OK;
}

csaw_status deliver(run *r, csaw_samples *samples) {
    csaw__device *device = r->device;
    array<uint64_t> begin, end, place, sum;
    array<csaw_vertex> src, dst;
    array<csaw_edge> edge;
    array<uint32_t> depth;
    CSAW_TRY(begin.take(device, r->owners, "counts of arcs"));
    CSAW_TRY(end.take(device, r->owners, "counts of arcs"));
    CSAW_TRY(place.take(device, r->owners + 1, "counts of arcs"));
    array<uint64_t> total;
    CSAW_TRY(total.take(device, r->owners + 1, "counts of arcs"));
    CSAW_TRY(total.fill(0, r->owners + 1));
    for (const layer *l = r->first; l; l = l->next) {
        CSAW_TRY(sum_got(device, *l, &sum));
        CSAW_TRY(ends(r, *l, sum.get(), &begin, &end));
        LAUNCH(device, r->owners, add_lengths, begin.get(), end.get(), r->owners, total.get());
    }
    CSAW_TRY(sums(device, total.get(), place.get(), r->owners + 1));
    uint64_t arcs = 0;
    CSAW_TRY(read(device, place.get() + r->owners, &arcs, 1));
    CSAW_TRY(csaw__arcs_create(samples->spare, r->owners, arcs, r->first ? r->first->count : 0, &samples->arcs));
    csaw_arcs *out = &samples->arcs;
    out->first = r->job.first;
    CSAW_TRY(read(device, place.get(), (uint64_t *)out->offset, r->owners + 1));
    CSAW_TRY(deliver_seeds(r, out));
    CSAW_TRY(src.take(device, arcs, "sampled arcs"));
    CSAW_TRY(dst.take(device, arcs, "sampled arcs"));
    CSAW_TRY(edge.take(device, arcs, "sampled arcs"));
    CSAW_TRY(depth.take(device, arcs, "sampled arcs"));
    const arcs_out to = {src.get(), dst.get(), edge.get(), depth.get()};
    uint32_t d = 0;
    for (const layer *at = r->first; at; at = at->next, d++) {
        const layer &l = *at;
        CSAW_TRY(sum_got(device, l, &sum));
        CSAW_TRY(ends(r, l, sum.get(), &begin, &end));
        const picks p = {l.count,   d,           l.from.owner.get(), l.got.get(), l.offset.get(),
                         sum.get(), l.src.get(), l.dst.get(),        l.edge.get()};
        LAUNCH(device, l.count * 32, scatter, p, begin.get(), place.get(), to);
        LAUNCH(device, r->owners, add_lengths, begin.get(), end.get(), r->owners, place.get());
    }
    CSAW_TRY(read(device, src.get(), (csaw_vertex *)out->src, arcs));
    CSAW_TRY(read(device, dst.get(), (csaw_vertex *)out->dst, arcs));
    CSAW_TRY(read(device, edge.get(), (csaw_edge *)out->edge, arcs));
    return read(device, depth.get(), (uint32_t *)out->depth, arcs);
}

/* ---- all depths ---- */

csaw_status run_depths(run *r, const csaw__job *given) {
    frontier pool;
    CSAW_TRY(first_frontier(r, &pool));
    csaw__wave *wave = &r->job.wave;
    wave->instance = given->first;
    wave->root = r->root.get();
    if (given->fanout) {
        CSAW_TRY(r->fanouts.upload(r->device, given->fanout, given->length, "fanouts"));
        r->job.fanout = r->fanouts.get();
    }
    for (uint32_t d = 0; d < given->length && pool.count; d++) {
        frontier next;
        wave->depth = d;
        if (r->sampler->traits() >> CSAW__TRAIT_FLAGS & CSAW_VISITED) CSAW_TRY(add_visited(r, pool));
        CSAW_TRY(one_depth(r, &pool, d + 1 == given->length, &next));
        pool.count = next.count;
        pool.at.swap(next.at);
        pool.prev.swap(next.prev);
        pool.owner.swap(next.owner);
    }
    return CSAW_OK;
}

} // namespace

extern "C" csaw_status csaw__device_sample(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job,
                                           csaw_samples *samples, csaw__fault *fault) {
    csaw__device *device = plan->device;
    const bool alias = job->rows.alias != nullptr;
    unsigned long long record[2] = {~0ull, 0};
    CSAW_REQUIRE(job->num_walks < UINT32_MAX, CSAW_EINVAL,
                 "%llu instances in one batch on the GPU; at most 2^32 - 2: csaw_sample_each takes fewer at a time",
                 (unsigned long long)job->num_walks);
    CSAW_CUDA(cudaSetDevice(device->ordinal));
    if (alias) CSAW_TRY(csaw__device_tables(device, plan));
    run r;
    r.device = device;
    r.sampler = sampler;
    r.job = *job;
    r.owners = job->num_walks;
    r.job.rows = device->rows;
    r.job.rows.alias = alias ? device->alias : nullptr;
    r.job.rows.bias = alias ? device->bias : nullptr;
    r.job.fault = &device->record[0];
    CSAW_CUDA(cudaMemcpyAsync(device->record, record, sizeof record, cudaMemcpyHostToDevice, device->stream));
    CSAW_TRY(run_depths(&r, job));
    CSAW_TRY(read(device, device->record, record, 2));
    if (record[0] != ~0ull) {
        fault->kind = CSAW__FAULT_EDGE; /* which, and where in the row, the host finds out */
        fault->instance = record[0] >> 24;
        fault->depth = (uint32_t)(record[0] & 0xffffff);
        fault->edge = CSAW_NO_EDGE;
        return CSAW_OK;
    }
    return deliver(&r, samples);
}

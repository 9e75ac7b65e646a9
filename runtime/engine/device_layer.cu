/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_layer.cu - layers on the GPU: of each owner one selection among the arcs of its whole frontier,
 * or among the distinct vertices that they lead to; the picks are those of layer.c.
 *
 * Method: the arcs of all frontiers are candidates, side by side. As many owners at a time as there is memory for get
 * biases, integer masses and their sums (device_layer.cuh, device_layer_picks.cuh), and a team of lanes selects for
 * each of them. Distinct vertices are sorted by (owner, vertex) and their masses added; the arcs to those that are
 * chosen are marked and closed up in their order. */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

#include "runtime/engine/device_layer_picks.cuh"
#include "runtime/engine/device_run.h"
#include "runtime/engine/parts.h"

namespace {

/* Words of a candidate; of distinct vertices mass, owner and dst, mark, keys and masses twice, chosen. */
const uint64_t words_of_one = CSAW__LAYER_WORDS, words_of_distinct = 8;

/* A depth's. */
struct layers_run {
    csaw__device *device;
    const csaw_sampler *sampler;
    csaw__job job;
    uint64_t owners;
    bool uniform, distinct, some_take_all;
    bool exchange; /* partitions come for some, or may, until that is known */
    array<uint64_t> arc, candidate, work_offset, cost, owner_pick;
    array<uint32_t> fanout, take, far_take;
    array<uint64_t> need;
    array<csaw_edge> pick; /* candidates */
    array<uint64_t> far_begin, far_pick;
    uint64_t picks = 0, room = 0;
};

/* Of some owners. */
struct chunk {
    array<uint64_t> work, got, mass, upto, mark, place;
    array<uint32_t> owner;
    array<unsigned long long> largest;
    /* CSAW_LAYER_DISTINCT */
    array<csaw_vertex> dst;
    array<uint64_t> key, other_key, other_mass, target, keys;
    array<uint8_t> chosen;
    const uint64_t *vertex = nullptr; /* keys of the distinct vertices, ascending; in key or other_key */
};

/* cub's functions, which say first how much memory they need. */
template <typename CALL> csaw_status with_memory(csaw__device *device, const char *what, const CALL &call) {
    array<char> memory;
    size_t bytes = 0;
    CSAW_CUDA(call((void *)nullptr, bytes));
    CSAW_TRY(memory.take(device, bytes, what));
    CSAW_CUDA(call((void *)memory.get(), bytes));
    return CSAW_OK;
}

/* ---- what each owner is to take ---- */

/* Words of memory that owners need. words: [owners + 1] beside those of candidates. */
csaw_status add_costs(layers_run *l, const uint64_t *words) {
    csaw__device *device = l->device;
    const uint64_t each = l->uniform ? 0 : l->distinct ? words_of_distinct : words_of_one;
    CSAW_TRY(sums(device, words, l->work_offset.get(), l->owners + 1));
    LAUNCH(device, l->owners + 1, add_candidates, l->candidate.get(), l->work_offset.get(), l->owners, each,
           l->cost.get());
    return CSAW_OK;
}

/* Whether partitions come for any, or all candidates are read in place. */
csaw_status choose_way(layers_run *l) {
    const layer_costs costs = {l->owners, l->candidate.get(), l->cost.get(), l->take.get()};
    CSAW_TRY(csaw__device_layer_way(l->device, l->job.wave, costs, &l->far_take));
    l->exchange = l->far_take.get() != nullptr;
    return CSAW_OK;
}

/* What is left of the candidates is those of layers that are read in place. degree: [wave.count + 1]; words: as
 * add_costs() has them. */
csaw_status exchange_layers(layers_run *l, uint64_t *degree, uint64_t *words) {
    csaw__device *device = l->device;
    const csaw__wave &wave = l->job.wave;
    const far_layers far = {l->owners, l->candidate.get(), l->far_take.get()};
    CSAW_TRY(csaw__device_layer_exchange(device, l->sampler, l->job, far, &l->far_begin, &l->far_pick));
    LAUNCH(device, wave.count, drop_exchanged, wave, l->far_take.get(), words);
    CSAW_TRY(sums(device, degree, l->arc.get(), wave.count + 1));
    LAUNCH(device, l->owners + 1, find_candidates, wave, l->arc.get(), l->owners, l->candidate.get());
    return add_costs(l, words);
}

csaw_status find_layers(layers_run *l) {
    csaw__device *device = l->device;
    csaw__wave *wave = &l->job.wave;
    array<uint64_t> degree, words;
    array<uint32_t> some;
    const uint64_t count = wave->count, owners = l->owners;
    CSAW_TRY(degree.take(device, count + 1, "a layer"));
    CSAW_TRY(l->need.take(device, count, "a layer"));
    CSAW_TRY(l->fanout.take(device, count, "a layer"));
    CSAW_TRY(l->arc.take(device, count + 1, "a layer"));
    CSAW_TRY(degree.fill(0, count + 1));
    wave->fanout = l->fanout.get();
    wave->room = degree.get();
    wave->need = l->need.get();
    CSAW_TRY(csaw__device_launch(device, l->sampler, CSAW__KERNEL_FANOUTS, count, &l->job));
    CSAW_TRY(sums(device, degree.get(), l->arc.get(), count + 1));

    CSAW_TRY(l->candidate.take(device, owners + 1, "layers"));
    CSAW_TRY(l->take.take(device, owners, "layers"));
    CSAW_TRY(words.take(device, owners + 1, "layers"));
    CSAW_TRY(l->work_offset.take(device, owners + 1, "layers"));
    CSAW_TRY(l->cost.take(device, owners + 1, "layers"));
    CSAW_TRY(l->owner_pick.take(device, owners + 1, "layers"));
    CSAW_TRY(some.take(device, 1, "layers"));
    CSAW_TRY(some.fill(0, 1));
    LAUNCH(device, owners + 1, find_candidates, *wave, l->arc.get(), owners, l->candidate.get());
    const layer_plan plan = {owners,        l->job.replace != 0, l->distinct, l->candidate.get(),
                             l->take.get(), words.get(),         some.get(),  l->job.fault};
    LAUNCH(device, owners + 1, plan_layers, *wave, plan);
    CSAW_TRY(add_costs(l, words.get()));
    if (l->exchange) CSAW_TRY(choose_way(l));
    if (l->exchange) CSAW_TRY(exchange_layers(l, degree.get(), words.get()));
    uint32_t some_take_all = 0;
    CSAW_TRY(read(device, some.get(), &some_take_all, 1));
    l->some_take_all = some_take_all != 0;
    return CSAW_OK;
}

/* ---- candidates of some owners ---- */

csaw_status make_biases(layers_run *l, chunk *c) {
    csaw__layers *layers = &l->job.layers;
    const uint64_t n = layers->end - layers->begin;
    CSAW_TRY(c->mass.take(l->device, n, "masses of a layer"));
    CSAW_TRY(c->owner.take(l->device, n, "arcs of a layer"));
    CSAW_TRY(c->largest.take(l->device, layers->count, "masses of layers"));
    CSAW_TRY(c->largest.fill(0, layers->count));
    if (l->distinct) CSAW_TRY(c->dst.take(l->device, n, "arcs of a layer"));
    layers->mass = c->mass.get();
    layers->owner = c->owner.get();
    layers->dst = c->dst.get();
    layers->largest = c->largest.get();
    const uint64_t blocks = (n + CSAW__LAYER_TILE - 1) / CSAW__LAYER_TILE;
    CSAW_TRY(csaw__device_launch(l->device, l->sampler, CSAW__KERNEL_LAYER_BIASES, blocks * 256, &l->job));
    LAUNCH(l->device, n, make_masses, *layers);
    return CSAW_OK;
}

csaw_status sum_masses(layers_run *l, chunk *c) {
    const uint64_t n = l->job.layers.end - l->job.layers.begin;
    CSAW_TRY(c->upto.take(l->device, n, "sums over a layer"));
    CSAW_TRY(with_memory(l->device, "sums over a layer", [&](void *memory, size_t &bytes) {
        return cub::DeviceScan::InclusiveSumByKey(memory, bytes, c->owner.get(), c->mass.get(), c->upto.get(),
                                                  (int64_t)n, ::cuda::std::equal_to<>(), l->device->stream);
    }));
    l->job.layers.upto = c->upto.get();
    return CSAW_OK;
}

/* Distinct vertices of each owner, ascending, and sums of their masses. */
csaw_status make_targets(layers_run *l, chunk *c) {
    csaw__device *device = l->device;
    csaw__layers *layers = &l->job.layers;
    const uint64_t n = layers->end - layers->begin, count = layers->count;
    const cudaStream_t stream = device->stream;
    CSAW_TRY(c->key.take(device, n, "vertices of a layer"));
    CSAW_TRY(c->other_key.take(device, n, "vertices of a layer"));
    CSAW_TRY(c->upto.take(device, n, "sums over a layer"));
    CSAW_TRY(c->other_mass.take(device, n, "sums over a layer"));
    CSAW_TRY(c->keys.take(device, 1, "vertices of layers"));
    CSAW_TRY(c->target.take(device, count + 1, "vertices of layers"));
    LAUNCH(device, n, key_masses, *layers, c->key.get(), c->upto.get());
    cub::DoubleBuffer<uint64_t> key(c->key.get(), c->other_key.get()), mass(c->upto.get(), c->other_mass.get());
    int bits = 33; /* of (owner, vertex), and one more number for no_vertex */
    while (bits < 64 && (count >> (bits - 32)) != 0) bits++;
    CSAW_TRY(with_memory(device, "vertices of a layer", [&](void *memory, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(memory, bytes, key, mass, (int64_t)n, 0, bits, stream);
    }));
    CSAW_TRY(with_memory(device, "vertices of a layer", [&](void *memory, size_t &bytes) {
        return cub::DeviceReduce::ReduceByKey(memory, bytes, key.Current(), key.Alternate(), mass.Current(),
                                              mass.Alternate(), c->keys.get(), ::cuda::std::plus<>(), (int64_t)n,
                                              stream);
    }));
    uint64_t keys = 0;
    CSAW_TRY(read(device, c->keys.get(), &keys, 1));
    CSAW_TRY(with_memory(device, "sums over a layer", [&](void *memory, size_t &bytes) {
        return cub::DeviceScan::InclusiveSumByKey(memory, bytes, key.Alternate(), mass.Alternate(), mass.Current(),
                                                  (int64_t)keys, same_owner(), stream);
    }));
    LAUNCH(device, count + 1, find_targets, key.Alternate(), c->keys.get(), count, c->target.get());
    CSAW_TRY(c->chosen.take(device, keys, "vertices of a layer"));
    CSAW_TRY(c->chosen.fill(0, keys));
    c->vertex = key.Alternate();
    layers->upto = mass.Current();
    layers->target = c->target.get();
    layers->chosen = c->chosen.get();
    return CSAW_OK;
}

/* ---- picks of some owners ---- */

/* Room for so many more picks. */
csaw_status grow(layers_run *l, uint64_t more) {
    array<csaw_edge> larger;
    if (l->picks + more <= l->room) return CSAW_OK;
    const uint64_t room = l->picks + more > 2 * l->room ? l->picks + more : 2 * l->room;
    CSAW_TRY(larger.take(l->device, room, "sampled arcs"));
    if (l->picks)
        CSAW_CUDA(cudaMemcpyAsync(larger.get(), l->pick.get(), l->picks * sizeof(csaw_edge), cudaMemcpyDeviceToDevice,
                                  l->device->stream));
    l->pick.swap(larger);
    l->room = room;
    return CSAW_OK;
}

/* The picks stand in order behind those of the owners before. */
csaw_status collect(layers_run *l, chunk *c) {
    csaw__device *device = l->device;
    const csaw__layers &layers = l->job.layers;
    const uint64_t n = layers.end - layers.begin, count = layers.count;
    const bool marks = !l->uniform && n && (l->distinct || l->some_take_all);
    if (marks) {
        CSAW_TRY(c->mark.take(device, n + 1, "marks of a layer"));
        LAUNCH(device, n + 1, mark_picked, layers, c->vertex, c->mark.get());
        CSAW_TRY(sums(device, c->mark.get(), c->mark.get(), n + 1));
    }
    LAUNCH(device, count + 1, count_picks, layers, c->mark.get(), c->got.get());
    if (l->exchange) LAUNCH(device, count, count_far, layers, c->got.get());
    CSAW_TRY(c->place.take(device, count + 1, "counts of arcs"));
    CSAW_TRY(sums(device, c->got.get(), c->place.get(), count + 1));
    uint64_t more = 0;
    CSAW_TRY(read(device, c->place.get() + count, &more, 1));
    CSAW_TRY(grow(l, more));
    csaw_edge *const out = l->pick.get() + l->picks;
    if (!l->distinct) LAUNCH(device, more, put_chosen, layers, c->place.get(), marks, out);
    if (marks) LAUNCH(device, n, put_marked, layers, c->mark.get(), c->place.get(), out);
    LAUNCH(device, count + 1, note_places, c->place.get(), count, l->picks, l->owner_pick.get() + layers.first);
    l->picks += more;
    return CSAW_OK;
}

/* Owners first .. end - 1; words: of memory to pick in. */
csaw_status pick_some(layers_run *l, uint64_t first, uint64_t end) {
    csaw__layers *layers = &l->job.layers;
    chunk c;
    uint64_t work_begin = 0, work_end = 0;
    *layers = csaw__layers();
    layers->first = first;
    layers->count = end - first;
    layers->arc = l->arc.get();
    layers->candidate = l->candidate.get();
    layers->take = l->take.get();
    layers->work_offset = l->work_offset.get();
    layers->far_take = l->far_take.get();
    layers->far_begin = l->far_begin.get();
    layers->far_pick = l->far_pick.get();
    CSAW_TRY(read(l->device, l->candidate.get() + first, &layers->begin, 1));
    CSAW_TRY(read(l->device, l->candidate.get() + end, &layers->end, 1));
    CSAW_TRY(read(l->device, l->work_offset.get() + first, &work_begin, 1));
    CSAW_TRY(read(l->device, l->work_offset.get() + end, &work_end, 1));
    CSAW_TRY(c.work.take(l->device, work_end - work_begin, "memory to pick in"));
    CSAW_TRY(c.got.take(l->device, layers->count + 1, "counts of arcs"));
    CSAW_TRY(c.got.fill(0, layers->count + 1));
    layers->work = c.work.get();
    layers->got = c.got.get();
    if (layers->end > layers->begin) {
        if (!l->uniform) {
            CSAW_TRY(make_biases(l, &c));
            CSAW_TRY(l->distinct ? make_targets(l, &c) : sum_masses(l, &c));
        }
        CSAW_TRY(csaw__device_launch(l->device, l->sampler, CSAW__KERNEL_LAYER_CHOOSE, layers->count * 32 /* lanes */,
                                     &l->job));
    }
    return collect(l, &c);
}

/* ---- all of them ---- */

csaw_status group_picks(layers_run *l, layer *out) {
    csaw__device *device = l->device;
    array<uint64_t> groups, sum;
    CSAW_TRY(groups.take(device, l->owners + 1, "counts of arcs"));
    CSAW_TRY(sum.take(device, l->owners + 1, "counts of arcs"));
    LAUNCH(device, l->owners + 1, count_groups, l->owner_pick.get(), l->owners, groups.get());
    CSAW_TRY(sums(device, groups.get(), sum.get(), l->owners + 1));
    CSAW_TRY(read(device, sum.get() + l->owners, &out->count, 1));
    CSAW_TRY(out->group.take(device, out->count, "counts of arcs"));
    CSAW_TRY(out->offset.take(device, out->count, "counts of arcs"));
    CSAW_TRY(out->got.take(device, out->count, "counts of arcs"));
    LAUNCH(device, out->count, make_groups, l->owner_pick.get(), sum.get(), l->owners, out->group.get(),
           out->offset.get(), out->got.get());
    return CSAW_OK;
}

csaw_status update_picks(layers_run *l, layer *out, bool last, array<csaw_vertex> *next, array<uint32_t> *from) {
    csaw__wave *wave = &l->job.wave;
    CSAW_TRY(out->src.take(l->device, l->picks, "sampled arcs"));
    CSAW_TRY(out->dst.take(l->device, l->picks, "sampled arcs"));
    if (!last) {
        CSAW_TRY(next->take(l->device, l->picks, "where sampled arcs lead"));
        CSAW_TRY(from->take(l->device, l->picks, "where sampled arcs lead"));
    }
    out->edge.swap(l->pick);
    wave->src = out->src.get();
    wave->dst = out->dst.get();
    wave->edge = out->edge.get();
    wave->next = next->get();
    wave->from = from->get();
    l->job.layers.picks = l->picks;
    return csaw__device_launch(l->device, l->sampler, CSAW__KERNEL_LAYER_UPDATES, l->picks, &l->job);
}

} // namespace

csaw_status csaw_device::csaw__device_layer(run *r, layer *out, bool last, array<csaw_vertex> *next,
                                            array<uint32_t> *from, array<uint64_t> *begin, uint64_t *picks) {
    layers_run l;
    l.device = r->device;
    l.sampler = r->sampler;
    l.job = r->job;
    l.owners = r->owners;
    l.uniform = r->job.kernel == CSAW__KERNEL_UNIFORM;
    l.distinct = r->sampler->traits() >> CSAW__TRAIT_FLAGS & CSAW_LAYER_DISTINCT;
    l.exchange = r->device->parts && csaw__sample_way_of(r->sampler, r->job.kernel) == CSAW__SAMPLE_EXCHANGES;
    CSAW_TRY(find_layers(&l));
    for (uint64_t first = 0, end = 0; first < l.owners; first = end) {
        uint64_t words = 0;
        CSAW_TRY(end_of_launch(l.device, l.cost.get(), first, l.owners, &end, &words));
        CSAW_TRY(pick_some(&l, first, end));
    }
    CSAW_TRY(group_picks(&l, out));
    CSAW_TRY(update_picks(&l, out, last, next, from));
    begin->swap(l.owner_pick);
    *picks = l.picks;
    return CSAW_OK;
}

/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_parts_layer.cu - layers on a GPU to which partitions come: what the partitions know of a layer
 * is exchanged for what it wants to know, as in layer_exchange.c, and the picks are the same.
 *
 * Method: rows are cut into pieces of at most CSAW__FAR_ARCS arcs, so that a hub's is for many teams, and a row without
 * arcs is for none. Three kinds of passes over the partitions at which any piece waits, kernels of device_layer.cuh:
 * the largest bias of each layer, the sum of the masses of each piece, the arcs on which numbers fall. Pieces are dealt
 * to partitions, and numbers drawn, by the host (samplers/select/far_rounds.h), to which a piece's partition and sum
 * come: sums are of integers, so that it makes no difference where a row is cut. No bias is kept. Layers of which all
 * arcs are taken, and the arcs that are picked, are read in place (device_layer.cu): as much as is delivered.
 *
 * Limit on an H100, R-MAT 20 (place_pieces): a launch, of 4.5 us, 13% of the warps.
 * docs/measured/2026-11-27-gpu-17.md. */
#include "runtime/engine/device_layer_picks.cuh"
#include "runtime/engine/device_parts.h"
#include "runtime/engine/device_run.h"
#include "samplers/select/far_rounds.h"

namespace {

enum { FAR_TEAMS = 8 /* of a block: pieces that it works on at a time */ };

/* A piece that is looked at, and the numbers that fall on it. */
struct item {
    uint32_t piece, hits;
    csaw__hit *hit;
};

/* Of a frontier. */
struct exchange {
    csaw__device *device;
    csaw__cuda_parts *c;
    const csaw_sampler *sampler;
    csaw__job job;
    uint64_t owners, pieces = 0, picks = 0, num_items = 0;
    host_array<csaw__far_piece> piece; /* [pieces] */
    host_array<uint32_t> part, take;   /* [pieces] whose it is; [owners] */
    host_array<uint64_t> first, upto;  /* [owners + 1] pieces of each; [pieces] inclusive sums of each owner's masses */
    host_array<item> items, sorted;    /* [pieces] of a pass: as they come; by partition */
    host_array<uint64_t> begin, active, place; /* [parts + 1] in sorted; [parts] that wait; [parts] */
    host_array<csaw__far_choice> choice;       /* [owners] */
    host_array<csaw__hit> hit;                 /* these three: csaw__far_choice's, one behind the other */
    host_array<csaw__stretch> taken;
    host_array<uint32_t> open;
    array<csaw__far_piece> pieces_there; /* [pieces] */
    array<unsigned long long> largest;   /* [owners] */
    array<uint64_t> sum;                 /* [pieces] */
};

static_assert(sizeof(csaw__far_piece) + 2 * sizeof(item) + sizeof(uint64_t) + 2 * sizeof(uint32_t) <=
                  CSAW__EXCHANGE_PIECE_BYTES,
              "piece, items, sorted, upto and part, and the list of a pass");
static_assert(2 * sizeof(csaw__hit) + sizeof(csaw__stretch) + 5 * sizeof(uint64_t) + sizeof(uint32_t) <=
                  CSAW__EXCHANGE_PICK_BYTES,
              "hit, taken and open, numbers with what they fall on, and the picks");

/* ---- a pass ---- */

csaw_status look(csaw__cuda_parts *c, uint32_t part, uint32_t slot, uint32_t blocks, uint32_t stream) {
    exchange *const x = (exchange *)c->worker;
    csaw__job job = x->job;
    job.rows = c->slot[slot].rows;
    job.wave.first = x->begin[part];
    job.wave.count = x->begin[part + 1];
    x->active[part] = 0;
    return csaw__device_launch_on(x->device, c->stream[stream].runs, x->sampler, CSAW__KERNEL_LAYER_FAR,
                                  (uint64_t)blocks * 256, &job);
}

csaw_status count_waiting(csaw__cuda_parts *c, uint64_t *active) {
    const exchange *const x = (const exchange *)c->worker;
    for (uint32_t p = 0; p < c->parts->ranges.count; p++) active[p] = x->active[p];
    return CSAW_OK;
}

uint32_t blocks_for(const csaw__cuda_parts *, uint64_t pieces) {
    const uint64_t blocks = (pieces + FAR_TEAMS - 1) / FAR_TEAMS;
    return blocks < 1 ? 1 : blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX;
}

const csaw__cuda_work looking = {look, count_waiting, blocks_for};

/* Items by partition, in their order. */
void sort_items(exchange *x) {
    const uint32_t parts = x->c->parts->ranges.count;
    for (uint32_t p = 0; p < parts; p++) x->active[p] = 0;
    for (uint64_t i = 0; i < x->num_items; i++) x->active[x->part[x->items[i].piece]]++;
    x->begin[0] = 0;
    for (uint32_t p = 0; p < parts; p++) {
        x->place[p] = x->begin[p];
        x->begin[p + 1] = x->begin[p] + x->active[p];
    }
    for (uint64_t i = 0; i < x->num_items; i++) x->sorted[x->place[x->part[x->items[i].piece]]++] = x->items[i];
}

csaw_status run_pass(exchange *x, uint32_t which) {
    host_array<uint32_t> piece;
    array<uint32_t> list;
    CSAW_TRY(piece.take(x->num_items, "rows of layers"));
    sort_items(x);
    for (uint64_t i = 0; i < x->num_items; i++) piece[i] = x->sorted[i].piece;
    CSAW_TRY(list.upload(x->device, piece.get(), x->num_items, "rows of layers"));
    x->job.wave.list = list.get();
    x->job.layers.far.pass = which;
    CSAW_CUDA(cudaStreamSynchronize(x->device->stream)); /* launches are on streams of their own */
    x->c->work = &looking;
    x->c->worker = x;
    x->c->sees_all = false;
    return csaw__schedule_run(&x->c->parts->schedule, &x->c->parts->on);
}

/* ---- pieces of rows ---- */

void add_item(exchange *x, uint64_t piece, csaw__hit *hit) { x->items[x->num_items++] = {(uint32_t)piece, 0, hit}; }

/* Those of the layers that are exchanged; picking: of those that pick anything. */
void add_pieces(exchange *x, bool picking) {
    x->num_items = 0;
    for (uint64_t o = 0; o < x->owners; o++)
        for (uint64_t p = x->first[o]; p < x->first[o + 1] && !(picking && x->take[o] == 0); p++)
            add_item(x, p, nullptr);
}

/* part: [pieces] at which each stands */
__global__ void place_pieces(csaw__wave wave, const csaw__far_piece *piece, uint64_t pieces, const csaw_vertex *first,
                             const uint32_t *owner, uint32_t shift, uint32_t *part) {
    const uint64_t p = CSAW__THREAD;
    if (p < pieces) part[p] = csaw__owner_of(first, owner, shift, wave.at[piece[p].entry]);
}

/* Where each owner's pieces begin, and how many there are. */
csaw_status cut_rows(exchange *x, const far_layers &layers) {
    csaw__device *const device = x->device;
    const csaw__wave &wave = x->job.wave;
    const csaw__cuda_parts *const c = x->c;
    array<uint64_t> begin, first;
    array<uint32_t> part;
    CSAW_TRY(begin.take(device, wave.count + 1, "rows of layers"));
    CSAW_TRY(first.take(device, x->owners + 1, "layers"));
    LAUNCH(device, wave.count + 1, count_pieces, wave, layers.take, begin.get());
    CSAW_TRY(sums(device, begin.get(), begin.get(), wave.count + 1));
    LAUNCH(device, x->owners + 1, find_candidates, wave, begin.get(), x->owners, first.get());
    CSAW_TRY(read(device, first.get(), x->first.get(), x->owners + 1));
    x->pieces = x->first[x->owners];
    CSAW_REQUIRE(
        x->pieces < UINT32_MAX, CSAW_EDEVMEM,
        "%llu pieces of %d arcs of rows of layers on the GPU; at most 2^32 - 2: take fewer instances at a time "
        "(csaw_sample_each)",
        (unsigned long long)x->pieces, (int)CSAW__FAR_ARCS);
    CSAW_TRY(x->pieces_there.take(device, x->pieces, "rows of layers"));
    CSAW_TRY(part.take(device, x->pieces, "rows of layers"));
    CSAW_TRY(x->piece.take(x->pieces, "rows of layers"));
    CSAW_TRY(x->part.take(x->pieces, "rows of layers"));
    LAUNCH(device, x->pieces, make_pieces, wave, begin.get(), x->pieces_there.get());
    LAUNCH(device, x->pieces, place_pieces, wave, x->pieces_there.get(), x->pieces, c->first, c->owner,
           c->parts->ranges.shift, part.get());
    CSAW_TRY(read(device, x->pieces_there.get(), x->piece.get(), x->pieces));
    return read(device, part.get(), x->part.get(), x->pieces);
}

csaw_status take_frontier(exchange *x, const far_layers &layers) {
    const uint32_t parts = x->c->parts->ranges.count;
    CSAW_REQUIRE(
        x->job.wave.count < (uint64_t)1 << 31, CSAW_EDEVMEM,
        "%llu vertices in the frontiers of layers on the GPU; at most 2^31 - 1: take fewer instances at a time "
        "(csaw_sample_each)",
        (unsigned long long)x->job.wave.count);
    CSAW_TRY(x->take.take(x->owners, "layers"));
    CSAW_TRY(x->first.take(x->owners + 1, "layers"));
    CSAW_TRY(cut_rows(x, layers));
    CSAW_TRY(x->items.take(x->pieces, "rows of layers"));
    CSAW_TRY(x->sorted.take(x->pieces, "rows of layers"));
    CSAW_TRY(x->upto.take(x->pieces, "sums over layers"));
    CSAW_TRY(x->choice.take(x->owners, "layers"));
    CSAW_TRY(x->begin.take((uint64_t)parts + 1, "rows by partitions"));
    CSAW_TRY(x->active.take(parts, "rows by partitions"));
    CSAW_TRY(x->place.take(parts, "rows by partitions"));
    return read(x->device, layers.take, x->take.get(), x->owners);
}

/* ---- draws ---- */

csaw_status begin_draws(exchange *x) {
    uint64_t at = 0;
    for (uint64_t o = 0; o < x->owners; o++) x->picks += x->take[o] == CSAW_ALL ? 0 : x->take[o];
    CSAW_TRY(x->hit.take(2 * x->picks, "arcs of layers that are picked"));
    CSAW_TRY(x->taken.take(x->picks, "arcs of layers that are picked"));
    CSAW_TRY(x->open.take(x->picks, "arcs of layers that are picked"));
    for (uint64_t o = 0; o < x->owners; o++) {
        csaw__far_choice *const c = &x->choice[o];
        const uint32_t k = x->take[o] == CSAW_ALL ? 0 : x->take[o];
        const uint64_t first = x->first[o], end = x->first[o + 1];
        *c = csaw__far_choice();
        if (k)
            for (uint64_t p = first + 1; p < end; p++) x->upto[p] += x->upto[p - 1];
        c->k = k;
        c->replace = x->job.replace;
        c->choice.seed = x->job.seed;
        c->choice.instance = x->job.wave.instance + o;
        c->choice.depth = x->job.wave.depth;
        c->choice.sum = k ? x->upto[end - 1] : 0;
        c->hit = x->hit.get() + 2 * at;
        c->pick = c->hit + k;
        c->taken = x->taken.get() + at;
        c->open = x->open.get() + at;
        at += k;
        csaw__far_begin(c);
    }
    return CSAW_OK;
}

/* The pieces on which an owner's numbers fall, each once. Of a hook that does not say the same in every pass a number
 * may find no arc there: it keeps the first. */
void want(exchange *x, uint64_t owner, uint64_t *numbers) {
    csaw__far_choice *const c = &x->choice[owner];
    uint64_t piece = x->first[owner];
    *numbers += c->num_hits;
    for (uint32_t i = 0; i < c->num_hits; i++) {
        csaw__hit *const hit = &c->hit[i];
        if (i == 0 || hit->x >= x->upto[piece]) {
            for (uint64_t n = x->first[owner + 1] - 1 - piece; n > 0;) {
                const uint64_t half = n / 2;
                const bool behind = x->upto[piece + half] <= hit->x;
                piece = behind ? piece + half + 1 : piece;
                n = behind ? n - half - 1 : half;
            }
            add_item(x, piece, hit);
        }
        hit->entry = x->piece[piece].entry;
        hit->low = piece > x->first[owner] ? x->upto[piece - 1] : 0; /* sums of the pieces before */
        x->items[x->num_items - 1].hits++;
    }
}

/* Numbers of the items, counted from where their pieces begin, and what they fall on. */
csaw_status answer(exchange *x, uint64_t numbers) {
    csaw__device *const device = x->device;
    host_array<uint64_t> begin, number, mass;
    host_array<uint32_t> rank;
    array<uint64_t> begins, numbers_there, masses;
    array<uint32_t> ranks;
    CSAW_TRY(begin.take(x->num_items + 1, "arcs of layers that are picked"));
    CSAW_TRY(number.take(numbers, "arcs of layers that are picked"));
    CSAW_TRY(mass.take(numbers, "arcs of layers that are picked"));
    CSAW_TRY(rank.take(numbers, "arcs of layers that are picked"));
    sort_items(x);
    uint64_t next = 0;
    for (uint64_t i = 0; i < x->num_items; i++) {
        const item &it = x->sorted[i];
        begin[i] = next;
        for (uint32_t j = 0; j < it.hits; j++, next++) {
            number[next] = it.hit[j].x - it.hit[j].low;
            mass[next] = 1;
            rank[next] = 0;
        }
    }
    begin[x->num_items] = next;
    CSAW_TRY(begins.upload(device, begin.get(), x->num_items + 1, "arcs of layers that are picked"));
    CSAW_TRY(numbers_there.upload(device, number.get(), numbers, "arcs of layers that are picked"));
    CSAW_TRY(masses.upload(device, mass.get(), numbers, "arcs of layers that are picked"));
    CSAW_TRY(ranks.upload(device, rank.get(), numbers, "arcs of layers that are picked"));
    csaw__far_rows *const far = &x->job.layers.far;
    far->begin = begins.get();
    far->number = numbers_there.get();
    far->mass = masses.get();
    far->rank = ranks.get();
    CSAW_TRY(run_pass(x, CSAW__FAR_DRAWS));
    CSAW_TRY(read(device, far->number, number.get(), numbers));
    CSAW_TRY(read(device, far->mass, mass.get(), numbers));
    CSAW_TRY(read(device, far->rank, rank.get(), numbers));
    for (uint64_t i = 0; i < x->num_items; i++)
        for (uint32_t j = 0; j < x->sorted[i].hits; j++) {
            csaw__hit *const hit = &x->sorted[i].hit[j];
            const uint64_t at = begin[i] + j;
            hit->low += number[at];
            hit->mass = mass[at];
            hit->rank = rank[at];
        }
    return CSAW_OK;
}

csaw_status draw(exchange *x) {
    CSAW_TRY(begin_draws(x));
    for (;;) {
        uint64_t numbers = 0;
        x->num_items = 0;
        for (uint64_t o = 0; o < x->owners; o++) {
            csaw__far_choice *const c = &x->choice[o];
            if (c->k == 0 || csaw__far_ask(c) == 0) continue;
            want(x, o, &numbers);
        }
        if (numbers == 0) return CSAW_OK;
        CSAW_TRY(answer(x, numbers));
        for (uint64_t o = 0; o < x->owners; o++)
            if (x->choice[o].k && x->choice[o].num_hits) csaw__far_take(&x->choice[o]);
    }
}

csaw_status put_picks(exchange *x, array<uint64_t> *begin, array<uint64_t> *pick) {
    host_array<uint64_t> first, code;
    uint64_t next = 0;
    CSAW_TRY(first.take(x->owners + 1, "layers"));
    CSAW_TRY(code.take(x->picks, "arcs of layers that are picked"));
    for (uint64_t o = 0; o < x->owners; o++) {
        const csaw__far_choice &c = x->choice[o];
        first[o] = next;
        for (uint32_t j = 0; j < c.got; j++) code[next++] = CSAW__FAR_PICK | c.pick[j].entry << 32 | c.pick[j].rank;
    }
    first[x->owners] = next;
    CSAW_TRY(begin->upload(x->device, first.get(), x->owners + 1, "layers"));
    return pick->upload(x->device, code.get(), next, "arcs of layers that are picked");
}

} // namespace

csaw_status csaw_device::csaw__device_layer_exchange(csaw__device *device, const csaw_sampler *sampler,
                                                     const csaw__job &job, const far_layers &layers,
                                                     array<uint64_t> *begin, array<uint64_t> *pick) {
    exchange x;
    x.device = device;
    x.c = device->parts->cuda;
    x.sampler = sampler;
    x.job = job;
    x.owners = layers.owners;
    CSAW_TRY(take_frontier(&x, layers));
    CSAW_TRY(x.largest.take(device, x.owners, "biases of layers"));
    CSAW_TRY(x.largest.fill(0, x.owners));
    CSAW_TRY(x.sum.take(device, x.pieces, "sums over layers"));
    CSAW_TRY(x.sum.fill(0, x.pieces));
    x.job.layers.far.piece = x.pieces_there.get();
    x.job.layers.far.candidates = layers.candidates;
    x.job.layers.far.largest = x.largest.get();
    x.job.layers.far.sum = x.sum.get();
    add_pieces(&x, false);
    if (x.num_items) CSAW_TRY(run_pass(&x, CSAW__FAR_LARGEST));
    add_pieces(&x, true);
    if (x.num_items) CSAW_TRY(run_pass(&x, CSAW__FAR_SUMS));
    CSAW_TRY(read(device, x.sum.get(), x.upto.get(), x.pieces));
    CSAW_TRY(draw(&x));
    return put_picks(&x, begin, pick);
}

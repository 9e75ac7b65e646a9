/* SPDX-License-Identifier: MIT */
/* partition/simulated.c - a device simulated on the CPU: see the header for what it checks. */
#include "partition/simulated.h"

#include <string.h>

#include "runtime/base/memory.h"

enum { BLOCKS = 4 * CSAW__AT_ONCE /* thread blocks: entries that launches advance by at once */ };

/* ---- memory ---- */

static csaw_status take_bytes(csaw__simulated *d, uint64_t bytes, const char *what) {
    CSAW_REQUIRE(!d->memory || bytes <= d->memory - d->used, CSAW_EDEVMEM,
                 "no device memory for %s: %llu bytes, but of %llu %llu are taken; give more memory, or ask for less",
                 what, (unsigned long long)bytes, (unsigned long long)d->memory, (unsigned long long)d->used);
    d->used += bytes;
    d->peak = d->used > d->peak ? d->used : d->peak;
    return CSAW_OK;
}

csaw_status csaw__simulated_alloc(csaw__simulated *d, uint64_t bytes, const char *what, void **out) {
    CSAW_TRY(take_bytes(d, bytes, what));
    const csaw_status status = csaw__alloc_bytes(out, bytes, 1, what);
    if (status != CSAW_OK) d->used -= bytes;
    return status;
}

void csaw__simulated_free(csaw__simulated *d, void *memory, uint64_t bytes) {
    if (!memory) return;
    csaw__free(memory);
    d->used -= bytes;
}

static csaw_status alloc_memory(void *self, uint64_t bytes, const char *what, void **out) {
    return csaw__simulated_alloc(self, bytes, what, out);
}

static void free_memory(void *self, void *memory, uint64_t bytes) { csaw__simulated_free(self, memory, bytes); }

static csaw_status move_memory(void *self, void *to, const void *from, uint64_t bytes) {
    (void)self; /* its memory is the host's */
    if (bytes) memcpy(to, from, bytes);
    return CSAW_OK;
}

static void drop_arrays(csaw__simulated_slot *slot) {
    for (int a = 0; a < CSAW__PART_ARRAYS; a++) csaw__free(slot->array[a].to);
    memset(slot, 0, sizeof *slot);
    slot->part = CSAW__NONE_AT_ALL;
}

static csaw_status allocate(void *self, uint32_t slots, uint32_t streams) {
    csaw__simulated *const d = self;
    CSAW_TRY(csaw__alloc_zero(&d->slot, slots, "slots of a simulated device"));
    CSAW_TRY(csaw__alloc_zero(&d->stream, streams, "streams of a simulated device"));
    for (uint32_t s = 0; s < slots; s++) {
        d->slot[s].part = CSAW__NONE_AT_ALL;
        CSAW_TRY(take_bytes(d, d->slot_bytes, "a slot for a partition"));
        d->slots++;
    }
    for (uint32_t t = 0; t < streams; t++) {
        csaw__spill *const spill = &d->stream[t].spill;
        CSAW_TRY(csaw__simulated_alloc(d, d->spill_room * sizeof *spill->entry, "entries that overflow queues",
                                       (void **)&spill->entry));
        spill->room = d->spill_room;
        d->streams++;
    }
    return CSAW_OK;
}

void csaw__simulated_close(csaw__simulated *d) {
    for (uint32_t s = 0; s < d->slots; s++) drop_arrays(&d->slot[s]);
    for (uint32_t t = 0; t < d->streams; t++)
        csaw__simulated_free(d, d->stream[t].spill.entry, d->spill_room * sizeof *d->stream[t].spill.entry);
    d->used -= d->slots * d->slot_bytes;
    csaw__free(d->slot);
    csaw__free(d->stream);
    d->slot = NULL;
    d->stream = NULL;
    d->slots = d->streams = 0;
}

/* ---- copies ---- */

static csaw_status begin_array(csaw__part_array *array, const void *from, uint64_t first, uint64_t count,
                               uint64_t size) {
    if (!from) return CSAW_OK;
    array->from = (const char *)from + first * size;
    array->bytes = count * size;
    CSAW_TRY(csaw__alloc_bytes(&array->to, count, size, "a partition"));
    memset(array->to, 0xa5, array->bytes); /* whoever reads it too early, sees it */
    return CSAW_OK;
}

static uint64_t bytes_of(const csaw__simulated_slot *slot) {
    uint64_t bytes = 0;
    for (int a = 0; a < CSAW__PART_ARRAYS; a++) bytes += slot->array[a].bytes;
    return bytes;
}

static csaw_status begin_arrays(const csaw__simulated *d, uint32_t part, csaw__simulated_slot *slot) {
    const csaw_vertex first = d->ranges->first[part], count = d->ranges->first[part + 1] - first;
    const csaw_edge row = d->csr.rowptr[first], arcs = d->csr.rowptr[first + count] - row;
    csaw__part_array *const array = slot->array;
    CSAW_TRY(begin_array(&array[0], d->csr.rowptr, first, (uint64_t)count + 1, sizeof *d->csr.rowptr));
    CSAW_TRY(begin_array(&array[1], d->csr.col, row, arcs, sizeof *d->csr.col));
    CSAW_TRY(begin_array(&array[2], d->csr.weight, row, arcs, sizeof *d->csr.weight));
    CSAW_TRY(begin_array(&array[3], d->csr.type, row, arcs, sizeof *d->csr.type));
    CSAW_TRY(begin_array(&array[4], d->csr.time, row, arcs, sizeof *d->csr.time));
    CSAW_TRY(begin_array(&array[5], d->alias, row, arcs, sizeof *d->alias));
    CSAW_TRY(begin_array(&array[6], d->bias, first, count, sizeof *d->bias));
    slot->rows = (csaw__rows){.offset = array[0].to,
                              .col = array[1].to,
                              .weight = array[2].to,
                              .type = array[3].to,
                              .time = array[4].to,
                              .alias = array[5].to,
                              .bias = array[6].to,
                              .first_arc = row,
                              .first = first,
                              .count = count,
                              .wide = 1};
    return CSAW_OK;
}

static csaw_status copy(void *self, uint32_t part, uint32_t slot, uint32_t stream) {
    csaw__simulated *const d = self;
    csaw__simulated_slot *const to = &d->slot[slot];
    for (uint32_t t = 0; t < d->streams; t++)
        CSAW_REQUIRE(d->stream[t].does == CSAW__STREAM_IDLE || (t != stream && d->stream[t].slot != slot), CSAW_EINVAL,
                     "stream %u is at work on slot %u, to which partition %u is copied", t, slot, part);
    drop_arrays(to);
    CSAW_REQUIRE(++d->copies != d->fail_copy, CSAW_ECUDA, "copy %llu, of partition %u, was made to fail",
                 (unsigned long long)d->copies, part);
    CSAW_TRY(begin_arrays(d, part, to));
    CSAW_REQUIRE(bytes_of(to) <= d->slot_bytes, CSAW_EDEVMEM, "partition %u takes %llu bytes, but slots have %llu",
                 part, (unsigned long long)bytes_of(to), (unsigned long long)d->slot_bytes);
    d->stream[stream].does = CSAW__STREAM_COPIES;
    d->stream[stream].part = part;
    d->stream[stream].slot = slot;
    d->stream[stream].copied = 0;
    return CSAW_OK;
}

/* Some bytes more, of all arrays as if they were one. */
static void copy_some(csaw__simulated *d, csaw__simulated_stream *stream, uint64_t some) {
    csaw__simulated_slot *const slot = &d->slot[stream->slot];
    const uint64_t end = stream->copied + some;
    uint64_t before = 0;
    for (int a = 0; a < CSAW__PART_ARRAYS; a++) {
        csaw__part_array *const array = &slot->array[a];
        const uint64_t first = stream->copied > before ? stream->copied - before : 0;
        const uint64_t last = end < before ? 0 : end - before < array->bytes ? end - before : array->bytes;
        if (first < last) memcpy((char *)array->to + first, (const char *)array->from + first, last - first);
        before += array->bytes;
    }
    stream->copied = end;
    d->copied_bytes += some;
}

static void end_copy(csaw__simulated *d, csaw__simulated_stream *stream) {
    csaw__simulated_slot *const slot = &d->slot[stream->slot];
    uint64_t *const offset = slot->array[0].to;
    for (uint64_t i = 0; i <= slot->rows.count; i++) offset[i] -= slot->rows.first_arc;
    slot->part = stream->part;
    stream->does = CSAW__STREAM_IDLE;
}

/* ---- launches ---- */

static csaw_status launch(void *self, uint32_t part, uint32_t slot, uint32_t stream, uint32_t blocks) {
    csaw__simulated *const d = self;
    csaw__simulated_stream *const s = &d->stream[stream];
    CSAW_REQUIRE(s->does == CSAW__STREAM_IDLE && d->slot[slot].part == part && blocks, CSAW_EINVAL,
                 "a launch of %u blocks on partition %u in slot %u, stream %u, which is not there or not idle", blocks,
                 part, slot, stream);
    csaw__queues_fill(d->queues, part);
    s->does = CSAW__STREAM_RUNS;
    s->part = part;
    s->slot = slot;
    s->blocks = blocks;
    return CSAW_OK;
}

/* Some entries more; *left = false once there are none, or the spill is full. */
static csaw_status run_some(csaw__simulated *d, csaw__simulated_stream *stream, uint64_t some, bool *left) {
    csaw__active entry[CSAW__AT_ONCE];
    const csaw__simulated_slot *const slot = &d->slot[stream->slot];
    CSAW_REQUIRE(slot->part == stream->part, CSAW_EINVAL, "partition %u was evicted while it ran", stream->part);
    some = some < CSAW__AT_ONCE ? some : CSAW__AT_ONCE;
    const uint64_t n = csaw__queues_take(d->queues, stream->part, &stream->spill, entry, some);
    *left = n > 0;
    if (n == 0) return CSAW_OK;
    const csaw__outlet outlet = {d->queues, &stream->spill};
    CSAW_TRY(d->work.run(d->work.self, &slot->rows, entry, n, &outlet));
    for (uint64_t i = 0; i < n; i++) csaw__queues_put(d->queues, &stream->spill, entry[i]);
    return CSAW_OK;
}

static csaw_status end_launch(csaw__simulated *d, csaw__simulated_stream *stream) {
    stream->does = CSAW__STREAM_IDLE;
    return csaw__queues_unload(d->queues, &stream->spill);
}

/* ---- time ---- */

/* xorshift64* (Vigna, ACM TOMS 2016): which stream advances, by how much. No sample depends on it. */
static uint64_t next_random(csaw__simulated *d) {
    uint64_t x = d->seed ? d->seed : 1;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    d->seed = x;
    return (x * 0x2545f4914f6cdd1du) >> 32;
}

/* One stream does a little of what it has to do; *ended: all of it. */
static csaw_status advance(csaw__simulated *d, csaw__simulated_stream *stream, bool *ended) {
    *ended = true;
    if (stream->does == CSAW__STREAM_COPIES) {
        const uint64_t all = bytes_of(&d->slot[stream->slot]), left = all - stream->copied;
        const uint64_t some = next_random(d) % (all / 2 + 1) + 1;
        copy_some(d, stream, some < left ? some : left);
        *ended = stream->copied == all;
        if (*ended) end_copy(d, stream);
        return CSAW_OK;
    }
    bool left;
    CSAW_TRY(run_some(d, stream, next_random(d) % stream->blocks + 1, &left));
    *ended = !left;
    return left ? CSAW_OK : end_launch(d, stream);
}

static csaw_status wait_for_any(void *self, uint32_t *out) {
    csaw__simulated *const d = self;
    for (;;) {
        const uint32_t t = (uint32_t)(next_random(d) % d->streams);
        bool ended;
        if (d->stream[t].does == CSAW__STREAM_IDLE) continue;
        CSAW_TRY(advance(d, &d->stream[t], &ended));
        if (!ended) continue;
        *out = t;
        return CSAW_OK;
    }
}

static csaw_status counts(void *self, uint64_t *active) {
    const csaw__simulated *const d = self;
    for (uint32_t p = 0; p < d->ranges->count; p++) active[p] = csaw__queues_waiting(d->queues, p);
    return CSAW_OK;
}

/* A block works on one entry at a time. */
static uint32_t need(void *self, uint64_t entries) {
    (void)self;
    return entries < BLOCKS ? (uint32_t)entries + !entries : BLOCKS;
}

static void stop(void *self) {
    csaw__simulated *const d = self;
    for (uint32_t t = 0; t < d->streams; t++) {
        d->stream[t].does = CSAW__STREAM_IDLE;
        d->stream[t].spill.count = d->stream[t].spill.in_hand = 0;
    }
}

csaw__part_device csaw__simulated_device(csaw__simulated *d) {
    return (csaw__part_device){
        .self = d,
        .blocks = BLOCKS,
        .need = need,
        .alloc = alloc_memory,
        .free = free_memory,
        .put = move_memory,
        .get = move_memory,
        .allocate = allocate,
        .copy = copy,
        .launch = launch,
        .wait = wait_for_any,
        .counts = counts,
        .stop = stop,
    };
}

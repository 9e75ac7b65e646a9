/* SPDX-License-Identifier: MIT */
/* partition/schedule.c - the workload-aware scheduler (C-SAW, SC'20, section V-B, figure 8).
 *
 * Rules: a free stream first runs a resident partition at which entries wait, the one with most of them; else it brings
 * the partition with most entries that is not resident, to the slot of the one with fewest. So copies and launches, on
 * different streams, overlap.
 *
 * Past the paper, rules by how many entries wait at a partition on average. Where fewer than a quarter of that wait,
 * they are few: no launch for them alone is begun beside others, and a partition that has no more gives its slot up,
 * since it is brought again soon whatever it leaves behind; but what was brought runs once. A transfer beside launches
 * is begun where those may bring its partition little more, and residents little that would have kept the slot
 * (is_worth_it). And one that serves fewer entries than `worth` is not begun at all: whoever set it has another way for
 * them.
 *
 * Of many partitions (csaw__parts_are_many) transfers come in turn, past those at which nothing waits. Where each is as
 * busy as any other, the one with most entries is the one whose turn it is. Where they are not, as in graphs with
 * communities, most entries first would leave the walks of quiet partitions behind, and bring each of those for few
 * walks once all others have ended. */
#include "partition/schedule.h"

#include "runtime/base/memory.h"

void csaw__schedule_forget(csaw__schedule *s) {
    for (uint32_t i = 0; i < s->resident; i++)
        s->slot[i] = (csaw__slot){.part = CSAW__NONE_AT_ALL, .stream = CSAW__NONE_AT_ALL};
    for (uint32_t p = 0; p < s->parts; p++) s->slot_of[p] = CSAW__NONE_AT_ALL;
    for (uint32_t t = 0; t < s->streams; t++) s->busy[t] = CSAW__NONE_AT_ALL;
}

void csaw__schedule_end(csaw__schedule *s) {
    csaw__free(s->slot);
    csaw__free(s->slot_of);
    csaw__free(s->busy);
    csaw__free(s->active);
    s->slot = NULL;
    s->slot_of = NULL;
    s->busy = NULL;
    s->active = NULL;
}

csaw_status csaw__schedule_start(csaw__schedule *s, const csaw__part_device *device) {
    csaw_status status = CSAW_OK;
    CSAW_TRY_DONE(csaw__alloc(&s->slot, s->resident, "slots of partitions"));
    CSAW_TRY_DONE(csaw__alloc(&s->slot_of, s->parts, "slots of partitions"));
    CSAW_TRY_DONE(csaw__alloc(&s->busy, s->streams, "streams"));
    CSAW_TRY_DONE(csaw__alloc_zero(&s->active, s->parts, "counts of partitions"));
    csaw__schedule_forget(s);
    CSAW_TRY_DONE(device->allocate(device->self, s->resident, s->streams));
    return CSAW_OK;
done:
    csaw__schedule_end(s);
    return status;
}

/* ---- what to do next: each decision looks at every partition, slot and stream once at most ---- */

static bool any_under_way(const csaw__schedule *s) {
    for (uint32_t t = 0; t < s->streams; t++)
        if (s->busy[t] != CSAW__NONE_AT_ALL) return true;
    return false;
}

static int64_t free_stream(const csaw__schedule *s) {
    for (uint32_t t = 0; t < s->streams; t++)
        if (s->busy[t] == CSAW__NONE_AT_ALL) return t;
    return CSAW__NONE_AT_ALL;
}

/* Fewer than a quarter of what waits at a partition on average. */
static bool are_few(const csaw__schedule *s, uint64_t entries, uint64_t all) {
    return 4.0 * (double)entries * s->parts < (double)all;
}

static uint64_t entries_anywhere(const csaw__schedule *s) {
    uint64_t sum = 0;
    for (uint32_t p = 0; p < s->parts; p++) sum += s->active[p];
    return sum;
}

/* The slot, nobody at work on it, whose partition has most entries waiting, of those that are worth a launch now: few
 * are not while something is under way, which may bring more, unless the partition was brought for them. */
static int64_t slot_to_run(const csaw__schedule *s) {
    const uint64_t all = entries_anywhere(s);
    const bool any_may = s->in_turn || !any_under_way(s);
    int64_t best = CSAW__NONE_AT_ALL;
    for (uint32_t i = 0; i < s->resident; i++) {
        const csaw__slot *slot = &s->slot[i];
        if (slot->part == CSAW__NONE_AT_ALL || slot->stream != CSAW__NONE_AT_ALL || !s->active[slot->part]) continue;
        if (!any_may && !slot->fresh && are_few(s, s->active[slot->part], all)) continue;
        if (best == CSAW__NONE_AT_ALL || s->active[slot->part] > s->active[s->slot[best].part]) best = i;
    }
    return best;
}

static bool are_many(const csaw__schedule *s) { return csaw__parts_are_many(s->parts, s->resident); }

/* The partition that is worth a transfer. */
static int64_t part_to_bring(const csaw__schedule *s) {
    const bool in_turn = s->in_turn || are_many(s);
    const uint64_t worth = s->worth ? s->worth : 1;
    int64_t best = CSAW__NONE_AT_ALL;
    for (uint32_t i = 0; i < s->parts; i++) {
        const uint32_t part = in_turn ? (s->next + i) % s->parts : i;
        if (s->active[part] < worth || s->slot_of[part] != CSAW__NONE_AT_ALL) continue;
        if (in_turn) return part;
        if (best == CSAW__NONE_AT_ALL || s->active[part] > s->active[best]) best = part;
    }
    return best;
}

/* Whether a partition keeps its slot. In turn (WS off) any that has entries runs first. */
static bool keeps_slot(const csaw__schedule *s, const csaw__slot *slot, uint64_t all) {
    const uint64_t entries = s->active[slot->part];
    return entries && (s->in_turn || slot->fresh || !are_few(s, entries, all));
}

/* A slot to bring it to: an empty one, or, of those that nobody is at work on, that of the partition with fewest
 * entries, few ones; of several, of the one that came first. */
static int64_t slot_to_fill(const csaw__schedule *s) {
    const uint64_t all = entries_anywhere(s);
    int64_t best = CSAW__NONE_AT_ALL;
    for (uint32_t i = 0; i < s->resident; i++) {
        const csaw__slot *slot = &s->slot[i], *least = &s->slot[best == CSAW__NONE_AT_ALL ? i : best];
        if (slot->part == CSAW__NONE_AT_ALL) return i;
        if (slot->stream != CSAW__NONE_AT_ALL || keeps_slot(s, slot, all)) continue;
        const uint64_t own = s->active[slot->part], fewest = s->active[least->part];
        if (best == CSAW__NONE_AT_ALL || own < fewest || (own == fewest && slot->since < least->since)) best = i;
    }
    return best;
}

static uint64_t entries_at_residents(const csaw__schedule *s) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->resident; i++)
        if (s->slot[i].part != CSAW__NONE_AT_ALL) sum += s->active[s->slot[i].part];
    return sum;
}

/* Whether to bring a partition now: if as many entries wait there as twice those of what residents have that will lead
 * to residents again, where arcs may lead anywhere. Of few partitions waiting for them saves transfers; of many, or
 * beside launches that are short, that is hardly ever so, and the way to the device is kept busy. */
static bool is_worth_it(const csaw__schedule *s, uint32_t part) {
    if (s->in_turn || !any_under_way(s)) return true;
    return (double)s->active[part] * s->parts >= 2.0 * s->resident * (double)entries_at_residents(s);
}

/* Thread blocks of a launch: what its entries need; where those of all resident partitions, which run beside it or will
 * soon, need more than there are, in proportion. */
static uint32_t share_of(const csaw__schedule *s, const csaw__part_device *device, uint32_t slot) {
    double all = 0;
    if (s->equal_shares) return s->blocks > s->streams ? s->blocks / s->streams : 1;
    for (uint32_t i = 0; i < s->resident; i++)
        if (s->slot[i].part != CSAW__NONE_AT_ALL && s->active[s->slot[i].part])
            all += device->need(device->self, s->active[s->slot[i].part]);
    const uint32_t own = device->need(device->self, s->active[s->slot[slot].part]);
    const uint32_t share = all <= s->blocks ? own : (uint32_t)((double)s->blocks * (own / all) + 0.5);
    return share ? share : 1;
}

static void assign(csaw__schedule *s, uint32_t slot, uint32_t stream) {
    s->slot[slot].stream = stream;
    s->busy[stream] = slot;
}

/* Gives one free stream something to do; *done = false if there is nothing for it. */
static csaw_status begin_one(csaw__schedule *s, const csaw__part_device *device, bool *done) {
    const int64_t stream = free_stream(s);
    *done = false;
    if (stream == CSAW__NONE_AT_ALL) return CSAW_OK;
    const int64_t run = slot_to_run(s);
    if (run != CSAW__NONE_AT_ALL) {
        const uint32_t slot = (uint32_t)run, blocks = share_of(s, device, slot);
        CSAW_TRY(device->launch(device->self, (uint32_t)s->slot[slot].part, slot, (uint32_t)stream, blocks));
        assign(s, slot, (uint32_t)stream);
        s->slot[slot].fresh = false;
        s->launches++;
        *done = true;
        return CSAW_OK;
    }
    const int64_t part = part_to_bring(s), slot = slot_to_fill(s);
    if (part == CSAW__NONE_AT_ALL || slot == CSAW__NONE_AT_ALL || !is_worth_it(s, (uint32_t)part)) return CSAW_OK;
    CSAW_TRY(device->copy(device->self, (uint32_t)part, (uint32_t)slot, (uint32_t)stream));
    if (s->slot[slot].part != CSAW__NONE_AT_ALL) s->slot_of[s->slot[slot].part] = CSAW__NONE_AT_ALL;
    s->slot_of[part] = slot;
    s->slot[slot] = (csaw__slot){.part = part, .since = s->transfers++, .fresh = true};
    assign(s, (uint32_t)slot, (uint32_t)stream);
    s->next = (uint32_t)part + 1;
    *done = true;
    return CSAW_OK;
}

static csaw_status wait_for_one(csaw__schedule *s, const csaw__part_device *device) {
    uint32_t stream;
    CSAW_TRY(device->wait(device->self, &stream));
    csaw__slot *const slot = &s->slot[s->busy[stream]];
    slot->stream = CSAW__NONE_AT_ALL;
    s->busy[stream] = CSAW__NONE_AT_ALL;
    return CSAW_OK;
}

static csaw_status run(csaw__schedule *s, const csaw__part_device *device) {
    for (;;) {
        bool begun = true;
        CSAW_TRY(device->counts(device->self, s->active));
        while (begun) CSAW_TRY(begin_one(s, device, &begun));
        if (!any_under_way(s)) return CSAW_OK; /* then nothing waits that is worth it: an idle slot runs or is filled */
        CSAW_TRY(wait_for_one(s, device));
    }
}

csaw_status csaw__schedule_run(csaw__schedule *s, const csaw__part_device *device) {
    const csaw_status status = run(s, device);
    if (status == CSAW_OK) return CSAW_OK;
    device->stop(device->self);
    csaw__schedule_forget(s);
    return status;
}

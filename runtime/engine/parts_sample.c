/* SPDX-License-Identifier: MIT */
/* runtime/engine/parts_sample.c - samples on a partitioned graph, on the CPU, out of order: a partition picks for all
 * that waits at it, instances and depths mixed, and what was picked is put in order afterwards.
 *
 * Method (C-SAW, SC'20, section V): an item is an (instance, depth, vertex); it exists once, and waits at the partition
 * that holds the vertex. The partition with the longest queue runs until its queue is empty, what its own picks bring
 * to it included; then the next. Since a draw depends on the item alone, this finds every pick of the batch. Then the
 * batch advances depth by depth as everywhere (sampling.c) and, in place of picking, looks up what its entries picked:
 * order of delivery, repeats and next pools are decided there alone. */
#include "runtime/engine/sampling.h"

#include "runtime/base/grow.h"

enum { AT_ONCE = 128 /* items of one depth that are handed to the hooks together */ };

typedef struct item {
    uint64_t key;         /* item_key() */
    uint64_t behind;      /* in its queue: 1 + an item, 0 = none */
    uint64_t first;       /* its picks: dst[first .. first + got - 1] and so on */
    uint32_t got;         /* how many */
    csaw_vertex dead_end; /* where the dead_end hook leads */
} item;

/* Of one batch. */
typedef struct csaw__ahead {
    item *item;
    uint64_t num_items, item_room;
    uint64_t *cell;    /* [2^(64 - shift)], at most half of them used: 1 + an item, 0 = free */
    unsigned shift;    /* 64: no cells */
    csaw_vertex *dst;  /* [num_arcs] */
    csaw_edge *edge;   /* [num_arcs] */
    csaw_vertex *next; /* [num_arcs] where update leads; not filled without that hook */
    uint64_t num_arcs, dst_room, edge_room, next_room;
    uint64_t *queue;  /* [partitions] 1 + the item that came last, 0 = none */
    uint64_t *length; /* [partitions] of the queue */
} csaw__ahead;

bool csaw__parts_any_order(const csaw__worker *w) {
    const uint32_t by_depth = CSAW_VISITED | CSAW_LAYER | CSAW_SECOND_ORDER | CSAW_REPLACE_POOL;
    return w->plan->parts && !(w->flags & by_depth) && !w->has_size && !w->has_user;
}

/* ---- items ---- */

static uint64_t item_key(uint32_t owner, uint32_t depth, csaw_vertex v) {
    return (uint64_t)owner << 56 | (uint64_t)depth << 32 | v; /* at most 64 owners, and fewer than 2^24 depths */
}
static uint32_t owner_of(const item *it) { return (uint32_t)(it->key >> 56); }
static uint32_t depth_of(const item *it) { return (uint32_t)(it->key >> 32) & 0xffffffu; }

/* Where the item is, or the free cell where it would go. */
static uint64_t *cell_of(const csaw__ahead *a, uint64_t key) {
    const uint64_t mask = ~(uint64_t)0 >> a->shift;
    uint64_t place = (key * 0x9e3779b97f4a7c15u) >> a->shift;
    while (a->cell[place] && a->item[a->cell[place] - 1].key != key) place = (place + 1) & mask;
    return &a->cell[place];
}

static csaw_status grow_cells(csaw__ahead *a) {
    const unsigned shift = a->shift - (a->shift == 64 ? 8 : 2);
    uint64_t *cell;
    CSAW_TRY(csaw__alloc_zero(&cell, (uint64_t)1 << (64 - shift), "items of partitions"));
    csaw__free(a->cell);
    a->cell = cell;
    a->shift = shift;
    for (uint64_t i = 0; i < a->num_items; i++) *cell_of(a, a->item[i].key) = i + 1;
    return CSAW_OK;
}

/* The vertex is in the owner's pool at that depth: it waits at its partition, unless it is known or comes too late. */
static csaw_status enqueue(csaw__worker *w, uint32_t owner, uint32_t depth, csaw_vertex v) {
    csaw__ahead *const a = w->ahead;
    if (v == CSAW_NONE || depth == w->job->length) return CSAW_OK;
    if (a->shift == 64 || a->num_items >> (63 - a->shift)) CSAW_TRY(grow_cells(a));
    CSAW_TRY(CSAW__GROW(&a->item, &a->item_room, a->num_items + 1, "items of partitions"));
    const uint64_t key = item_key(owner, depth, v);
    const uint32_t p = csaw__parts_of(w->plan->parts, v);
    uint64_t *const cell = cell_of(a, key);
    if (*cell) return CSAW_OK;
    a->item[a->num_items] = (item){.key = key, .behind = a->queue[p]};
    *cell = a->queue[p] = ++a->num_items;
    a->length[p]++;
    return CSAW_OK;
}

/* ---- a partition ---- */

static csaw_status keep_arcs(csaw__ahead *a, const csaw__frontier *f, bool has_update) {
    const uint64_t first = a->num_arcs, arcs = f->offset[f->count];
    if (arcs == 0) return CSAW_OK;
    CSAW_TRY(CSAW__GROW(&a->dst, &a->dst_room, first + arcs, "arcs of partitions"));
    CSAW_TRY(CSAW__GROW(&a->edge, &a->edge_room, first + arcs, "arcs of partitions"));
    if (has_update) CSAW_TRY(CSAW__GROW(&a->next, &a->next_room, first + arcs, "arcs of partitions"));
    memcpy(a->dst + first, f->dst, arcs * sizeof *f->dst);
    memcpy(a->edge + first, f->edge, arcs * sizeof *f->edge);
    if (has_update) memcpy(a->next + first, f->next, arcs * sizeof *f->next);
    a->num_arcs += arcs;
    return CSAW_OK;
}

/* What the entries at hand, which are these items, picked is kept; where it leads to goes into queues. */
static csaw_status keep(csaw__worker *w, const uint64_t *number) {
    csaw__ahead *const a = w->ahead;
    const csaw__frontier *f = &w->f;
    const uint64_t first = a->num_arcs;
    CSAW_TRY(keep_arcs(a, f, w->has_update));
    for (uint64_t i = 0; i < f->count; i++) {
        const csaw__entry *const from = &f->entry[i];
        const csaw_vertex dead_end = w->has_dead_end ? f->dead_end[i] : CSAW_NONE;
        item *const it = &a->item[number[i]];
        it->first = first + f->offset[i];
        it->got = f->got[i];
        it->dead_end = dead_end;
        for (uint64_t p = f->offset[i]; p < f->offset[i + 1]; p++)
            CSAW_TRY(enqueue(w, from->owner, f->depth + 1, f->next[p]));
        CSAW_TRY(enqueue(w, from->owner, f->depth + 1, dead_end));
        if (w->flags & CSAW_KEEP_POOL) CSAW_TRY(enqueue(w, from->owner, f->depth + 1, from->at));
    }
    return CSAW_OK;
}

/* Picks for the items that came last to partition p and are of one depth. */
static csaw_status run_some(csaw__worker *w, uint32_t p) {
    csaw__ahead *const a = w->ahead;
    csaw__entry entry[AT_ONCE];
    uint64_t number[AT_ONCE], n = 0;
    w->f.depth = depth_of(&a->item[a->queue[p] - 1]);
    for (; n < AT_ONCE && a->queue[p]; n++) {
        const item *const it = &a->item[a->queue[p] - 1];
        if (depth_of(it) != w->f.depth) break;
        entry[n] = (csaw__entry){.at = (csaw_vertex)it->key, .prev = CSAW_NONE, .owner = owner_of(it)};
        number[n] = a->queue[p] - 1;
        a->queue[p] = it->behind;
    }
    a->length[p] -= n;
    w->f.entry = entry;
    w->f.count = n;
    w->f.ahead = 0;
    CSAW_TRY(csaw__worker_pick(w));
    return w->fault.kind == CSAW__FAULT_NONE ? keep(w, number) : CSAW_OK;
}

static csaw_status run_partition(csaw__worker *w, uint32_t p) {
    const csaw__job *const whole = w->job;
    const csaw__job here = csaw__parts_job(w->plan->parts, p, whole);
    csaw_status status = CSAW_OK;
    w->job = &here;
    while (status == CSAW_OK && w->ahead->queue[p] && w->fault.kind == CSAW__FAULT_NONE) status = run_some(w, p);
    w->job = whole;
    return status;
}

/* ---- a batch ---- */

static csaw_status start(csaw__worker *w) {
    const uint32_t parts = csaw__parts_count(w->plan->parts);
    if (!w->ahead) {
        CSAW_TRY(csaw__alloc_zero(&w->ahead, 1, "items of partitions"));
        w->ahead->shift = 64;
    }
    csaw__ahead *const a = w->ahead;
    if (!a->queue) CSAW_TRY(csaw__alloc(&a->queue, parts, "queues of partitions"));
    if (!a->length) CSAW_TRY(csaw__alloc(&a->length, parts, "queues of partitions"));
    memset(a->queue, 0, parts * sizeof *a->queue);
    memset(a->length, 0, parts * sizeof *a->length);
    if (a->cell) memset(a->cell, 0, sizeof *a->cell << (64 - a->shift));
    a->num_items = a->num_arcs = 0;
    return CSAW_OK;
}

csaw_status csaw__parts_pick_ahead(csaw__worker *w) {
    CSAW_TRY(start(w));
    for (uint64_t i = 0; i < w->pool_count; i++) CSAW_TRY(enqueue(w, w->pool[i].owner, 0, w->pool[i].at));
    while (w->fault.kind == CSAW__FAULT_NONE) {
        const uint64_t *const length = w->ahead->length;
        uint32_t longest = 0;
        for (uint32_t p = 1; p < csaw__parts_count(w->plan->parts); p++)
            if (length[p] > length[longest]) longest = p;
        if (length[longest] == 0) break;
        CSAW_TRY(run_partition(w, longest));
    }
    w->f.depth = 0;
    w->picked_ahead = w->fault.kind == CSAW__FAULT_NONE;
    w->fault.kind = CSAW__FAULT_NONE; /* the lowest fault is found depth by depth */
    return CSAW_OK;
}

csaw_status csaw__parts_recall(csaw__worker *w) {
    const csaw__ahead *const a = w->ahead;
    csaw__frontier *f = &w->f;
    CSAW_TRY(csaw__worker_entries(w));
    f->offset[0] = 0;
    for (uint64_t i = 0; i < f->count; i++) {
        const csaw__entry *const entry = &f->entry[i];
        const item *const it = &a->item[*cell_of(a, item_key(entry->owner, f->depth, entry->at)) - 1];
        const uint64_t to = f->offset[i];
        CSAW_TRY(csaw__worker_picks(w, to + it->got));
        for (uint32_t j = 0; j < it->got; j++) {
            f->src[to + j] = entry->at;
            f->dst[to + j] = a->dst[it->first + j];
            f->edge[to + j] = a->edge[it->first + j];
            if (w->has_update) f->next[to + j] = a->next[it->first + j];
        }
        f->got[i] = it->got;
        f->dead_end[i] = it->dead_end;
        f->offset[i + 1] = to + it->got;
    }
    return CSAW_OK;
}

void csaw__parts_ahead_free(csaw__worker *w) {
    csaw__ahead *const a = w->ahead;
    if (!a) return;
    csaw__free(a->item);
    csaw__free(a->cell);
    csaw__free(a->dst);
    csaw__free(a->edge);
    csaw__free(a->next);
    csaw__free(a->queue);
    csaw__free(a->length);
    csaw__free(a);
    w->ahead = NULL;
}

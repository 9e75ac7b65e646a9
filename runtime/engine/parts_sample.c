/* SPDX-License-Identifier: MIT */
/* runtime/engine/parts_sample.c - samples on a partitioned graph, out of order: a partition picks for all that waits at
 * it, instances and depths mixed, and what was picked is put in order afterwards.
 *
 * Method (C-SAW, SC'20, section V): an item is an (instance, depth, vertex); it exists once, and waits at the partition
 * that holds the vertex. Since a draw depends on the item alone, running until no item waits finds every pick. Then the
 * instances advance depth by depth as everywhere (sampling.c) and, in place of picking, look up what their entries
 * picked: order of delivery, repeats and next pools are decided there alone. An item that led to more items than there
 * is room for keeps its picks, and goes on from the first that found none. */
#include "runtime/engine/parts.h"
#include "runtime/engine/sampling.h"

#include "runtime/base/grow.h"

typedef struct item {
    uint64_t owner_depth; /* owner << 24 | depth */
    uint64_t first;       /* its picks: dst[first .. first + got - 1] and so on */
    csaw_vertex at;
    uint32_t got;         /* how many; NOT_PICKED before */
    csaw_vertex dead_end; /* where the dead_end hook leads */
} item;
#define NOT_PICKED UINT32_MAX
enum { MOST_INSTANCES = 1 << 20 /* at once; items and picks are in host memory */ };

/* Of the instances whose picks are made ahead. */
typedef struct csaw__ahead {
    item *item;
    uint64_t num_items, item_room;
    uint64_t *cell;    /* [2^(64 - shift)], at most half of them used: 1 + an item, 0 = free */
    unsigned shift;    /* 64: no cells */
    csaw_vertex *root; /* [owners] */
    csaw_vertex *dst;  /* [num_arcs] */
    csaw_edge *edge;   /* [num_arcs] */
    csaw_vertex *next; /* [num_arcs] where update leads */
    uint64_t num_arcs, root_room, dst_room, edge_room, next_room;
    uint64_t first, end; /* instances that it was tried for */
    bool done;           /* their picks are here: no hook broke its rules */
    bool none_without;   /* vertices without arcs are no items */
} csaw__ahead;

bool csaw__parts_any_order(const csaw__worker *w) {
    const uint32_t by_depth = CSAW_VISITED | CSAW_LAYER | CSAW_SECOND_ORDER | CSAW_REPLACE_POOL;
    return w->plan->parts && !(w->flags & by_depth) && !w->has_size && !w->has_user;
}

/* ---- items ---- */

/* Whether nothing comes of a vertex without arcs, not even an error. */
static bool nothing_without_arcs(const csaw__worker *w) {
    const bool hooks = w->has_dead_end || w->sampler->traits() & CSAW__TRAIT_FANOUT;
    for (uint32_t d = 0; d < w->job->length && w->job->fanout && w->job->replace; d++)
        if (w->job->fanout[d] > CSAW__MAX_SLOTS && w->job->fanout[d] != CSAW_ALL) return false;
    return w->plan->parts->degree && !hooks;
}

/* It needs no partition then, and is no item. */
static bool ends_at(const csaw__worker *w, csaw_vertex v) {
    return w->ahead->none_without && w->plan->parts->degree[v] == 0;
}

/* Where the item is, or the free cell where it would go. */
static uint64_t *cell_of(const csaw__ahead *a, uint64_t owner_depth, csaw_vertex at) {
    const uint64_t mask = ~(uint64_t)0 >> a->shift;
    uint64_t place = ((owner_depth * 0x9e3779b97f4a7c15u ^ at) * 0xd6e8feb86659fd93u) >> a->shift;
    for (;; place = (place + 1) & mask) {
        const item *const it = a->cell[place] ? &a->item[a->cell[place] - 1] : NULL;
        if (!it || (it->owner_depth == owner_depth && it->at == at)) return &a->cell[place];
    }
}

static csaw_status grow_cells(csaw__ahead *a) {
    const unsigned shift = a->shift - (a->shift == 64 ? 8 : 2);
    uint64_t *cell;
    CSAW_TRY(csaw__alloc_zero(&cell, (uint64_t)1 << (64 - shift), "items of partitions"));
    csaw__free(a->cell);
    a->cell = cell;
    a->shift = shift;
    for (uint64_t i = 0; i < a->num_items; i++) *cell_of(a, a->item[i].owner_depth, a->item[i].at) = i + 1;
    return CSAW_OK;
}

/* The item, unless it is known: *is_new. Its cell is kept for note_item(). */
static csaw_status find_item(csaw__ahead *a, uint64_t owner_depth, csaw_vertex at, uint64_t **cell, bool *is_new) {
    if (a->shift == 64 || a->num_items >> (63 - a->shift)) CSAW_TRY(grow_cells(a));
    CSAW_TRY(CSAW__GROW(&a->item, &a->item_room, a->num_items + 1, "items of partitions"));
    *cell = cell_of(a, owner_depth, at);
    *is_new = **cell == 0;
    return CSAW_OK;
}

static void note_item(csaw__ahead *a, uint64_t owner_depth, csaw_vertex at, uint64_t *cell) {
    a->item[a->num_items] = (item){.owner_depth = owner_depth, .at = at, .got = NOT_PICKED};
    *cell = ++a->num_items;
}

/* ---- a partition ---- */

/* The vertex is in the owner's pool at the next depth: it waits at its partition, unless it is known or comes too late.
 * *full: there was no room for it. */
static csaw_status lead_to(csaw__worker *w, const csaw__outlet *out, uint64_t owner_depth, csaw_vertex v, bool *full) {
    csaw__ahead *const a = w->ahead;
    uint64_t *cell;
    bool is_new;
    *full = false;
    if (v == CSAW_NONE || w->f.depth + 1 == w->job->length || ends_at(w, v)) return CSAW_OK;
    CSAW_TRY(find_item(a, owner_depth + 1, v, &cell, &is_new));
    if (!is_new) return CSAW_OK;
    *full = !csaw__queues_push(out->queues, out->spill, (csaw__active){.instance_depth = owner_depth + 1, .vertex = v});
    if (!*full) note_item(a, owner_depth + 1, v, cell);
    return CSAW_OK;
}

/* The j-th vertex that an item leads to: of its picks, its dead end, and itself in a pool that stays. */
static csaw_vertex led_to(const csaw__worker *w, const item *it, uint32_t j) {
    if (j < it->got) return w->ahead->next[it->first + j];
    if (j == it->got) return it->dead_end;
    return w->flags & CSAW_KEEP_POOL ? it->at : CSAW_NONE;
}

/* From the entry's state on, so many of these it led to already. */
static csaw_status lead_on(csaw__worker *w, const csaw__outlet *out, uint64_t number, csaw__active *entry) {
    for (; entry->state < w->ahead->item[number].got + 2; entry->state++) {
        const csaw_vertex v = led_to(w, &w->ahead->item[number], entry->state);
        bool full;
        CSAW_TRY(lead_to(w, out, entry->instance_depth, v, &full));
        if (full) return CSAW_OK;
    }
    entry->state = CSAW__FINISHED;
    return CSAW_OK;
}

/* What the entries at hand picked is theirs. */
static csaw_status keep(csaw__worker *w, const uint64_t *number) {
    csaw__ahead *const a = w->ahead;
    const csaw__frontier *const f = &w->f;
    const uint64_t first = a->num_arcs, arcs = f->offset[f->count];
    CSAW_TRY(CSAW__GROW(&a->dst, &a->dst_room, first + arcs, "arcs of partitions"));
    CSAW_TRY(CSAW__GROW(&a->edge, &a->edge_room, first + arcs, "arcs of partitions"));
    CSAW_TRY(CSAW__GROW(&a->next, &a->next_room, first + arcs, "arcs of partitions"));
    if (arcs) {
        memcpy(a->dst + first, f->dst, arcs * sizeof *f->dst);
        memcpy(a->edge + first, f->edge, arcs * sizeof *f->edge);
        memcpy(a->next + first, f->next, arcs * sizeof *f->next);
    }
    a->num_arcs += arcs;
    for (uint64_t i = 0; i < f->count; i++) {
        item *const it = &a->item[number[i]];
        it->first = first + f->offset[i];
        it->got = f->got[i];
        it->dead_end = w->has_dead_end ? f->dead_end[i] : CSAW_NONE;
    }
    return CSAW_OK;
}

/* Picks of entries, all of one depth, that have none yet. */
static csaw_status pick(csaw__worker *w, const csaw__active *entry, const uint64_t *number, uint64_t n) {
    csaw__entry at[CSAW__AT_ONCE];
    uint64_t waiting[CSAW__AT_ONCE], count = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (w->ahead->item[number[i]].got != NOT_PICKED) continue; /* it found no room when it was here */
        at[count] = (csaw__entry){
            .at = entry[i].vertex, .prev = CSAW_NONE, .owner = (uint32_t)(entry[i].instance_depth >> CSAW__DEPTH_BITS)};
        waiting[count++] = number[i];
    }
    if (count == 0) return CSAW_OK;
    w->f.entry = at;
    w->f.count = count;
    w->f.ahead = 0;
    CSAW_TRY(csaw__worker_pick(w));
    return w->fault.kind == CSAW__FAULT_NONE ? keep(w, waiting) : CSAW_OK;
}

static csaw_status run_depth(csaw__worker *w, const csaw__outlet *out, csaw__active *entry, uint64_t n) {
    uint64_t number[CSAW__AT_ONCE];
    for (uint64_t i = 0; i < n; i++) number[i] = *cell_of(w->ahead, entry[i].instance_depth, entry[i].vertex) - 1;
    if (w->fault.kind == CSAW__FAULT_NONE) CSAW_TRY(pick(w, entry, number, n));
    for (uint64_t i = 0; i < n; i++) {
        if (w->fault.kind == CSAW__FAULT_NONE)
            CSAW_TRY(lead_on(w, out, number[i], &entry[i]));
        else
            entry[i].state = CSAW__FINISHED;
    }
    return CSAW_OK;
}

static uint32_t depth_of(const csaw__active *entry) {
    return (uint32_t)entry->instance_depth & ((1u << CSAW__DEPTH_BITS) - 1);
}

static csaw_status run(void *self, const csaw__rows *rows, csaw__active *entry, uint64_t n,
                       const csaw__outlet *outlet) {
    csaw__worker *const w = self;
    const csaw__job *const whole = w->job;
    const csaw__job here = csaw__parts_job(w->plan->parts, rows, whole);
    csaw_status status = CSAW_OK;
    w->job = &here;
    w->rows_in_sight = true;
    for (uint64_t first = 0, end; first < n && status == CSAW_OK; first = end) {
        w->f.depth = depth_of(&entry[first]);
        for (end = first; end < n && depth_of(&entry[end]) == w->f.depth;) end++;
        status = run_depth(w, outlet, entry + first, end - first);
    }
    w->rows_in_sight = false;
    w->job = whole;
    return status;
}

/* ---- instances ---- */

static csaw_status start(csaw__worker *w, uint64_t first, uint64_t count) {
    if (!w->ahead) {
        CSAW_TRY(csaw__alloc_zero(&w->ahead, 1, "items of partitions"));
        w->ahead->shift = 64;
    }
    csaw__ahead *const a = w->ahead;
    CSAW_TRY(CSAW__GROW(&a->root, &a->root_room, count, "roots"));
    if (a->cell) memset(a->cell, 0, sizeof *a->cell << (64 - a->shift));
    a->num_items = a->num_arcs = 0;
    a->none_without = nothing_without_arcs(w);
    a->first = first;
    a->end = first + count;
    w->f.first = first;
    w->f.root = a->root;
    w->f.user = NULL;
    w->f.visited = NULL;
    return CSAW_OK;
}

/* The seeds of an instance wait at their partitions. */
static csaw_status enqueue_seeds(csaw__worker *w, uint64_t owner) {
    csaw__ahead *const a = w->ahead;
    const csaw__job *const job = w->job;
    const uint64_t pool = (a->first + owner) % job->num_roots, owner_depth = owner << CSAW__DEPTH_BITS;
    const uint64_t begin = job->seed_offset ? job->seed_offset[pool] : pool;
    const uint64_t end = job->seed_offset ? job->seed_offset[pool + 1] : pool + 1;
    a->root[owner] = CSAW_NONE;
    for (uint64_t s = begin; s < end; s++) {
        const csaw_vertex v = job->roots ? job->roots[s] : (csaw_vertex)s;
        uint64_t *cell;
        bool is_new;
        if (s == begin) a->root[owner] = v;
        if (ends_at(w, v)) continue;
        CSAW_TRY(find_item(a, owner_depth, v, &cell, &is_new));
        if (!is_new) continue;
        CSAW_TRY(csaw__queues_add(&w->plan->parts->queues, (csaw__active){.instance_depth = owner_depth, .vertex = v}));
        note_item(a, owner_depth, v, cell);
    }
    return CSAW_OK;
}

static csaw_status enqueue_all(csaw__worker *w, uint64_t count) {
    csaw_status status = CSAW_OK;
    for (uint64_t owner = 0; owner < count && w->job->length && status == CSAW_OK; owner++)
        status = enqueue_seeds(w, owner);
    if (status != CSAW_OK) csaw__queues_clear(&w->plan->parts->queues);
    return status;
}

csaw_status csaw__parts_pick_ahead(csaw__worker *w, uint64_t first, uint64_t left) {
    if (w->ahead && first >= w->ahead->first && first < w->ahead->end) return CSAW_OK; /* done, or a hook is at fault */
    const uint64_t most = w->plan->parts->one_at_a_time ? 1 : MOST_INSTANCES, count = left < most ? left : most;
    CSAW_TRY(start(w, first, count));
    CSAW_TRY(enqueue_all(w, count));
    CSAW_TRY(csaw__parts_run(w->plan->parts, (csaw__part_work){w, run}));
    w->ahead->done = w->fault.kind == CSAW__FAULT_NONE;
    w->fault.kind = CSAW__FAULT_NONE; /* the lowest fault is found depth by depth */
    return CSAW_OK;
}

bool csaw__parts_picked_ahead(const csaw__worker *w, uint64_t first) {
    return w->ahead && w->ahead->done && first >= w->ahead->first && first < w->ahead->end;
}

csaw_status csaw__parts_recall(csaw__worker *w) {
    const csaw__ahead *const a = w->ahead;
    csaw__frontier *f = &w->f;
    CSAW_TRY(csaw__worker_entries(w));
    f->offset[0] = 0;
    for (uint64_t i = 0; i < f->count; i++) {
        const csaw__entry *const entry = &f->entry[i];
        const uint64_t owner = f->first - a->first + entry->owner;
        static const item nothing = {.got = 0, .dead_end = CSAW_NONE};
        const uint64_t owner_depth = owner << CSAW__DEPTH_BITS | f->depth;
        const item *const it = ends_at(w, entry->at) ? &nothing : &a->item[*cell_of(a, owner_depth, entry->at) - 1];
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

void csaw__parts_forget_ahead(csaw__worker *w) {
    if (w->ahead) w->ahead->end = w->ahead->first;
}

void csaw__parts_ahead_free(csaw__worker *w) {
    csaw__ahead *const a = w->ahead;
    if (!a) return;
    csaw__free(a->item);
    csaw__free(a->cell);
    csaw__free(a->root);
    csaw__free(a->dst);
    csaw__free(a->edge);
    csaw__free(a->next);
    csaw__free(a);
    w->ahead = NULL;
}

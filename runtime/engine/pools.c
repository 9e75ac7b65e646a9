/* SPDX-License-Identifier: MIT */
/* runtime/engine/pools.c - the pools of a batch of instances: seeds at first, then what each depth brings. */
#include "runtime/base/grow.h"
#include "runtime/base/vertex_set_add.h"
#include "runtime/engine/fault.h"
#include "runtime/engine/sampling.h"

/* Adds to the pool that is being made. */
static inline csaw_status push(csaw__worker *w, csaw__entry entry) {
    CSAW_TRY(CSAW__GROW(&w->next, &w->next_room, w->next_count + 1, "a pool"));
    w->next[w->next_count++] = entry;
    return CSAW_OK;
}

/* The same, unless its vertex is there. */
static inline csaw_status push_new(csaw__worker *w, csaw__entry entry) {
    bool added;
    CSAW_TRY(csaw__vertex_set_add(&w->in_next, entry.owner, entry.at, &added));
    return added ? push(w, entry) : CSAW_OK;
}

/* The pool that was made is the pool now. */
static void turn(csaw__worker *w) {
    csaw__entry *const pool = w->pool;
    const uint64_t room = w->pool_room;
    w->pool = w->next;
    w->pool_room = w->next_room;
    w->pool_count = w->next_count;
    w->next = pool;
    w->next_room = room;
    w->next_count = 0;
}

void csaw__pool_fault(csaw__worker *w, uint32_t owner, csaw_vertex v, float bias) {
    const csaw__fault fault = {.instance = csaw__instance_of(w, owner),
                               .depth = w->f.depth,
                               .kind = CSAW__FAULT_POOL,
                               .edge = CSAW_NO_EDGE,
                               .src = v,
                               .dst = CSAW_NONE,
                               .value = (double)bias};
    csaw__fault_merge(&w->fault, &fault);
}

/* ---- seeds ---- */

static csaw_status make_list(csaw__worker *w, uint64_t first, uint64_t count) {
    uint64_t bad;
    CSAW_REQUIRE(count < UINT32_MAX, CSAW_EINVAL, "a pool of %llu seeds; a pool that is a list has at most 2^32 - 2",
                 (unsigned long long)count);
    CSAW_TRY(CSAW__GROW(&w->list, &w->list_room, w->num_lists + 1, "pools"));
    CSAW_TRY(csaw__pool_create(w->sampler, w->job, w->next + first, count, &w->list[w->num_lists], &bad));
    w->num_lists++;
    if (bad == count) return CSAW_OK;
    float bias;
    w->sampler->vertex_biases(w->job, &w->next[first + bad].at, 1, &bias);
    csaw__pool_fault(w, w->next[first + bad].owner, w->next[first + bad].at, bias);
    return CSAW_OK;
}

csaw_status csaw__pools_start(csaw__worker *w) {
    const csaw__job *job = w->job;
    CSAW_TRY(csaw__vertex_set_clear(&w->in_next));
    CSAW_TRY(CSAW__GROW(&w->root, &w->owner_room, w->num_owners, "roots"));
    csaw__worker_lists_free(w);
    w->next_count = 0;
    for (uint64_t owner = 0; owner < w->num_owners; owner++) {
        const uint64_t pool = (w->f.first + owner) % job->num_roots;
        const uint64_t first = job->seed_offset ? job->seed_offset[pool] : pool;
        const uint64_t end = job->seed_offset ? job->seed_offset[pool + 1] : pool + 1;
        const uint64_t start = w->next_count;
        w->root[owner] = CSAW_NONE;
        for (uint64_t s = first; s < end; s++) {
            const csaw_vertex v = job->roots ? job->roots[s] : (csaw_vertex)s;
            const csaw__entry entry = {v, CSAW_NONE, (uint32_t)owner, (uint32_t)(s - first)};
            if (s == first) w->root[owner] = v;
            if (w->flags & CSAW_REPLACE_POOL)
                CSAW_TRY(push(w, entry));
            else
                CSAW_TRY(push_new(w, entry));
        }
        if (w->flags & CSAW_REPLACE_POOL) CSAW_TRY(make_list(w, start, w->next_count - start));
    }
    turn(w);
    return CSAW_OK;
}

csaw_status csaw__pools_visit(csaw__worker *w) {
    bool added;
    for (uint64_t i = 0; i < w->pool_count; i++)
        CSAW_TRY(csaw__vertex_set_add(&w->visited, w->pool[i].owner, w->pool[i].at, &added));
    return CSAW_OK;
}

/* ---- the next pools ---- */

static void replace(csaw__worker *w, const csaw__entry *from, csaw_vertex u) {
    const csaw__entry entry = {u, from->at, from->owner, from->place};
    if (csaw__pool_set(&w->list[from->owner], w->sampler, w->job, entry)) return;
    float bias;
    w->sampler->vertex_biases(w->job, &u, 1, &bias);
    w->f.depth++; /* it is the next selection that would look at it */
    csaw__pool_fault(w, from->owner, u, bias);
    w->f.depth--;
}

/* A pool that stays: entries of an owner, in front of what the owner's frontier brings. */
static csaw_status stay(csaw__worker *w, uint32_t owner) {
    if (!(w->flags & CSAW_KEEP_POOL)) return CSAW_OK;
    for (; w->staying < w->pool_count && w->pool[w->staying].owner <= owner; w->staying++)
        CSAW_TRY(push_new(w, w->pool[w->staying]));
    return CSAW_OK;
}

csaw_status csaw__pools_begin_next(csaw__worker *w) {
    w->next_count = w->staying = 0;
    return csaw__vertex_set_clear(&w->in_next);
}

csaw_status csaw__pools_enter(csaw__worker *w, uint64_t i) {
    const csaw__frontier *f = &w->f;
    const csaw__entry *const from = &f->entry[i];
    const csaw_vertex *const next = f->next + f->offset[i];
    const csaw_vertex dead_end = w->has_dead_end ? f->dead_end[i] : CSAW_NONE;
    if (w->flags & CSAW_REPLACE_POOL) {
        if (f->fanout[i]) replace(w, from, f->got[i] ? next[0] : dead_end);
        return CSAW_OK;
    }
    CSAW_TRY(stay(w, from->owner));
    for (uint32_t j = 0; j < f->got[i]; j++)
        if (next[j] != CSAW_NONE) CSAW_TRY(push_new(w, (csaw__entry){next[j], from->at, from->owner, 0}));
    return dead_end == CSAW_NONE ? CSAW_OK : push_new(w, (csaw__entry){dead_end, from->at, from->owner, 0});
}

csaw_status csaw__pools_enter_layer(csaw__worker *w, uint32_t owner) {
    const csaw__frontier *f = &w->f;
    CSAW_TRY(stay(w, owner));
    for (uint64_t p = w->owner_pick[owner]; p < w->owner_pick[owner + 1]; p++)
        if (f->next[p] != CSAW_NONE) CSAW_TRY(push_new(w, (csaw__entry){f->next[p], f->src[p], owner, 0}));
    return CSAW_OK;
}

csaw_status csaw__pools_end_next(csaw__worker *w) {
    if (w->flags & CSAW_REPLACE_POOL) return CSAW_OK;
    CSAW_TRY(stay(w, (uint32_t)w->num_owners));
    turn(w);
    return CSAW_OK;
}

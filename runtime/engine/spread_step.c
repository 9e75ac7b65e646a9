/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread_step.c - the next steps of a group of walkers on a graph that is split over ranks.
 *
 * Method: as of a group of walks of one process (host_kernels.h): rows, then numbers, then what the numbers draw are
 * asked of memory for all of the group before the first one steps, so that reads overlap; and the numbers of all come
 * from one call (runtime/base/numbers.h), each walker at a depth of its own. Where the graph alone decides
 * (walk_plain.h) the step is taken here; else the sampler's own step draws the same number and finds its arc at hand.
 */
#include <csaw/philox.h>
#include <string.h>

#include "runtime/engine/spread_walk.h"

typedef struct group {
    uint32_t count;
    uint32_t slot[CSAW__WALKERS_AT_ONCE];
    uint32_t degree[CSAW__WALKERS_AT_ONCE];
    uint64_t row[CSAW__WALKERS_AT_ONCE]; /* where the arcs begin */
    uint64_t number[CSAW__WALKERS_AT_ONCE];
} group;

/* Inlined, or gcc drops its calls: it takes a function that asks memory for something and no more to have no effect. */
CSAW_FN void soon(const void *place) { __builtin_prefetch(place, 0, 2); }

static bool is_quick(const csaw__job *job) {
    return job->kernel == CSAW__KERNEL_UNIFORM || job->kernel == CSAW__KERNEL_ALIAS;
}

static bool by_alias(const csaw__job *job) {
    return job->kernel == CSAW__KERNEL_ALIAS || job->kernel == CSAW__KERNEL_REJECT_ALIAS;
}

/* The number that each walker's step draws first (docs/stream.md). */
static void draw(const csaw__walks_here *w, group *g) {
    const csaw__job *const job = w->whole;
    const bool quick = is_quick(job);
    uint32_t word[4][CSAW__WALKERS_AT_ONCE];
    uint64_t half[2][CSAW__WALKERS_AT_ONCE];
    for (uint32_t i = 0; i < g->count; i++) {
        const csaw__walker *const walker = &w->slot[g->slot[i]].walker;
        const uint64_t instance = job->first + walker->walk;
        word[0][i] = (uint32_t)instance;
        word[1][i] = (uint32_t)(instance >> 32) << 24 | (quick ? walker->depth >> 1 : walker->depth);
        word[2][i] = quick ? 0 : walker->at;
        word[3][i] = quick ? (uint32_t)CSAW_DRAW_STEP << 28 : (uint32_t)CSAW_DRAW_ATTEMPT << 28 | walker->attempt;
    }
    job->numbers(job->seed, (const uint32_t *const[4]){word[0], word[1], word[2], word[3]}, g->count, half[0], half[1]);
    for (uint32_t i = 0; i < g->count; i++) g->number[i] = half[quick ? w->slot[g->slot[i]].walker.depth & 1 : 0][i];
}

/* Asks memory for what the steps read. */
static void look_ahead(const csaw__walks_here *w, group *g) {
    const csaw__rows *const rows = &w->whole->rows;
    const uint64_t *const offset = rows->offset;
    const uint32_t kernel = w->whole->kernel;
    const bool alias = by_alias(w->whole), draws = kernel != CSAW__KERNEL_ITS && kernel != CSAW__KERNEL_RACE;
    for (uint32_t i = 0; i < g->count; i++) soon(offset + (w->slot[g->slot[i]].walker.at - rows->first));
    if (draws) draw(w, g);
    for (uint32_t i = 0; i < g->count; i++) {
        const csaw_vertex local = w->slot[g->slot[i]].walker.at - rows->first;
        g->row[i] = offset[local];
        g->degree[i] = (uint32_t)(offset[local + 1] - offset[local]);
        if (g->degree[i] == 0) continue;
        const uint64_t place = g->row[i] + (draws ? csaw_below(g->number[i], g->degree[i]) : 0);
        soon(alias ? (const void *)(rows->alias + place) : (const void *)(rows->col + place));
        if (kernel == CSAW__KERNEL_REJECT_ALIAS) soon(rows->bias + local);
    }
}

/* ---- where the graph alone decides ---- */

static bool is_plain(const csaw__walks_here *w) {
    return is_quick(w->whole) &&
           !(w->sampler->traits() & (CSAW__TRAIT_EDGE | CSAW__TRAIT_UPDATE | CSAW__TRAIT_DEAD_END));
}

/* Where the arc drawn leads; CSAW_NONE: there is none, or no bias of the row is positive. */
static csaw_vertex follow(const csaw__rows *rows, bool alias, const group *g, uint32_t i, csaw_edge *edge) {
    *edge = CSAW_NO_EDGE;
    if (g->degree[i] == 0) return CSAW_NONE;
    const uint32_t rank = (uint32_t)csaw_below(g->number[i], g->degree[i]);
    csaw_edge place = g->row[i] + rank;
    csaw_vertex next;
    if (alias) {
        const csaw__alias *const entry = &rows->alias[place];
        const bool own = (uint32_t)(g->number[i] * g->degree[i] >> 32) < entry->threshold;
        next = own ? entry->own : entry->other;
        if (!own) place = g->row[i] + entry->other_rank;
        if (next == CSAW_NONE) return CSAW_NONE;
    } else {
        next = rows->col[place];
    }
    *edge = rows->first_arc + place;
    return next;
}

static csaw_status step_plain(csaw__walks_here *w, const group *g) {
    const csaw__rows *const rows = &w->whole->rows;
    const bool alias = by_alias(w->whole);
    for (uint32_t i = 0; i < g->count; i++) {
        csaw__walker *const walker = &w->slot[g->slot[i]].walker; /* slots move while messages are sent */
        walker->prev = walker->at;
        walker->at = follow(rows, alias, g, i, &walker->edge);
        walker->depth++;
        CSAW_TRY(csaw__walk_go(w, g->slot[i]));
    }
    return CSAW_OK;
}

/* ---- by the sampler's hooks ---- */

static csaw_status step_by_hooks(csaw__walks_here *w, uint32_t number) {
    csaw__walk_slot *const at = &w->slot[number];
    const int outcome = w->sampler->step(w->whole, &at->walker, csaw__walk_known(at), &w->fault);
    const bool asks = outcome == CSAW__ASK_ARC || outcome == CSAW__ASK_ROW;
    csaw__walk_forget(w, at);
    if (!asks) return csaw__walk_go(w, number);
    csaw__walk_ask(w, number, outcome);
    return CSAW_OK;
}

csaw_status csaw__walk_step_some(csaw__walks_here *w, bool *any) {
    group g;
    g.count = w->num_ready < CSAW__WALKERS_AT_ONCE ? (uint32_t)w->num_ready : CSAW__WALKERS_AT_ONCE;
    if (g.count == 0) return CSAW_OK;
    w->num_ready -= g.count;
    memcpy(g.slot, w->ready + w->num_ready, g.count * sizeof *g.slot);
    *any = true;
    look_ahead(w, &g);
    if (is_plain(w)) return step_plain(w, &g);
    for (uint32_t i = 0; i < g.count; i++) CSAW_TRY(step_by_hooks(w, g.slot[i]));
    return CSAW_OK;
}

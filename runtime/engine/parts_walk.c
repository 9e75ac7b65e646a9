/* SPDX-License-Identifier: MIT */
/* runtime/engine/parts_walk.c - walks on a partitioned graph: a walker waits at the partition that holds its vertex,
 * and a second-order step asks the partition that holds prev which candidates are prev's neighbours.
 *
 * A walker at a vertex without arcs needs no partition, and goes on or ends at once.
 *
 * The picks are those of the whole graph, since a draw depends on instance, depth and vertex alone; a step that had to
 * wait for an answer is taken up again where it stopped (questions.h). Walkers and their paths are in device memory, so
 * as many walks are under way as fit there (C-SAW, SC'20, section V-C). */
#include <string.h>

#include "runtime/base/memory.h"
#include "runtime/engine/fault.h"
#include "runtime/engine/parts_walk.h"
#include "runtime/engine/run.h"

enum state { STEPS, ASKS /* it waits at prev's partition */ };

/* Walks that are under way together. */
typedef struct walks {
    csaw__parts *parts;
    const csaw_sampler *sampler;
    const csaw__job *job; /* of these walks alone; path and edge in device memory */
    csaw__fault *fault;
    csaw__walker *walker;     /* [num_walks], device */
    csaw__question *question; /* [num_walks], NULL unless the sampler asks */
} walks;

/* The walker goes to prev's partition, and takes along what it asks; or leaves the queues until there is room for that.
 */
static csaw_status ask(walks *w, const csaw__rows *here, enum csaw__outcome outcome, csaw__active *entry) {
    const csaw__walker *const walker = &w->walker[entry->instance_depth >> CSAW__DEPTH_BITS];
    csaw__question *const q = &w->question[walker->walk];
    csaw__question_room *const room = &w->parts->questions;
    const csaw_vertex *vertex = walker->asked;
    bool parked;
    const uint64_t count = outcome == CSAW__ASK_ROW ? csaw__question_row(here, walker->at, &vertex) : walker->num_asked;
    csaw__question_clear(room, q);
    CSAW_TRY(csaw__question_ask(room, q, vertex, count, entry, &parked));
    entry->vertex = walker->prev;
    entry->state = parked ? CSAW__FINISHED : ASKS;
    return CSAW_OK;
}

static void answer(walks *w, const csaw__rows *here, csaw__active *entry) {
    const csaw__walker *const walker = &w->walker[entry->instance_depth >> CSAW__DEPTH_BITS];
    csaw__question *const q = &w->question[walker->walk];
    csaw__question_answer(here, walker->prev, q->vertex, q->count, q->answer);
    entry->vertex = walker->at;
    entry->state = STEPS;
}

static void record(const csaw__job *job, const csaw__walker *walker) {
    job->path[walker->walk * ((uint64_t)job->length + 1) + walker->depth] = walker->at;
    if (job->edge) job->edge[walker->walk * job->length + walker->depth - 1] = walker->edge;
}

/* A step was made: where the walker is next. An ended walk is padded. */
static void move(walks *w, csaw__walker *walker, csaw__active *entry) {
    record(w->job, walker);
    while (walker->at == CSAW_NONE && walker->depth < w->job->length) {
        walker->depth++;
        walker->edge = CSAW_NO_EDGE;
        record(w->job, walker);
    }
    entry->instance_depth = walker->walk << CSAW__DEPTH_BITS | walker->depth;
    entry->vertex = walker->at;
    entry->state = walker->depth == w->job->length ? CSAW__FINISHED : STEPS;
}

/* Steps from vertices without arcs, for which no partition is needed. */
static void step_off(walks *w, csaw__walker *walker, csaw__active *entry) {
    const uint32_t *const degree = w->parts->degree;
    while (degree && entry->state == STEPS && degree[entry->vertex] == 0) {
        w->sampler->step(w->job, walker, NULL, w->fault);
        move(w, walker, entry);
    }
}

/* Steps until the walker leaves the partition, asks, or is done. */
static csaw_status step(walks *w, const csaw__job *here, csaw__active *entry, const csaw__outlet *outlet) {
    csaw__walker *const walker = &w->walker[entry->instance_depth >> CSAW__DEPTH_BITS];
    csaw__question *const q = w->question ? &w->question[walker->walk] : NULL;
    csaw__question_room *const room = &w->parts->questions;
    do {
        const uint8_t *const known = q && q->count ? q->answer : NULL;
        const int outcome = w->sampler->step(here, walker, known, w->fault);
        if (outcome == CSAW__ASK_ARC || outcome == CSAW__ASK_ROW)
            return ask(w, &here->rows, (enum csaw__outcome)outcome, entry);
        if (known) {
            csaw__question_clear(room, q);
            csaw__question_go_on(room, outlet->queues, outlet->spill);
        }
        move(w, walker, entry);
        step_off(w, walker, entry);
    } while (entry->state == STEPS && entry->vertex - here->rows.first < here->rows.count);
    return CSAW_OK;
}

static csaw_status run(void *self, const csaw__rows *rows, csaw__active *entry, uint64_t n,
                       const csaw__outlet *outlet) {
    walks *const w = self;
    const csaw__job here = csaw__parts_job(w->parts, rows, w->job);
    for (uint64_t i = 0; i < n; i++) {
        if (entry[i].state == ASKS)
            answer(w, rows, &entry[i]);
        else
            CSAW_TRY(step(w, &here, &entry[i], outlet));
    }
    return CSAW_OK;
}

static csaw_status start(walks *w, csaw__queues *queues) {
    const csaw__job *const job = w->job;
    for (uint64_t i = 0; i < job->num_walks; i++) {
        const uint64_t root = (job->first + i) % job->num_roots;
        const csaw_vertex v = job->roots ? job->roots[root] : (csaw_vertex)root;
        w->walker[i] = (csaw__walker){.walk = i, .at = v, .root = v, .prev = CSAW_NONE, .edge = CSAW_NO_EDGE};
        job->path[i * ((uint64_t)job->length + 1)] = v;
        if (job->length == 0) continue;
        csaw__active entry = {.instance_depth = i << CSAW__DEPTH_BITS, .vertex = v};
        step_off(w, &w->walker[i], &entry);
        if (entry.state != CSAW__FINISHED) CSAW_TRY(csaw__queues_add(queues, entry));
    }
    return CSAW_OK;
}

csaw_status csaw__parts_walk_on_host(csaw__parts *parts, const csaw__walks *of) {
    const bool asks = parts->degree && of->sampler->traits() & CSAW__TRAIT_SECOND_ORDER;
    const uint64_t count = of->job->num_walks;
    walks w = {parts, of->sampler, of->job, of->fault, of->state, NULL};
    if (asks) CSAW_TRY(csaw__alloc_zero(&w.question, count, "questions of walkers"));
    csaw_status status = start(&w, &parts->queues);
    if (status == CSAW_OK) status = csaw__parts_run(parts, (csaw__part_work){&w, run});
    if (status != CSAW_OK) csaw__queues_clear(&parts->queues);
    for (uint64_t i = 0; asks && i < count; i++) csaw__question_clear(&parts->questions, &w.question[i]);
    csaw__free(w.question);
    return status;
}

/* ---- rounds ---- */

/* Device memory of walks under way. */
typedef struct room {
    bool held; /* path and edge stay NULL: they are written where the job wants them */
    void *state;
    csaw_vertex *path;
    csaw_edge *edge;
    uint64_t walks, state_bytes, path_bytes, edge_bytes;
} room;

static csaw_status room_create(csaw__parts *parts, const csaw__job *job, room *out) {
    const csaw__part_device *const on = &parts->on;
    if (parts->kind->hold) CSAW_TRY(parts->kind->hold(parts, job, &out->held));
    const uint64_t path = out->held ? 0 : ((uint64_t)job->length + 1) * sizeof *job->path;
    const uint64_t edge = out->held || !job->edge ? 0 : (uint64_t)job->length * sizeof *job->edge;
    out->walks = csaw__parts_at_once(parts, parts->walk_state + path + edge, job->num_walks);
    out->state_bytes = out->walks * parts->walk_state;
    out->path_bytes = out->walks * path;
    out->edge_bytes = out->walks * edge;
    CSAW_TRY(on->alloc(on->self, out->state_bytes, "walkers", &out->state));
    if (path) CSAW_TRY(on->alloc(on->self, out->path_bytes, "paths under way", (void **)&out->path));
    return edge ? on->alloc(on->self, out->edge_bytes, "arcs of walks under way", (void **)&out->edge) : CSAW_OK;
}

static void room_free(csaw__parts *parts, room *room) {
    const csaw__part_device *const on = &parts->on;
    on->free(on->self, room->edge, room->edge_bytes);
    on->free(on->self, room->path, room->path_bytes);
    on->free(on->self, room->state, room->state_bytes);
    if (parts->kind->let_go) parts->kind->let_go(parts);
}

/* Walks done .. done + count - 1 of the job, in that memory; their paths and arcs get to where the job wants them. */
static csaw_status walk_some(csaw__parts *parts, const csaw_sampler *sampler, const csaw__job *job, room *room,
                             uint64_t done, uint64_t count, csaw__fault *fault) {
    const csaw__part_device *const on = &parts->on;
    const uint64_t places = (uint64_t)job->length + 1, edges = job->length * sizeof *job->edge;
    csaw_vertex *const path = job->path + done * places;
    csaw_edge *const edge = job->edge ? job->edge + done * job->length : NULL;
    csaw__job some = *job;
    some.first = job->first + done;
    some.num_walks = count;
    some.path = room->held ? path : room->path;
    some.edge = room->held ? edge : room->edge;
    const csaw__walks walks = {sampler, &some, room->state, fault};
    CSAW_TRY(parts->kind->walk(parts, &walks));
    if (room->held) return CSAW_OK;
    CSAW_TRY(on->get(on->self, path, room->path, count * places * sizeof *path));
    return edge ? on->get(on->self, edge, room->edge, count * edges) : CSAW_OK;
}

csaw_status csaw__parts_walk(const csaw__run *r, const csaw__job *job, csaw__fault *fault) {
    csaw__parts *const parts = r->plan->parts;
    room room = {0};
    csaw_status status = CSAW_OK;
    if (job->num_walks == 0) return CSAW_OK;
    CSAW_TRY_DONE(room_create(parts, job, &room));
    for (uint64_t done = 0; done < job->num_walks; done += room.walks) {
        const uint64_t left = job->num_walks - done;
        if (done) CSAW_TRY_DONE(csaw__run_progress(r, job->first + done));
        CSAW_TRY_DONE(walk_some(parts, r->sampler, job, &room, done, left < room.walks ? left : room.walks, fault));
    }
done:
    room_free(parts, &room);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* runtime/engine/rows.c - a sampler's hooks over the rows of a frontier: at once where the whole graph is in sight,
 * else partition by partition, each seeing its own rows alone.
 *
 * On partitions an entry waits at the partition of its vertex, unless that has no arcs: then nothing of a partition is
 * needed. Second-order questions come first: an entry takes its row's destinations to the partition of prev, where they
 * are answered; as many entries at a time as there is memory for (questions.h). */
#include <string.h>

#include "runtime/base/memory.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/sampling.h"
#include "runtime/engine/spread_sample.h"

/* ---- the debug mode ---- */

static void check_entries(csaw__worker *w) {
    for (uint64_t i = 0; i < w->f.count; i++) {
        const csaw__entry *entry = &w->f.entry[i];
        csaw__walker walker = {.walk = w->f.first + entry->owner - w->job->first,
                               .at = entry->at,
                               .prev = entry->prev,
                               .root = w->root[entry->owner],
                               .depth = w->f.depth};
        if (w->has_user) memcpy(walker.user, w->user[entry->owner], sizeof walker.user);
        w->sampler->check(w->job, &walker, &w->fault);
    }
}

/* ---- entries at their partitions ---- */

/* What is to be done with the rows of some entries; on partitions they wait there by their places in the list. */
typedef struct row_work {
    csaw__worker *w;
    void (*run)(csaw__worker *w, const csaw__job *job, const uint64_t *entry, uint64_t n);
    const uint64_t *entry; /* [count] */
    uint64_t count;
} row_work;

/* Place i of the list waits at the partition of its vertex. */
static csaw_status wait_at_part(const row_work *work, uint64_t i) {
    const csaw__worker *const w = work->w;
    csaw__queues *const queues = &w->plan->parts->queues;
    const csaw_status status =
        csaw__queues_add(queues, (csaw__active){.instance_depth = i << CSAW__DEPTH_BITS | w->f.depth,
                                                .vertex = w->f.entry[work->entry[i]].at});
    if (status != CSAW_OK) csaw__queues_clear(queues);
    return status;
}

static uint64_t place_of(const csaw__active *entry) { return entry->instance_depth >> CSAW__DEPTH_BITS; }

/* ---- second-order questions ---- */

/* Of places first .. end - 1 of a list, one behind the other: the destinations of those that came from somewhere, on
 * their way to the partitions of prev, and whether each is a neighbour of prev. */
typedef struct questions {
    const row_work *of;
    uint64_t first, end;
    uint64_t *offset;        /* [end - first + 1] where each place's begin */
    csaw_vertex *vertex;     /* [offset[end - first]] */
    uint8_t *answer;         /* [offset[end - first]] */
    const uint8_t **answers; /* [f.count] by entry; NULL where nobody asks */
} questions;
enum { ASKS = 1 /* state of an entry that waits at prev's partition */ };

/* Of a prev without arcs nothing is asked: it has no neighbours. */
static uint64_t arcs_asked(const row_work *of, uint64_t i) {
    const csaw__frontier *const f = &of->w->f;
    const csaw_vertex prev = f->entry[of->entry[i]].prev;
    return prev == CSAW_NONE || of->w->plan->parts->degree[prev] == 0 ? 0 : f->degree[of->entry[i]];
}

/* At v's partition: what is asked of prev's. */
static void ask(const questions *q, const csaw__rows *rows, csaw__active *entry) {
    const uint64_t i = place_of(entry);
    const csaw_vertex prev = q->of->w->f.entry[q->of->entry[i]].prev, *row;
    const uint64_t arcs = csaw__question_row(rows, entry->vertex, &row);
    memcpy(q->vertex + q->offset[i - q->first], row, arcs * sizeof *row);
    entry->vertex = prev;
    entry->state = ASKS;
}

static void answer(const questions *q, const csaw__rows *rows, csaw__active *entry) {
    const uint64_t *const offset = q->offset + (place_of(entry) - q->first);
    csaw__question_answer(rows, entry->vertex, q->vertex + offset[0], offset[1] - offset[0], q->answer + offset[0]);
    entry->state = CSAW__FINISHED;
}

static csaw_status run_questions(void *self, const csaw__rows *rows, csaw__active *entry, uint64_t n,
                                 const csaw__outlet *outlet) {
    (void)outlet;
    for (uint64_t i = 0; i < n; i++) {
        if (entry[i].state == ASKS)
            answer(self, rows, &entry[i]);
        else
            ask(self, rows, &entry[i]);
    }
    return CSAW_OK;
}

/* As many places from q->first on as there is room for questions of, at least one: up to q->end. */
static void take_some(questions *q) {
    csaw__question_room *const room = &q->of->w->plan->parts->questions;
    uint64_t arcs = arcs_asked(q->of, q->first);
    for (q->end = q->first + 1; q->end < q->of->count; q->end++) {
        const uint64_t more = arcs + arcs_asked(q->of, q->end);
        if (csaw__question_bytes(more) > room->most) break;
        arcs = more;
    }
    if (csaw__question_bytes(arcs) > room->peak) room->peak = csaw__question_bytes(arcs);
}

static csaw_status take_memory(questions *q) {
    const uint64_t count = q->end - q->first;
    CSAW_TRY(csaw__alloc(&q->offset, count + 1, "questions to other partitions"));
    q->offset[0] = 0;
    for (uint64_t i = 0; i < count; i++) q->offset[i + 1] = q->offset[i] + arcs_asked(q->of, q->first + i);
    CSAW_TRY(csaw__alloc(&q->vertex, q->offset[count], "questions to other partitions"));
    CSAW_TRY(csaw__alloc(&q->answer, q->offset[count], "answers from other partitions"));
    for (uint64_t i = q->first; i < q->end; i++)
        q->answers[q->of->entry[i]] = arcs_asked(q->of, i) ? q->answer + q->offset[i - q->first] : NULL;
    return CSAW_OK;
}

static void give_memory(questions *q) {
    csaw__free(q->offset);
    csaw__free(q->vertex);
    csaw__free(q->answer);
    q->offset = NULL;
    q->vertex = NULL;
    q->answer = NULL;
}

/* For places first .. end - 1 that came from somewhere, whether each of their arcs leads to a neighbour of prev. For
 * the others no partition is brought. */
static csaw_status ask_some(questions *q) {
    CSAW_TRY(take_memory(q));
    for (uint64_t i = q->first; i < q->end; i++)
        if (arcs_asked(q->of, i)) CSAW_TRY(wait_at_part(q->of, i));
    return csaw__parts_run(q->of->w->plan->parts, (csaw__part_work){q, run_questions});
}

/* ---- the hooks ---- */

static csaw_status run_part(void *self, const csaw__rows *rows, csaw__active *entry, uint64_t n,
                            const csaw__outlet *outlet) {
    const row_work *const work = self;
    const csaw__job here = csaw__parts_job(work->w->plan->parts, rows, work->w->job);
    uint64_t item[CSAW__AT_ONCE];
    (void)outlet;
    for (uint64_t i = 0; i < n; i++) {
        item[i] = work->entry[place_of(&entry[i])];
        entry[i].state = CSAW__FINISHED;
    }
    work->run(work->w, &here, item, n);
    return CSAW_OK;
}

static csaw_status over_parts(row_work *work, uint64_t first, uint64_t end) {
    csaw__worker *const w = work->w;
    for (uint64_t i = first; i < end; i++) {
        if (w->f.degree[work->entry[i]])
            CSAW_TRY(wait_at_part(work, i));
        else
            work->run(w, w->job, &work->entry[i], 1);
    }
    return csaw__parts_run(work->w->plan->parts, (csaw__part_work){work, run_part});
}

/* Some entries at a time, as many as may ask together. */
static csaw_status over_asking_parts(row_work *work) {
    csaw__worker *const w = work->w;
    questions q = {.of = work};
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__alloc(&q.answers, w->f.count, "answers from other partitions"));
    w->f.answer = q.answers;
    for (; q.first < work->count; q.first = q.end) {
        take_some(&q);
        CSAW_TRY_DONE(ask_some(&q));
        CSAW_TRY_DONE(over_parts(work, q.first, q.end));
        give_memory(&q);
    }
done:
    give_memory(&q);
    csaw__free(q.answers);
    w->f.answer = NULL;
    return status;
}

/* Of the whole graph, or of partitions. */
static csaw_status over_rows(row_work work) {
    csaw__worker *const w = work.w;
    const csaw__parts *const parts = w->plan->parts;
    if (parts && !w->rows_in_sight)
        return w->flags & CSAW_SECOND_ORDER && parts->degree ? over_asking_parts(&work)
                                                             : over_parts(&work, 0, work.count);
    if (w->check) check_entries(w);
    work.run(w, w->job, work.entry, work.count);
    return CSAW_OK;
}

static void expand(csaw__worker *w, const csaw__job *job, const uint64_t *entry, uint64_t n) {
    w->sampler->expand(job, &w->f, entry, n, &w->scratch, &w->fault);
}

static void layer_biases(csaw__worker *w, const csaw__job *job, const uint64_t *entry, uint64_t n) {
    w->sampler->layer_biases(job, &w->f, entry, n, &w->fault);
}

csaw_status csaw__rows_expand(csaw__worker *w) {
    if (w->plan->spread && !w->rows_in_sight) return csaw__spread_expand(w);
    return over_rows((row_work){w, expand, w->all, w->f.count});
}

csaw_status csaw__rows_layer_biases(csaw__worker *w, const uint64_t *entry, uint64_t n) {
    if (w->plan->spread && !w->rows_in_sight) return csaw__spread_layer_biases(w);
    return over_rows((row_work){w, layer_biases, entry, n});
}

csaw_status csaw__rows_layer_look(csaw__worker *w, const uint64_t *entry, uint64_t n) {
    return over_rows((row_work){w, csaw__layers_look, entry, n});
}

/* A few arcs of many: they are read where the graph is whole, on the host, and no partition is brought for them. */
csaw_status csaw__rows_layer_updates(csaw__worker *w, uint64_t num_picks) {
    if (w->plan->spread) return csaw__spread_layer_updates(w, num_picks);
    w->sampler->layer_updates(w->job, &w->f, num_picks, &w->fault);
    return CSAW_OK;
}

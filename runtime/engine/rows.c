/* SPDX-License-Identifier: MIT */
/* runtime/engine/rows.c - a sampler's hooks over the rows of a frontier: at once where the whole graph is in sight,
 * else partition by partition, each seeing its own rows alone.
 *
 * On partitions an entry, or a pick of CSAW_LAYER, waits at the partition of its vertex. Second-order questions come
 * first: an entry takes its row's destinations to the partition of prev, where they are answered. */
#include "runtime/base/grow.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/sampling.h"

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

/* All items 0 .. n - 1, entries of the frontier or picks of its layers, at the partitions of their vertices. */
static csaw_status wait_at_parts(csaw__worker *w, const uint64_t *entry_of, uint64_t n) {
    csaw__queues *const queues = &w->plan->parts->queues;
    for (uint64_t i = 0; i < n; i++) {
        const csaw__entry *const entry = &w->f.entry[entry_of ? entry_of[i] : i];
        const csaw_status status = csaw__queues_add(
            queues, (csaw__active){.instance_depth = i << CSAW__DEPTH_BITS | w->f.depth, .vertex = entry->at});
        if (status == CSAW_OK) continue;
        csaw__queues_clear(queues);
        return status;
    }
    return CSAW_OK;
}

static uint64_t item_of(const csaw__active *entry) { return entry->instance_depth >> CSAW__DEPTH_BITS; }

/* ---- second-order questions ---- */

/* Of entries that came from somewhere, one behind the other: their rows' destinations, on their way to the partitions
 * of prev, and whether each is a neighbour of prev. */
typedef struct questions {
    csaw__worker *w;
    uint64_t *offset;        /* [count + 1] where each entry's begin */
    csaw_vertex *vertex;     /* [offset[count]] */
    uint8_t *answer;         /* [offset[count]] */
    const uint8_t **answers; /* [count] by entry; NULL where nobody asks */
} questions;
enum { ASKS = 1 /* state of an entry that waits at prev's partition */ };

/* At v's partition: what is asked of prev's. */
static void ask(const questions *q, const csaw__rows *rows, csaw__active *entry) {
    const uint64_t i = item_of(entry);
    const uint64_t *const offset = (const uint64_t *)rows->offset + (entry->vertex - rows->first);
    const csaw_vertex prev = q->w->f.entry[i].prev;
    const uint64_t arcs = q->offset[i + 1] - q->offset[i];
    if (arcs) memcpy(q->vertex + q->offset[i], rows->col + offset[0], arcs * sizeof *rows->col);
    entry->vertex = prev == CSAW_NONE ? entry->vertex : prev;
    entry->state = prev == CSAW_NONE ? CSAW__FINISHED : ASKS;
}

static void answer(const questions *q, const csaw__rows *rows, csaw__active *entry) {
    const uint64_t i = item_of(entry);
    for (uint64_t p = q->offset[i]; p < q->offset[i + 1]; p++)
        q->answer[p] = csaw__parts_has_arc(rows, entry->vertex, q->vertex[p]);
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

static csaw_status questions_create(csaw__worker *w, questions *out) {
    const csaw__frontier *const f = &w->f;
    out->w = w;
    CSAW_TRY(csaw__alloc(&out->offset, f->count + 1, "questions to other partitions"));
    out->offset[0] = 0;
    for (uint64_t i = 0; i < f->count; i++)
        out->offset[i + 1] = out->offset[i] + (f->entry[i].prev == CSAW_NONE ? 0 : f->degree[i]);
    CSAW_TRY(csaw__alloc(&out->vertex, out->offset[f->count], "questions to other partitions"));
    CSAW_TRY(csaw__alloc(&out->answer, out->offset[f->count], "answers from other partitions"));
    CSAW_TRY(csaw__alloc(&out->answers, f->count, "answers from other partitions"));
    for (uint64_t i = 0; i < f->count; i++)
        out->answers[i] = f->entry[i].prev == CSAW_NONE ? NULL : out->answer + out->offset[i];
    return CSAW_OK;
}

static void questions_free(questions *q) {
    csaw__free(q->offset);
    csaw__free(q->vertex);
    csaw__free(q->answer);
    csaw__free(q->answers);
}

/* For every entry that came from somewhere, whether each of its arcs leads to a neighbour of prev. */
static csaw_status ask_all(csaw__worker *w, questions *q) {
    if (!(w->flags & CSAW_SECOND_ORDER) || !w->plan->parts->degree) return CSAW_OK;
    CSAW_TRY(questions_create(w, q));
    CSAW_TRY(wait_at_parts(w, NULL, w->f.count));
    CSAW_TRY(csaw__parts_run(w->plan->parts, (csaw__part_work){q, run_questions}));
    w->f.answer = q->answers;
    return CSAW_OK;
}

/* ---- the hooks ---- */

typedef enum hooks { EXPAND, LAYER_BIASES, LAYER_UPDATES } hooks;

typedef struct hooks_work {
    csaw__worker *w;
    hooks which;
} hooks_work;

static void run_hooks(csaw__worker *w, hooks which, const csaw__job *job, const uint64_t *item, uint64_t n) {
    if (which == EXPAND) w->sampler->expand(job, &w->f, item, n, &w->scratch, &w->fault);
    if (which == LAYER_BIASES) w->sampler->layer_biases(job, &w->f, item, n, &w->fault);
    if (which == LAYER_UPDATES) w->sampler->layer_updates(job, &w->f, item, n, &w->fault);
}

static csaw_status run_part(void *self, const csaw__rows *rows, csaw__active *entry, uint64_t n,
                            const csaw__outlet *outlet) {
    const hooks_work *const work = self;
    const csaw__job here = csaw__parts_job(work->w->plan->parts, rows, work->w->job);
    uint64_t item[CSAW__AT_ONCE];
    (void)outlet;
    for (uint64_t i = 0; i < n; i++) {
        item[i] = item_of(&entry[i]);
        entry[i].state = CSAW__FINISHED;
    }
    run_hooks(work->w, work->which, &here, item, n);
    return CSAW_OK;
}

static csaw_status over_rows(csaw__worker *w, hooks which, const uint64_t *entry_of, uint64_t n) {
    hooks_work work = {w, which};
    questions asked = {0};
    csaw_status status = CSAW_OK;
    if (!w->plan->parts || w->rows_in_sight) {
        if (w->check && which != LAYER_UPDATES) check_entries(w);
        run_hooks(w, which, w->job, w->all, n);
        return CSAW_OK;
    }
    CSAW_TRY_DONE(ask_all(w, &asked));
    CSAW_TRY_DONE(wait_at_parts(w, entry_of, n));
    CSAW_TRY_DONE(csaw__parts_run(w->plan->parts, (csaw__part_work){&work, run_part}));
done:
    questions_free(&asked);
    w->f.answer = NULL;
    return status;
}

csaw_status csaw__rows_expand(csaw__worker *w) { return over_rows(w, EXPAND, NULL, w->f.count); }
csaw_status csaw__rows_layer_biases(csaw__worker *w) { return over_rows(w, LAYER_BIASES, NULL, w->f.count); }
csaw_status csaw__rows_layer_updates(csaw__worker *w, uint64_t num_picks) {
    return over_rows(w, LAYER_UPDATES, w->f.pick_entry, num_picks);
}

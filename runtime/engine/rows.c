/* SPDX-License-Identifier: MIT */
/* runtime/engine/rows.c - a sampler's hooks over the rows of a frontier: at once where the whole graph is in sight,
 * else partition by partition, each seeing its own rows alone. Second-order questions are answered by prev's partition
 * first. */
#include "runtime/base/grow.h"
#include "runtime/engine/sampling.h"

/* ---- entries and picks by partition ---- */

typedef struct by_part {
    uint64_t *item;  /* [n] in the order of their partitions */
    uint64_t *first; /* [partitions + 1] */
} by_part;

static void by_part_free(by_part *order) {
    csaw__free(order->item);
    csaw__free(order->first);
}

/* entry_of: [n] the frontier's entry of each item; NULL = item i is entry i. Within a partition they stand in reverse:
 * no result may depend on their order. */
static csaw_status by_part_create(const csaw__worker *w, const uint64_t *entry_of, uint64_t n, by_part *out) {
    const csaw__parts *parts = w->plan->parts;
    const uint32_t count = csaw__parts_count(parts);
    by_part order = {0};
    CSAW_TRY(csaw__alloc_zero(&order.first, (uint64_t)count + 1, "a frontier by partition"));
    const csaw_status status = csaw__alloc(&order.item, n, "a frontier by partition");
    if (status != CSAW_OK) {
        by_part_free(&order);
        return status;
    }
    for (uint64_t i = 0; i < n; i++)
        order.first[csaw__parts_of(parts, w->f.entry[entry_of ? entry_of[i] : i].at) + 1]++;
    for (uint32_t p = 0; p < count; p++) order.first[p + 1] += order.first[p];
    for (uint64_t i = n; i-- > 0;) /* first[p] moves to where p + 1 begins, and is put back below */
        order.item[order.first[csaw__parts_of(parts, w->f.entry[entry_of ? entry_of[i] : i].at)]++] = i;
    for (uint32_t p = count; p > 0; p--) order.first[p] = order.first[p - 1];
    order.first[0] = 0;
    *out = order;
    return CSAW_OK;
}

/* ---- second-order questions ---- */

static void answers_free(csaw__worker *w, uint8_t **answer) {
    for (uint64_t i = 0; answer && i < w->f.count; i++) csaw__free(answer[i]);
    csaw__free(answer);
    w->f.answer = NULL;
}

/* For every entry that came from somewhere, whether each of its arcs leads to a neighbour of prev. */
static csaw_status answers_create(csaw__worker *w, uint8_t ***out) {
    uint8_t **answer = NULL;
    *out = NULL;
    if (!(w->flags & CSAW_SECOND_ORDER)) return CSAW_OK;
    CSAW_TRY(csaw__alloc_zero(&answer, w->f.count, "answers from other partitions"));
    for (uint64_t i = 0; i < w->f.count; i++) {
        const csaw__entry *entry = &w->f.entry[i];
        if (entry->prev == CSAW_NONE) continue;
        const csaw_status status = csaw__alloc(&answer[i], w->f.degree[i], "answers from other partitions");
        if (status != CSAW_OK) {
            answers_free(w, answer);
            return status;
        }
        csaw__parts_answer(w->plan->parts, entry->at, entry->prev, answer[i]);
    }
    w->f.answer = (const uint8_t *const *)answer;
    *out = answer;
    return CSAW_OK;
}

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

/* ---- the hooks ---- */

typedef enum hooks { EXPAND, LAYER_BIASES, LAYER_UPDATES } hooks;

static void run_hooks(csaw__worker *w, hooks which, const csaw__job *job, const uint64_t *item, uint64_t n) {
    if (which == EXPAND) w->sampler->expand(job, &w->f, item, n, &w->scratch, &w->fault);
    if (which == LAYER_BIASES) w->sampler->layer_biases(job, &w->f, item, n, &w->fault);
    if (which == LAYER_UPDATES) w->sampler->layer_updates(job, &w->f, item, n, &w->fault);
}

static csaw_status over_rows(csaw__worker *w, hooks which, const uint64_t *entry_of, uint64_t n) {
    by_part order = {0};
    uint8_t **answer = NULL;
    csaw_status status = CSAW_OK;
    if (!w->plan->parts || w->job->remote) { /* all rows at hand are in sight; remote: they are one partition's */
        if (w->check && which != LAYER_UPDATES) check_entries(w);
        run_hooks(w, which, w->job, w->all, n);
        return CSAW_OK;
    }
    CSAW_TRY_DONE(by_part_create(w, entry_of, n, &order));
    CSAW_TRY_DONE(answers_create(w, &answer));
    for (uint32_t p = 0; p < csaw__parts_count(w->plan->parts); p++) {
        const csaw__job here = csaw__parts_job(w->plan->parts, p, w->job);
        run_hooks(w, which, &here, order.item + order.first[p], order.first[p + 1] - order.first[p]);
    }
done:
    answers_free(w, answer);
    by_part_free(&order);
    return status;
}

csaw_status csaw__rows_expand(csaw__worker *w) { return over_rows(w, EXPAND, NULL, w->f.count); }
csaw_status csaw__rows_layer_biases(csaw__worker *w) { return over_rows(w, LAYER_BIASES, NULL, w->f.count); }
csaw_status csaw__rows_layer_updates(csaw__worker *w, uint64_t num_picks) {
    return over_rows(w, LAYER_UPDATES, w->f.pick_entry, num_picks);
}

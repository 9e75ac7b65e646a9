/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread_rows.c - rows that come home: where a sampler's hooks look at what the rank that holds a row
 * does not have, the row, and that of prev for second-order samplers, is fetched, and the hooks run at home. As many
 * rows at a time as there is room for, at least those of one entry; each once, however many entries stand there. */
#include <stdlib.h>

#include "runtime/base/grow.h"
#include "runtime/base/vertex_set_add.h"
#include "runtime/engine/questions.h"
#include "runtime/engine/spread_sample.h"

/* ---- the owner's side ---- */

static char *put(char *at, const void *array, uint64_t place, uint64_t count, uint64_t size) {
    if (!array) return at;
    memcpy(at, (const char *)array + place * size, count * size);
    return at + count * size;
}

csaw_status csaw__home_rows_send(csaw__spread_samples *r, uint32_t to, uint64_t number, csaw_vertex at) {
    const csaw__rows *const rows = &r->job->rows;
    const uint64_t *const offset = (const uint64_t *)rows->offset + (at - rows->first);
    const uint64_t degree = offset[1] - offset[0],
                   most = (r->s->on.batch - sizeof(csaw__row_message)) / csaw__bytes_of_arc(rows);
    for (uint64_t done = 0; done < degree;) {
        const uint64_t count = degree - done < most ? degree - done : most, place = offset[0] + done;
        const uint64_t bytes = sizeof(csaw__row_message) + count * csaw__bytes_of_arc(rows);
        csaw__row_message *out;
        CSAW_TRY(csaw__post(r->s, to, bytes, (void **)&out));
        memset(out, 0, sizeof *out);
        out->head = csaw__message(CSAW__ROW, bytes, number);
        out->first = (uint32_t)done;
        out->count = (uint32_t)count;
        out->first_arc = rows->first_arc + offset[0];
        if (rows->bias) {
            out->total = rows->bias[at - rows->first].total;
            out->top = rows->bias[at - rows->first].top;
        }
        char *to_array = (char *)(out + 1);
        to_array = put(to_array, rows->col, place, count, sizeof *rows->col);
        to_array = put(to_array, rows->weight, place, count, sizeof *rows->weight);
        to_array = put(to_array, rows->type, place, count, sizeof *rows->type);
        to_array = put(to_array, rows->time, place, count, sizeof *rows->time);
        put(to_array, rows->alias, place, count, sizeof *rows->alias);
        done += count;
        r->s->counts.messages[CSAW__ROW]++;
    }
    return CSAW_OK;
}

/* ---- the home's side ---- */

static const char *get(const char *from, void *array, uint64_t place, uint64_t count, uint64_t size) {
    if (!array) return from;
    memcpy((char *)array + place * size, from, count * size);
    return from + count * size;
}

csaw_status csaw__home_rows_take(csaw__spread_samples *r, uint32_t rank, uint64_t head, const unsigned char *message) {
    const csaw__row_message *const m = (const csaw__row_message *)(const void *)message;
    csaw__home_rows *const h = &r->rows;
    csaw__home_row *const row = &h->row[csaw__message_number(head)];
    const uint64_t place = row->first + m->first, count = m->count;
    const char *from = (const char *)(m + 1);
    from = get(from, h->col, place, count, sizeof *h->col);
    from = get(from, h->weight, place, count, sizeof *h->weight);
    from = get(from, h->type, place, count, sizeof *h->type);
    from = get(from, h->time, place, count, sizeof *h->time);
    get(from, h->alias, place, count, sizeof *h->alias);
    row->first_arc = m->first_arc;
    row->bias = (csaw__row_bias){m->total, m->top};
    row->came += m->count;
    if (row->came == row->degree) csaw__spread_came_back(r, rank);
    return CSAW_OK;
}

void csaw__home_rows_free(csaw__home_rows *h) {
    csaw__free(h->row);
    csaw__free(h->col);
    csaw__free(h->weight);
    csaw__free(h->type);
    csaw__free(h->time);
    csaw__free(h->alias);
    memset(h, 0, sizeof *h);
}

static int by_vertex(const void *a, const void *b) {
    const csaw_vertex x = ((const csaw__home_row *)a)->at, y = ((const csaw__home_row *)b)->at;
    return (x > y) - (x < y);
}

static csaw__home_row *find_row(const csaw__home_rows *h, csaw_vertex v) {
    const csaw__home_row key = {.at = v};
    return bsearch(&key, h->row, h->count, sizeof key, by_vertex);
}

/* In order of vertex, and where the arcs of each will stand. */
static void arrange(csaw__home_rows *h) {
    qsort(h->row, h->count, sizeof *h->row, by_vertex);
    for (uint64_t i = 0; i < h->count; i++) {
        h->row[i].first = h->arcs;
        h->arcs += h->row[i].degree;
    }
}

static csaw_status take_memory(csaw__home_rows *h, const csaw__rows *rows) {
    CSAW_TRY(csaw__alloc(&h->col, h->arcs, "rows of other ranks"));
    if (rows->weight) CSAW_TRY(csaw__alloc(&h->weight, h->arcs, "rows of other ranks"));
    if (rows->type) CSAW_TRY(csaw__alloc(&h->type, h->arcs, "rows of other ranks"));
    if (rows->time) CSAW_TRY(csaw__alloc(&h->time, h->arcs, "rows of other ranks"));
    return rows->alias ? csaw__alloc(&h->alias, h->arcs, "rows of other ranks") : CSAW_OK;
}

/* Of this rank's own: no message, a copy. */
static void copy_own(csaw__home_rows *h, csaw__home_row *row, const csaw__rows *rows) {
    const uint64_t place = ((const uint64_t *)rows->offset)[row->at - rows->first], n = row->degree;
    put((char *)(h->col + row->first), rows->col, place, n, sizeof *h->col);
    if (h->weight) put((char *)(h->weight + row->first), rows->weight, place, n, sizeof *h->weight);
    if (h->type) put((char *)(h->type + row->first), rows->type, place, n, sizeof *h->type);
    if (h->time) put((char *)(h->time + row->first), rows->time, place, n, sizeof *h->time);
    if (h->alias) put((char *)(h->alias + row->first), rows->alias, place, n, sizeof *h->alias);
    row->first_arc = rows->first_arc + place;
    if (rows->bias) row->bias = rows->bias[row->at - rows->first];
}

/* The rows that r->rows names come. */
static csaw_status fetch(csaw__spread_samples *r, const csaw__rows *rows) {
    csaw__home_rows *const h = &r->rows;
    arrange(h);
    CSAW_TRY(take_memory(h, rows));
    for (uint64_t i = 0; i < h->count; i++) {
        const uint32_t owner = csaw__range_of(&r->s->share.ranges, h->row[i].at);
        csaw__wanted_message *out;
        if (h->row[i].degree == 0) continue;
        if (owner == r->s->on.rank) {
            copy_own(h, &h->row[i], rows);
            continue;
        }
        CSAW_TRY(csaw__spread_send_out(r, owner));
        CSAW_TRY(csaw__post(r->s, owner, sizeof *out, (void **)&out));
        out->head = csaw__message(CSAW__WANTED, sizeof *out, i);
        out->at = h->row[i].at;
        r->s->counts.messages[CSAW__WANTED]++;
    }
    CSAW_TRY(csaw__post_flush(r->s));
    return csaw__spread_wait(r);
}

static bool asks(const csaw__worker *w, uint64_t entry) {
    return w->flags & CSAW_SECOND_ORDER && w->f.entry[entry].prev != CSAW_NONE;
}

/* Bytes at home of v's row, 0 where it is wanted already. */
static uint64_t bytes_of_row(const csaw__spread_samples *r, const csaw__job *job, csaw_vertex v) {
    if (csaw__vertex_set_has(&r->at_home, 0, v)) return 0;
    return job->degree[v] * csaw__bytes_of_arc(&job->rows) + sizeof(csaw__home_row);
}

static csaw_status want(csaw__spread_samples *r, uint64_t *room, const csaw__job *job, csaw_vertex v) {
    csaw__home_rows *const h = &r->rows;
    bool added;
    CSAW_TRY(csaw__vertex_set_add(&r->at_home, 0, v, &added));
    if (!added) return CSAW_OK;
    CSAW_TRY(CSAW__GROW(&h->row, room, h->count + 1, "rows of other ranks"));
    h->row[h->count++] = (csaw__home_row){.at = v, .degree = job->degree[v]};
    return CSAW_OK;
}

/* The rows of entries first .. *end - 1 come, each once: of as many as there is room for, at least one, at most all up
 * to count. pick_entry: the entries, of picks; NULL: they are those of the frontier in turn. */
static csaw_status bring(csaw__spread_samples *r, const csaw__worker *w, const uint64_t *pick_entry, uint64_t first,
                         uint64_t count, uint64_t *end) {
    uint64_t room = 0, bytes = 0;
    csaw__home_rows_free(&r->rows);
    CSAW_TRY(csaw__vertex_set_clear(&r->at_home));
    for (*end = first; *end < count; ++*end) {
        const uint64_t number = pick_entry ? pick_entry[*end] : *end;
        const csaw__entry *const entry = &w->f.entry[number];
        const uint64_t more =
            bytes_of_row(r, w->job, entry->at) + (asks(w, number) ? bytes_of_row(r, w->job, entry->prev) : 0);
        if (*end > first && more && bytes + more > r->s->options.room) break;
        bytes += more;
        CSAW_TRY(want(r, &room, w->job, entry->at));
        if (asks(w, number)) CSAW_TRY(want(r, &room, w->job, entry->prev));
    }
    return fetch(r, &w->job->rows);
}

/* What a job sees of the graph is one row. */
static csaw__job job_of_row(const csaw__spread_samples *r, const csaw__job *job, const csaw__home_row *row,
                            uint64_t offset[2]) {
    const csaw__home_rows *const h = &r->rows;
    csaw__job here = *job;
    offset[0] = 0;
    offset[1] = row->degree;
    here.rows = (csaw__rows){.offset = offset,
                             .col = h->col + row->first,
                             .weight = h->weight ? h->weight + row->first : NULL,
                             .type = h->type ? h->type + row->first : NULL,
                             .time = h->time ? h->time + row->first : NULL,
                             .alias = h->alias ? h->alias + row->first : NULL,
                             .bias = job->rows.bias ? &row->bias : NULL,
                             .first_arc = row->first_arc,
                             .first = row->at,
                             .count = 1,
                             .wide = 1};
    here.remote = 1;
    return here;
}

/* ---- entries ---- */

/* Which of an entry's arcs first .. first + count - 1 lead to neighbours of prev: [first] and on of *out, [degree]. */
static csaw_status answer(const csaw__spread_samples *r, const csaw__worker *w, uint64_t entry, uint64_t first,
                          uint64_t count, uint8_t **out) {
    const csaw__home_row *const row = find_row(&r->rows, w->f.entry[entry].at);
    const csaw__home_row *const prev = find_row(&r->rows, w->f.entry[entry].prev);
    uint64_t offset[2];
    const csaw__job there = job_of_row(r, w->job, prev, offset);
    CSAW_TRY(csaw__alloc(out, row->degree, "answers about a row"));
    csaw__question_answer(&there.rows, prev->at, r->rows.col + row->first + first, count, *out + first);
    return CSAW_OK;
}

/* Where arcs lead: for layers of distinct vertices, which are chosen by it. */
static void note_candidates(csaw__worker *w, const csaw__job *here, uint64_t entry) {
    if (w->f.degree[entry] == 0) return;
    memcpy(w->candidate + w->f.arc[entry], here->rows.col, w->f.degree[entry] * sizeof *w->candidate);
}

static csaw_status run_entry(csaw__spread_samples *r, csaw__worker *w, uint64_t entry, bool layer) {
    uint64_t offset[2];
    uint8_t *answers = NULL;
    const csaw__job here = job_of_row(r, w->job, find_row(&r->rows, w->f.entry[entry].at), offset);
    if (asks(w, entry)) CSAW_TRY(answer(r, w, entry, 0, w->f.degree[entry], &answers));
    if (r->answers) r->answers[entry] = answers;
    r->s->counts.steps++;
    if (layer)
        w->sampler->layer_biases(&here, &w->f, &entry, 1, &w->fault);
    else
        w->sampler->expand(&here, &w->f, &entry, 1, &w->scratch, &w->fault);
    if (layer && w->flags & CSAW_LAYER_DISTINCT) note_candidates(w, &here, entry);
    csaw__free(answers);
    return CSAW_OK;
}

/* Where answers stand, by entry. */
static csaw_status begin_answers(csaw__spread_samples *r, csaw__worker *w) {
    if (!(w->flags & CSAW_SECOND_ORDER)) return CSAW_OK;
    CSAW_TRY(csaw__alloc_zero(&r->answers, w->f.count, "answers about rows"));
    w->f.answer = r->answers;
    return CSAW_OK;
}

static void end_answers(csaw__spread_samples *r, csaw__worker *w) {
    csaw__free(r->answers);
    r->answers = NULL;
    w->f.answer = NULL;
}

csaw_status csaw__spread_over_rows(csaw__spread_samples *r, csaw__worker *w, bool layer) {
    csaw_status status = CSAW_OK;
    CSAW_TRY(begin_answers(r, w));
    if (layer && w->flags & CSAW_LAYER_DISTINCT)
        CSAW_TRY_DONE(CSAW__GROW(&w->candidate, &w->candidate_room, w->f.arc[w->f.count], "vertices of layers"));
    for (uint64_t first = 0, end; first < w->f.count; first = end) {
        CSAW_TRY_DONE(bring(r, w, NULL, first, w->f.count, &end));
        for (uint64_t i = first; i < end; i++) CSAW_TRY_DONE(run_entry(r, w, i, layer));
    }
done:
    end_answers(r, w);
    return status;
}

/* ---- picks of layers ---- */

static csaw_status update_one(csaw__spread_samples *r, csaw__worker *w, uint64_t pick) {
    const uint64_t entry = w->f.pick_entry[pick];
    uint64_t offset[2];
    uint8_t *answers = NULL;
    const csaw__job here = job_of_row(r, w->job, find_row(&r->rows, w->f.entry[entry].at), offset);
    csaw__frontier one = w->f;
    if (asks(w, entry)) CSAW_TRY(answer(r, w, entry, w->f.pick_rank[pick], 1, &answers));
    if (r->answers) r->answers[entry] = answers;
    one.pick_entry += pick;
    one.pick_rank += pick;
    one.src += pick;
    one.dst += pick;
    one.edge += pick;
    one.next += pick;
    w->sampler->layer_updates(&here, &one, 1, &w->fault);
    csaw__free(answers);
    return CSAW_OK;
}

csaw_status csaw__spread_layer_updates(csaw__worker *w, uint64_t picks) {
    csaw__spread_samples *const r = w->plan->spread->user;
    csaw_status status = CSAW_OK;
    CSAW_TRY(begin_answers(r, w));
    for (uint64_t first = 0, end; first < picks; first = end) {
        CSAW_TRY_DONE(bring(r, w, w->f.pick_entry, first, picks, &end));
        for (uint64_t p = first; p < end; p++) CSAW_TRY_DONE(update_one(r, w, p));
    }
done:
    end_answers(r, w);
    return status;
}

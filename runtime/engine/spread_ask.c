/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread_ask.c - questions of second-order steps to the rank that holds prev's row, and answers: in
 * pieces no larger than a batch, in bounded memory (runtime/engine/spread.h). */
#include <stddef.h>
#include <string.h>

#include "runtime/base/grow.h"
#include "runtime/engine/questions.h"
#include "runtime/engine/spread_walk.h"

typedef struct question_message {
    uint64_t head;         /* number: the slot */
    uint32_t first, count; /* of the slot's vertices */
    csaw_vertex prev;
    csaw_vertex vertex[1]; /* [count] */
} question_message;

typedef struct answer_message {
    uint64_t head; /* number: the slot */
    uint32_t first, count;
    uint8_t bits[8]; /* [count / 8, rounded up] */
} answer_message;

static uint64_t bytes_of_question(uint64_t count) {
    return offsetof(question_message, vertex) + count * sizeof(csaw_vertex);
}

static uint64_t bytes_of_answer(uint32_t count) { return offsetof(answer_message, bits) + ((uint64_t)count + 7) / 8; }

/* ---- answering ---- */

/* Gives the memory of answers that were sent to those that come. */
static void drop_sent(csaw__walks_here *w) {
    if (w->next_waiting * 2 <= w->num_waiting) return;
    const uint64_t sent = w->next_waiting < w->num_waiting ? w->waiting[w->next_waiting].at : w->num_words;
    w->num_waiting -= w->next_waiting;
    w->num_words -= sent;
    memmove(w->waiting, w->waiting + w->next_waiting, w->num_waiting * sizeof *w->waiting);
    memmove(w->words, w->words + sent, w->num_words * sizeof *w->words);
    for (uint64_t i = 0; i < w->num_waiting; i++) w->waiting[i].at -= sent;
    w->next_waiting = 0;
}

/* From the rows here; it is sent now, or waits. */
csaw_status csaw__walk_take_question(csaw__walks_here *w, uint32_t from, const void *message) {
    const question_message *const m = message;
    const csaw__rows *const rows = &w->whole->rows;
    CSAW_REQUIRE(m->prev - rows->first < rows->count && bytes_of_question(m->count) <= csaw__message_bytes(m->head),
                 CSAW_EINVAL,
                 "rank %u asked about %u neighbours of vertex %u in %llu bytes, but the rows here are of %u "
                 "vertices from %u on; " CSAW__SPOILED,
                 from, m->count, m->prev, (unsigned long long)csaw__message_bytes(m->head), rows->count, rows->first);
    const uint64_t bytes = bytes_of_answer(m->count);
    const uint64_t head = csaw__message(CSAW__ANSWER, bytes, csaw__message_number(m->head));
    answer_message *out = NULL;
    drop_sent(w);
    if (w->next_waiting == w->num_waiting) CSAW_TRY(csaw__post_now(w->s, from, bytes, (void **)&out));
    if (!out) {
        const uint64_t words = (bytes + 7) / 8;
        CSAW_TRY(CSAW__GROW(&w->waiting, &w->waiting_room, w->num_waiting + 1, "answers to other ranks"));
        CSAW_TRY(CSAW__GROW(&w->words, &w->words_room, w->num_words + words, "answers to other ranks"));
        csaw__spread_note_kept(w->s, w->waiting_room * sizeof *w->waiting + w->words_room * sizeof *w->words);
        w->waiting[w->num_waiting++] = (csaw__waiting_answer){from, w->num_words};
        out = (answer_message *)(w->words + w->num_words);
        w->num_words += words;
    }
    out->head = head;
    out->first = m->first;
    out->count = m->count;
    uint8_t *const bits = (uint8_t *)out + offsetof(answer_message, bits);
    memset(bits, 0, ((uint64_t)m->count + 7) / 8);
    const csaw_vertex *const vertex = (const csaw_vertex *)((const char *)m + offsetof(question_message, vertex));
    for (uint32_t i = 0; i < m->count; i++) {
        uint8_t near;
        csaw__question_answer(rows, m->prev, vertex + i, 1, &near);
        bits[i / 8] |= (uint8_t)((near != 0) << i % 8);
    }
    w->s->counts.messages[CSAW__ANSWER]++;
    return CSAW_OK;
}

csaw_status csaw__walk_send_answers(csaw__walks_here *w, bool *any) {
    for (; w->next_waiting < w->num_waiting; w->next_waiting++) {
        const csaw__waiting_answer next = w->waiting[w->next_waiting];
        const uint64_t bytes = csaw__message_bytes(w->words[next.at]);
        void *out;
        CSAW_TRY(csaw__post_now(w->s, next.to, bytes, &out));
        if (!out) return CSAW_OK;
        memcpy(out, w->words + next.at, bytes);
        *any = true;
    }
    w->num_waiting = w->next_waiting = w->num_words = 0;
    return CSAW_OK;
}

/* ---- asking ---- */

/* What the slot asked is of no use any more. */
void csaw__walk_forget(csaw__walks_here *w, csaw__walk_slot *at) {
    if (at->many) w->answer_bytes -= (uint64_t)at->count + 1;
    csaw__free(at->many);
    at->many = NULL;
    at->count = at->sent = at->answered = 0;
}

/* The answers that the slot has; NULL: it did not ask. */
const uint8_t *csaw__walk_known(csaw__walk_slot *at) {
    uint8_t *const answer = at->many ? at->many : at->few;
    if (at->count == 0) return NULL;
    answer[at->count] = CSAW__NO_ANSWER;
    return answer;
}

/* The vertices that the slot asks about. */
static const csaw_vertex *asked(const csaw__walk_slot *at) { return at->vertex ? at->vertex : at->walker.asked; }

/* The next piece of what the slot asks, if there is room for it. */
static csaw_status send_piece(csaw__walks_here *w, uint32_t number, bool *sent) {
    const uint64_t most = (w->s->on.batch - offsetof(question_message, vertex)) / sizeof(csaw_vertex);
    const uint32_t left = w->slot[number].count - w->slot[number].sent, count = left < most ? left : (uint32_t)most;
    const uint64_t bytes = bytes_of_question(count);
    const uint32_t to = csaw__range_of(&w->s->share.ranges, w->slot[number].walker.prev);
    question_message *out;
    if (w->under_way[to] && w->under_way[to] + bytes > csaw__spread_room_at(w->s)) return CSAW_OK;
    CSAW_TRY(csaw__post_now(w->s, to, bytes, (void **)&out));
    if (!out) return CSAW_OK;
    csaw__walk_slot *const at = &w->slot[number];
    out->head = csaw__message(CSAW__QUESTION, bytes, number);
    out->first = at->sent;
    out->count = count;
    out->prev = at->walker.prev;
    memcpy((char *)out + offsetof(question_message, vertex), asked(at) + at->sent, count * sizeof(csaw_vertex));
    at->sent += count;
    w->under_way[to] += bytes;
    w->s->counts.messages[CSAW__QUESTION]++;
    *sent = true;
    return CSAW_OK;
}

/* Answers need memory, of which rows that ask at a time share so much; one alone may take more. *has: there is some. */
static csaw_status take_answers(csaw__walks_here *w, csaw__walk_slot *at, bool *has) {
    const uint64_t bytes = (uint64_t)at->count + 1;
    *has = at->many || at->count <= CSAW__MOST_ASKED;
    if (*has || (w->answer_bytes && w->answer_bytes + bytes > w->s->options.room)) return CSAW_OK;
    CSAW_TRY(csaw__alloc(&at->many, bytes, "answers from other ranks"));
    w->answer_bytes += bytes;
    *has = true;
    return CSAW_OK;
}

csaw_status csaw__walk_send_questions(csaw__walks_here *w, bool *any) {
    while (w->first_asking != CSAW__NO_SLOT) {
        const uint32_t number = w->first_asking;
        bool has, sent = false;
        CSAW_TRY(take_answers(w, &w->slot[number], &has));
        if (has) CSAW_TRY(send_piece(w, number, &sent));
        if (!sent) return CSAW_OK;
        *any = true;
        if (w->slot[number].sent == w->slot[number].count) w->first_asking = w->slot[number].next;
    }
    return CSAW_OK;
}

/* The walker has a question, which waits for its turn to be sent: prev's row is at another rank. */
void csaw__walk_ask(csaw__walks_here *w, uint32_t number, int outcome) {
    csaw__walk_slot *const at = &w->slot[number];
    at->vertex = NULL;
    at->count = at->walker.num_asked;
    if (outcome == CSAW__ASK_ROW) at->count = (uint32_t)csaw__question_row(&w->whole->rows, at->walker.at, &at->vertex);
    at->next = CSAW__NO_SLOT;
    if (w->first_asking == CSAW__NO_SLOT)
        w->first_asking = number;
    else
        w->slot[w->last_asking].next = number;
    w->last_asking = number;
}

csaw_status csaw__walk_take_answer(csaw__walks_here *w, uint32_t from, const void *message) {
    const answer_message *const m = message;
    const uint64_t number = csaw__message_number(m->head);
    csaw__walk_slot *const at = number < w->num_slots ? &w->slot[number] : NULL;
    CSAW_REQUIRE(at && m->count && m->first <= at->sent && m->count <= at->sent - m->first &&
                     bytes_of_answer(m->count) <= csaw__message_bytes(m->head),
                 CSAW_EINVAL,
                 "rank %u answered %u questions from %u on of walker %llu here, which did not ask them; " CSAW__SPOILED,
                 from, m->count, m->first, (unsigned long long)number);
    uint8_t *const answer = at->many ? at->many : at->few;
    const uint8_t *const bits = (const uint8_t *)m + offsetof(answer_message, bits);
    for (uint32_t i = 0; i < m->count; i++) answer[m->first + i] = bits[i / 8] >> i % 8 & 1;
    at->answered += m->count;
    w->under_way[from] -= bytes_of_question(m->count);
    if (at->answered == at->count) w->ready[w->num_ready++] = (uint32_t)number;
    return CSAW_OK;
}

/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread_walk_gpu.c - walkers at a rank whose GPU makes the steps: they gather as messages until nothing
 * more comes, or a launch is full, and go on as messages (spread_gpu.h). */
#include <string.h>

#include "runtime/base/grow.h"
#include "runtime/engine/fault.h"
#include "runtime/engine/spread_walk.h"

static csaw_status arrivals_room(csaw__walks_here *w, csaw__arriving *a, uint64_t bytes) {
    CSAW_TRY(CSAW__GROW(&a->message, &a->room, (a->count + 1) * bytes, "walkers at a rank"));
    const uint64_t here = w->walkers.count + w->asking.count + 1;
    if (here > w->s->counts.most_here) w->s->counts.most_here = here;
    return CSAW_OK;
}

csaw_status csaw__walk_gpu_take(csaw__walks_here *w, uint64_t head, const void *message) {
    const bool asks = csaw__message_kind(head) == CSAW__ASKING;
    csaw__arriving *const a = asks ? &w->asking : &w->walkers;
    const uint64_t bytes = w->forms.bytes[asks ? CSAW__LIST_ASKING : CSAW__LIST_WALKERS];
    CSAW_TRY(arrivals_room(w, a, bytes));
    memcpy(a->message + a->count++ * bytes, message, bytes);
    return CSAW_OK;
}

/* A walker of a message, and the answers that it brings. */
static csaw__walker walker_of(const csaw__walks_here *w, const unsigned char *message, bool asks, uint8_t *answer) {
    const uint64_t plain = w->forms.bytes[CSAW__LIST_WALKERS];
    csaw__walker_message m = {0};
    csaw__walker_question q = {0};
    memcpy(&m, message, plain);
    if (asks) memcpy(&q, message + plain, sizeof q);
    const uint32_t known = q.question.known, count = q.state == CSAW__PART_KNOWS ? known & 0xff : 0;
    csaw__walker out = {.walk = csaw__message_number(m.head),
                        .at = m.at,
                        .prev = m.prev,
                        .root = m.root,
                        .depth = m.depth,
                        .attempt = known >> 8 & 0xff,
                        .edge = CSAW_NO_EDGE};
    memcpy(out.user, m.user, sizeof out.user);
    for (uint32_t i = 0; i < count; i++) answer[i] = known >> (16 + i) & 1;
    answer[count] = CSAW__NO_ANSWER;
    return out;
}

/* ---- faults ---- */

/* A GPU tells instance and depth; the host takes the steps of that walker again, which came to this launch. */
static csaw_status repeat(csaw__walks_here *w, const unsigned char *message, bool asks, uint32_t depth) {
    uint8_t answer[CSAW__MOST_ASKED + 1];
    csaw__walker walker = walker_of(w, message, asks, answer);
    const uint8_t *known = asks ? answer : NULL;
    csaw__fault found = {.kind = CSAW__FAULT_NONE};
    while (walker.depth <= depth && found.kind == CSAW__FAULT_NONE) {
        const int outcome = w->sampler->step(w->whole, &walker, known, &found);
        if (outcome == CSAW__ASK_ARC || outcome == CSAW__ASK_ROW || walker.at == CSAW_NONE) break;
        known = NULL;
    }
    CSAW_REQUIRE(found.kind != CSAW__FAULT_NONE, CSAW_EBIAS,
                 "sampler '%s', instance %llu, depth %u: a hook broke its rules on the GPU but not on the CPU; hooks "
                 "that use libm differ there: use csaw_exp, csaw_log, csaw_pow",
                 csaw_sampler_name(w->sampler), (unsigned long long)(w->whole->first + walker.walk), depth);
    csaw__fault_merge(&w->fault, &found);
    return CSAW_OK;
}

static csaw_status find_fault(csaw__walks_here *w, uint64_t record, const csaw__arrivals *in) {
    const uint64_t walk = (record >> 24) - w->whole->first;
    const uint64_t bytes[] = {w->forms.bytes[CSAW__LIST_WALKERS], w->forms.bytes[CSAW__LIST_ASKING]};
    for (uint64_t i = 0; i < in->num_walkers + in->num_asking; i++) {
        const bool asks = i >= in->num_walkers;
        const unsigned char *const at = asks ? (const unsigned char *)in->asking + (i - in->num_walkers) * bytes[1]
                                             : (const unsigned char *)in->walkers + i * bytes[0];
        uint64_t head;
        memcpy(&head, at, sizeof head);
        if (csaw__message_number(head) == walk) return repeat(w, at, asks, (uint32_t)(record & 0xffffff));
    }
    return CSAW_OK; /* it was told before */
}

/* ---- what leaves ---- */

/* Walkers whose next step is the host's. */
static csaw_status take_stopped(csaw__walks_here *w, const unsigned char *message, uint64_t count) {
    const uint64_t bytes = w->forms.bytes[CSAW__LIST_ASKING];
    for (uint64_t i = 0; i < count; i++) {
        uint8_t none[CSAW__MOST_ASKED + 1];
        const csaw__walker walker = walker_of(w, message + i * bytes, true, none);
        CSAW_TRY(csaw__walk_arrive(w, &walker));
    }
    return CSAW_OK;
}

static csaw_status pass_on(csaw__walks_here *w, uint32_t to, uint32_t list, const unsigned char *message,
                           uint64_t count) {
    static const uint32_t kinds[] = {CSAW__WALKER, CSAW__ASKING, CSAW__RECORD};
    const uint64_t bytes = w->forms.bytes[list];
    if (list == CSAW__LIST_RECORDS) w->s->counts.steps += count;
    if (to != w->s->on.rank) {
        w->s->counts.messages[kinds[list]] += count;
        return csaw__post_all(w->s, to, message, bytes, count);
    }
    if (list == CSAW__LIST_ASKING) return take_stopped(w, message, count);
    for (uint64_t i = 0; i < count; i++) csaw__walk_record(w, message + i * bytes);
    return CSAW_OK;
}

/* Messages that begin at bytes from .. end - 1 of all that are left. */
static csaw_status pass_some_on(csaw__walks_here *w, const uint64_t *left, uint64_t from, uint64_t end,
                                const unsigned char *data) {
    uint64_t begin = 0;
    for (uint64_t i = 0; i < (uint64_t)w->s->on.size * CSAW__MESSAGE_LISTS && begin < end; i++) {
        const uint64_t bytes = w->forms.bytes[i % CSAW__MESSAGE_LISTS], list_end = begin + left[i] * bytes;
        const uint64_t first = from > begin ? (from - begin + bytes - 1) / bytes : 0;
        const uint64_t last = end < list_end ? (end - begin + bytes - 1) / bytes : left[i];
        if (first < last)
            CSAW_TRY(pass_on(w, (uint32_t)(i / CSAW__MESSAGE_LISTS), (uint32_t)(i % CSAW__MESSAGE_LISTS),
                             data + (begin + first * bytes - from), last - first));
        begin = list_end;
    }
    return CSAW_OK;
}

static csaw_status pass_all_on(csaw__walks_here *w, const uint64_t *left) {
    uint64_t all = 0;
    for (uint64_t i = 0; i < (uint64_t)w->s->on.size * CSAW__MESSAGE_LISTS; i++)
        all += left[i] * w->forms.bytes[i % CSAW__MESSAGE_LISTS];
    for (uint64_t from = 0, end; from < all; from = end) {
        const void *data;
        CSAW_TRY(csaw__spread_gpu_fetch(w->s->gpu, from, &end, &data));
        CSAW_TRY(pass_some_on(w, left, from, end, data));
    }
    return CSAW_OK;
}

/* ---- a launch ---- */

/* The last of those that came, which are out of the list then, but stay where they are. */
static const void *give_some(csaw__arriving *a, uint64_t most, uint64_t bytes, uint64_t *count) {
    *count = a->count < most ? a->count : most;
    a->count -= *count;
    return a->message + a->count * bytes;
}

static csaw_status launch(csaw__walks_here *w) {
    csaw__arrivals in = {0};
    const uint64_t *left;
    uint64_t fault;
    in.asking = give_some(&w->asking, w->at_once, w->forms.bytes[CSAW__LIST_ASKING], &in.num_asking);
    in.walkers =
        give_some(&w->walkers, w->at_once - in.num_asking, w->forms.bytes[CSAW__LIST_WALKERS], &in.num_walkers);
    CSAW_TRY(csaw__spread_gpu_step(w->s->gpu, &in, &left, &fault));
    if (fault != UINT64_MAX) CSAW_TRY(find_fault(w, fault, &in));
    return pass_all_on(w, left);
}

csaw_status csaw__walk_gpu_move(csaw__walks_here *w, bool *any) {
    const uint64_t here = w->walkers.count + w->asking.count;
    if (here == 0 || (*any && here < w->at_once)) return CSAW_OK; /* more may come */
    *any = true;
    return launch(w);
}

csaw_status csaw__walk_gpu_begin(csaw__walks_here *w) {
    if (w->whole->num_walks == 0 || w->whole->length == 0) return CSAW_OK; /* no walker comes */
    return csaw__spread_gpu_begin(w->s->gpu, w->sampler, w->whole, &w->forms, w->edges, &w->at_once);
}

void csaw__walk_gpu_end(csaw__walks_here *w) {
    csaw__free(w->walkers.message);
    csaw__free(w->asking.message);
}

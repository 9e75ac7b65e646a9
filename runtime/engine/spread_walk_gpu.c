/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread_walk_gpu.c - walkers at a rank whose GPU makes the steps: they gather as messages until nothing
 * more comes, or a launch is full, and go on as messages (spread_gpu.h). */
#include <string.h>

#include "runtime/base/grow.h"
#include "runtime/engine/fault.h"
#include "runtime/engine/spread_walk.h"

uint64_t csaw__walk_gpu_here(const csaw__walks_here *w) {
    return w->walkers.count + w->asking.count + w->there[CSAW__LIST_WALKERS] + w->there[CSAW__LIST_ASKING];
}

static void note_here(csaw__walks_here *w, uint64_t more) {
    const uint64_t here = csaw__walk_gpu_here(w) + more;
    if (here > w->s->counts.most_here) w->s->counts.most_here = here;
}

static csaw_status arrivals_room(csaw__walks_here *w, csaw__arriving *a, uint64_t bytes) {
    CSAW_TRY(CSAW__GROW(&a->message, &a->room, (a->count + 1) * bytes, "walkers at a rank"));
    note_here(w, 1);
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

/* ---- straight to the GPU ---- */

void *csaw__walk_gpu_place(void *walks_here, uint32_t list, uint64_t bytes) {
    csaw__walks_here *const w = walks_here;
    const uint64_t count = bytes / w->forms.bytes[list], there = w->there[0] + w->there[1];
    if (list == CSAW__LIST_ASKING && !(w->sampler->traits() & CSAW__TRAIT_SECOND_ORDER))
        return NULL; /* none can come */
    if (bytes % w->forms.bytes[list] || there + count > w->at_once) return NULL;
    w->coming = count;
    return csaw__spread_gpu_place(w->s->gpu, list, w->there[list], count);
}

csaw_status csaw__walk_gpu_came(void *walks_here, const csaw__straight *came) {
    csaw__walks_here *const w = walks_here;
    CSAW_TRY(CSAW__GROW(&w->batch, &w->batch_room, w->num_batches + 1, "batches of walkers at a rank"));
    w->batch[w->num_batches++] = (csaw__arrived_straight){came->from, came->kind, w->coming};
    w->there[came->kind] += w->coming;
    w->coming = 0;
    note_here(w, 0);
    return CSAW_OK;
}

/* A message that a launch found not to be of this batch: the one who sent it is named. What the host took in it has
 * looked at, so that such a one was spoiled here. */
static csaw_status refuse(const csaw__walks_here *w, const csaw__arrivals *in, uint64_t slot) {
    const uint64_t last = in->walkers_there + in->num_walkers + in->num_asking + in->asking_there - 1;
    _Alignas(8) unsigned char message[sizeof(csaw__walker_message) + sizeof(csaw__walker_question)];
    uint32_t from = w->s->on.rank;
    uint64_t head;
    bool asks;
    CSAW_TRY(csaw__spread_gpu_message(w->s->gpu, slot, message, &asks));
    const uint32_t list = asks ? CSAW__LIST_ASKING : CSAW__LIST_WALKERS;
    uint64_t place = asks ? last - slot : slot; /* those that ask stand the other way round, batch by batch */
    for (uint64_t i = 0; i < w->num_batches; i++) {
        if (w->batch[i].list != list) continue;
        if (place < w->batch[i].count) {
            from = w->batch[i].from;
            break;
        }
        place -= w->batch[i].count;
    }
    memcpy(&head, message, sizeof head);
    CSAW_TRY(csaw__walk_check(w, from, head, message));
    return csaw__fail(CSAW_EINVAL, "rank %u sent a message of kind %u among walkers; " CSAW__SPOILED, from,
                      csaw__message_kind(head));
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

static csaw_status find_fault(csaw__walks_here *w, uint64_t record) {
    _Alignas(8) unsigned char message[sizeof(csaw__walker_message) + sizeof(csaw__walker_question)];
    uint64_t slot;
    bool asks;
    CSAW_TRY(csaw__spread_gpu_find(w->s->gpu, (record >> 24) - w->whole->first, &slot));
    if (slot == UINT64_MAX) return CSAW_OK; /* it was told before */
    CSAW_TRY(csaw__spread_gpu_message(w->s->gpu, slot, message, &asks));
    return repeat(w, message, asks, (uint32_t)(record & 0xffffff));
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
                           uint64_t count, bool straight) {
    static const uint32_t kinds[] = {CSAW__WALKER, CSAW__ASKING, CSAW__RECORD};
    const uint64_t bytes = w->forms.bytes[list];
    if (list == CSAW__LIST_RECORDS) w->s->counts.steps += count;
    if (to != w->s->on.rank) {
        w->s->counts.messages[kinds[list]] += count;
        return straight ? csaw__post_straight(w->s, to, list, message, bytes, count)
                        : csaw__post_all(w->s, to, message, bytes, count);
    }
    if (list == CSAW__LIST_ASKING) return take_stopped(w, message, count);
    for (uint64_t i = 0; i < count; i++) csaw__walk_record(w, message + i * bytes);
    return CSAW_OK;
}

/* Messages that begin at bytes from .. end - 1 of all that are left; byte `from` stands at data, or there. */
static csaw_status pass_some_on(csaw__walks_here *w, const csaw__left *left, uint64_t from, uint64_t end,
                                const unsigned char *data, const unsigned char *there) {
    for (uint64_t i = 0; i < (uint64_t)w->s->on.size * CSAW__MESSAGE_LISTS; i++) {
        const uint64_t bytes = w->forms.bytes[i % CSAW__MESSAGE_LISTS], begin = left->begin[i],
                       list_end = begin + left->count[i] * bytes;
        const uint64_t first = from > begin ? (from - begin + bytes - 1) / bytes : 0;
        const uint64_t last = end >= list_end ? left->count[i] : end > begin ? (end - begin + bytes - 1) / bytes : 0;
        const bool straight = begin >= left->brought;
        if (first < last)
            CSAW_TRY(pass_on(w, (uint32_t)(i / CSAW__MESSAGE_LISTS), (uint32_t)(i % CSAW__MESSAGE_LISTS),
                             (straight ? there : data) + (begin + first * bytes - from), last - first, straight));
    }
    return CSAW_OK;
}

static csaw_status pass_all_on(csaw__walks_here *w, const csaw__left *left) {
    for (uint64_t from = 0, end; from < left->all; from = end) {
        const unsigned char *data, *there;
        if (csaw__spread_straight(w->s)) CSAW_TRY(csaw__post_sent(w->s, true)); /* from where the next ones are put */
        CSAW_TRY(csaw__spread_gpu_fetch(w->s->gpu, from, &end, &data, &there));
        CSAW_TRY(pass_some_on(w, left, from, end, data, there));
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
    const uint64_t *const bytes = w->forms.bytes;
    csaw__arrivals in = {.walkers_there = w->there[CSAW__LIST_WALKERS], .asking_there = w->there[CSAW__LIST_ASKING]};
    csaw__left left;
    uint64_t most = w->at_once - in.walkers_there - in.asking_there;
    in.asking = give_some(&w->asking, most, bytes[CSAW__LIST_ASKING], &in.num_asking);
    most -= in.num_asking;
    in.walkers = give_some(&w->walkers, most, bytes[CSAW__LIST_WALKERS], &in.num_walkers);
    CSAW_TRY(csaw__spread_gpu_step(w->s->gpu, &in, &left));
    if (left.odd != UINT64_MAX) return refuse(w, &in, left.odd);
    if (left.fault != UINT64_MAX) CSAW_TRY(find_fault(w, left.fault));
    w->there[0] = w->there[1] = w->num_batches = 0;
    return pass_all_on(w, &left);
}

csaw_status csaw__walk_gpu_move(csaw__walks_here *w, bool *any) {
    const uint64_t here = csaw__walk_gpu_here(w);
    if (here == 0 || (*any && here < w->at_once)) return CSAW_OK; /* more may come */
    if (w->coming) return CSAW_OK; /* a launch takes in whole batches: it is about to be there, or its sender is gone */
    *any = true;
    return launch(w);
}

csaw_status csaw__walk_gpu_begin(csaw__walks_here *w) {
    const bool straight = csaw__spread_straight(w->s);
    if (w->whole->num_walks == 0 || w->whole->length == 0) return CSAW_OK; /* no walker comes */
    if (straight) CSAW_TRY(csaw__post_sent(w->s, false));                  /* of the batch before, which all have */
    return csaw__spread_gpu_begin(w->s->gpu, w->sampler, w->whole, &w->forms, w->edges, straight, &w->at_once);
}

void csaw__walk_gpu_end(csaw__walks_here *w) {
    csaw__free(w->walkers.message);
    csaw__free(w->asking.message);
    csaw__free(w->batch);
}

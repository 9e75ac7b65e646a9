/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread_post.c - messages between ranks: gathered into one batch for each rank, sent when it is full or
 * when there is nothing else to do, so that batches are large while there is much to do and prompt while there is
 * little. */
#include <string.h>

#include "runtime/base/memory.h"
#include "runtime/engine/fault.h"
#include "runtime/engine/spread.h"

static csaw_status send(csaw__spread *s, uint32_t to) {
    csaw__outgoing *const out = &s->out[to];
    s->counts.batches++;
    s->counts.bytes += out->used;
    out->to = NULL;
    return s->on.send(s->on.self, to, out->used);
}

csaw_status csaw__post_now(csaw__spread *s, uint32_t to, uint64_t bytes, void **out) {
    csaw__outgoing *const batch = &s->out[to];
    const uint64_t whole = (bytes + 7) & ~(uint64_t)7;
    *out = NULL;
    if (batch->to && batch->used + whole > s->on.batch) CSAW_TRY(send(s, to));
    if (!batch->to) {
        CSAW_TRY(s->on.room(s->on.self, to, (void **)&batch->to));
        batch->used = 0;
    }
    if (!batch->to) return CSAW_OK;
    *out = batch->to + batch->used;
    batch->used += whole;
    return CSAW_OK;
}

csaw_status csaw__post_go_on(csaw__spread *s) {
    s->stopped = s->on.gave_up(s->on.self);
    CSAW_REQUIRE(!s->stopped, CSAW_ESTOPPED, "another rank gave up");
    CSAW_REQUIRE(!csaw__ranks_refused(s->ranks, &s->patience, 0), CSAW_ESTOPPED, "stopped by the progress callback");
    return CSAW_OK;
}

/* Takes in what came, so that others have room. */
static csaw_status wait_a_little(csaw__spread *s) {
    bool any;
    CSAW_TRY(csaw__post_take(s, &any));
    CSAW_TRY(csaw__post_go_on(s));
    if (any) return CSAW_OK;
    CSAW_TRY(csaw__post_flush(s)); /* it may be what the others wait for */
    s->on.idle(s->on.self);
    return CSAW_OK;
}

csaw_status csaw__post(csaw__spread *s, uint32_t to, uint64_t bytes, void **out) {
    for (;;) {
        CSAW_TRY(csaw__post_now(s, to, bytes, out));
        if (*out) return CSAW_OK;
        CSAW_TRY(wait_a_little(s));
    }
}

csaw_status csaw__post_straight(csaw__spread *s, uint32_t to, uint32_t kind, const void *messages, uint64_t bytes,
                                uint64_t count) {
    const uint64_t most = s->on.batch / bytes;
    for (const char *from = messages; count;) {
        const uint64_t now = count < most ? count : most;
        bool taken;
        CSAW_TRY(s->on.send_from(s->on.self, to, kind, from, now * bytes, &taken));
        if (!taken) {
            CSAW_TRY(wait_a_little(s));
            continue;
        }
        s->counts.batches++;
        s->counts.bytes += now * bytes;
        from += now * bytes;
        count -= now;
    }
    return CSAW_OK;
}

csaw_status csaw__post_sent(csaw__spread *s, bool take) {
    for (;;) {
        bool all;
        CSAW_TRY(s->on.sent(s->on.self, &all));
        if (all) return CSAW_OK;
        if (take) {
            CSAW_TRY(wait_a_little(s));
            continue;
        }
        CSAW_TRY(csaw__post_go_on(s));
        s->on.idle(s->on.self);
    }
}

csaw_status csaw__post_all(csaw__spread *s, uint32_t to, const void *messages, uint64_t bytes, uint64_t count) {
    for (const char *from = messages; count;) {
        void *out;
        CSAW_TRY(csaw__post(s, to, bytes, &out));
        const uint64_t room = (s->on.batch - s->out[to].used) / bytes, more = room < count - 1 ? room : count - 1;
        memcpy(out, from, (1 + more) * bytes);
        s->out[to].used += more * bytes;
        from += (1 + more) * bytes;
        count -= 1 + more;
    }
    return CSAW_OK;
}

csaw_status csaw__post_flush(csaw__spread *s) {
    for (uint32_t to = 0; to < s->on.size; to++)
        if (s->out[to].to && s->out[to].used) CSAW_TRY(send(s, to));
    return CSAW_OK;
}

static csaw_status take_batch(csaw__spread *s, uint32_t from, const unsigned char *data, uint64_t bytes) {
    for (uint64_t at = 0; at < bytes;) {
        uint64_t head;
        memcpy(&head, data + at, sizeof head);
        const uint64_t length = csaw__message_bytes(head);
        CSAW_REQUIRE(length >= sizeof head && length <= bytes - at && s->take, CSAW_EINVAL,
                     "rank %u sent a message of %llu bytes of which %llu came; run the same csaw on all ranks", from,
                     (unsigned long long)length, (unsigned long long)(bytes - at));
        CSAW_TRY(s->take(s->user, from, head, data + at));
        at += length;
    }
    return CSAW_OK;
}

/* What came straight; where there was no place for it, as if it had come otherwise. */
static csaw_status take_straight(csaw__spread *s, bool *any) {
    for (uint32_t i = 0; i < 4 * s->on.size; i++) {
        csaw__straight came;
        CSAW_TRY(s->on.receive_to(s->on.self, s->place, s->user, &came));
        if (!came.bytes) return CSAW_OK;
        CSAW_TRY(came.own ? take_batch(s, came.from, came.own, came.bytes) : s->came(s->user, &came));
        *any = true;
    }
    return CSAW_OK;
}

csaw_status csaw__post_take(csaw__spread *s, bool *any) {
    *any = false;
    if (s->came && s->on.receive_to) CSAW_TRY(take_straight(s, any));
    for (uint32_t i = 0; i < 4 * s->on.size; i++) {
        uint32_t from;
        const void *data;
        uint64_t bytes;
        CSAW_TRY(s->on.receive(s->on.self, &from, &data, &bytes));
        if (!data) return CSAW_OK;
        CSAW_TRY(take_batch(s, from, data, bytes));
        *any = true;
    }
    return CSAW_OK;
}

void csaw__post_drop(csaw__spread *s) {
    for (uint32_t to = 0; to < s->on.size; to++) { /* a slot begun is taken anew: another plan may send through it */
        s->out[to].used = 0;
        s->out[to].to = NULL;
    }
}

/* ---- agreement ---- */

typedef struct word { /* what a rank says in a round */
    int32_t status;   /* csaw_status */
    uint32_t stopped; /* because another one failed */
    uint64_t asked;   /* csaw__spread.asked */
    csaw__fault fault;
    char message[512];
} word;
typedef union padded {
    word word;
    unsigned char bytes[CSAW__WORD_BYTES];
} padded;
_Static_assert(sizeof(padded) == CSAW__WORD_BYTES, "a rank's word fits a round");

static csaw_status say(csaw__spread *s, csaw_status status, const csaw__fault *fault) {
    padded mine;
    memset(&mine, 0, sizeof mine);
    mine.word.status = (int32_t)status;
    mine.word.stopped = s->stopped;
    mine.word.asked = s->asked;
    if (fault) mine.word.fault = *fault;
    if (status != CSAW_OK) strncpy(mine.word.message, csaw_last_error(), sizeof mine.word.message - 1);
    return s->on.gather(s->on.self, &mine);
}

/* The outcome of all: on every rank the same. A bad bias is one of the graph, whoever found it; ranks hold arcs in
 * ascending order, so the lowest rank names the lowest arc. */
static csaw_status outcome(const padded *all, uint32_t size, csaw__fault *fault) {
    for (uint32_t rank = 0; rank < size; rank++) {
        const word *const w = &all[rank].word;
        if (w->status == CSAW_OK || w->stopped) continue;
        if (size == 1 || w->status == CSAW_EBIAS) return csaw__fail((csaw_status)w->status, "%s", w->message);
        return csaw__fail((csaw_status)w->status, "rank %u: %s", rank, w->message);
    }
    for (uint32_t rank = 1; rank < size; rank++)
        CSAW_REQUIRE(all[rank].word.asked == all[0].word.asked, CSAW_EINVAL,
                     "rank %u has another graph than rank 0, or asks for another run: sampler, parameters, seeds and "
                     "options are to be the same on all ranks",
                     rank);
    for (uint32_t rank = 0; rank < size && fault; rank++) csaw__fault_merge(fault, &all[rank].word.fault);
    return CSAW_OK;
}

/* Who stopped because of another has nothing to tell: that one has. */
static csaw_status agree_at_meeting(csaw__spread *s, csaw_status status, csaw__fault *fault) {
    uint64_t words[CSAW__RANK_VALUES] = {0};
    csaw__fault said;
    _Static_assert(sizeof said <= sizeof words, "a fault fits what a rank says");
    if (fault) memcpy(words, fault, sizeof *fault);
    const bool stopped = s->stopped;
    s->stopped = false;
    CSAW_TRY(csaw__ranks_meet(s->ranks, CSAW__AT_SPLIT, stopped ? CSAW_OK : status, words));
    for (uint32_t rank = 0; fault && rank < csaw__ranks_size(s->ranks); rank++) {
        for (uint32_t i = 0; i < CSAW__RANK_VALUES; i++) words[i] = csaw__ranks_said(s->ranks, rank, i);
        memcpy(&said, words, sizeof said);
        csaw__fault_merge(fault, &said);
    }
    return CSAW_OK;
}

csaw_status csaw__spread_agree(csaw__spread *s, csaw_status status, csaw__fault *fault) {
    const void *all = NULL;
    if (s->ranks) return agree_at_meeting(s, status, fault);
    CSAW_TRY(say(s, status, fault));
    for (;;) {
        CSAW_TRY(s->on.gathered(s->on.self, &all));
        if (all) break;
        s->on.idle(s->on.self);
    }
    s->stopped = false;
    return outcome(all, s->on.size, fault);
}

/* ---- the end of a run ---- */

/* What came, what it left to be sent, and what is not full yet. */
static csaw_status serve(csaw__spread *s, csaw_status (*go_on)(void *user, bool *any), bool *any) {
    CSAW_TRY(csaw__post_take(s, any));
    CSAW_TRY(go_on(s->user, any));
    return *any ? CSAW_OK : csaw__post_flush(s);
}

static bool gives_up(void *user) {
    csaw__spread *const s = user;
    return csaw__ranks_refused(s->ranks, &s->patience, CSAW__GIVE_UP_SECONDS);
}

csaw_status csaw__spread_end(csaw__spread *s, csaw_status status, csaw__fault *fault,
                             csaw_status (*go_on)(void *user, bool *any)) {
    const void *all = NULL;
    if (status != CSAW_OK) s->on.give_up(s->on.self);
    CSAW_TRY(say(s, CSAW_OK, NULL)); /* that it is done; how it went comes after all are */
    for (;;) {
        bool any = false;
        CSAW_TRY(s->on.gathered(s->on.self, &all));
        if (all) break;
        if (gives_up(s)) return csaw__ranks_leave(s->ranks);
        if (status == CSAW_OK) {
            status = csaw__post_go_on(s);
            if (status == CSAW_OK) status = serve(s, go_on, &any);
            if (status != CSAW_OK) s->on.give_up(s->on.self);
        }
        if (!any) s->on.idle(s->on.self);
    }
    csaw__post_drop(s);
    status = csaw__spread_agree(s, status, fault);
    if (status == CSAW_OK || csaw__ranks_lost(s->ranks)) return status;
    s->patience = (csaw__patience){0};
    const csaw_status settled = s->on.settle(s->on.self, gives_up, s); /* else no message is under way */
    if (settled == CSAW_ESTOPPED) return csaw__ranks_leave(s->ranks);
    return settled == CSAW_OK ? status : settled;
}

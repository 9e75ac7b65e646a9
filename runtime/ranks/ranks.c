/* SPDX-License-Identifier: MIT */
/* runtime/ranks/ranks.c - meetings of ranks: see ranks.h. */
#include "runtime/ranks/ranks.h"

#include "runtime/base/checksum.h"
#include "runtime/ranks/link.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double ASK_SECONDS = 0.05;

static const char *const place_texts[] = {
#define X(name, text) text,
    CSAW__PLACE_MAP(X)
#undef X
};

csaw_status csaw__ranks_open(const void *communicator, csaw__ranks **out) {
    csaw__ranks *ranks;
    *out = NULL;
    if (!communicator) return CSAW_OK;
    CSAW_TRY(csaw__link_open(communicator, &ranks));
    if (ranks->size > 1) *out = ranks;
    return CSAW_OK;
}

uint32_t csaw__ranks_rank(const csaw__ranks *ranks) { return ranks ? ranks->rank : 0; }
uint32_t csaw__ranks_size(const csaw__ranks *ranks) { return ranks ? ranks->size : 1; }
bool csaw__ranks_lost(const csaw__ranks *ranks) { return ranks && ranks->lost; }
uint32_t csaw__ranks_local_rank(const csaw__ranks *ranks) { return ranks ? ranks->local_rank : 0; }
uint32_t csaw__ranks_local_size(const csaw__ranks *ranks) { return ranks ? ranks->local_size : 1; }

void csaw__ranks_enter(csaw__ranks *ranks) {
    if (ranks && !ranks->lost) ranks->stopped = false;
}

void csaw__ranks_watch(csaw__ranks *ranks, bool (*go_on)(void *user), void *user) {
    if (!ranks) return;
    ranks->go_on = go_on;
    ranks->user = user;
}

uint64_t csaw__ranks_said(const csaw__ranks *ranks, uint32_t rank, uint32_t value) {
    return ranks->words[rank].value[value];
}

/* ---- failures ---- */

/* Nothing more is said until something new begins: the last message is the answer to all. */
static csaw_status stop(csaw__ranks *ranks, csaw_status status) {
    ranks->stopped = true;
    ranks->status = status;
    snprintf(ranks->message, sizeof ranks->message, "%s", csaw_last_error());
    return status;
}

static csaw_status stopped_before(const csaw__ranks *ranks) { return csaw__fail(ranks->status, "%s", ranks->message); }

/* A call of the transport that did not come back well: what others still wait for will not come. */
static csaw_status lose(csaw__ranks *ranks, csaw_status status) {
    if (status == CSAW_OK) return CSAW_OK;
    ranks->lost = true;
    return stop(ranks, status);
}

/* ---- giving up ---- */

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool csaw__ranks_refused(csaw__ranks *ranks, csaw__patience *patience, double seconds) {
    if (!ranks || !ranks->go_on) return false;
    const double now = seconds_now();
    if (patience->asked == 0) patience->asked = now; /* few waits are long */
    if (now - patience->asked >= ASK_SECONDS) {
        patience->asked = now;
        if (patience->refused == 0 && !ranks->go_on(ranks->user)) patience->refused = now;
    }
    return patience->refused != 0 && now - patience->refused >= seconds;
}

csaw_status csaw__ranks_leave(csaw__ranks *ranks) {
    return lose(ranks,
                csaw__fail(CSAW_ESTOPPED, "stopped by the progress callback while rank %u waited for other ranks",
                           ranks->rank));
}

/* ---- differences ---- */

/* "ranks 1, 2, 5 and 9 more": those whose number `differs`. */
static void name_ranks(const csaw__ranks *ranks, bool (*differs)(const csaw__rank_word *, const csaw__rank_word *, int),
                       int value, char *text, size_t size) {
    enum { MOST = 6 };
    uint32_t count = 0;
    size_t used = 0;
    for (uint32_t r = 1; r < ranks->size; r++) {
        if (!differs(&ranks->words[0], &ranks->words[r], value)) continue;
        if (count++ < MOST && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%u", count == 1 ? "" : ", ", r);
    }
    if (count > MOST && used < size) snprintf(text + used, size - used, " and %u more", count - MOST);
}

static bool value_differs(const csaw__rank_word *a, const csaw__rank_word *b, int value) {
    return a->value[value] != b->value[value];
}

static bool place_differs(const csaw__rank_word *a, const csaw__rank_word *b, int value) {
    (void)value;
    return a->place != b->place;
}

csaw_status csaw__ranks_alike(const csaw__ranks *ranks, uint32_t value, const char *what, const char *remedy) {
    char names[128] = "";
    if (!ranks) return CSAW_OK;
    name_ranks(ranks, value_differs, (int)value, names, sizeof names);
    CSAW_REQUIRE(!names[0], CSAW_EINVAL, "rank%s %s ha%s another %s than rank 0; %s", strpbrk(names, ", ") ? "s" : "",
                 names, strpbrk(names, ", ") ? "ve" : "s", what, remedy);
    return CSAW_OK;
}

static csaw_status same_place(const csaw__ranks *ranks) {
    char names[128] = "";
    name_ranks(ranks, place_differs, 0, names, sizeof names);
    uint32_t other = 1;
    while (other < ranks->size && ranks->words[other].place == ranks->words[0].place) other++;
    if (other == ranks->size) return CSAW_OK;
    return csaw__fail(CSAW_EINVAL,
                      "rank 0 is at %s, but rank %s is at %s; on ranks every one of them makes the same calls in the "
                      "same order",
                      place_texts[ranks->words[0].place], names, place_texts[ranks->words[other].place]);
}

/* The message of the lowest rank that failed, to all; its own already stands where all ranks say the same. */
static csaw_status hear_failure(csaw__ranks *ranks, uint32_t first) {
    const csaw__rank_word *const lowest = &ranks->words[first];
    const csaw_status status = (csaw_status)lowest->status;
    bool all_alike = true;
    char *const text = ranks->message, host[64] = "";
    for (uint32_t r = 0; r < ranks->size; r++)
        all_alike = all_alike && ranks->words[r].status == lowest->status && ranks->words[r].message == lowest->message;
    if (all_alike) return stop(ranks, status);
    if (ranks->rank == first) {
        gethostname(host, sizeof host - 1);
        snprintf(text, CSAW__MESSAGE_BYTES, "rank %u on %s: %.1900s", first, host, csaw_last_error());
    }
    CSAW_TRY(lose(ranks, csaw__link_broadcast(ranks, first, text, CSAW__MESSAGE_BYTES)));
    return stop(ranks, csaw__fail(status, "%s", text));
}

/* ---- meetings ---- */

csaw_status csaw__ranks_meet(csaw__ranks *ranks, csaw__place place, csaw_status mine, const uint64_t *values) {
    if (!ranks) return mine;
    if (ranks->stopped) return stopped_before(ranks);
    csaw__rank_word *word = &ranks->word;
    *word = (csaw__rank_word){.place = place, .status = mine};
    if (mine != CSAW_OK) word->message = csaw__xxh64(csaw_last_error(), strlen(csaw_last_error()));
    if (values) memcpy(word->value, values, sizeof word->value);
    CSAW_TRY(lose(ranks, csaw__link_gather(ranks, word, sizeof *word, ranks->words)));
    for (uint32_t r = 0; r < ranks->size; r++)
        if (ranks->words[r].status != CSAW_OK) return hear_failure(ranks, r);
    const csaw_status status = same_place(ranks);
    return status == CSAW_OK ? CSAW_OK : stop(ranks, status);
}

csaw_status csaw__ranks_end(csaw__ranks *ranks, csaw_status mine) {
    if (!ranks || mine == CSAW_OK) return mine;
    return csaw__ranks_meet(ranks, CSAW__AT_END, mine, NULL);
}

csaw_status csaw__ranks_send(csaw__ranks *ranks, uint32_t to, const void *from, uint64_t bytes) {
    return ranks->stopped ? stopped_before(ranks) : lose(ranks, csaw__link_send(ranks, to, from, bytes));
}

csaw_status csaw__ranks_receive(csaw__ranks *ranks, uint32_t from, void *to, uint64_t bytes) {
    return ranks->stopped ? stopped_before(ranks) : lose(ranks, csaw__link_receive(ranks, from, to, bytes));
}

csaw_status csaw__ranks_broadcast(csaw__ranks *ranks, uint32_t root, void *data, uint64_t bytes) {
    enum { PIECE = 1 << 30 };
    for (char *at = data; bytes;) {
        const uint64_t now = bytes < PIECE ? bytes : PIECE;
        if (ranks->stopped) return stopped_before(ranks);
        CSAW_TRY(lose(ranks, csaw__link_broadcast(ranks, root, at, now)));
        at += now;
        bytes -= now;
    }
    return CSAW_OK;
}

csaw_status csaw__ranks_sum(csaw__ranks *ranks, uint64_t *values, uint64_t count) {
    return ranks->stopped ? stopped_before(ranks) : lose(ranks, csaw__link_sum(ranks, values, count));
}

csaw_status csaw__ranks_swap(csaw__ranks *ranks, uint32_t to, const void *from, uint64_t bytes, uint32_t source,
                             void *into, uint64_t source_bytes) {
    return ranks->stopped ? stopped_before(ranks)
                          : lose(ranks, csaw__link_swap(ranks, to, from, bytes, source, into, source_bytes));
}

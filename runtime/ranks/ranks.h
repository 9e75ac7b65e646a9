/* SPDX-License-Identifier: MIT */
/* runtime/ranks/ranks.h - processes that work on one run together: meetings at which all of them learn how each fares.
 *
 * A rank that fails must tell the others, who may wait for it somewhere else by then. So there is one kind of message
 * alone, the meeting: wherever a rank is, the next thing that it says to the others is where it is, its status and a
 * few numbers, and the next thing that it hears is that of all. A failing rank and one that goes on thus always meet,
 * though in different places. As everybody hears the same, everybody knows from the same meeting on that the work has
 * stopped: later meetings say so without a message, until csaw__ranks_enter(). So no rank waits for one that has left.
 *
 * All calls accept ranks NULL: one process, whose own status is the answer. */
#ifndef CSAW_RANKS_RANKS_H
#define CSAW_RANKS_RANKS_H

#include "runtime/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__ranks csaw__ranks;

#define CSAW__PLACE_MAP(X)                                 \
    X(LOAD, "csaw_graph_load_split")                       \
    X(PLAN, "csaw_plan_create")                            \
    X(SAMPLE, "the start of csaw_sample")                  \
    X(SAMPLE_EACH, "the start of csaw_sample_each")        \
    X(SPLIT, "a batch on a split graph")                   \
    X(DRAWN, "a batch that is drawn")                      \
    X(DELIVERED, "the end of a batch")                     \
    X(END, "the end of a run")                             \
    X(OPEN, "opening a writer")                            \
    X(JOIN, "opening the file of a writer")                \
    X(WRITE, "csaw_writer_write or csaw_arc_writer_write") \
    X(WRITTEN, "the end of a write")                       \
    X(RECORDED, "the record of a write")                   \
    X(CLOSE, "closing a writer")                           \
    X(CLOSED, "the end of closing a writer")

typedef enum csaw__place {
#define X(name, text) CSAW__AT_##name,
    CSAW__PLACE_MAP(X)
#undef X
} csaw__place;

enum { CSAW__RANK_VALUES = 8 };

/* communicator: the address of an MPI_Comm; all its ranks call. What comes out belongs to the communicator and lives as
 * long; NULL for NULL and for a communicator of one rank. */
csaw_status csaw__ranks_open(const void *communicator, csaw__ranks **out);
uint32_t csaw__ranks_rank(const csaw__ranks *ranks); /* of NULL 0 */
uint32_t csaw__ranks_size(const csaw__ranks *ranks); /* of NULL 1 */
bool csaw__ranks_lost(const csaw__ranks *ranks);     /* of no use any more; of NULL false */
/* Of the ranks on this machine, and how many they are. */
uint32_t csaw__ranks_local_rank(const csaw__ranks *ranks);
uint32_t csaw__ranks_local_size(const csaw__ranks *ranks);

/* Something begins that all ranks take part in: what stopped before is over. */
void csaw__ranks_enter(csaw__ranks *ranks);
/* Says how this rank fares; values: [CSAW__RANK_VALUES] for the others, NULL = zeros. Where ranks failed, the status
 * and message of the lowest of them, on every rank; the message names it, unless all say the same. */
csaw_status csaw__ranks_meet(csaw__ranks *ranks, csaw__place place, csaw_status mine, const uint64_t *values);
/* Meets if this rank failed and the others do not know yet. Returns what they know. */
csaw_status csaw__ranks_end(csaw__ranks *ranks, csaw_status mine);
/* What a rank said at the last meeting. */
uint64_t csaw__ranks_said(const csaw__ranks *ranks, uint32_t rank, uint32_t value);
/* CSAW_EINVAL, on every rank, where they did not say the same value: "rank 2 has another `what` than rank 0; `remedy`".
 */
csaw_status csaw__ranks_alike(const csaw__ranks *ranks, uint32_t value, const char *what, const char *remedy);
/* Asked now and then while a rank waits for others; where it says false, and nothing comes for a moment more, the rank
 * gives up with CSAW_ESTOPPED. NULL ends that. */
void csaw__ranks_watch(csaw__ranks *ranks, bool (*go_on)(void *user), void *user);
/* Of a rank that waits for others by messages of its own. patience: zeros before. Whether the watch said no so many
 * seconds ago; it is asked now and then. Of NULL, and without a watch, false. */
typedef struct csaw__patience {
    double asked, refused;
} csaw__patience;
#define CSAW__GIVE_UP_SECONDS 0.2
bool csaw__ranks_refused(csaw__ranks *ranks, csaw__patience *patience, double seconds);
/* Such a rank gave up waiting: what others send will find nobody. */
csaw_status csaw__ranks_leave(csaw__ranks *ranks);
/* From one rank to another, between meetings. */
csaw_status csaw__ranks_send(csaw__ranks *ranks, uint32_t to, const void *from, uint64_t bytes);
csaw_status csaw__ranks_receive(csaw__ranks *ranks, uint32_t from, void *to, uint64_t bytes);

/* All ranks, between meetings: from root to all; values of all added up, on every rank; bytes to one rank while others,
 * of so many bytes, come from another one. */
csaw_status csaw__ranks_broadcast(csaw__ranks *ranks, uint32_t root, void *data, uint64_t bytes);
csaw_status csaw__ranks_sum(csaw__ranks *ranks, uint64_t *values, uint64_t count);
csaw_status csaw__ranks_swap(csaw__ranks *ranks, uint32_t to, const void *from, uint64_t bytes, uint32_t source,
                             void *into, uint64_t source_bytes);

/* Of count things in order, where the share of part begins; parts = everything's end. Shares differ by one at most, and
 * the last ones are the larger: so none of a smaller count is larger, and memory taken for a batch does for all that
 * follow. */
static inline uint64_t csaw__share_begin(uint64_t count, uint64_t part, uint64_t parts) {
    const uint64_t small = parts - count % parts; /* shares, the first ones */
    return count / parts * part + (part > small ? part - small : 0);
}

#ifdef __cplusplus
}
#endif

#endif

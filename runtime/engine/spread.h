/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread.h - a graph that is split over ranks (DESIGN, section 8): each holds a range of vertices with
 * their rows, and walkers, entries of samples and questions travel to where the rows are. Samples are those of one
 * process, bit for bit, since a draw depends on its instance, depth and vertex alone.
 *
 * Of a batch of instances each rank delivers an equal share, in order of instance; it is their home. All ranks make the
 * same calls in the same order; what one of them fails at, all report.
 *
 * No rank waits for another for ever. A rank that finds no free buffer to send by takes in what came for it until there
 * is one (csaw__post()), so it is enough that taking in never sends and has room:
 *   - a walker: a rank starts its instances' walks `window` at a time, so there are never more than size * window, and
 *     memory for those that are here grows up to that many;
 *   - a question: it is answered at once, from the rows here; the answer waits in memory until it can be sent;
 *   - an answer, a record of a path, the picks or the rows that were asked for: their places are there already;
 *   - an entry to be expanded, a row that is wanted: they wait in memory.
 * What waits here for others takes `room` bytes of answers and as many of entries and rows wanted at most, however many
 * ranks there are: whoever asks has no more under way to one rank than a share of its room, or one question in pieces
 * no larger than a batch (csaw__spread_room_at()). So every batch under way is taken in, every buffer becomes free, and
 * every rank goes on.
 *
 * The end needs no barrier between steps. A home knows when its instances are done: every walk's records are counted,
 * every entry's picks come back. Then it says so in a round of the exchange and serves the others until the round ends:
 * when all homes are done no message is under way, since each is needed for some instance. */
#ifndef CSAW_ENGINE_SPREAD_H
#define CSAW_ENGINE_SPREAD_H

#include "partition/exchange.h"
#include "partition/share.h"
#include "runtime/engine/run.h"
#include "runtime/ranks/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default. The same on all ranks. */
typedef struct csaw__spread_options {
    uint64_t window; /* walks of a home under way at a time; default 65,536, on a GPU 2^20, less where all ranks' would
                        not fit CSAW__WALKERS_ROOM bytes */
    uint64_t room;   /* bytes of what other ranks ask, and of rows that came home; default CSAW__SPREAD_ROOM */
    bool by_visits;  /* ranges have equal numbers of arcs; default: equal bytes */
    bool on_gpu;     /* walkers step on a GPU (spread_gpu.h), that one, so many of them at a time; default 2^20 */
    int ordinal;
    uint64_t at_once;
} csaw__spread_options;

enum { CSAW__SPREAD_ROOM = 64 << 20, CSAW__WALKERS_ROOM = 256 << 20 };
enum { CSAW__WALKER_BYTES = 24, CSAW__RECORD_BYTES = 16 /* of messages, without bytes of its own, without its arc */ };

/* What a message is. */
enum csaw__message_kind {
    CSAW__WALKER,   /* it goes on here */
    CSAW__RECORD,   /* of a path, to its home */
    CSAW__QUESTION, /* which of these are neighbours of prev? */
    CSAW__ANSWER,
    CSAW__ENTRY,  /* of a sample's frontier: pick from its row */
    CSAW__PICKS,  /* what was picked, to its home */
    CSAW__FAULT,  /* a hook broke its rules there */
    CSAW__WANTED, /* a row */
    CSAW__ROW,    /* it, to the home that wants it */
    CSAW__ASKING, /* a walker that brings a question to prev's rank, or takes the answers back; between GPUs */
    CSAW__MESSAGE_KINDS
};

typedef struct csaw__spread_counts { /* by this rank, of all runs so far */
    uint64_t batches, bytes;         /* sent to other ranks */
    uint64_t messages[CSAW__MESSAGE_KINDS];
    uint64_t steps;     /* made here */
    uint64_t most_here; /* walkers at a time */
    uint64_t most_kept; /* bytes of memory for what other ranks asked */
} csaw__spread_counts;

/* A message: 8-byte words, the first of which says what it is. */
static inline uint64_t csaw__message(uint32_t kind, uint64_t bytes, uint64_t number) {
    return (uint64_t)kind << 60 | (bytes + 7) / 8 << 44 | number;
}
static inline uint32_t csaw__message_kind(uint64_t head) { return (uint32_t)(head >> 60); }
static inline uint64_t csaw__message_bytes(uint64_t head) { return (head >> 44 & 0xffff) * 8; }
static inline uint64_t csaw__message_number(uint64_t head) { return head & (((uint64_t)1 << 44) - 1); }
/* What an error about one that cannot be of this run ends with. */
#define CSAW__SPOILED "run the same build of csaw on all ranks; if all do, memory or the network spoiled the message"

typedef struct csaw__outgoing { /* the batch that is being filled for a rank */
    unsigned char *to;          /* NULL: none yet */
    uint64_t used;
} csaw__outgoing;

struct csaw__mpi;
struct csaw__spread_gpu;

typedef struct csaw__spread {
    csaw__ranks *ranks;    /* at whose meetings these agree; NULL: by rounds of the exchange */
    struct csaw__mpi *mpi; /* of that exchange, owned; NULL: it is the caller's */
    csaw__exchange on;
    csaw__share share;
    struct csaw__spread_gpu *gpu; /* which has the share in its memory, owned; NULL: this thread makes the steps */
    csaw__spread_options options;
    csaw__outgoing *out; /* [on.size] */
    csaw__spread_counts counts;
    csaw__patience patience; /* while this rank works with others on a batch */
    bool stopped;            /* another rank gave up */
    uint64_t asked;          /* a hash of what the caller asked for; compared with that of the others */
    /* What the run at hand does with a message; it sends nothing itself. */
    csaw_status (*take)(void *user, uint32_t from, uint64_t head, const unsigned char *message);
    csaw__straight_place *place; /* the same of batches that go straight; NULL: there are none */
    csaw_status (*came)(void *user, const csaw__straight *came);
    void *user;
} csaw__spread;

/* Rank's share of the graph, and memory to post by; which exchange is not known yet. */
csaw_status csaw__spread_create(const csaw_graph *graph, uint32_t size, uint32_t rank,
                                const csaw__spread_options *options, csaw__spread **out);
/* All ranks of the communicator, whose meetings are ranks: from here on messages go by MPI. */
csaw_status csaw__spread_connect(csaw__spread *spread, const void *communicator, csaw__ranks *ranks);
/* A plan of this rank, whose share of the graph stays in it. All ranks of the exchange make one, of the same graph. */
csaw_status csaw__spread_plan(const csaw_graph *graph, const csaw__exchange *exchange,
                              const csaw__spread_options *options, csaw_plan **out);
void csaw__spread_free(csaw__spread *spread);
void csaw__spread_forget_tables(csaw__spread *spread); /* those of the plan are about to go */

/* All ranks: the same outcome for each, CSAW_OK if it is that of all. Of several failures that of the lowest rank is
 * told, by number; of faults of hooks, which *fault holds on every rank then, the lowest. fault: NULL is fine. */
csaw_status csaw__spread_agree(csaw__spread *spread, csaw_status status, csaw__fault *fault);
/* The same between batches of a run, where ranks that have meetings meet anyway, and of a plan that may hold the whole
 * graph: then it returns status. */
static inline csaw_status csaw__spread_agree_run(const csaw__run *r, csaw_status status) {
    return r->plan->spread && !r->plan->ranks ? csaw__spread_agree(r->plan->spread, status, NULL) : status;
}
/* A run that csaw__run_create() made, or failed to make: whether all ranks made the same. */
csaw_status csaw__spread_agree_on(csaw__spread *spread, const csaw__run *r, csaw_status status);
/* What a job sees of the rank's rows. */
void csaw__spread_job(const csaw__spread *spread, csaw__job *job);
/* A batch of the run, to samples: this rank's share of it. Begins with an agreement. */
csaw_status csaw__spread_batch(const csaw__run *r, const csaw__job *job, csaw_samples *samples, csaw__fault *fault);

/* Bytes of questions that may be under way to one rank, or of entries and rows wanted as they wait there: what waits
 * at a rank may take an eighth of its room, since arrays that grow are up to twice as large as what stands in them,
 * half of that may have been served already, and an answer takes up to twice its question. */
static inline uint64_t csaw__spread_room_at(const csaw__spread *spread) {
    return spread->options.room / 8 / spread->on.size;
}
static inline void csaw__spread_note_kept(csaw__spread *spread, uint64_t bytes) {
    if (bytes > spread->counts.most_kept) spread->counts.most_kept = bytes;
}

/* ---- runtime/engine/spread_post.c: messages ---- */

/* Room for a message of so many bytes to another rank, to be written before anything else is sent there. It may take in
 * what came. CSAW_ESTOPPED: another rank gave up. */
csaw_status csaw__post(csaw__spread *spread, uint32_t to, uint64_t bytes, void **out);
/* The same without taking in anything: *out is NULL if there is no room now. */
csaw_status csaw__post_now(csaw__spread *spread, uint32_t to, uint64_t bytes, void **out);
/* Messages of so many bytes each, a multiple of 8, that stand side by side. */
csaw_status csaw__post_all(csaw__spread *spread, uint32_t to, const void *messages, uint64_t bytes, uint64_t count);
/* The same straight from memory that stays as it is until csaw__post_sent(): waits until all have it that they were
 * sent so. take: takes in what comes while it waits. Only where csaw__spread_straight(). */
csaw_status csaw__post_straight(csaw__spread *spread, uint32_t to, uint32_t kind, const void *messages, uint64_t bytes,
                                uint64_t count);
csaw_status csaw__post_sent(csaw__spread *spread, bool take);
static inline bool csaw__spread_straight(const csaw__spread *spread) {
    return spread->gpu && spread->on.send_from != NULL;
}
csaw_status csaw__post_go_on(csaw__spread *spread);           /* CSAW_ESTOPPED: another rank gave up, or the caller */
csaw_status csaw__post_flush(csaw__spread *spread);           /* batches that are not full, too */
csaw_status csaw__post_take(csaw__spread *spread, bool *any); /* takes in what came */
void csaw__post_drop(csaw__spread *spread);                   /* what is not sent yet */
/* This rank's instances are done, or it failed: serves the others until all are done, and agrees with them. go_on:
 * sends what taking in left to be sent. */
csaw_status csaw__spread_end(csaw__spread *spread, csaw_status status, csaw__fault *fault,
                             csaw_status (*go_on)(void *user, bool *any));

/* ---- kinds of runs ---- */

csaw_status csaw__spread_walk(csaw__spread *spread, const csaw_sampler *sampler, const csaw__job *whole,
                              const csaw__job *mine, bool edges, csaw__fault *fault);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread_walk.h - walks on a graph that is split over ranks: what a rank keeps of a batch, for
 * spread_walk.c, which moves walkers, spread_step.c and spread_walk_gpu.c, which take their steps, spread_ask.c, which
 * asks and answers, and spread_check.c, which looks at what comes. */
#ifndef CSAW_ENGINE_SPREAD_WALK_H
#define CSAW_ENGINE_SPREAD_WALK_H

#include "partition/homes.h"
#include "runtime/engine/spread_gpu.h"

#define CSAW__NO_SLOT UINT32_MAX
enum { CSAW__WALKERS_AT_ONCE = 64 /* that take a step between two looks at what came */ };

/* A walker that is here, and what it asks: vertex[i], i < count. */
typedef struct csaw__walk_slot {
    csaw__walker walker;
    const csaw_vertex *vertex; /* of its row; NULL: walker.asked */
    uint32_t count, sent, answered;
    uint32_t next;                     /* in the list of those that ask */
    uint8_t few[CSAW__MOST_ASKED + 1]; /* answers; of a row, many points to memory */
    uint8_t *many;                     /* [count + 1] */
} csaw__walk_slot;

/* Answers that found no room yet. */
typedef struct csaw__waiting_answer {
    uint32_t to;
    uint64_t at; /* in words */
} csaw__waiting_answer;

typedef struct csaw__arriving { /* messages of one size, side by side */
    unsigned char *message;
    uint64_t count, room; /* room: bytes */
} csaw__arriving;

typedef struct csaw__arrived_straight { /* a batch of walkers, straight to the GPU */
    uint32_t from, list;
    uint64_t count;
} csaw__arrived_straight;

typedef struct csaw__walks_here {
    csaw__spread *s;
    const csaw_sampler *sampler;
    const csaw__job *whole; /* the batch of all ranks; rows are this one's */
    const csaw__job *mine;  /* the walks that are at home here; path and edge */
    csaw__fault fault;
    uint64_t first;                        /* of mine, in the batch */
    csaw__homes homes;                     /* of the batch's walks */
    uint64_t started, ended, due, records; /* walks; records that ended walks have, and that came */
    csaw__message_forms forms;
    bool edges; /* arcs are kept */

    csaw__arriving walkers, asking; /* where a GPU makes the steps: those that wait for a launch, of so many at most */
    uint64_t at_once;
    uint64_t there[2], coming;     /* by list: those that stand in the GPU's memory, and one that is coming there */
    csaw__arrived_straight *batch; /* [num_batches] by which those came */
    uint64_t num_batches, batch_room;

    csaw__walk_slot *slot; /* [num_slots] */
    uint64_t num_slots, slot_room;
    uint32_t *free, *ready; /* [num_free], [num_ready]: slots */
    uint64_t num_free, free_room, num_ready, ready_room;

    uint32_t first_asking, last_asking; /* slots with something left to ask */
    uint64_t answer_bytes;              /* of rows that are asked about */
    uint64_t *under_way;                /* [ranks] bytes of questions to each that are not answered */

    csaw__waiting_answer *waiting; /* [num_waiting], from next_waiting on */
    uint64_t *words;               /* [num_words]: their messages */
    uint64_t num_waiting, next_waiting, waiting_room, num_words, words_room;
} csaw__walks_here;

/* runtime/engine/spread_step.c: some of the walkers that are ready, one step each. */
csaw_status csaw__walk_step_some(csaw__walks_here *w, bool *any);
/* runtime/engine/spread_walk.c. The step of the slot's walker was made: it is ready for the next, leaves, or is done.
 */
csaw_status csaw__walk_go(csaw__walks_here *w, uint32_t number);

/* A walker whose next step this thread makes. */
csaw_status csaw__walk_arrive(csaw__walks_here *w, const csaw__walker *walker);
/* A record of a walk that is at home here: the message. */
void csaw__walk_record(csaw__walks_here *w, const void *message);

/* runtime/engine/spread_check.c. A message from another rank: CSAW_EINVAL unless all that it names is in this batch. */
csaw_status csaw__walk_check(const csaw__walks_here *w, uint32_t from, uint64_t head, const void *message);

/* runtime/engine/spread_walk_gpu.c. A walker came, with or without a question: the message. */
csaw_status csaw__walk_gpu_take(csaw__walks_here *w, uint64_t head, const void *message);
/* A batch of walkers that goes straight to the GPU's memory: where to, and that it came there. */
void *csaw__walk_gpu_place(void *walks_here, uint32_t list, uint64_t bytes);
csaw_status csaw__walk_gpu_came(void *walks_here, const csaw__straight *came);
uint64_t csaw__walk_gpu_here(const csaw__walks_here *w); /* walkers that wait for a launch */
/* A launch, once it is full, or nothing was done before: *any. */
csaw_status csaw__walk_gpu_move(csaw__walks_here *w, bool *any);
csaw_status csaw__walk_gpu_begin(csaw__walks_here *w);
void csaw__walk_gpu_end(csaw__walks_here *w);

/* runtime/engine/spread_ask.c. The walker has a question; it waits for its turn to be sent. */
void csaw__walk_ask(csaw__walks_here *w, uint32_t number, int outcome);
const uint8_t *csaw__walk_known(csaw__walk_slot *at);             /* the answers that it has; NULL: it did not ask */
void csaw__walk_forget(csaw__walks_here *w, csaw__walk_slot *at); /* what it asked is of no use any more */
csaw_status csaw__walk_send_answers(csaw__walks_here *w, bool *any);
csaw_status csaw__walk_send_questions(csaw__walks_here *w, bool *any);
csaw_status csaw__walk_take_question(csaw__walks_here *w, uint32_t from, const void *message);
csaw_status csaw__walk_take_answer(csaw__walks_here *w, uint32_t from, const void *message);

#endif

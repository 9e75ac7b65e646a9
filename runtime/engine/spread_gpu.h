/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread_gpu.h - a rank's part of a split graph in the memory of its GPU, and walkers that step there.
 *
 * Method: what goes from rank to rank is the same messages, by the same exchange, whoever makes the steps. Walkers that
 * came, as the messages that they are, go up to the GPU together; a launch of the kernel that walks on partitions
 * (device_parts.cuh), of which the rank's part is one, takes each as far as it gets here; and what it leaves is brought
 * down as messages again, side by side for each rank: walkers, those with a question or its answers, records of paths.
 * So the host copies messages, looks at the places that those from other ranks name (spread_check.c), and reads the
 * records of its own walks alone. A walker that asks takes its question along to the rank of prev, whose GPU answers
 * it. Where a row as a whole is asked about the host makes the step, as it does without a GPU.
 *
 * Where MPI moves the memory of GPUs (csaw__exchange.send_from), walkers to other ranks, with or without a question, go
 * straight from where the kernel left them to where the next launch of that rank takes them from, which looks at what
 * they name as it takes them in. There may be more than a launch has room for: the host's memory takes those. Records,
 * which the host reads, and what it starts itself are staged; elsewhere all is. Either way a rank that takes in, takes
 * messages of both kinds. */
#ifndef CSAW_ENGINE_SPREAD_GPU_H
#define CSAW_ENGINE_SPREAD_GPU_H

#include "runtime/engine/spread.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__spread_gpu csaw__spread_gpu;

typedef struct csaw__walker_message {
    uint64_t head; /* number: the walk */
    csaw_vertex at, prev, root;
    uint32_t depth;
    uint64_t user[4]; /* as many as the sampler has */
} csaw__walker_message;

/* Behind that in a CSAW__ASKING message. */
typedef struct csaw__walker_question {
    uint32_t state; /* csaw__part_state: PART_ASKS or PART_KNOWS; of a walker for the host PART_STOPS */
    csaw__part_question question;
} csaw__walker_question;

typedef struct csaw__record_message {
    uint64_t head; /* number: the walk */
    uint32_t depth;
    csaw_vertex at;
    csaw_edge edge; /* if arcs are kept */
} csaw__record_message;

/* The lists of messages to each rank. Those that ask to the rank itself are for its host. */
enum { CSAW__LIST_WALKERS, CSAW__LIST_ASKING, CSAW__LIST_RECORDS, CSAW__MESSAGE_LISTS };
typedef struct csaw__message_forms {
    uint64_t bytes[CSAW__MESSAGE_LISTS]; /* of one */
    uint64_t head[CSAW__MESSAGE_LISTS];  /* without a number */
} csaw__message_forms;

/* Walkers that came: messages side by side in the host's memory, and those that stand in the GPU's already. */
typedef struct csaw__arrivals {
    const void *walkers, *asking;
    uint64_t num_walkers, num_asking;
    uint64_t walkers_there, asking_there;
} csaw__arrivals;

/* What a launch left: messages in lists, rank after rank, which begin at these bytes of all that are left. */
typedef struct csaw__left {
    const uint64_t *count, *begin; /* [ranks * CSAW__MESSAGE_LISTS], the host's */
    uint64_t brought, all;         /* bytes of the lists that are brought to the host, and of all; those come first */
    uint64_t fault;                /* lowest instance << 24 | depth of the batch, all ones = none */
    uint64_t odd;                  /* lowest slot whose message cannot be of this batch, all ones = none */
} csaw__left;

/* What walkers of a batch may be at a rank. */
typedef struct csaw__walker_limits {
    uint64_t walks;
    uint32_t length;
    csaw_vertex vertices, first, count; /* first, count: of rows here */
} csaw__walker_limits;

/* whose: the vertex whose row is asked for here. */
CSAW_FN bool csaw__walker_fits(const csaw__walker_limits *l, const csaw__walker_message *m, csaw_vertex whose) {
    const uint64_t walk = m->head & (((uint64_t)1 << 44) - 1);
    return walk < l->walks && m->depth < l->length && whose - l->first < l->count && m->at < l->vertices &&
           m->root < l->vertices && (m->depth ? m->prev < l->vertices : m->prev == CSAW_NONE);
}

CSAW_FN bool csaw__question_fits(const csaw__walker_question *q) {
    return (q->state == CSAW__PART_ASKS || q->state == CSAW__PART_KNOWS) &&
           (q->question.known & 0xff) <= CSAW__MOST_ASKED;
}

/* share: for as long as this is open. CSAW_EDEVMEM where the part does not fit. */
csaw_status csaw__spread_gpu_open(const csaw__share *share, uint32_t rank, const csaw__spread_options *options,
                                  csaw__spread_gpu **out);
void csaw__spread_gpu_close(csaw__spread_gpu *gpu);         /* NULL is fine */
void csaw__spread_gpu_forget_tables(csaw__spread_gpu *gpu); /* likewise; the host's are about to go */
/* A batch that has steps: whole is that of all ranks, rows the host's. straight: walkers to other ranks are not brought
 * to the host. *most: walkers of a launch. */
csaw_status csaw__spread_gpu_begin(csaw__spread_gpu *gpu, const csaw_sampler *sampler, const csaw__job *whole,
                                   const csaw__message_forms *forms, bool edges, bool straight, uint64_t *most);
/* Where so many walkers of a list are to come to before the next step, behind those that are there. Of both lists
 * together there is room for those of a launch. */
void *csaw__spread_gpu_place(csaw__spread_gpu *gpu, uint32_t list, uint64_t there, uint64_t count);
/* Those walkers, at most so many, as far as they get here. Slots are theirs: walkers there, the host's, the host's that
 * ask, those that ask there, the last that came first. */
csaw_status csaw__spread_gpu_step(csaw__spread_gpu *gpu, const csaw__arrivals *in, csaw__left *left);
/* Of that step, until the next message is taken in: the slot of a walk, all ones = it was in none, and the message that
 * a slot came by: [sizeof(csaw__walker_message) + sizeof(csaw__walker_question)]. */
csaw_status csaw__spread_gpu_find(csaw__spread_gpu *gpu, uint64_t walk, uint64_t *slot);
csaw_status csaw__spread_gpu_message(csaw__spread_gpu *gpu, uint64_t slot, unsigned char *message, bool *asks);
/* Of the messages those that begin at byte `from` or behind it and before *end: *data is where byte `from` stands, of
 * lists that are brought to the host, *there in the GPU's memory, until the next call. */
csaw_status csaw__spread_gpu_fetch(csaw__spread_gpu *gpu, uint64_t from, uint64_t *end, const unsigned char **data,
                                   const unsigned char **there);

#ifdef __cplusplus
}
#endif

#endif

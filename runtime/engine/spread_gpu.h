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
 * The host's memory is staged in between. An MPI that takes device memory would save a copy of 20 to 70 bytes a step
 * at the speed of PCIe; making and taking in records costs several times that. */
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

/* Walkers that came: messages side by side. */
typedef struct csaw__arrivals {
    const void *walkers, *asking;
    uint64_t num_walkers, num_asking;
} csaw__arrivals;

/* share: for as long as this is open. CSAW_EDEVMEM where the part does not fit. */
csaw_status csaw__spread_gpu_open(const csaw__share *share, uint32_t rank, const csaw__spread_options *options,
                                  csaw__spread_gpu **out);
void csaw__spread_gpu_close(csaw__spread_gpu *gpu);         /* NULL is fine */
void csaw__spread_gpu_forget_tables(csaw__spread_gpu *gpu); /* likewise; the host's are about to go */
/* A batch that has steps: whole is that of all ranks, rows the host's. *most: walkers of a launch. */
csaw_status csaw__spread_gpu_begin(csaw__spread_gpu *gpu, const csaw_sampler *sampler, const csaw__job *whole,
                                   const csaw__message_forms *forms, bool edges, uint64_t *most);
/* Those walkers, at most so many, as far as they get here. count: [ranks * CSAW__MESSAGE_LISTS], the host's, messages
 * that are left for each rank; fault: lowest instance << 24 | depth of the batch, all ones = none. */
csaw_status csaw__spread_gpu_step(csaw__spread_gpu *gpu, const csaw__arrivals *in, const uint64_t **count,
                                  uint64_t *fault);
/* Of the messages, list after list of rank after rank, those that begin at byte `from` or behind it and before *end:
 * data is where byte `from` stands, until the next call. */
csaw_status csaw__spread_gpu_fetch(csaw__spread_gpu *gpu, uint64_t from, uint64_t *end, const void **data);

#ifdef __cplusplus
}
#endif

#endif

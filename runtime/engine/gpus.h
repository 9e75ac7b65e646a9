/* SPDX-License-Identifier: MIT */
/* runtime/engine/gpus.h - a plan on several GPUs of the machine, each of which draws a share of every batch.
 *
 * Method: each GPU has a plan of its own, an ordinary one with all of the graph (or with partitions that come to it, or
 * with the graph in the memory of all of them, device_joint.h), and a thread that works for it. A batch is cut into as
 * many contiguous groups, equal but for one instance, in the order of the GPUs (C-SAW, SC'20, section V-D). So delivery
 * order is the order of the shares; a batch is what it is on one GPU; nothing is exchanged while they draw; and the
 * shares are copied to the host side by side (deliver.c). Whole batches dealt out in turn would give the same order,
 * but csaw_sample(), which is one batch, would have to be cut all the same, and copies of one batch would wait for each
 * other. A draw depends on its place alone, so no bit changes. Of GPUs that exchange walkers (device_exchange.h) a
 * share is what a GPU keeps and delivers, whoever draws it. */
#ifndef CSAW_ENGINE_GPUS_H
#define CSAW_ENGINE_GPUS_H

#include "runtime/base/crew.h"
#include "runtime/engine/device_list.h"
#include "runtime/engine/run.h"

#ifdef __cplusplus
extern "C" {
#endif

struct csaw__gpus {
    uint32_t count;
    bool in_parts;                       /* partitions come to one of them at least */
    csaw__joint *joint;                  /* the graph is in the memory of all together; NULL: in that of each */
    struct csaw__gpu_exchange *exchange; /* walkers go where their rows are; NULL: rows are read where they are */
    csaw__crew *crew;                    /* member i is that of GPU i; the first one's is the caller's thread */
    int ordinal[CSAW__MOST_GPUS];
    csaw_plan *plan[CSAW__MOST_GPUS]; /* [count] */
};

/* Whether so many GPUs are to hold the graph together: split asks for it, or each alone has no room for it and nothing
 * was said of partitions, while together they have, for tables of weights, too. least: bytes that are free on each. Of
 * split without room CSAW_EDEVMEM. */
csaw_status csaw__gpus_together(const csaw_graph *graph, const csaw_plan_options *options, uint32_t count,
                                uint64_t least, bool *out);
/* To plan->gpus. The plan's options hold for each GPU. */
csaw_status csaw__gpus_open(csaw_plan *plan, const csaw_plan_options *options, const csaw__device_list *list);
void csaw__gpus_free(csaw__gpus *gpus); /* NULL is fine; before the plan's tables */
/* As csaw__device_prepare(), csaw__parts_forget_tables(), csaw__run_room() and csaw__run_batches() on each of them. */
csaw_status csaw__gpus_prepare(const csaw__gpus *gpus, const csaw_sampler *sampler, const csaw__job *job);
void csaw__gpus_forget_tables(const csaw__gpus *gpus);
csaw_status csaw__gpus_room(const csaw__run *r, uint64_t count, uint64_t all);
csaw_status csaw__gpus_batches(const csaw__run *r, uint64_t left, uint64_t *count);
/* GPU i's share of so many instances from *first on. */
void csaw__gpus_share(const csaw__gpus *gpus, uint32_t i, uint64_t *first, uint64_t *count);
/* The batch that samples are of, which has not begun: to samples->share. The fault is that of the lowest instance. What
 * failed is what comes first in the order of delivery, errors of a GPU and faults of hooks alike. */
csaw_status csaw__gpus_draw(const csaw__run *r, csaw_samples *samples, csaw__fault *fault);
/* A failure of that GPU; the message names it, unless any machine would say the same. message: not the last error's. */
csaw_status csaw__gpu_failed(int ordinal, csaw_status status, const char *message);
/* The same of what this thread was told last; CSAW_OK as it is. */
csaw_status csaw__gpu_told(int ordinal, csaw_status status);

#ifdef __cplusplus
}
#endif

#endif

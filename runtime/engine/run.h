/* SPDX-License-Identifier: MIT */
/* runtime/engine/run.h - what a call of csaw_sample or csaw_sample_each asks for, checked, and batches of it. */
#ifndef CSAW_ENGINE_RUN_H
#define CSAW_ENGINE_RUN_H

#include "partition/fit.h"
#include "runtime/engine/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__run {
    csaw_plan *plan;
    const csaw_sampler *sampler;
    csaw_run_options options;
    csaw__job job; /* of the whole run; batches change first, num_walks, path and edge */
    uint64_t total;
    bool is_sample; /* arcs, not walks: docs/stream.md, "Samples" */
    /* Seeds that an engine with the whole graph on GPUs looks at as it takes them, and refuses by csaw__roots_refuse();
     * NULL: they are vertices of the graph. */
    const csaw_seeds *unseen;
    /* Of csaw_sample_each: instances of a round of batches, which begin with options.first; 0: there is one batch, and
     * nobody knows of others. */
    uint64_t of_a_round;
    bool divides; /* of csaw_sample_each: where the device has no memory for a batch, smaller ones are asked for */
    const struct csaw__run *whole; /* of several GPUs, whose share is this one's; NULL: none */
    uint32_t member;               /* of them */
} csaw__run;

/* runtime/engine/seeds.c. Offsets that never fall, vertices of the plan's graph. NULL, every vertex, is fine. */
csaw_status csaw__seeds_check(const csaw_plan *plan, const csaw_seeds *seeds);
/* The two halves of that. *one_each: every pool is of one seed, so that offsets need not be told. */
csaw_status csaw__pools_check(const csaw_plan *plan, const csaw_seeds *seeds, bool *one_each);
csaw_status csaw__seeds_look(const csaw_plan *plan, const csaw_seeds *seeds);
/* root[first] .. root[first + count - 1], of all seeds, are such vertices. root: NULL is fine. */
csaw_status csaw__roots_check(const csaw_vertex *root, uint64_t first, uint64_t count, uint64_t num_vertices);
/* The same of some that are not: names the first. */
csaw_status csaw__roots_refuse(const csaw_vertex *root, uint64_t first, uint64_t count, uint64_t num_vertices);
csaw_status csaw__run_create(csaw_plan *plan, const csaw_sampler *sampler, const void *params, const csaw_seeds *seeds,
                             const csaw_run_options *options, csaw__run *out);
/* runtime/engine/run_ranks.c. After csaw__run_create(), with its status: ranks that share the run have the same in
 * mind. at_once: of csaw_sample_each(), instances of a batch, which become the least of all ranks; else NULL. */
csaw_status csaw__run_agree(const csaw__run *r, csaw_plan *plan, csaw_status status, const csaw_seeds *seeds,
                            uint64_t *at_once);
/* Of so many instances, those of this rank's batch: from *first on, *count of them. All, where the graph is split: then
 * all ranks have one batch, and divide it within. */
void csaw__run_share(const csaw__run *r, uint64_t total, uint64_t *first, uint64_t *count);
/* runtime/engine/batches.c. Bytes of host memory that an instance takes. */
uint64_t csaw__run_bytes(const csaw__run *r);
/* Before the first batch: device memory divided for batches of so many instances, of all that there are to do. */
csaw_status csaw__run_room(const csaw__run *r, uint64_t count, uint64_t all);
/* The same for csaw_sample_each, which has so many instances to do: *count of them make a batch. */
csaw_status csaw__run_batches(const csaw__run *r, uint64_t left, uint64_t *count);
/* The batch after the one that has this instance, as csaw_sample_each will ask for it; false: there is none. An engine
 * may begin it; whatever it began is dropped when the run has ended. */
bool csaw__run_next(const csaw__run *r, uint64_t instance, uint64_t *first, uint64_t *count);
void csaw__run_end(const csaw__run *r);
/* Walks of a batch, of_one bytes of host memory each, of which so many are under way together (0 = any number costs the
 * same): whole rounds of them. given: csaw_run_options.batch_bytes. Without it, at most so many. */
uint64_t csaw__walks_in_batch(uint64_t of_one, uint64_t together, uint64_t given);
uint64_t csaw__most_in_batch(uint64_t of_one);
/* Samples of a batch on a GPU to which partitions come as `fit` has it, of so many instances in all; apart: depths that
 * a lot is behind another. */
uint64_t csaw__samples_in_batch(const csaw__run *r, const csaw__fit *fit, uint32_t apart, uint64_t instances);
/* Candidates of an instance's layer at each depth, [job.length], expected on this graph. */
void csaw__layer_candidates(const csaw__run *r, double *candidates);
#define CSAW__MOST_BATCH_BYTES ((uint64_t)4 << 30)
/* What samples are of: instances first .. first + count - 1 of the run. */
void csaw__run_describe(const csaw__run *r, uint64_t first, uint64_t count, csaw_samples *samples);
/* Instances first .. first + count - 1, to samples: new ones, or those of another batch of the run. What hooks did
 * wrong goes to *fault. On a GPU host_path, host_edge, device_turned and arcs of samples are let alone, which another
 * thread may take from there meanwhile. */
csaw_status csaw__run_batch(const csaw__run *r, uint64_t first, uint64_t count, csaw_samples *samples,
                            csaw__fault *fault);
/* What the fault is called; CSAW_OK if there is none. */
csaw_status csaw__run_fault(const csaw__run *r, csaw__fault *fault);
/* Asks the progress function: CSAW_ESTOPPED if it says so. done: instances, all counted from the run's first. */
csaw_status csaw__run_progress(const csaw__run *r, uint64_t done);
/* Room for the walks of a batch in the host's memory, and the job's. */
csaw_status csaw__walks_take(csaw_samples *samples, csaw__job *job);
/* runtime/engine/draw_on_cpu.c: a batch by the plan's threads. Asks the progress function meanwhile. */
csaw_status csaw__draw_on_cpu(const csaw__run *r, csaw__job *job, csaw_samples *samples, csaw__fault *fault);
/* runtime/engine/parts_walk.c: walks of a batch on partitions. Asks the progress function between rounds. */
csaw_status csaw__parts_walk(const csaw__run *r, const csaw__job *job, csaw__fault *fault);
/* runtime/engine/device_parts_batches.cu: samples of a batch on partitions that come to a GPU, to samples->device_arcs.
 */
csaw_status csaw__parts_sample_on_gpu(const csaw__run *r, const csaw__job *job, csaw_samples *samples,
                                      csaw__fault *fault);

#ifdef __cplusplus
}
#endif

#endif

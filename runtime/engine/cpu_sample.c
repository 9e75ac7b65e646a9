/* SPDX-License-Identifier: MIT */
/* runtime/engine/cpu_sample.c - samples on the CPU: batches of instances dealt to threads, and what they found brought
 * into the order of delivery: (instance, depth, place in the frontier, pick). */
#include <stdio.h>
#include <string.h>

#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include "runtime/base/watch.h"
#include "runtime/engine/fault.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/sampling.h"

/* Instances that advance together: enough vertices at hand for their reads to overlap; on partitions as many as can be,
 * since they share transfers. */
enum { BATCH_SEEDS = 256, BATCH_OWNERS = 64, BATCH_LISTS = 16, BATCH_ON_PARTS = CSAW__SET_OWNERS };

typedef struct batch {
    uint64_t first, count;                              /* instances */
    uint32_t worker;                                    /* that ran it */
    uint64_t arc, segment, segment_end, seed, seed_end; /* in the worker's arrays */
} batch;

typedef struct run {
    csaw__worker *worker; /* [threads] */
    batch *batch;         /* [num_batches] */
    uint64_t num_batches, per_batch;
    const csaw__job *job;
    csaw__spare *spare;
    csaw__heard *heard; /* NULL: nobody is asked */
} run;

static uint64_t batch_size(const csaw_plan *plan, const csaw__job *job, uint32_t flags) {
    const uint64_t seeds = job->seed_offset ? job->seed_offset[job->num_roots] : job->num_roots;
    const uint64_t per_pool = job->num_roots ? seeds / job->num_roots + 1 : 1;
    const uint64_t most = flags & CSAW_REPLACE_POOL ? BATCH_LISTS : BATCH_OWNERS;
    if (plan->parts) return plan->parts->one_at_a_time ? 1 : BATCH_ON_PARTS;
    if (plan->spread) return BATCH_ON_PARTS;
    if (flags & CSAW_REPLACE_POOL) return most;
    const uint64_t size = BATCH_SEEDS / per_pool;
    return size < 1 ? 1 : size > most ? most : size;
}

/* left: instances of this batch and of those behind it. */
static csaw_status run_batch(csaw__worker *w, batch *b, uint64_t left) {
    if (csaw__parts_any_order(w)) CSAW_TRY(csaw__parts_pick_ahead(w, b->first, left));
    b->arc = w->num_arcs;
    b->segment = w->num_segments;
    b->seed = w->num_seeds;
    CSAW_TRY(csaw__worker_run(w, b->first, b->count));
    b->segment_end = w->num_segments;
    b->seed_end = w->num_seeds;
    return CSAW_OK;
}

/* A fault was found among several instances: the lowest one that has a fault is told of, so they are run alone. */
static csaw_status find_first_fault(csaw__worker *w, const batch *b) {
    const csaw__fault found = w->fault;
    for (uint64_t i = b->first; i < found.instance; i++) {
        w->fault.kind = CSAW__FAULT_NONE;
        CSAW_TRY(csaw__worker_run(w, i, 1));
        if (w->fault.kind != CSAW__FAULT_NONE) return CSAW_OK;
    }
    w->fault = found;
    return CSAW_OK;
}

/* ---- into the order of delivery ---- */

/* offset[i + 1] holds how many are instance i's; becomes where they begin. */
static void sum(uint64_t *offset, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) offset[i + 1] += offset[i];
}

/* How many arcs and seeds each of a batch's instances has, to the places behind their offsets. Counted apart first:
 * threads must not write to one line of memory again and again. */
static void count(const run *r, const batch *b, const csaw_arcs *out) {
    const csaw__worker *w = &r->worker[b->worker];
    const uint64_t place = b->first - r->job->first + 1;
    uint64_t arcs[BATCH_ON_PARTS], seeds[BATCH_ON_PARTS], begin = b->arc;
    memset(arcs, 0, b->count * sizeof *arcs);
    memset(seeds, 0, b->count * sizeof *seeds);
    for (uint64_t i = b->segment; i < b->segment_end; begin = w->segment[i++].end)
        arcs[w->segment[i].owner] += w->segment[i].end - begin;
    for (uint64_t i = b->seed; i < b->seed_end; i++) seeds[w->seed[i].owner]++;
    memcpy((uint64_t *)out->offset + place, arcs, b->count * sizeof *arcs);
    memcpy((uint64_t *)out->seed_offset + place, seeds, b->count * sizeof *seeds);
}

/* One batch's arcs, which stand by depth, to their instances. */
static void deliver(const run *r, const batch *b, const csaw_arcs *out) {
    const csaw__worker *w = &r->worker[b->worker];
    uint64_t at[BATCH_ON_PARTS], seed_at[BATCH_ON_PARTS], begin = b->arc;
    memcpy(at, out->offset + (b->first - r->job->first), b->count * sizeof *at);
    memcpy(seed_at, out->seed_offset + (b->first - r->job->first), b->count * sizeof *seed_at);
    for (uint64_t i = b->segment; i < b->segment_end; begin = w->segment[i++].end) {
        const csaw__segment *segment = &w->segment[i];
        const uint64_t arcs = segment->end - begin, to = at[segment->owner];
        uint32_t *const depth = (uint32_t *)out->depth + to;
        memcpy((csaw_vertex *)out->src + to, w->src + begin, arcs * sizeof *w->src);
        memcpy((csaw_vertex *)out->dst + to, w->dst + begin, arcs * sizeof *w->dst);
        memcpy((csaw_edge *)out->edge + to, w->edge + begin, arcs * sizeof *w->edge);
        for (uint64_t j = 0; j < arcs; j++) depth[j] = segment->depth;
        at[segment->owner] += arcs;
    }
    for (uint64_t i = b->seed; i < b->seed_end; i++)
        ((csaw_vertex *)out->seed)[seed_at[w->seed[i].owner]++] = w->seed[i].vertex;
}

static csaw_status deliver_all(const run *r, int threads, csaw_arcs *out) {
    uint64_t arcs = 0, seeds = 0;
    for (int t = 0; t < threads; t++) {
        arcs += r->worker[t].num_arcs;
        seeds += r->worker[t].num_seeds;
    }
    CSAW_TRY(csaw__arcs_create(r->spare, r->job->num_walks, arcs, seeds, out));
    out->first = r->job->first;
    (void)threads;
CSAW__OMP(parallel for schedule(static) num_threads(threads) if (r->num_batches > 64))
for (uint64_t b = 0; b < r->num_batches; b++) count(r, &r->batch[b], out);
sum((uint64_t *)out->offset, out->num_instances);
sum((uint64_t *)out->seed_offset, out->num_instances);
CSAW__OMP(parallel for schedule(static) num_threads(threads))
for (uint64_t b = 0; b < r->num_batches; b++) deliver(r, &r->batch[b], out);
return CSAW_OK;
}

/* ---- all batches ---- */

static csaw_status may_go_on(const run *r) {
    return r->heard && csaw__stopped(r->heard->watch) ? csaw__was_stopped() : CSAW_OK;
}

static void tell_done(const run *r, uint64_t count) {
    if (!r->heard) return;
    CSAW__OMP(atomic)
    r->heard->done += count;
}

static csaw_status run_all(run *r, int threads, csaw__fault *fault) {
    csaw_status failure = CSAW_OK;
    char message[1024] = "";
    (void)threads; /* of a build without OpenMP */
    CSAW__OMP(parallel num_threads(threads)) {
#if defined(_OPENMP)
        const uint32_t me = (uint32_t)omp_get_thread_num();
#else
        const uint32_t me = 0;
#endif
        csaw__worker *w = &r->worker[me];
CSAW__OMP(for schedule(monotonic : dynamic))
for (uint64_t b = 0; b < r->num_batches; b++) {
    csaw_status seen;
    CSAW__OMP(atomic read)
    seen = failure;
    if (seen != CSAW_OK || w->fault.kind != CSAW__FAULT_NONE) continue; /* a worker's batches ascend */
    r->batch[b].worker = me;
    csaw_status status = may_go_on(r);
    if (status == CSAW_OK) status = run_batch(w, &r->batch[b], r->job->first + r->job->num_walks - r->batch[b].first);
    if (status == CSAW_OK && w->fault.kind != CSAW__FAULT_NONE) status = find_first_fault(w, &r->batch[b]);
    if (status == CSAW_OK) {
        tell_done(r, r->batch[b].count);
        continue;
    }
    CSAW__OMP(critical(csaw__cpu_sample)) {
        if (failure == CSAW_OK) snprintf(message, sizeof message, "%s", csaw_last_error());
        CSAW__OMP(atomic write)
        failure = status;
    }
}
CSAW__OMP(critical(csaw__cpu_sample))
csaw__fault_merge(fault, &w->fault);
    }
    return failure == CSAW_OK ? CSAW_OK : csaw__fail(failure, "%s", message);
}

csaw_status csaw__cpu_sample(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job, bool check,
                             csaw__heard *heard, csaw_samples *samples, csaw__fault *fault) {
    run r = {.job = job,
             .spare = samples->spare,
             .heard = heard,
             .per_batch = batch_size(plan, job, sampler->traits() >> CSAW__TRAIT_FLAGS)};
    csaw_status status = CSAW_OK;
    r.num_batches = (job->num_walks + r.per_batch - 1) / r.per_batch;
    const int most = plan->parts ? 1 : plan->threads; /* idle threads of a team would wait for the others, busily */
    const int threads = r.num_batches < (uint64_t)most ? (int)r.num_batches + (r.num_batches == 0) : most;
    if (!plan->workers) CSAW_TRY(csaw__alloc_zero(&plan->workers, (uint64_t)plan->threads, "workers"));
    r.worker = plan->workers;
    for (int t = 0; t < threads; t++) csaw__worker_start(&r.worker[t], plan, sampler, job, check);
    CSAW_TRY_DONE(csaw__alloc_zero(&r.batch, r.num_batches, "batches of instances"));
    for (uint64_t b = 0; b < r.num_batches; b++) {
        const uint64_t done = b * r.per_batch, left = job->num_walks - done;
        r.batch[b].first = job->first + done;
        r.batch[b].count = left < r.per_batch ? left : r.per_batch;
    }
    CSAW_TRY_DONE(run_all(&r, threads, fault));
    if (fault->kind == CSAW__FAULT_NONE) CSAW_TRY_DONE(deliver_all(&r, threads, &samples->arcs));
done:
    csaw__free(r.batch);
    return status;
}

void csaw__workers_free(csaw_plan *plan) {
    for (int t = 0; plan->workers && t < plan->threads; t++) csaw__worker_free(&plan->workers[t]);
    csaw__free(plan->workers);
}

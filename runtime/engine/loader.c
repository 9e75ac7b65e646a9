/* SPDX-License-Identifier: MIT */
/* runtime/engine/loader.c - minibatches made ahead by a thread of the loader's own, while the caller works on one.
 *
 * Method: a ring of in_flight slots. The thread fills them in order of batch (minibatch.c) and waits while all are
 * full; the caller holds one at a time and gives it back with its next call, or takes its memory and leaves the slot
 * empty. What a batch holds depends on its number alone, so no timing decides anything. */
#include "runtime/engine/minibatch.h"

#include "runtime/base/memory.h"
#include "runtime/engine/plan.h"
#include "spmm/check.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long number;

struct csaw_loader {
    csaw__batches batches;
    csaw__batch *slot; /* [in_flight]: batch b is made in slot b mod in_flight */
    uint64_t in_flight, total;
    bool holding;  /* the caller has batch `returned` */
    bool running;  /* there is a thread that is to be joined */
    pid_t process; /* that the thread is of */
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    uint64_t made, returned; /* batches, the one that failed included; those given back */
    bool over;
    csaw_status status; /* of the batch made last */
    char message[2048]; /* the thread's, where it failed */
};

/* ---- the thread ---- */

static void *make_batches(void *user) {
    csaw_loader *l = user;
    pthread_mutex_lock(&l->lock);
    while (l->made < l->total && l->status == CSAW_OK) {
        while (l->made - l->returned == l->in_flight && !l->over) pthread_cond_wait(&l->changed, &l->lock);
        if (l->over) break;
        const uint64_t batch = l->made;
        pthread_mutex_unlock(&l->lock);
        const csaw_status status = csaw__batch_make(&l->slot[batch % l->in_flight], &l->batches, batch);
        if (status != CSAW_OK) snprintf(l->message, sizeof l->message, "%s", csaw_last_error());
        pthread_mutex_lock(&l->lock);
        l->status = status;
        l->made++;
        pthread_cond_broadcast(&l->changed);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* ---- the caller ---- */

static csaw_status check_seeds(const csaw_plan *plan, const csaw_seeds *seeds) {
    const uint64_t num_vertices = plan->graph->csr.num_vertices;
    uint64_t *seen = NULL;
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(!seeds || !seeds->offset, CSAW_EINVAL,
                 "the loader makes the batches itself; give seeds as single vertices, without offset");
    CSAW_REQUIRE(!seeds || seeds->vertex || seeds->count <= num_vertices, CSAW_EINVAL,
                 "%llu seeds without an array are the first vertices, but the graph has %llu; give the array",
                 (number)seeds->count, (number)num_vertices);
    if (!seeds || !seeds->vertex) return CSAW_OK;
    CSAW_TRY(csaw__alloc_zero(&seen, num_vertices / 64 + 1, "a mark for each vertex"));
    for (uint64_t i = 0; i < seeds->count; i++) {
        const csaw_vertex v = seeds->vertex[i];
        CSAW_REQUIRE_DONE(
            v < num_vertices, CSAW_EINVAL,
            "seed %llu is vertex %u, but the graph has %llu vertices; leave it out or load the right graph", (number)i,
            v, (number)num_vertices);
        CSAW_REQUIRE_DONE(!(seen[v / 64] >> v % 64 & 1), CSAW_EINVAL,
                          "seed %llu is vertex %u, which is a seed already; a loader takes each vertex once an epoch",
                          (number)i, v);
        seen[v / 64] |= (uint64_t)1 << v % 64;
    }
done:
    csaw__free(seen);
    return status;
}

static csaw_status check_options(const csaw_plan *plan, const csaw_loader_options *o) {
    const uint64_t num_vertices = plan->graph->csr.num_vertices;
    CSAW_REQUIRE(
        (!csaw__plan_on_gpu(plan) || plan->device) && !plan->described, CSAW_EUNSUPPORTED,
        "a loader makes its batches on the CPU, or on one GPU whose memory holds the graph; give it a plan with "
        "device 'cpu', or 'cuda:N' without partitions");
    CSAW_REQUIRE(plan->device || (!o->cache_bytes && !o->stream), CSAW_EINVAL,
                 "cache_bytes and stream are for a plan on a GPU, but this one is on the CPU; leave them 0 and NULL");
    CSAW_REQUIRE(o->depth && o->depth < CSAW_MAX_DEPTH, CSAW_EINVAL,
                 "depth is %u; give the number of layers, at least 1, and a fanout for each", o->depth);
    CSAW_REQUIRE(!o->sampler || o->sampler->params_size <= CSAW__MAX_PARAMS, CSAW_EINVAL,
                 "sampler '%s' has %u bytes of parameters; at most %d are possible", o->sampler->name,
                 o->sampler->params_size, CSAW__MAX_PARAMS);
    if (o->features) CSAW_TRY(csaw__dense_check(o->features, "features", num_vertices, o->features->cols));
    return CSAW_OK;
}

static csaw_status start_thread(csaw_loader *l) {
    const int failure = pthread_create(&l->thread, NULL, make_batches, l);
    CSAW_REQUIRE(failure == 0, CSAW_ENOMEM,
                 "the loader's thread did not start: %s; end other threads, or raise the limit", strerror(failure));
    l->running = true;
    return CSAW_OK;
}

static csaw_status start(csaw_loader *l) {
    l->process = getpid();
    CSAW_TRY(csaw__alloc_zero(&l->slot, l->in_flight, "batches in flight"));
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    const csaw_status status = start_thread(l);
    if (status == CSAW_OK) return CSAW_OK;
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    csaw__free(l->slot);
    return status;
}

/* Batches of all epochs. */
static csaw_status count_batches(const csaw_loader_options *options, uint64_t seeds, uint64_t *total) {
    const uint64_t whole = seeds / options->batch_size, rest = seeds % options->batch_size;
    const uint64_t batches = whole + (rest && !options->drop_last);
    CSAW_REQUIRE(!batches || options->epochs <= CSAW_MAX_INSTANCES / batches, CSAW_EINVAL,
                 "%llu epochs of %llu batches are more than the 2^40 that random numbers are there for; open a "
                 "loader with another seed after fewer epochs",
                 (number)options->epochs, (number)batches);
    *total = options->epochs * batches;
    return CSAW_OK;
}

csaw_status csaw_loader_open(csaw_plan *plan, const csaw_seeds *seeds, const csaw_loader_options *given,
                             csaw_loader **out) {
    csaw_loader *l = NULL;
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(plan && out, CSAW_EINVAL, "csaw_loader_open needs a plan and a place for the loader; one is NULL");
    CSAW_TRY(csaw__plan_check_alone(plan, "csaw_loader_open"));
    CSAW_OPTIONS(csaw_loader_options, given, options)
    CSAW_TRY(check_options(plan, &options));
    CSAW_TRY(check_seeds(plan, seeds));
    if (!options.batch_size) options.batch_size = 1024;
    if (!options.epochs) options.epochs = 1;
    if (!options.in_flight) options.in_flight = 2;
    if (!options.sampler) options.sampler = &csaw_neighbor_again;
    CSAW_TRY(csaw__plan_lend(plan));
    CSAW_TRY_DONE(csaw__alloc_zero(&l, 1, "a loader"));
    CSAW_TRY_DONE(csaw__batches_open(&l->batches, plan, seeds, &options));
    CSAW_TRY_DONE(count_batches(&options, l->batches.num_seeds, &l->total));
    l->in_flight = options.in_flight;
    CSAW_TRY_DONE(start(l));
    *out = l;
    return CSAW_OK;
done:
    if (l) csaw__batches_close(&l->batches);
    csaw__free(l);
    csaw__plan_take_back(plan);
    return status;
}

uint64_t csaw_loader_batches(const csaw_loader *loader) { return loader->batches.of_epoch; }

/* The slot of the batch that the caller has. */
static csaw_status give_back(csaw_loader *l) {
    CSAW_TRY(csaw__device_slot_leave(l->slot[l->returned % l->in_flight].there));
    pthread_mutex_lock(&l->lock);
    l->returned++;
    l->holding = false;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    return CSAW_OK;
}

/* A child of fork() has a copy of the loader's memory, but not its thread. */
static csaw_status check_process(const csaw_loader *l) {
    CSAW_REQUIRE(getpid() == l->process, CSAW_EINVAL,
                 "the loader was opened in process %ld, whose thread process %ld does not have; open the loader, and "
                 "its plan, in the process that uses it",
                 (long)l->process, (long)getpid());
    return CSAW_OK;
}

csaw_status csaw_loader_next(csaw_loader *l, const csaw_minibatch **out) {
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(l && out, CSAW_EINVAL, "csaw_loader_next needs a loader and a place for the batch; one is NULL");
    CSAW_TRY(check_process(l));
    if (l->holding) CSAW_TRY(give_back(l));
    pthread_mutex_lock(&l->lock);
    const uint64_t batch = l->returned;
    while (batch < l->total && l->made <= batch) pthread_cond_wait(&l->changed, &l->lock);
    if (batch < l->total && l->made == batch + 1) status = l->status; /* else it is of a later one */
    pthread_mutex_unlock(&l->lock);
    CSAW_REQUIRE(status == CSAW_OK, status, "%s", l->message);
    l->holding = batch < l->total;
    *out = l->holding ? &l->slot[batch % l->in_flight].batch : NULL;
    return CSAW_OK;
}

csaw_status csaw_loader_take(csaw_loader *l, csaw_minibatch **out) {
    csaw__batch *taken = NULL;
    CSAW_REQUIRE(l && out, CSAW_EINVAL, "csaw_loader_take needs a loader and a place for the batch; one is NULL");
    CSAW_TRY(check_process(l));
    CSAW_REQUIRE(l->holding, CSAW_EINVAL,
                 "there is no batch to take; call csaw_loader_next() first, and take what it returns once");
    CSAW_TRY(csaw__alloc_zero(&taken, 1, "a batch taken"));
    csaw__batch *const slot = &l->slot[l->returned % l->in_flight];
    *taken = *slot;
    memset(slot, 0, sizeof *slot);
    *out = &taken->batch;
    return give_back(l);
}

/* In another process: all but the slot that the thread may have been at work on, the plan, and what is a GPU's, which
 * such a process cannot use. */
static void close_copy(csaw_loader *l) {
    const bool on_gpu = l->batches.there;
    l->batches.there = NULL;
    for (uint64_t i = 0; i < l->in_flight && !on_gpu; i++)
        if (i != l->made % l->in_flight) csaw__batch_free(&l->slot[i]);
}

/* What it has begun is made. */
static void end_thread(csaw_loader *l) {
    if (!l->running) return;
    pthread_mutex_lock(&l->lock);
    l->over = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    l->running = false;
}

csaw_status csaw_loader_restart(csaw_loader *l, const csaw_seeds *seeds, uint64_t seed) {
    uint64_t total = 0;
    CSAW_REQUIRE(l, CSAW_EINVAL, "csaw_loader_restart needs a loader; it is NULL");
    CSAW_TRY(check_process(l));
    const csaw_plan *const plan = l->batches.plan;
    csaw_status status = check_seeds(plan, seeds);
    if (status == CSAW_EINVAL) return status;
    CSAW_TRY(count_batches(&l->batches.options, seeds ? seeds->count : plan->graph->csr.num_vertices, &total));
    if (l->holding) CSAW_TRY(give_back(l));
    end_thread(l);
    if (status == CSAW_OK) status = csaw__batches_choose(&l->batches, seeds, seed);
    l->made = l->returned = 0;
    l->over = false;
    l->status = CSAW_OK;
    l->total = total; /* which the thread reads */
    if (status == CSAW_OK) status = start_thread(l);
    if (status == CSAW_OK) return CSAW_OK;
    snprintf(l->message, sizeof l->message, "%s", csaw_last_error());
    l->status = status; /* as if the first batch had failed */
    l->total = l->made = 1;
    return status;
}

static void close_here(csaw_loader *l) {
    end_thread(l);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    if (l->holding) csaw__device_slot_leave(l->slot[l->returned % l->in_flight].there);
    for (uint64_t i = 0; i < l->in_flight; i++) csaw__batch_free(&l->slot[i]);
}

void csaw_loader_close(csaw_loader *l) {
    if (!l) return;
    csaw_plan *const lent = getpid() == l->process ? l->batches.plan : NULL;
    (lent ? close_here : close_copy)(l);
    csaw__free(l->slot);
    csaw__batches_close(&l->batches); /* which works with the plan's device */
    csaw__free(l);
    if (lent) csaw__plan_take_back(lent);
}

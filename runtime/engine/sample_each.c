/* SPDX-License-Identifier: MIT */
/* runtime/engine/sample_each.c - csaw_sample_each: a run in batches of whole walks.
 *
 * On a GPU the batches are double-buffered: the device draws the next one while the batch function has this one copied
 * and written. Host memory is not doubled: what one batch was copied to, the next one is. Of several GPUs each draws a
 * share of every batch (gpus.h).
 *
 * Several ranks work in rounds, in which each has one batch. They meet when it is drawn, so that none delivers what
 * comes after a fault, and again when it is delivered. */
#include "runtime/base/double_buffer.h"
#include "runtime/base/memory.h"
#include "runtime/engine/run.h"
#include "runtime/engine/spread.h"
#include "runtime/ranks/ranks.h"

typedef struct each {
    csaw__run run;
    csaw__ranks *ranks;
    uint64_t at_once; /* instances of a batch */
    bool too_many;    /* for the memory of the device that was to draw them */
    uint64_t done;    /* that the progress function last heard of */
    bool refused;     /* it said no while this rank waited for others */
    csaw_samples *samples[2];
    csaw__fault fault[2];
    csaw_samples *last; /* of the batch function; NULL before its first call */
    csaw_status (*batch)(void *, csaw_samples *);
    void *user;
} each;

static uint64_t end_of_round(const each *e, uint64_t number) {
    const uint64_t begin = e->run.options.first + number * e->run.of_a_round, left = e->run.total - begin;
    return begin + (left < e->run.of_a_round ? left : e->run.of_a_round);
}

static csaw_status draw_batch(void *user, uint64_t number, int slot) {
    each *e = user;
    const uint64_t begin = e->run.options.first + number * e->run.of_a_round;
    uint64_t from, count;
    csaw_status status = CSAW_OK;
    csaw__run_share(&e->run, end_of_round(e, number) - begin, &from, &count);
    if (!e->samples[slot]) status = csaw__alloc_zero(&e->samples[slot], 1, "samples");
    CSAW_TRY(csaw__spread_agree_run(&e->run, status));
    status = csaw__run_batch(&e->run, begin + from, count, e->samples[slot], &e->fault[slot]);
    e->too_many = status == CSAW_EDEVMEM;
    return status;
}

static csaw_status report_progress(const each *e) {
    CSAW_REQUIRE(!e->refused, CSAW_ESTOPPED, "stopped by the progress callback after %llu of %llu walks",
                 (unsigned long long)e->done, (unsigned long long)e->run.total);
    return csaw__run_progress(&e->run, e->done);
}

static csaw_status deliver_batch(void *user, uint64_t number, int slot) {
    each *e = user;
    csaw_samples *samples = e->samples[slot];
    if (e->last && e->last != samples) csaw__samples_pass_on(e->last, samples);
    e->last = samples;
    CSAW_TRY(csaw__ranks_meet(e->ranks, CSAW__AT_DRAWN, csaw__run_fault(&e->run, &e->fault[slot]), NULL));
    csaw__fail(CSAW_OK, "the batch function gave no message"); /* unless it does */
    e->run.plan->busy = true;
    csaw_status status = e->batch(e->user, samples);
    e->run.plan->busy = false;
    csaw__arcs_free(samples->spare, &samples->arcs);
    e->done = end_of_round(e, number);
    if (status == CSAW_OK) status = report_progress(e);
    return csaw__ranks_meet(e->ranks, CSAW__AT_DELIVERED, csaw__spread_agree_run(&e->run, status), NULL);
}

/* Room to deliver is taken first: were the second batch to take it, the first could not be delivered. */
static csaw_status widen(void *user) {
    each *e = user;
    CSAW_TRY(csaw__alloc_zero(&e->samples[1], 1, "samples"));
    return csaw__samples_reserve(e->samples[0]);
}

static void narrow(void *user, int slot) {
    each *e = user;
    csaw_samples_free(e->samples[!slot]);
    e->samples[!slot] = NULL;
    csaw__samples_unreserve(e->samples[slot]);
}

static csaw_status check_first(const csaw__run *r) {
    CSAW_REQUIRE(r->options.first <= r->total, CSAW_EINVAL,
                 "first is %llu, but there are %llu walks; give at most that", (unsigned long long)r->options.first,
                 (unsigned long long)r->total);
    return CSAW_OK;
}

static bool go_on(void *user) {
    each *e = user;
    e->refused = e->refused || csaw__run_progress(&e->run, e->done) != CSAW_OK;
    return !e->refused;
}

/* How much samples take is known when they are drawn: where that was more than there is, a quarter fewer, and on from
 * the first that was not delivered. Ranks, which have batches of one size, give up. */
static bool may_divide(const each *e) {
    const uint64_t left = e->run.total - e->run.options.first;
    return e->run.is_sample && (left < e->at_once ? left : e->at_once) > 1 && csaw__ranks_size(e->ranks) == 1 &&
           csaw__parts_on_gpu(e->run.plan->parts);
}

static bool divide_batches(each *e) {
    if (!e->too_many || !e->run.divides) return false;
    if (e->done > e->run.options.first) e->run.options.first = e->done;
    const uint64_t left = e->run.total - e->run.options.first, at_once = e->at_once < left ? e->at_once : left;
    e->at_once = at_once - (at_once + 3) / 4;
    return true;
}

static csaw_status run_batches(each *e) {
    const bool on_gpu = csaw__plan_whole_on_gpu(e->run.plan);
    const csaw__double_buffer batches = {draw_batch, deliver_batch, on_gpu ? widen : NULL, narrow, e};
    csaw_status status;
    CSAW_TRY(csaw__spread_agree_run(&e->run, csaw__run_progress(&e->run, 0)));
    do {
        const uint64_t left = e->run.total - e->run.options.first, round = e->at_once * csaw__ranks_size(e->ranks);
        e->run.of_a_round = round;
        e->run.divides = may_divide(e);
        e->too_many = false;
        status = csaw__double_buffer_run(&batches, left / round + (left % round != 0));
    } while (status == CSAW_EDEVMEM && divide_batches(e));
    return status;
}

csaw_status csaw_sample_each(csaw_plan *plan, const csaw_sampler *sampler, const void *params, const csaw_seeds *seeds,
                             const csaw_run_options *options, csaw_status (*batch)(void *, csaw_samples *),
                             void *user) {
    each e = {.batch = batch, .user = user};
    csaw_status status = batch ? csaw__plan_check_lent(plan)
                               : csaw__fail(CSAW_EINVAL, "csaw_sample_each needs a batch function; it is NULL");
    if (status == CSAW_OK) status = csaw__run_create(plan, sampler, params, seeds, options, &e.run);
    if (status == CSAW_OK) status = check_first(&e.run);
    if (status == CSAW_OK) status = csaw__run_batches(&e.run, e.run.total - e.run.options.first, &e.at_once);
    CSAW_TRY(csaw__run_agree(&e.run, plan, status, seeds, &e.at_once));
    e.ranks = plan->ranks;
    csaw__ranks_watch(e.ranks, go_on, &e);
    status = csaw__ranks_end(e.ranks, run_batches(&e));
    csaw__ranks_watch(e.ranks, NULL, NULL);
    csaw__run_end(&e.run);
    csaw_samples_free(e.samples[0]);
    csaw_samples_free(e.samples[1]);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* runtime/engine/gpus.c - see gpus.h. */
#include "runtime/engine/gpus.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/memory.h"
#include "runtime/engine/device_exchange.h"
#include "runtime/engine/device_joint.h"
#include "runtime/engine/parts.h"

csaw_status csaw__gpu_failed(int ordinal, csaw_status status, const char *message) {
    if (status == CSAW_ECUDA || status == CSAW_EDEVMEM) return csaw__fail(status, "cuda:%d: %s", ordinal, message);
    return csaw__fail(status, "%s", message);
}

csaw_status csaw__gpu_told(int ordinal, csaw_status status) {
    char why[2048];
    if (status == CSAW_OK) return CSAW_OK;
    snprintf(why, sizeof why, "%s", csaw_last_error());
    return csaw__gpu_failed(ordinal, status, why);
}

static csaw_status outcome_of(const csaw__gpus *gpus, uint32_t i) {
    const char *message;
    const csaw_status status = csaw__crew_outcome(gpus->crew, i, &message);
    return status == CSAW_OK ? CSAW_OK : csaw__gpu_failed(gpus->ordinal[i], status, message);
}

/* Every GPU's thread at work; the failure of the first of them that failed. */
static csaw_status on_each(const csaw__gpus *gpus, csaw_status (*run)(void *, uint32_t), void *user) {
    CSAW_TRY(csaw__crew_run(gpus->crew, &(csaw__crew_work){.run = run, .user = user}));
    for (uint32_t i = 0; i < gpus->count; i++) CSAW_TRY(outcome_of(gpus, i));
    return CSAW_OK;
}

/* Where share i of count instances begins. No share of fewer instances is larger: what was taken for a batch does for
 * all that follow. */
static uint64_t begin_of(const csaw__gpus *gpus, uint64_t count, uint64_t i) {
    return csaw__share_begin(count, i, gpus->count);
}

void csaw__gpus_share(const csaw__gpus *gpus, uint32_t i, uint64_t *first, uint64_t *count) {
    const uint64_t from = begin_of(gpus, *count, i), to = begin_of(gpus, *count, i + 1);
    *first += from;
    *count = to - from;
}

static uint64_t largest_share(const csaw__gpus *gpus, uint64_t count) {
    return count - begin_of(gpus, count, gpus->count - 1);
}

/* ---- opening and closing ---- */

typedef struct opening {
    const csaw_plan *whole;
    const csaw_plan_options *options;
    csaw__gpus *gpus;
    uint64_t memory[CSAW__MOST_GPUS]; /* of GPUs that are listed more than once: what is there for each time; else 0 */
} opening;

static csaw_status share_memory(opening *o) {
    const csaw__gpus *const gpus = o->gpus;
    for (uint32_t i = 0; i < gpus->count; i++) {
        uint64_t there, times = 0;
        CSAW_TRY(csaw__device_free_memory(gpus->ordinal[i], &there));
        for (uint32_t k = 0; k < gpus->count; k++) times += gpus->ordinal[k] == gpus->ordinal[i];
        o->memory[i] = times > 1 ? there / times : 0;
    }
    return CSAW_OK;
}

static csaw_status open_one(void *user, uint32_t i) {
    const opening *const o = user;
    csaw__gpus *const gpus = o->gpus;
    return csaw__plan_of_gpu(o->whole, o->options, i, o->memory[i], &gpus->plan[i]);
}

csaw_status csaw__gpus_together(const csaw_graph *graph, const csaw_plan_options *options, uint32_t count,
                                uint64_t least, bool *out) {
    const csaw__fit_request request = csaw__parts_request(graph, options);
    const uint64_t alone = request.rows * request.row_bytes + request.arcs * request.arc_bytes;
    const bool in_parts = options->partitions || options->resident || options->streams || options->gpu_memory;
    uint64_t room = least - least / 8;
    *out = false;
    if (!options->split && (in_parts || alone <= room)) return CSAW_OK;
    if (options->gpu_memory && options->gpu_memory < room) room = options->gpu_memory;
    const uint64_t needed = csaw__parts_together_bytes(&request, count, graph->csr.weight && !options->split);
    *out = needed <= room;
    CSAW_REQUIRE(*out || !options->split, CSAW_EDEVMEM,
                 "the graph split over %u GPUs takes %.1f MiB of each, but of one of them %.1f are to be had; list "
                 "more GPUs, or leave split out: then partitions come and go",
                 count, (double)needed / 1048576, (double)room / 1048576);
    return CSAW_OK;
}

/* The same of these, and whether they can. */
static csaw_status are_joint(const opening *o, bool *out) {
    const csaw__gpus *const gpus = o->gpus;
    uint64_t least = UINT64_MAX;
    int reader = 0, holder = 0;
    for (uint32_t i = 0; i < gpus->count; i++) {
        uint64_t there = o->memory[i];
        if (!there) CSAW_TRY(csaw__device_free_memory(gpus->ordinal[i], &there));
        least = there < least ? there : least;
    }
    CSAW_TRY(csaw__gpus_together(o->whole->graph, o->options, gpus->count, least, out));
    if (!*out) return CSAW_OK;
    CSAW_TRY(csaw__joint_reaches(gpus->ordinal, gpus->count, out, &reader, &holder));
    CSAW_REQUIRE(*out || !o->options->split, CSAW_EUNSUPPORTED,
                 "cuda:%d cannot read the memory of cuda:%d (nvidia-smi topo -p2p r), so they cannot hold one graph "
                 "together; leave split out: each then holds the graph, or has partitions come to it",
                 reader, holder);
    return CSAW_OK;
}

/* Memory for it. Where that is refused though it is to be had, by an old driver for one, partitions come. */
static csaw_status open_joint(const opening *o) {
    csaw__gpus *const gpus = o->gpus;
    bool joint;
    CSAW_TRY(are_joint(o, &joint));
    if (!joint) return CSAW_OK;
    const csaw_status status =
        csaw__joint_open(&o->whole->graph->csr, gpus->ordinal, gpus->count, o->options->exchange, &gpus->joint);
    return o->options->split ? status : CSAW_OK;
}

static csaw_status open_exchange(const opening *o) {
    csaw__gpus *const gpus = o->gpus;
    if (!o->options->exchange) return CSAW_OK;
    for (uint32_t i = 0; i < gpus->count; i++)
        CSAW_TRY(csaw__gpu_told(gpus->ordinal[i], csaw__device_let_in(gpus->plan[i], gpus->ordinal, gpus->count)));
    return csaw__gpu_exchange_open(&o->whole->graph->csr, gpus->ordinal, gpus->count, &gpus->exchange);
}

csaw_status csaw__gpus_open(csaw_plan *plan, const csaw_plan_options *options, const csaw__device_list *list) {
    csaw__gpus *gpus = NULL;
    opening opening = {.whole = plan, .options = options};
    CSAW_TRY(csaw__alloc_zero(&gpus, 1, "a plan on several GPUs"));
    plan->gpus = opening.gpus = gpus; /* which the plan's end frees */
    gpus->count = list->count;
    memcpy(gpus->ordinal, list->ordinal, sizeof gpus->ordinal);
    CSAW_TRY(share_memory(&opening)); /* or why one of them is not there */
    CSAW_TRY(open_joint(&opening));
    CSAW_TRY(csaw__crew_create(gpus->count, &gpus->crew));
    CSAW_TRY(on_each(gpus, open_one, &opening));
    CSAW_TRY(open_exchange(&opening));
    for (uint32_t i = 0; i < gpus->count; i++) gpus->in_parts = gpus->in_parts || gpus->plan[i]->parts;
    csaw__spare_keep(plan->spare, gpus->count * (CSAW__MOST_BATCH_BYTES + (1 << 20)));
    csaw__explain_gpus(plan, gpus->count, gpus->joint, gpus->exchange);
    for (uint32_t i = 0; i < gpus->count; i++) csaw__explain_one_of(plan, gpus->plan[i], i == 0);
    return CSAW_OK;
}

void csaw__gpus_free(csaw__gpus *gpus) {
    if (!gpus) return;
    csaw__crew_free(gpus->crew);
    csaw__gpu_exchange_close(gpus->exchange);
    if (gpus->joint && gpus->plan[0]) csaw__device_forget_tables(gpus->plan[0]);
    for (uint32_t i = 0; i < gpus->count; i++) csaw_plan_free(gpus->plan[i]);
    csaw__joint_close(gpus->joint);
    csaw__free(gpus);
}

/* ---- before a run ---- */

typedef struct preparing {
    const csaw__gpus *gpus;
    const csaw_sampler *sampler;
    const csaw__job *job;
} preparing;

/* Tables of GPUs that hold the graph together are the first one's to make. */
static csaw_status prepare_one(void *user, uint32_t i) {
    const preparing *const p = user;
    csaw_plan *const plan = p->gpus->plan[i];
    if (p->gpus->joint && i > 0) return CSAW_OK;
    return plan->device ? csaw__device_prepare(plan, p->sampler, p->job) : CSAW_OK;
}

static bool is_prepared(const preparing *p, uint32_t i) {
    const csaw_plan *const plan = p->gpus->plan[i];
    if (p->gpus->joint && i > 0) return true;
    return !plan->device || csaw__device_is_prepared(plan, p->sampler, p->job);
}

/* Threads are for what takes long. */
csaw_status csaw__gpus_prepare(const csaw__gpus *gpus, const csaw_sampler *sampler, const csaw__job *job) {
    preparing p = {gpus, sampler, job};
    bool prepared = true;
    for (uint32_t i = 0; i < gpus->count; i++) prepared = prepared && is_prepared(&p, i);
    if (!prepared) CSAW_TRY(on_each(gpus, prepare_one, &p));
    for (uint32_t i = 0; i < gpus->count && prepared; i++) CSAW_TRY(prepare_one(&p, i));
    for (uint32_t i = 0; i < gpus->count && gpus->joint; i++)
        CSAW_TRY(csaw__device_share_tables(gpus->plan[i], gpus->plan[0]));
    return CSAW_OK;
}

void csaw__gpus_forget_tables(const csaw__gpus *gpus) {
    for (uint32_t i = 0; i < gpus->count; i++)
        if (gpus->plan[i]->parts) csaw__parts_forget_tables(gpus->plan[i]->parts);
}

typedef struct dividing {
    const csaw__run *run;
    uint64_t count, all, at_once[CSAW__MOST_GPUS]; /* count: 0 = at_once is asked for */
    uint64_t batch_bytes;
} dividing;

/* The run as a GPU's own plan sees it. */
static csaw__run run_of(const csaw__run *r, uint32_t i) {
    csaw__run out = *r;
    out.plan = r->plan->gpus->plan[i];
    out.whole = r;
    out.member = i;
    return out;
}

static csaw_status divide_one(void *user, uint32_t i) {
    dividing *const d = user;
    const csaw__gpus *const gpus = d->run->plan->gpus;
    const uint64_t all = largest_share(gpus, d->all);
    csaw__run run = run_of(d->run, i);
    run.options.batch_bytes = d->batch_bytes;
    if (d->count) return csaw__run_room(&run, largest_share(gpus, d->count), all);
    return csaw__run_batches(&run, all, &d->at_once[i]);
}

csaw_status csaw__gpus_room(const csaw__run *r, uint64_t count, uint64_t all) {
    return r->plan->gpus->in_parts ? on_each(r->plan->gpus, divide_one, &(dividing){r, .count = count, .all = all})
                                   : CSAW_OK;
}

/* Walks of a batch that the GPU has room for where walkers are exchanged: for walkers under way, and, as its share of
 * the paths, those at hand, those of the batch before, and once more to turn them. A GPU listed twice has half. */
static csaw_status most_exchanged(const csaw__run *r, uint32_t i, uint64_t *out) {
    const csaw__gpus *const gpus = r->plan->gpus;
    const uint64_t each =
        csaw__gpu_exchange_bytes_each(r->sampler->traits()) + 3 * csaw__run_bytes(r) / gpus->count + 1;
    uint64_t room, times = 0;
    CSAW_TRY(csaw__device_room(gpus->plan[i], &room));
    for (uint32_t k = 0; k < gpus->count; k++) times += gpus->ordinal[k] == gpus->ordinal[i];
    *out = (room - room / 8) / times / each;
    if (*out == 0) *out = 1;
    return CSAW_OK;
}

/* As many for each as for that one which has room for the fewest. */
csaw_status csaw__gpus_batches(const csaw__run *r, uint64_t left, uint64_t *count) {
    const csaw__gpus *const gpus = r->plan->gpus;
    const uint64_t of_one = csaw__run_bytes(r), given = r->options.batch_bytes;
    const uint64_t most = given > of_one ? given / of_one : 1;
    dividing d = {r, .all = left, .batch_bytes = given ? largest_share(gpus, most) * of_one : 0};
    CSAW_TRY(on_each(gpus, divide_one, &d));
    uint64_t least = d.at_once[0];
    for (uint32_t i = 1; i < gpus->count; i++) least = d.at_once[i] < least ? d.at_once[i] : least;
    *count = given && most < least * gpus->count ? most : least * gpus->count;
    for (uint32_t i = 0; i < gpus->count && gpus->exchange && !r->is_sample; i++) {
        uint64_t fit = 0;
        CSAW_TRY(csaw__gpu_told(gpus->ordinal[i], most_exchanged(r, i, &fit)));
        *count = fit < *count ? fit : *count;
    }
    return CSAW_OK;
}

/* ---- a batch ---- */

typedef struct drawing drawing;

/* A GPU's share of what is being drawn. */
typedef struct share {
    drawing *of;
    csaw__fault fault;
    uint64_t first;
    _Atomic(uint64_t) done; /* instances, as far as it has told */
} share;

struct drawing {
    const csaw__run *run;
    csaw_samples *samples;
    share share[CSAW__MOST_GPUS];
    atomic_bool stopped;
    csaw_status refused; /* by the progress function */
    char why[256];
};

/* Stands in for the progress function, which is the caller's thread's. */
static bool tell(void *user, uint64_t done, uint64_t total) {
    share *const s = user;
    (void)total;
    atomic_store(&s->done, done - s->first);
    csaw__crew_tell(s->of->run->plan->gpus->crew);
    return !atomic_load(&s->of->stopped);
}

static void hear(void *user) {
    drawing *const d = user;
    uint64_t done = d->samples->first;
    for (uint32_t i = 0; i < d->samples->num_shares; i++) done += atomic_load(&d->share[i].done);
    if (atomic_load(&d->stopped)) return;
    d->refused = csaw__run_progress(d->run, done);
    if (d->refused == CSAW_OK) return;
    snprintf(d->why, sizeof d->why, "%s", csaw_last_error());
    atomic_store(&d->stopped, true);
}

static csaw_status draw_one(void *user, uint32_t i) {
    drawing *const d = user;
    const csaw_samples *const whole = d->samples;
    const csaw__gpus *const gpus = d->run->plan->gpus;
    uint64_t first = whole->first, count = whole->num_walks;
    csaw_samples *const samples = whole->share[i];
    csaw__run run = run_of(d->run, i);
    samples->ordinal = gpus->ordinal[i];
    csaw__gpus_share(gpus, i, &first, &count);
    samples->num_walks = count;
    if (count == 0) return CSAW_OK;
    const uint64_t from = first - whole->first;
    d->share[i].of = d;
    d->share[i].first = first;
    if (run.options.progress) run.options.progress = tell;
    run.options.user = &d->share[i];
    if (run.plan->parts && !run.is_sample) { /* which writes walks where they are wanted */
        samples->host_path = whole->host_path + from * ((uint64_t)whole->length + 1);
        samples->host_edge = whole->host_edge ? whole->host_edge + from * whole->length : NULL;
    }
    const csaw_status status = csaw__run_batch(&run, first, count, samples, &d->share[i].fault);
    samples->host_path = NULL;
    samples->host_edge = NULL;
    atomic_store(&d->share[i].done, count);
    return status;
}

static csaw_status take_shares(csaw_samples *samples, uint32_t count) {
    if (!samples->share) CSAW_TRY(csaw__alloc_zero(&samples->share, count, "samples of several GPUs"));
    for (; samples->num_shares < count; samples->num_shares++)
        CSAW_TRY(csaw__alloc_zero(&samples->share[samples->num_shares], 1, "samples"));
    return CSAW_OK;
}

/* What each GPU takes for the batch; at: [gpus], zeros. */
static csaw_status take_homes(const csaw__run *r, const csaw__job *job, csaw_samples *samples, csaw__exchange_gpu *at) {
    const csaw__gpus *const gpus = r->plan->gpus;
    const uint64_t bytes = csaw__gpu_exchange_bytes(r->sampler->traits(), samples->num_walks);
    for (uint32_t i = 0; i < gpus->count; i++) {
        const csaw__run run = run_of(r, i);
        uint64_t first = samples->first, count = samples->num_walks;
        csaw__gpus_share(gpus, i, &first, &count);
        csaw__run_describe(&run, first, count, samples->share[i]);
        samples->share[i]->ordinal = gpus->ordinal[i];
        at[i].end = first + count - samples->first;
        CSAW_TRY(
            csaw__gpu_told(gpus->ordinal[i], csaw__device_home(gpus->plan[i], job, bytes, samples->share[i], &at[i])));
    }
    return CSAW_OK;
}

static void leave_homes(const csaw__gpus *gpus, csaw__exchange_gpu *at) {
    for (uint32_t i = 0; i < gpus->count; i++) csaw__device_leave(gpus->plan[i], &at[i]);
    memset(at, 0, gpus->count * sizeof *at);
}

/* Walks that all GPUs draw together, from this thread. Where memory is short, plans give up what they keep for later
 * before anything is refused: of a GPU that is listed twice each one's pool is out of the other's reach. */
static csaw_status draw_exchanged(const csaw__run *r, csaw_samples *samples, csaw__fault *fault) {
    const csaw__gpus *const gpus = r->plan->gpus;
    csaw__exchange_gpu at[CSAW__MOST_GPUS];
    csaw__job job = r->job;
    memset(at, 0, sizeof at);
    job.first = samples->first;
    job.num_walks = samples->num_walks;
    csaw_status status = take_homes(r, &job, samples, at);
    if (status == CSAW_EDEVMEM) {
        leave_homes(gpus, at);
        for (uint32_t i = 0; i < gpus->count; i++) csaw__device_trim(gpus->plan[i]);
        status = take_homes(r, &job, samples, at);
    }
    if (status == CSAW_OK) status = csaw__gpu_exchange_walk(gpus->exchange, r->sampler, &job, at, fault);
    leave_homes(gpus, at);
    return status;
}

csaw_status csaw__gpus_draw(const csaw__run *r, csaw_samples *samples, csaw__fault *fault) {
    const csaw__gpus *const gpus = r->plan->gpus;
    drawing d = {.run = r, .samples = samples};
    samples->host_current = false;
    if (samples->num_walks > samples->device_walks) samples->device_walks = samples->num_walks;
    CSAW_TRY(take_shares(samples, gpus->count));
    if (gpus->exchange && !r->is_sample) return draw_exchanged(r, samples, fault);
    if (gpus->in_parts && !r->is_sample) CSAW_TRY(csaw__walks_room(samples));
    CSAW_TRY(csaw__crew_run(gpus->crew, &(csaw__crew_work){draw_one, hear, &d}));
    CSAW_REQUIRE(d.refused == CSAW_OK, d.refused, "%s", d.why);
    for (uint32_t i = 0; i < gpus->count && fault->kind == CSAW__FAULT_NONE; i++) {
        CSAW_TRY(outcome_of(gpus, i));
        *fault = d.share[i].fault;
    }
    return CSAW_OK;
}

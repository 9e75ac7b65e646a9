/* SPDX-License-Identifier: MIT */
/* runtime/engine/sample.c - csaw_sample: checks what was asked, makes a job of it, hands it to the plan's engine.
 * Batch by batch: batches.c, sample_each.c. */
#include <string.h>

#include <csaw/philox.h>

#include "runtime/base/frontier.h"
#include "runtime/base/memory.h"
#include "runtime/base/numbers.h"
#include "runtime/engine/fault.h"
#include "runtime/engine/gpus.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/registry.h"
#include "runtime/engine/run.h"
#include "runtime/engine/spread.h"
#include "runtime/engine/walk_plain.h"
#include "runtime/ranks/ranks.h"
#include "samplers/select/choose.h"
#include "samplers/select/picks.h"

/* What went wrong after seeds were taken; first of all that one of them is no vertex, if nobody has looked yet. */
static csaw_status after_seeds(const csaw__run *r, csaw_status status) {
    if (status != CSAW_OK && r->unseen) CSAW_TRY(csaw__seeds_check(r->plan, r->unseen));
    return status;
}

static csaw_status take_seeds(csaw__run *r, const csaw_seeds *seeds) {
    csaw__job *job = &r->job;
    const uint64_t walks = r->options.walks_per_seed;
    bool one_each;
    CSAW_TRY(csaw__pools_check(r->plan, seeds, &one_each));
    if (!r->unseen) CSAW_TRY(csaw__seeds_look(r->plan, seeds));
    job->roots = seeds ? seeds->vertex : NULL;
    job->num_roots = seeds ? seeds->count : r->plan->graph->csr.num_vertices;
    job->seed_offset = one_each ? NULL : seeds->offset;
    CSAW_REQUIRE(job->num_roots <= CSAW_MAX_INSTANCES / walks, CSAW_EINVAL,
                 "%llu walks from each of %llu seeds are more than 2^40 walks; split the seeds over several runs with "
                 "different seed numbers",
                 (unsigned long long)walks, (unsigned long long)job->num_roots);
    r->total = job->num_roots * walks;
    return CSAW_OK;
}

static csaw_status take_params(csaw__run *r, const void *params) {
    const csaw_sampler *sampler = r->sampler;
    CSAW_REQUIRE(sampler->abi == CSAW__ABI, CSAW_EINVAL,
                 "the sampler was compiled with other csaw headers (abi %u, this library has %u); compile it again",
                 sampler->abi, CSAW__ABI);
    CSAW_REQUIRE(sampler->params_size <= CSAW__MAX_PARAMS, CSAW_EINVAL,
                 "sampler '%s' has %u bytes of parameters; at most %d are possible", sampler->name,
                 sampler->params_size, CSAW__MAX_PARAMS);
    memset(r->job.params, 0, sizeof r->job.params);
    if (params)
        memcpy(r->job.params, params, sampler->params_size);
    else
        csaw_sampler_defaults(sampler, r->job.params);
    return csaw__params_check(sampler, r->job.params);
}

static csaw_status take_bounds(csaw__run *r) {
    const uint32_t kernel = r->job.kernel;
    if (kernel != CSAW__KERNEL_REJECT && kernel != CSAW__KERNEL_REJECT_ALIAS && !r->options.check) return CSAW_OK;
    if (!(r->sampler->traits() & CSAW__TRAIT_BOUNDS)) return CSAW_OK;
    csaw_bounds bounds = r->sampler->bounds(r->job.params);
    const float most = 3.4e38f;
    if (!(r->sampler->traits() & CSAW__TRAIT_SECOND_ORDER)) bounds.back = bounds.hi;
    CSAW_REQUIRE(
        bounds.lo >= 0 && bounds.lo <= bounds.hi && bounds.lo <= bounds.back && bounds.hi > 0 && bounds.hi < most &&
            bounds.back < most,
        CSAW_EBIAS,
        "sampler '%s': bounds gives lo %g, hi %g, back %g; it must be 0 <= lo <= hi, lo <= back, hi > 0, all finite",
        csaw_sampler_name(r->sampler), (double)bounds.lo, (double)bounds.hi, (double)bounds.back);
    r->job.lo = bounds.lo;
    r->job.hi = bounds.hi;
    r->job.back = bounds.back;
    return CSAW_OK;
}

/* Tables on the host, if the job reads them. */
static csaw_status take_tables(const csaw__run *r, csaw__job *job) {
    const bool alias = csaw__kernel_has_alias(job->kernel);
    const bool compare = r->options.check && !csaw__static_is_constant(r->sampler->traits(), job->rows.weight != NULL);
    if (!alias && !compare) return CSAW_OK;
    CSAW_TRY(csaw__tables_prepare(r->plan, r->sampler, job, alias));
    job->rows.alias = alias ? r->plan->tables.alias : NULL;
    job->rows.bias = alias ? r->plan->tables.bias : NULL;
    job->tabulated = r->plan->tables.tabulated;
    return CSAW_OK;
}

static csaw_status take_kernel(csaw__run *r) {
    const csaw_graph *graph = r->plan->graph;
    const uint32_t *narrow = r->plan->narrow_rowptr;
    csaw__job *job = &r->job;
    const uint32_t traits = r->sampler->traits();
    enum csaw__kernel kernel;
    CSAW_TRY(csaw__choose_kernel(csaw_sampler_name(r->sampler), traits, graph->csr.weight != NULL, r->options.select,
                                 job->replace, &kernel));
    job->kernel = kernel;
    job->fold = !graph->parallel_arcs;
    job->rows = (csaw__rows){.offset = narrow ? (const void *)narrow : graph->csr.rowptr,
                             .col = graph->csr.col,
                             .weight = graph->csr.weight,
                             .type = graph->csr.type,
                             .time = graph->csr.time,
                             .count = (csaw_vertex)graph->csr.num_vertices,
                             .wide = narrow == NULL};
    job->num_vertices = job->rows.count;
    if (r->plan->spread) csaw__spread_job(r->plan->spread, job);
    CSAW_TRY(take_bounds(r));
    if (!csaw__plan_whole_on_gpu(r->plan)) CSAW_TRY(take_tables(r, job));
    if (r->plan->gpus) return csaw__gpus_prepare(r->plan->gpus, r->sampler, job);
    return r->plan->device ? csaw__device_prepare(r->plan, r->sampler, job) : CSAW_OK;
}

/* Whether this run is a sample, and whether its parts fit together. */
static csaw_status take_form(csaw__run *r) {
    const uint32_t traits = r->sampler->traits(), flags = traits >> CSAW__TRAIT_FLAGS;
    const char *const name = csaw_sampler_name(r->sampler);
    const bool one_at_a_time = traits & CSAW__TRAIT_SIZE && r->sampler->frontier_size(r->job.params) <= 1;
    r->is_sample = r->job.seed_offset || r->options.fanout || traits & (CSAW__TRAIT_FANOUT | CSAW__TRAIT_SIZE) ||
                   flags & ~(uint32_t)CSAW_SECOND_ORDER;
    r->job.fanout = r->options.fanout;
    r->job.replace = r->options.replace || flags & CSAW_WITH_REPLACEMENT;
    CSAW_REQUIRE(!r->options.fanout || r->options.depth, CSAW_EINVAL,
                 "fanout is given, but depth, the number of its entries, is 0; give depth");
    CSAW_REQUIRE(!(flags & CSAW_LAYER_DISTINCT) || flags & CSAW_LAYER, CSAW_EINVAL,
                 "sampler '%s' has CSAW_LAYER_DISTINCT without CSAW_LAYER; add it", name);
    CSAW_REQUIRE(!(flags & CSAW_REPLACE_POOL) || !(flags & (CSAW_KEEP_POOL | CSAW_LAYER | CSAW_VISITED)), CSAW_EINVAL,
                 "sampler '%s' has CSAW_REPLACE_POOL, which goes with none of CSAW_KEEP_POOL, CSAW_LAYER, CSAW_VISITED",
                 name);
    const bool hook_decides = traits & CSAW__TRAIT_FANOUT;
    for (uint32_t d = 0; r->options.fanout && !hook_decides && flags & CSAW_REPLACE_POOL && d < r->options.depth; d++)
        CSAW_REQUIRE(r->options.fanout[d] <= 1, CSAW_EINVAL,
                     "fanout at depth %u is %u, but sampler '%s' replaces vertices of its pool one by one: give 1", d,
                     r->options.fanout[d], name);
    CSAW_REQUIRE(!r->is_sample || !(traits & CSAW__TRAIT_USER) || one_at_a_time, CSAW_EINVAL,
                 "sampler '%s' has user bytes, which belong to an instance that stands at one vertex: give it a "
                 "frontier_size of 1, or run it as a walk (one seed each, no fanout)",
                 name);
    CSAW_REQUIRE(!(flags & CSAW_LAYER) || !(traits & CSAW__TRAIT_USER), CSAW_EINVAL,
                 "sampler '%s' has user bytes and CSAW_LAYER, which picks for many vertices at once; drop one of them",
                 name);
    CSAW_REQUIRE(
        !r->options.check || !(flags & (CSAW_VISITED | CSAW_REPLACE_POOL)), CSAW_EUNSUPPORTED,
        "the debug mode (check) looks at arcs alone, but sampler '%s' has CSAW_VISITED or CSAW_REPLACE_POOL; run "
        "it without check",
        name);
    const uint32_t size = r->sampler->frontier_size(r->job.params);
    CSAW_REQUIRE(size <= CSAW__MAX_SLOTS || size == CSAW_ALL, CSAW_EINVAL,
                 "sampler '%s': frontier_size is %u; at most %d places are selected, or all of them (CSAW_ALL)", name,
                 size, (int)CSAW__MAX_SLOTS);
    return CSAW_OK;
}

/* late: the engine looks at seeds as it takes them. */
static csaw_status create_run(csaw_plan *plan, const csaw_sampler *sampler, const void *params, const csaw_seeds *seeds,
                              const csaw_run_options *given, bool late, csaw__run *out) {
    CSAW_REQUIRE(plan && sampler, CSAW_EINVAL, "csaw_sample needs a plan and a sampler; one is NULL");
    CSAW_REQUIRE(!plan->busy, CSAW_EINVAL,
                 "a batch or progress function draws from the plan that calls it; give it a plan of its own");
    CSAW_REQUIRE(
        !plan->described, CSAW_EUNSUPPORTED,
        "the plan is for a machine that was described and need not be here: it explains itself, and no more; make one "
        "without described_memory and described_ranks");
    CSAW_OPTIONS(csaw_run_options, given, options)
    memset(out, 0, sizeof *out);
    if (!options.walks_per_seed) options.walks_per_seed = 1;
    if (!options.depth && !options.fanout) options.depth = CSAW__DEFAULT_DEPTH;
    CSAW_REQUIRE(options.depth < CSAW_MAX_DEPTH, CSAW_EINVAL,
                 "depth is %u; walks have at most 2^24 - 1 = 16777215 steps", options.depth);
    CSAW_REQUIRE(!options.check || !csaw__plan_on_gpu(plan), CSAW_EUNSUPPORTED,
                 "the debug mode (check) runs on the CPU; use a plan with device 'cpu'");
    CSAW_REQUIRE(!options.check || (!plan->parts && !plan->spread), CSAW_EUNSUPPORTED,
                 "the debug mode (check) needs the whole graph in sight; use a plan without partitions");
    out->plan = plan;
    out->sampler = sampler;
    out->options = options;
    out->job.numbers = csaw__numbers;
    out->job.walk_plain = csaw__walk_plain;
    out->job.pick_of = csaw__picks_of;
    out->job.pick_rest = csaw__picks_rest;
    out->job.length = options.depth;
    out->job.seed = options.seed;
    CSAW_TRY(take_params(out, params));
    out->unseen = late ? seeds : NULL;
    csaw_status status = take_seeds(out, seeds);
    if (status == CSAW_OK) status = take_form(out);
    if (status == CSAW_OK) status = take_kernel(out);
    return after_seeds(out, status);
}

csaw_status csaw__run_create(csaw_plan *plan, const csaw_sampler *sampler, const void *params, const csaw_seeds *seeds,
                             const csaw_run_options *given, csaw__run *out) {
    const csaw_status status = create_run(plan, sampler, params, seeds, given, false, out);
    if (plan && plan->busy) return status; /* refused here, while the other ranks are in the run that called */
    return plan && plan->spread && !plan->ranks ? csaw__spread_agree_on(plan->spread, out, status) : status;
}

static csaw_status walk_one(const csaw__run *r, csaw__job *job, csaw__fault *fault) {
    csaw_samples one = {.num_walks = 1, .device_walks = 1, .length = job->length};
    if (r->is_sample) {
        csaw_plan whole = {.graph = r->plan->graph, .threads = 1}; /* no partitions are needed here */
        const csaw_status status = csaw__cpu_sample(&whole, r->sampler, job, false, NULL, &one, fault);
        csaw__workers_free(&whole);
        csaw__arcs_free(NULL, &one.arcs);
        return status;
    }
    CSAW_TRY(csaw__walks_room(&one));
    job->path = one.host_path;
    r->sampler->walk(job, 0, 1, fault);
    csaw__block_give(NULL, one.host_path);
    return CSAW_OK;
}

/* A fault on the device has no edge yet: walk that instance again here, which has the same bits. */
static csaw_status locate_fault(const csaw__run *r, csaw__fault *fault) {
    csaw__job job = r->job;
    job.first = fault->instance;
    job.num_walks = 1;
    const csaw__fault device = *fault;
    fault->kind = CSAW__FAULT_NONE;
    const bool fresh = csaw__plan_whole_on_gpu(r->plan); /* a job on partitions has tables on the host */
    csaw_status status = fresh ? take_tables(r, &job) : CSAW_OK;
    if (status == CSAW_OK) status = walk_one(r, &job, fault);
    if (fresh) csaw__tables_clear(&r->plan->tables);
    CSAW_TRY(status);
    if (fault->kind != CSAW__FAULT_NONE) return CSAW_OK;
    return csaw__fail(
        CSAW_EBIAS,
        "sampler '%s', instance %llu, depth %u: a hook broke its rules on the GPU but not on the CPU; hooks "
        "that use libm differ there: use csaw_exp, csaw_log, csaw_pow",
        csaw_sampler_name(r->sampler), (unsigned long long)device.instance, device.depth);
}

static bool is_for_cpu(const csaw__run *r) {
    const csaw__gpus *const gpus = r->plan->gpus;
    for (uint32_t i = 0; gpus && i < gpus->count; i++)
        if (csaw__parts_leave_to_cpu(gpus->plan[i]->parts, r->sampler, r->job.kernel, r->is_sample)) return true;
    return csaw__parts_leave_to_cpu(r->plan->parts, r->sampler, r->job.kernel, r->is_sample);
}

csaw_status csaw__walks_take(csaw_samples *samples, csaw__job *job) {
    if (!samples->host_path) samples->device_walks = job->num_walks;
    CSAW_TRY(csaw__walks_room(samples));
    job->path = samples->host_path;
    job->edge = samples->host_edge;
    return CSAW_OK;
}

/* On the graph as the host has it: the bits are the same. */
static csaw_status draw_for_gpu(const csaw__run *r, csaw__job *job, csaw_samples *samples, csaw__fault *fault) {
    csaw_plan whole = {.graph = r->plan->graph, .threads = r->plan->threads};
    samples->device = NULL;
    if (r->is_sample) {
        const csaw_status status = csaw__cpu_sample(&whole, r->sampler, job, false, NULL, samples, fault);
        csaw__workers_free(&whole);
        return status;
    }
    CSAW_TRY(csaw__walks_take(samples, job));
    return csaw__cpu_walk(&whole, r->sampler, job, false, NULL, fault);
}

void csaw__run_describe(const csaw__run *r, uint64_t first, uint64_t count, csaw_samples *samples) {
    samples->first = first;
    samples->num_walks = count;
    samples->length = r->job.length;
    samples->edges = r->options.edges;
    if (!csaw__parts_on_gpu(r->plan->parts)) samples->device = r->plan->device; /* else what drew them */
    if (!samples->spare) samples->spare = csaw__spare_share(r->plan->spare);
    samples->is_sample = r->is_sample;
}

csaw_status csaw__run_batch(const csaw__run *r, uint64_t first, uint64_t count, csaw_samples *samples,
                            csaw__fault *fault) {
    csaw__job job = r->job;
    fault->kind = CSAW__FAULT_NONE;
    job.first = first;
    job.num_walks = count;
    csaw__run_describe(r, first, count, samples);
    if (is_for_cpu(r)) return draw_for_gpu(r, &job, samples, fault);
    if (r->plan->gpus) return csaw__gpus_draw(r, samples, fault);
    if (r->plan->spread) return csaw__spread_batch(r, &job, samples, fault);
    if (r->is_sample && csaw__parts_on_gpu(r->plan->parts)) return csaw__parts_sample_on_gpu(r, &job, samples, fault);
    if (r->plan->device)
        return r->is_sample ? csaw__device_sample(r->plan, r->sampler, &job, samples, fault)
                            : csaw__device_walk(r->plan, r->sampler, &job, samples, fault);
    if (r->is_sample || !r->plan->parts) return csaw__draw_on_cpu(r, &job, samples, fault);
    CSAW_TRY(csaw__walks_take(samples, &job));
    return csaw__parts_walk(r, &job, fault);
}

csaw_status csaw__run_fault(const csaw__run *r, csaw__fault *fault) {
    if (csaw__plan_on_gpu(r->plan) && fault->kind != CSAW__FAULT_NONE) CSAW_TRY(locate_fault(r, fault));
    return csaw__fault_status(fault, csaw_sampler_name(r->sampler));
}

csaw_status csaw__run_progress(const csaw__run *r, uint64_t done) {
    if (!r->options.progress) return CSAW_OK;
    const bool busy = r->plan->busy; /* while ranks wait for one another in a batch function */
    r->plan->busy = true;
    const bool go_on = r->options.progress(r->options.user, done, r->total);
    r->plan->busy = busy;
    CSAW_REQUIRE(go_on, CSAW_ESTOPPED, "stopped by the progress callback after %llu of %llu walks",
                 (unsigned long long)done, (unsigned long long)r->total);
    return CSAW_OK;
}

void csaw__run_share(const csaw__run *r, uint64_t total, uint64_t *first, uint64_t *count) {
    const csaw__ranks *const ranks = r->plan->spread ? NULL : r->plan->ranks;
    const uint64_t rank = csaw__ranks_rank(ranks), size = csaw__ranks_size(ranks);
    *first = csaw__share_begin(total, rank, size);
    *count = csaw__share_begin(total, rank + 1, size) - *first;
}

/* This process's group of the instances. status: how its preparations went. *done: what the progress function heard. */
static csaw_status sample_share(const csaw__run *r, csaw_status status, csaw_samples *samples, uint64_t *done) {
    uint64_t first, count;
    csaw__fault fault;
    csaw__run_share(r, r->total, &first, &count);
    if (status == CSAW_OK) status = csaw__run_progress(r, 0);
    CSAW_TRY(csaw__spread_agree_run(r, status));
    CSAW_REQUIRE(count <= (SIZE_MAX >> 4) / csaw__run_bytes(r), CSAW_ENOMEM,
                 "%llu walks of %llu bytes each are more than an address space; use csaw_sample_each",
                 (unsigned long long)count, (unsigned long long)csaw__run_bytes(r));
    CSAW_TRY(csaw__run_room(r, count + !count, count + !count)); /* 0 would be a sample's */
    CSAW_TRY(csaw__run_batch(r, first, count, samples, &fault));
    CSAW_TRY(csaw__run_fault(r, &fault));
    *done = r->total;
    return csaw__spread_agree_run(r, csaw__run_progress(r, *done));
}

/* One batch has all the seeds, and ranks have no part in it. */
static bool looks_late(const csaw_plan *plan) { return plan && csaw__plan_whole_on_gpu(plan) && !plan->ranks; }

typedef struct waiting { /* for other ranks */
    const csaw__run *run;
    uint64_t done;
} waiting;

static bool go_on(void *user) {
    const waiting *const w = user;
    return csaw__run_progress(w->run, w->done) == CSAW_OK;
}

csaw_status csaw_sample(csaw_plan *plan, const csaw_sampler *sampler, const void *params, const csaw_seeds *seeds,
                        const csaw_run_options *options, csaw_samples **out) {
    csaw__run r;
    waiting others = {&r, 0};
    csaw_samples *samples = NULL;
    csaw_status status = out ? csaw__plan_check_lent(plan)
                             : csaw__fail(CSAW_EINVAL, "csaw_sample needs a place for the samples; out is NULL");
    if (status == CSAW_OK)
        status = looks_late(plan) ? create_run(plan, sampler, params, seeds, options, true, &r)
                                  : csaw__run_create(plan, sampler, params, seeds, options, &r);
    CSAW_TRY(csaw__run_agree(&r, plan, status, seeds, NULL));
    csaw__ranks_watch(plan->ranks, go_on, &others);
    status = csaw__alloc_zero(&samples, 1, "samples");
    status = after_seeds(&r, sample_share(&r, status, samples, &others.done));
    status = csaw__ranks_meet(plan->ranks, CSAW__AT_END, status, NULL);
    csaw__ranks_watch(plan->ranks, NULL, NULL);
    if (status == CSAW_OK)
        *out = samples;
    else
        csaw_samples_free(samples);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* runtime/engine/sample.c - csaw_sample and csaw_sample_each: check what was asked, make a job of it, hand it to the
 * plan's engine in batches of whole walks. */
#include <stdio.h>
#include <string.h>

#include <csaw/philox.h>

#include "runtime/base/memory.h"
#include "runtime/base/step_numbers.h"
#include "runtime/engine/fault.h"
#include "runtime/engine/plan.h"
#include "runtime/engine/registry.h"
#include "samplers/select/choose.h"

enum { DEFAULT_DEPTH = 80 };
static const uint64_t default_batch_bytes = (uint64_t)64 << 20;

typedef struct run {
    csaw_plan *plan;
    const csaw_sampler *sampler;
    csaw_run_options options;
    csaw__job job; /* of the whole run; batches change first, num_walks, path and edge */
    uint64_t total;
} run;

static csaw_status check_seeds(const run *r, const csaw_seeds *seeds) {
    const uint64_t num_vertices = r->plan->graph->csr.num_vertices;
    if (!seeds) return CSAW_OK;
    CSAW_REQUIRE(seeds->vertex || !seeds->count, CSAW_EINVAL, "there are %llu seeds, but their array is NULL",
                 (unsigned long long)seeds->count);
    for (uint64_t i = 0; i < seeds->count; i++)
        CSAW_REQUIRE(
            seeds->vertex[i] < num_vertices, CSAW_EINVAL,
            "seed %llu is vertex %u, but the graph has %llu vertices (0 .. %lld); leave it out or load the right graph",
            (unsigned long long)i, seeds->vertex[i], (unsigned long long)num_vertices, (long long)num_vertices - 1);
    return CSAW_OK;
}

static csaw_status take_seeds(run *r, const csaw_seeds *seeds) {
    csaw__job *job = &r->job;
    const uint64_t walks = r->options.walks_per_seed;
    CSAW_TRY(check_seeds(r, seeds));
    job->roots = seeds ? seeds->vertex : NULL;
    job->num_roots = seeds ? seeds->count : r->plan->graph->csr.num_vertices;
    CSAW_REQUIRE(job->num_roots <= CSAW_MAX_INSTANCES / walks, CSAW_EINVAL,
                 "%llu walks from each of %llu seeds are more than 2^40 walks; split the seeds over several runs with "
                 "different seed numbers",
                 (unsigned long long)walks, (unsigned long long)job->num_roots);
    r->total = job->num_roots * walks;
    return CSAW_OK;
}

static csaw_status take_params(run *r, const void *params) {
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

static csaw_status take_bounds(run *r) {
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

static csaw_status take_kernel(run *r) {
    const csaw_graph *graph = r->plan->graph;
    csaw__job *job = &r->job;
    const uint32_t traits = r->sampler->traits();
    enum csaw__kernel kernel;
    CSAW_TRY(csaw__choose_kernel(csaw_sampler_name(r->sampler), traits, graph->csr.weight != NULL, r->options.select,
                                 &kernel));
    job->kernel = kernel;
    job->fold = !graph->parallel_arcs;
    job->rows = (csaw__rows){.offset = graph->csr.rowptr,
                             .col = graph->csr.col,
                             .weight = graph->csr.weight,
                             .type = graph->csr.type,
                             .time = graph->csr.time,
                             .count = (csaw_vertex)graph->csr.num_vertices,
                             .wide = 1};
    job->num_vertices = job->rows.count;
    CSAW_TRY(take_bounds(r));
    const bool alias = kernel == CSAW__KERNEL_ALIAS || kernel == CSAW__KERNEL_REJECT_ALIAS;
    const bool compare = r->options.check && !csaw__static_is_constant(traits, graph->csr.weight != NULL);
    if (!alias && !compare) return CSAW_OK;
    CSAW_TRY(csaw__tables_prepare(r->plan, r->sampler, job, alias));
    job->rows.alias = alias ? r->plan->tables.alias : NULL;
    job->rows.bias = alias ? r->plan->tables.bias : NULL;
    job->tabulated = r->plan->tables.tabulated;
    return CSAW_OK;
}

static csaw_status run_create(csaw_plan *plan, const csaw_sampler *sampler, const void *params, const csaw_seeds *seeds,
                              const csaw_run_options *given, run *out) {
    CSAW_REQUIRE(plan && sampler, CSAW_EINVAL, "csaw_sample needs a plan and a sampler; one is NULL");
    CSAW_OPTIONS(csaw_run_options, given, options)
    memset(out, 0, sizeof *out);
    if (!options.walks_per_seed) options.walks_per_seed = 1;
    if (!options.depth) options.depth = DEFAULT_DEPTH;
    if (!options.batch_bytes) options.batch_bytes = default_batch_bytes;
    CSAW_REQUIRE(options.depth < CSAW_MAX_DEPTH, CSAW_EINVAL,
                 "depth is %u; walks have at most 2^24 - 1 = 16777215 steps", options.depth);
    CSAW_REQUIRE(!options.check || !plan->device, CSAW_EUNSUPPORTED,
                 "the debug mode (check) runs on the CPU; use a plan with device 'cpu'");
    CSAW_REQUIRE(!options.check || !plan->parts, CSAW_EUNSUPPORTED,
                 "the debug mode (check) needs the whole graph in sight; use a plan without partitions");
    out->plan = plan;
    out->sampler = sampler;
    out->options = options;
    out->job.step_numbers = csaw__step_numbers;
    out->job.length = options.depth;
    out->job.seed = options.seed;
    CSAW_TRY(take_params(out, params));
    CSAW_TRY(take_seeds(out, seeds));
    return take_kernel(out);
}

/* Bytes that a walk takes. */
static uint64_t walk_bytes(const run *r) {
    return ((uint64_t)r->job.length + 1) * sizeof(csaw_vertex) + (r->options.edges ? (uint64_t)r->job.length * 8 : 0);
}

static csaw_status host_buffers(csaw_samples *samples) {
    CSAW_TRY(csaw__alloc(&samples->host_path, samples->num_walks * ((uint64_t)samples->length + 1),
                         "paths of walks (csaw_sample_each works in bounded memory)"));
    if (samples->edges)
        CSAW_TRY(csaw__alloc(&samples->host_edge, samples->num_walks * samples->length,
                             "arcs of walks (csaw_sample_each works in bounded memory)"));
    return CSAW_OK;
}

/* A fault on the device has no edge yet: walk that instance again here, which has the same bits. */
static csaw_status locate_fault(const run *r, csaw__fault *fault) {
    csaw__job job = r->job;
    csaw_samples one = {.num_walks = 1, .length = job.length};
    CSAW_TRY(host_buffers(&one));
    job.first = fault->instance;
    job.num_walks = 1;
    job.path = one.host_path;
    const csaw__fault device = *fault;
    fault->kind = CSAW__FAULT_NONE;
    r->sampler->walk(&job, 0, 1, fault);
    csaw__free(one.host_path);
    if (fault->kind != CSAW__FAULT_NONE) return CSAW_OK;
    return csaw__fail(
        CSAW_EBIAS,
        "sampler '%s', instance %llu, depth %u: a hook broke its rules on the GPU but not on the CPU; hooks "
        "that use libm differ there: use csaw_exp, csaw_log, csaw_pow",
        csaw_sampler_name(r->sampler), (unsigned long long)device.instance, device.depth);
}

static csaw_status walk_batch(const run *r, uint64_t first, uint64_t count, csaw_samples *samples) {
    csaw__fault fault = {.kind = CSAW__FAULT_NONE};
    csaw__job job = r->job;
    job.first = first;
    job.num_walks = count;
    samples->first = first;
    samples->num_walks = count;
    samples->length = job.length;
    samples->edges = r->options.edges;
    samples->device = r->plan->device;
    if (r->plan->device) {
        CSAW_TRY(csaw__device_walk(r->plan, r->sampler, &job, samples, &fault));
        if (fault.kind != CSAW__FAULT_NONE) CSAW_TRY(locate_fault(r, &fault));
    } else {
        if (!samples->host_path) CSAW_TRY(host_buffers(samples));
        job.path = samples->host_path;
        job.edge = samples->host_edge;
        CSAW_TRY(r->plan->parts ? csaw__parts_walk(r->plan, r->sampler, &job, &fault)
                                : csaw__cpu_walk(r->plan, r->sampler, &job, r->options.check, &fault));
    }
    return csaw__fault_status(&fault, csaw_sampler_name(r->sampler));
}

static csaw_status report_progress(const run *r, uint64_t done) {
    CSAW_REQUIRE(!r->options.progress || r->options.progress(r->options.user, done, r->total), CSAW_ESTOPPED,
                 "stopped by the progress callback after %llu of %llu walks", (unsigned long long)done,
                 (unsigned long long)r->total);
    return CSAW_OK;
}

csaw_status csaw_sample(csaw_plan *plan, const csaw_sampler *sampler, const void *params, const csaw_seeds *seeds,
                        const csaw_run_options *options, csaw_samples **out) {
    run r;
    csaw_samples *samples = NULL;
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(out, CSAW_EINVAL, "csaw_sample needs a place for the samples; out is NULL");
    CSAW_TRY(run_create(plan, sampler, params, seeds, options, &r));
    CSAW_REQUIRE(r.total <= (SIZE_MAX >> 4) / walk_bytes(&r), CSAW_ENOMEM,
                 "%llu walks of %llu bytes each are more than an address space; use csaw_sample_each",
                 (unsigned long long)r.total, (unsigned long long)walk_bytes(&r));
    CSAW_TRY(report_progress(&r, 0));
    CSAW_TRY(csaw__alloc_zero(&samples, 1, "samples"));
    CSAW_TRY_DONE(walk_batch(&r, 0, r.total, samples));
    CSAW_TRY_DONE(report_progress(&r, r.total));
    *out = samples;
    samples = NULL;
done:
    csaw_samples_free(samples);
    return status;
}

csaw_status csaw_sample_each(csaw_plan *plan, const csaw_sampler *sampler, const void *params, const csaw_seeds *seeds,
                             const csaw_run_options *options, csaw_status (*batch)(void *, csaw_samples *),
                             void *user) {
    run r;
    csaw_samples *samples = NULL;
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(batch, CSAW_EINVAL, "csaw_sample_each needs a batch function; it is NULL");
    CSAW_TRY(run_create(plan, sampler, params, seeds, options, &r));
    uint64_t at_once = r.options.batch_bytes / walk_bytes(&r);
    at_once = at_once == 0 ? 1 : at_once;
    CSAW_TRY(report_progress(&r, 0));
    CSAW_REQUIRE(r.options.first <= r.total, CSAW_EINVAL, "first is %llu, but there are %llu walks",
                 (unsigned long long)r.options.first, (unsigned long long)r.total);
    for (uint64_t first = r.options.first; first < r.total; first += at_once) {
        uint64_t count = r.total - first < at_once ? r.total - first : at_once;
        if (!samples) CSAW_TRY_DONE(csaw__alloc_zero(&samples, 1, "samples"));
        CSAW_TRY_DONE(walk_batch(&r, first, count, samples));
        csaw__fail(CSAW_OK, "the batch function gave no message"); /* unless it does */
        CSAW_TRY_DONE(batch(user, samples));
        CSAW_TRY_DONE(report_progress(&r, first + count));
    }
done:
    csaw_samples_free(samples);
    return status;
}

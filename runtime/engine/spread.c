/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread.c - plans on a graph that is split over ranks, and their batches. */
#include "runtime/engine/spread.h"
#include "runtime/engine/spread_sample.h"

#include <string.h>

#include "partition/exchange_mpi.h"
#include "partition/homes.h"
#include "runtime/base/checksum.h"
#include "runtime/base/memory.h"
#include "runtime/engine/spread_gpu.h"
#include "runtime/engine/spread_walk.h"

enum { MOST_WINDOW = 1 << 16, MOST_WINDOW_OF_GPU = 1 << 20, LEAST_WINDOW = CSAW__WALKERS_AT_ONCE };

/* ---- plans ---- */

/* What tells two graphs apart, of what every rank reads. */
static uint64_t hash_of_graph(const csaw_graph *graph, const csaw__share *share) {
    const csaw_csr *const csr = &graph->csr;
    const uint64_t about[] = {csr->num_vertices,
                              csr->num_edges,
                              graph->max_degree,
                              graph->parallel_arcs,
                              csaw__bytes_per_arc(csr),
                              graph->mapping ? graph->checksum : 0,
                              csaw__xxh64(share->degree, csr->num_vertices * sizeof *share->degree),
                              csaw__xxh64(share->ranges.first, ((uint64_t)share->ranges.count + 1) * 4)};
    return csaw__xxh64(about, sizeof about);
}

/* The walkers of all homes may be at one rank, in arrays that are up to twice as large as needed; on a GPU also as the
 * messages that they came by. */
static uint64_t default_window(uint32_t size, bool on_gpu) {
    const uint64_t of_messages = on_gpu ? 2 * sizeof(csaw__walker_message) + sizeof(csaw__walker_question) : 0;
    const uint64_t of_one = 2 * (sizeof(csaw__walk_slot) + 2 * sizeof(uint32_t) + of_messages);
    const uint64_t fitting = CSAW__WALKERS_ROOM / of_one / size, most = on_gpu ? MOST_WINDOW_OF_GPU : MOST_WINDOW;
    return fitting > most ? most : fitting < LEAST_WINDOW ? LEAST_WINDOW : fitting;
}

csaw_status csaw__spread_create(const csaw_graph *graph, uint32_t size, uint32_t rank,
                                const csaw__spread_options *options, csaw__spread **out) {
    csaw__spread *s;
    CSAW_TRY(csaw__alloc_zero(&s, 1, "a rank's plan"));
    s->on.size = size;
    s->on.rank = rank;
    s->options = *options;
    if (!s->options.window) s->options.window = default_window(size, options->on_gpu);
    if (!s->options.room) s->options.room = CSAW__SPREAD_ROOM;
    csaw_status status = csaw__alloc_zero(&s->out, size, "batches to other ranks");
    if (status == CSAW_OK) status = csaw__share_create(graph, size, rank, options->by_visits, &s->share);
    if (status == CSAW_OK && options->on_gpu) status = csaw__spread_gpu_open(&s->share, rank, options, &s->gpu);
    if (status != CSAW_OK) {
        csaw__spread_free(s);
        return status;
    }
    *out = s;
    return CSAW_OK;
}

csaw_status csaw__spread_connect(csaw__spread *s, const void *communicator, csaw__ranks *ranks) {
    CSAW_TRY(csaw__mpi_create(communicator, 0, 0, &s->mpi));
    s->on = csaw__mpi_rank(s->mpi);
    s->ranks = ranks;
    return CSAW_OK;
}

void csaw__spread_free(csaw__spread *s) {
    if (!s) return;
    const bool lost =
        csaw__ranks_lost(s->ranks); /* then others may still send to its memory, and read that of the GPU */
    if (!lost) csaw__mpi_free(s->mpi);
    if (!lost || !csaw__spread_straight(s)) csaw__spread_gpu_close(s->gpu);
    csaw__share_clear(&s->share);
    csaw__free(s->out);
    csaw__free(s);
}

void csaw__spread_forget_tables(csaw__spread *s) { csaw__spread_gpu_forget_tables(s->gpu); }

static csaw_status create_plan(const csaw_graph *graph, const csaw__exchange *exchange,
                               const csaw__spread_options *options, csaw_plan **out) {
    csaw_plan *plan;
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__alloc_zero(&plan, 1, "a plan"));
    plan->graph = graph;
    plan->threads = 1;
    CSAW_TRY_DONE(csaw__spare_create(false, &plan->spare));
    CSAW_TRY_DONE(csaw__spread_create(graph, exchange->size, exchange->rank, options, &plan->spread));
    plan->spread->on = *exchange;
    plan->spread->asked = hash_of_graph(graph, &plan->spread->share);
    *out = plan;
    plan = NULL;
done:
    csaw_plan_free(plan);
    return status;
}

csaw_status csaw__spread_plan(const csaw_graph *graph, const csaw__exchange *exchange,
                              const csaw__spread_options *given, csaw_plan **out) {
    csaw__spread_options options = {0};
    csaw_plan *plan = NULL;
    csaw__spread failed = {.on = *exchange};
    if (given) options = *given;
    csaw_status status = create_plan(graph, exchange, &options, &plan);
    status = csaw__spread_agree(plan ? plan->spread : &failed, status, NULL);
    if (status != CSAW_OK) {
        csaw_plan_free(plan);
        return status;
    }
    *out = plan;
    return CSAW_OK;
}

/* ---- runs ---- */

static uint64_t hash_of_run(const csaw__run *r) {
    const csaw__job *const job = &r->job;
    const uint64_t pools = job->num_roots;
    const uint64_t roots = job->seed_offset ? job->seed_offset[pools] : pools;
    const uint64_t about[] = {csaw_sampler_hash(r->sampler),
                              csaw__xxh64(job->params, sizeof job->params),
                              job->seed,
                              job->length,
                              job->kernel,
                              job->replace,
                              r->total,
                              r->options.first,
                              r->options.edges,
                              r->options.batch_bytes,
                              job->fanout ? csaw__xxh64(job->fanout, job->length * sizeof *job->fanout) : 0,
                              job->roots ? csaw__xxh64(job->roots, roots * sizeof *job->roots) : 0,
                              job->seed_offset ? csaw__xxh64(job->seed_offset, (pools + 1) * 8) : pools};
    return csaw__xxh64(about, sizeof about);
}

csaw_status csaw__spread_agree_on(csaw__spread *s, const csaw__run *r, csaw_status status) {
    s->asked = status == CSAW_OK ? hash_of_run(r) : 0;
    return csaw__spread_agree(s, status, NULL);
}

void csaw__spread_job(const csaw__spread *s, csaw__job *job) {
    job->rows = s->share.rows;
    job->degree = s->share.degree;
    job->remote = s->on.size > 1;
}

/* ---- batches ---- */

static csaw_status take_paths(csaw_samples *samples) {
    const uint64_t walks = samples->num_walks, length = samples->length;
    CSAW_TRY(csaw__block_take(samples->spare, walks * (length + 1) * sizeof *samples->host_path,
                              "paths of walks (csaw_sample_each works in bounded memory)",
                              (void **)&samples->host_path));
    if (!samples->edges) return CSAW_OK;
    return csaw__block_take(samples->spare, walks * length * sizeof *samples->host_edge,
                            "arcs of walks (csaw_sample_each works in bounded memory)", (void **)&samples->host_edge);
}

/* Memory of an earlier batch serves, if that was as large: batches do not grow. */
csaw_status csaw__spread_batch(const csaw__run *r, const csaw__job *job, csaw_samples *samples, csaw__fault *fault) {
    csaw__spread *const s = r->plan->spread;
    const csaw__homes homes = csaw__homes_of(job->num_walks, s->on.size);
    const uint64_t first = csaw__home_first(&homes, s->on.rank);
    csaw__job mine = *job;
    s->patience = (csaw__patience){0};
    mine.num_walks = csaw__home_first(&homes, s->on.rank + 1) - first;
    mine.first += first;
    samples->first = mine.first;
    samples->num_walks = mine.num_walks;
    CSAW_TRY(csaw__spread_agree(s, samples->is_sample || samples->host_path ? CSAW_OK : take_paths(samples), NULL));
    if (samples->is_sample) return csaw__spread_sample(r->plan, r->sampler, &mine, samples, fault);
    mine.path = samples->host_path;
    mine.edge = samples->host_edge;
    return csaw__spread_walk(s, r->sampler, job, &mine, samples->edges, fault);
}

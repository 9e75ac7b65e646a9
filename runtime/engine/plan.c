/* SPDX-License-Identifier: MIT */
/* runtime/engine/plan.c - plans: the device, the threads, the partitions, the ranks, and whether they go together. */
#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include "runtime/engine/gpus.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/protocol.h"
#include "runtime/engine/spread.h"
#include <csaw/philox.h>
#include <string.h>
#include <unistd.h>

/* over_ranks: the graph is split over them; gpus: that the list has. */
static csaw_status check_options(const csaw_plan_options *options, csaw__device_kind kind, uint32_t gpus,
                                 bool over_ranks) {
    CSAW_REQUIRE(options->threads >= 0 && options->threads <= 4096, CSAW_EINVAL,
                 "threads is %d; give 1 .. 4096, or 0 for all cores", options->threads);
    CSAW_REQUIRE(options->partitions >= 0 && options->partitions <= CSAW__MOST_PARTS, CSAW_EINVAL,
                 "partitions is %d; give 1 .. 65536, or 0 to cut the graph no more than needed", options->partitions);
    CSAW_REQUIRE(options->resident >= 0 && options->resident <= CSAW__MOST_PARTS, CSAW_EINVAL,
                 "resident is %d; give 1 .. 65536 partitions, or 0 for as many as are useful", options->resident);
    CSAW_REQUIRE(options->streams >= 0 && options->streams <= 64, CSAW_EINVAL,
                 "streams is %d; give 1 .. 64, or 0 for one a resident partition, at most 4", options->streams);
    CSAW_REQUIRE(options->depth < CSAW_MAX_DEPTH, CSAW_EINVAL,
                 "depth is %u; walks have at most 2^24 - 1 = 16777215 steps", options->depth);
    CSAW_REQUIRE(kind != CSAW__ON_CPU ||
                     (!options->gpu_memory && !options->resident && !options->streams && !options->described_memory),
                 CSAW_EINVAL,
                 "gpu_memory, described_memory, resident and streams are a GPU's, but the device is 'cpu'; give "
                 "'cuda:N' or 'simulated', or leave them out");
    CSAW_REQUIRE(
        !options->split || (options->partitions <= 1 && !options->resident && !options->streams), CSAW_EINVAL,
        "split has ranks, or GPUs, hold parts of the graph for good, and partitions, resident and streams are of "
        "parts that come and go; give one of the two");
    CSAW_REQUIRE(!options->split || kind == CSAW__ON_GPU || (kind == CSAW__ON_CPU && options->threads <= 1),
                 CSAW_EINVAL,
                 "split is for ranks that each step on one thread of a CPU or on a GPU, and for GPUs of one process; "
                 "leave out threads and device 'simulated', and start a rank for every core, or give device 'cuda'");
    CSAW_REQUIRE(
        !over_ranks || !options->gpu_memory, CSAW_EINVAL,
        "gpu_memory is of parts that come and go, but with split a rank's part stays on its GPU; leave it out, "
        "and start more ranks if the part does not fit");
    CSAW_REQUIRE(!options->exchange || (options->split && kind == CSAW__ON_GPU && gpus > 1), CSAW_EINVAL,
                 "exchange is for several GPUs that hold a graph together; give split, and a device of more than one, "
                 "such as 'cuda:0,cuda:1', or leave exchange out");
    CSAW_REQUIRE(!options->by_visits || options->split, CSAW_EINVAL,
                 "by_visits says how ranks divide a graph that is split over them; give split, or leave it out");
    CSAW_REQUIRE(
        !options->by_visits || gpus <= 1, CSAW_EINVAL,
        "by_visits says how ranks divide a graph, but with %u GPUs they hold it together; leave by_visits out, "
        "or give each rank one GPU",
        gpus);
    CSAW_REQUIRE(!options->split || options->described_ranks <= CSAW__MOST_PARTS, CSAW_EINVAL,
                 "the graph split over %u ranks; describe at most %d", options->described_ranks, CSAW__MOST_PARTS);
    CSAW_REQUIRE(kind != CSAW__ON_SIMULATED || !options->described_memory, CSAW_EINVAL,
                 "described_memory is that of a GPU which need not be here: give device 'cuda:N', or gpu_memory for "
                 "the simulated one");
    return CSAW_OK;
}

/* How the graph is worked on in a GPU's memory. */
static csaw_status explain_fit(csaw_plan *plan, const csaw_plan_options *options) {
    const csaw__fit_request request = csaw__parts_request(plan->graph, options);
    return csaw__explain_fit(plan, &request);
}

/* GPUs that are not here. What bounds memory, it or gpu_memory, is what a refusal names. */
static csaw_status describe(csaw_plan *plan, const csaw_plan_options *given, uint32_t count) {
    const uint64_t usable = csaw__fit_usable(given->described_memory);
    csaw__fit_request request = csaw__parts_request(plan->graph, given);
    bool together = false;
    request.described = !given->gpu_memory || given->gpu_memory > usable;
    if (request.described) request.memory = usable;
    plan->described = true;
    plan->sharers = count;
    if (count > 1) CSAW_TRY(csaw__gpus_together(plan->graph, given, count, usable, &together));
    csaw__explain_gpus(plan, count, together, given->exchange);
    csaw__explain_described(plan, given->described_memory, count);
    return together ? CSAW_OK : csaw__explain_fit(plan, &request);
}

/* Whether partitions come to the GPU and go: the graph is to be cut, or it does not fit beside what a run needs. free:
 * bytes. */
csaw_status csaw__plan_in_parts(const csaw_graph *graph, const csaw_plan_options *options, int ordinal, uint64_t free,
                                bool *out) {
    const csaw__fit_request request = csaw__parts_request(graph, options);
    csaw__fit fit;
    *out = options->partitions > 1;
    if (*out) return CSAW_OK;
    if (options->gpu_memory) {
        CSAW_TRY(csaw__fit_memory(&request, &fit));
        *out = !fit.whole;
    } else {
        if (!free) CSAW_TRY(csaw__device_free_memory(ordinal, &free));
        *out = request.rows * request.row_bytes + request.arcs * request.arc_bytes > free - free / 8;
    }
    CSAW_REQUIRE(
        *out || (!options->resident && !options->streams), CSAW_EINVAL,
        "resident and streams are of partitions that come and go, but the graph fits on cuda:%d as it is; leave "
        "them out, or give partitions, or less gpu_memory",
        ordinal);
    return CSAW_OK;
}

/* Row offsets of 32 bits: half the memory that a walk reads at random. R-MAT 20, uniform: 164 -> 180 M steps/s. */
static csaw_status narrow_rowptr(csaw_plan *plan) {
    const csaw_csr *csr = &plan->graph->csr;
    if (csr->num_edges > UINT32_MAX) return CSAW_OK;
    CSAW_TRY(csaw__alloc(&plan->narrow_rowptr, csr->num_vertices + 1, "row offsets of 32 bits"));
CSAW__OMP(parallel for schedule(static) num_threads(plan->threads))
for (uint64_t v = 0; v <= csr->num_vertices; v++) plan->narrow_rowptr[v] = (uint32_t)csr->rowptr[v];
return CSAW_OK;
}

/* memory: bytes there that it may take; 0 = what is free. of: NULL, or which of those that hold the graph together. */
static csaw_status open_gpu(csaw_plan *plan, const csaw_plan_options *given, int ordinal, uint64_t memory,
                            const csaw__joint_member *of) {
    csaw_plan_options options = *given;
    bool in_parts = false;
    if (!of) CSAW_TRY(csaw__plan_in_parts(plan->graph, given, ordinal, memory, &in_parts));
    if (!in_parts)
        return csaw__device_open(plan->graph, ordinal, of, plan->explain, sizeof plan->explain, &plan->device);
    if (!options.gpu_memory) options.gpu_memory = memory - memory / 16;
    CSAW_TRY(csaw__parts_create(plan->graph, &options, ordinal, &plan->parts));
    csaw__spare_keep(plan->spare, CSAW__MOST_BATCH_BYTES + (1 << 20));
    options.gpu_memory = plan->parts->request.memory;
    csaw__explain_gpu(plan, ordinal);
    return explain_fit(plan, &options);
}

/* A rank's share of the graph, on a GPU or not. Messages go when all ranks have theirs. */
static csaw_status open_split(csaw_plan *plan, const csaw__device_list *list, bool by_visits) {
    const csaw__spread_options options = {
        .by_visits = by_visits, .on_gpu = list->kind == CSAW__ON_GPU, .ordinal = list->ordinal[0]};
    if (options.on_gpu) csaw__explain_split_gpu(plan, options.ordinal);
    if (plan->described) return CSAW_OK;
    return csaw__spread_create(plan->graph, csaw__ranks_size(plan->ranks), csaw__ranks_rank(plan->ranks), &options,
                               &plan->spread);
}

static csaw_status open_device(csaw_plan *plan, const csaw_plan_options *options, const csaw__device_list *list,
                               bool split) {
    const csaw__device_kind kind = list->kind;
    if (kind == CSAW__ON_GPU && split && options->described_memory)
        return csaw__explain_split_fit(
            plan, options->described_ranks ? options->described_ranks : (uint32_t)csaw__ranks_size(plan->ranks),
            options->by_visits, options->described_memory);
    if (kind == CSAW__ON_GPU && split) return open_split(plan, list, options->by_visits);
    if (kind == CSAW__ON_GPU && options->described_memory) return describe(plan, options, list->count);
    if (kind == CSAW__ON_GPU && list->count > 1) return csaw__gpus_open(plan, options, list);
    if (kind == CSAW__ON_GPU) return open_gpu(plan, options, list->ordinal[0], 0, NULL);
    csaw__explain_host(plan, kind == CSAW__ON_SIMULATED, options->partitions > 1);
    if (kind == CSAW__ON_CPU && options->partitions <= 1)
        return split ? open_split(plan, list, options->by_visits) : narrow_rowptr(plan);
    CSAW_TRY(csaw__parts_create(plan->graph, options, -1, &plan->parts));
    return explain_fit(plan, options);
}

/* On a GPU or not, with neither lines nor a device. */
static csaw_status begin(const csaw_graph *graph, const csaw_plan_options *options, bool on_gpu, csaw_plan **out) {
    csaw_plan *plan = NULL;
    CSAW_TRY(csaw__alloc_zero(&plan, 1, "a plan"));
    plan->graph = graph;
    plan->job.walks_per_seed = options->walks_per_seed ? options->walks_per_seed : 1;
    plan->job.depth = options->depth ? options->depth : CSAW__DEFAULT_DEPTH;
    const csaw_status status = csaw__spare_create(on_gpu, &plan->spare);
    if (status == CSAW_OK)
        *out = plan;
    else
        csaw__free(plan);
    return status;
}

csaw_status csaw__plan_of_gpu(const csaw_plan *whole, const csaw_plan_options *options, uint32_t i, uint64_t memory,
                              csaw_plan **out) {
    const csaw__gpus *const gpus = whole->gpus;
    const csaw__joint_member of = {gpus->joint, i, gpus->count};
    csaw_plan *plan = NULL;
    CSAW_TRY(begin(whole->graph, options, true, &plan));
    plan->threads = whole->threads;
    plan->sharers = gpus->count;
    const csaw_status status = open_gpu(plan, options, gpus->ordinal[i], memory, of.joint ? &of : NULL);
    if (status == CSAW_OK)
        *out = plan;
    else
        csaw_plan_free(plan);
    return status;
}

bool csaw__plan_on_gpu(const csaw_plan *plan) { return plan->device || plan->gpus || csaw__parts_on_gpu(plan->parts); }

bool csaw__plan_whole_on_gpu(const csaw_plan *plan) { return plan->device || (plan->gpus && !plan->gpus->in_parts); }

/* The cores of this machine, shared by the ranks on it unless they are bound to fewer. */
static int default_threads(const csaw__ranks *ranks) {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN) / (long)csaw__ranks_local_size(ranks);
    const int most = csaw__max_threads();
    return !ranks || most <= cores ? most : cores > 1 ? (int)cores : 1;
}

/* Of a graph whose arcs ranks share. */
static csaw_status check_held(const csaw_graph *graph, const csaw_plan_options *options, const csaw__ranks *ranks,
                              bool split) {
    const csaw__held *const held = graph->held;
    if (!held) return CSAW_OK;
    CSAW_REQUIRE(split && held->ranks == csaw__ranks_size(ranks) && held->rank == csaw__ranks_rank(ranks) &&
                     held->by_visits == options->by_visits,
                 CSAW_EINVAL,
                 "csaw_graph_load_split() gave this rank the part of rank %u of %u, by_visits %s: the plan is to have "
                 "split, the same communicator and by_visits, and one GPU at most; or load the graph with "
                 "csaw_graph_load()",
                 held->rank, held->ranks, held->by_visits ? "true" : "false");
    return CSAW_OK;
}

static csaw_status create(const csaw_graph *graph, const csaw_plan_options *options, csaw__ranks *ranks,
                          csaw_plan **out) {
    csaw_plan *plan = NULL;
    csaw_status status = CSAW_OK;
    csaw__device_list list;
    CSAW_REQUIRE(graph && out, CSAW_EINVAL, "csaw_plan_create needs a graph and a place for the plan; one is NULL");
    CSAW_TRY(csaw__device_list_parse(options, ranks, &list));
    const uint32_t size = options->described_ranks ? options->described_ranks : csaw__ranks_size(ranks);
    const bool split = options->split && size > 1 && list.count <= 1; /* over ranks, not over the GPUs of each */
    CSAW_TRY(check_held(graph, options, ranks, split));
    CSAW_TRY(check_options(options, list.kind, list.count, split));
    CSAW_TRY(begin(graph, options, list.kind == CSAW__ON_GPU, &plan));
    plan->ranks = ranks;
    plan->threads = split ? 1 : options->threads ? options->threads : default_threads(ranks);
    plan->described = options->described_ranks;
    csaw__explain_graph(plan);
    csaw__explain_job(plan);
    if (split)
        CSAW_TRY_DONE(csaw__explain_split(plan, size, options->by_visits));
    else
        csaw__explain_ranks(plan, size);
    CSAW_TRY_DONE(open_device(plan, options, &list, split));
    *out = plan;
    plan = NULL;
done:
    csaw_plan_free(plan);
    return status;
}

/* Whether ranks have the same program and graph before them. */
static csaw_status agree(csaw__ranks *ranks, csaw_status status, const csaw_graph *graph, const csaw_plan *plan) {
    enum { GRAPH = CSAW__SAYS_MORE, SPLIT, VISITS, GPU };
    uint64_t values[CSAW__RANK_VALUES] = {0};
    if (!ranks) return status;
    csaw__protocol_say(values);
    if (status == CSAW_OK) values[GRAPH] = csaw_graph_checksum(graph);
    values[SPLIT] = plan && plan->spread;
    values[VISITS] = values[SPLIT] && plan->spread->options.by_visits;
    values[GPU] = values[SPLIT] && plan->spread->gpu;
    CSAW_TRY(csaw__ranks_meet(ranks, CSAW__AT_PLAN, status, values));
    CSAW_TRY(csaw__protocol_alike(ranks));
    CSAW_TRY(csaw__ranks_alike(ranks, SPLIT, "choice of split", "give it to all ranks or to none"));
    CSAW_TRY(csaw__ranks_alike(ranks, VISITS, "choice of by_visits", "give it to all ranks or to none"));
    CSAW_TRY(csaw__ranks_alike(ranks, GPU, "device for its part", "give a GPU to all ranks or to none"));
    return csaw__ranks_alike(ranks, GRAPH, "graph", "give every rank the same file, and the same load options");
}

csaw_status csaw_plan_create(const csaw_graph *graph, const csaw_plan_options *given, csaw_plan **out) {
    csaw_plan *plan = NULL;
    csaw__ranks *ranks;
    CSAW_OPTIONS(csaw_plan_options, given, options)
    CSAW_TRY(csaw__ranks_open(options.communicator, &ranks));
    csaw__ranks_enter(ranks);
    csaw_status status = create(graph, &options, ranks, out ? &plan : NULL);
    status = agree(ranks, status, graph, plan);
    if (status == CSAW_OK && plan->spread)
        status = csaw__ranks_meet(ranks, CSAW__AT_PLAN, csaw__spread_connect(plan->spread, options.communicator, ranks),
                                  NULL);
    if (status == CSAW_OK && plan->spread) csaw__explain_straight(plan);
    if (status == CSAW_OK)
        *out = plan;
    else
        csaw_plan_free(plan);
    return status;
}

static csaw_status lent_already(void) {
    return csaw__fail(CSAW_EINVAL, "the plan is lent to a loader, whose thread runs on it; close that loader first, or "
                                   "make another plan of the graph");
}

csaw_status csaw__plan_lend(csaw_plan *plan) {
    CSAW_REQUIRE(!plan->busy, CSAW_EINVAL,
                 "a batch or progress function opens a loader on the plan that calls it; give it a plan of its own");
    return __atomic_exchange_n(&plan->lent, true, __ATOMIC_ACQ_REL) ? lent_already() : CSAW_OK;
}

void csaw__plan_take_back(csaw_plan *plan) { __atomic_store_n(&plan->lent, false, __ATOMIC_RELEASE); }

csaw_status csaw__plan_check_lent(const csaw_plan *plan) {
    return plan && __atomic_load_n(&plan->lent, __ATOMIC_ACQUIRE) ? lent_already() : CSAW_OK;
}

csaw_status csaw__plan_check_alone(const csaw_plan *plan, const char *what) {
    const uint32_t size = csaw__ranks_size(plan->ranks);
    CSAW_REQUIRE(size == 1, CSAW_EUNSUPPORTED,
                 "%s works in one process, but the plan shares its work among %u ranks; on each rank make a plan "
                 "without a communicator, and ask it for that rank's part",
                 what, size);
    return CSAW_OK;
}

const char *csaw_plan_explain(const csaw_plan *plan) { return plan->explain; }

void csaw_plan_free(csaw_plan *plan) {
    if (!plan) return;
    csaw__gpus_free(plan->gpus);
    csaw__parts_free(plan->parts); /* before the tables, which travel with them */
    csaw__tables_clear(&plan->tables);
    csaw__free(plan->narrow_rowptr);
    csaw__workers_free(plan);
    csaw__spare_release(plan->spare);
    csaw__device_close(plan->device);
    csaw__spread_free(plan->spread);
    csaw__free(plan);
}

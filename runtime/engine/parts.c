/* SPDX-License-Identifier: MIT */
/* runtime/engine/parts.c - a graph in partitions: device memory divided among them (partition/fit.h), taken at the
 * first run and again where tables begin or cease to travel with the arcs.
 *
 * Walks (parts_walk.c, device_parts.cu), samples whose picks may come in any order (parts_sample.c) and the rows of a
 * frontier (rows.c) are all work that waits at partitions, run by one scheduler (partition/schedule.h). What the device
 * is, its kind knows (csaw__parts_kind). */
#include "runtime/engine/parts.h"

#include <string.h>

#include "runtime/base/memory.h"

_Static_assert(sizeof(csaw__active) == CSAW__ENTRY_BYTES, "csaw__fit_memory() counts entries by it");

csaw__fit_request csaw__parts_request(const csaw_graph *graph, const csaw_plan_options *options) {
    return (csaw__fit_request){.rows = graph->csr.num_vertices,
                               .arcs = graph->csr.num_edges,
                               .longest_row = graph->max_degree,
                               .row_bytes = sizeof *graph->csr.rowptr,
                               .arc_bytes = csaw__bytes_per_arc(&graph->csr),
                               .memory = options->gpu_memory,
                               .parts = (uint32_t)options->partitions,
                               .resident = (uint32_t)options->resident,
                               .streams = (uint32_t)options->streams};
}

uint64_t csaw__parts_together_bytes(const csaw__fit_request *graph, uint32_t gpus, bool tables) {
    const uint64_t mapped_by = (uint64_t)2 << 20, arrays = 4; /* a GPU's piece of an array ends with so many bytes */
    const csaw__fit_request all = tables ? csaw__parts_with_alias(*graph) : *graph;
    const uint64_t rows_of_tables = graph->rows * (all.row_bytes - graph->row_bytes);
    return graph->rows * graph->row_bytes + (rows_of_tables + all.arcs * all.arc_bytes) / gpus + arrays * mapped_by;
}

csaw__fit_request csaw__parts_with_alias(csaw__fit_request request) {
    request.row_bytes += (uint32_t)sizeof(csaw__row_bias);
    request.arc_bytes += (uint32_t)sizeof(csaw__alias);
    return request;
}

/* Bytes of device memory of a walk under way that is of so many beside its path. */
static uint64_t walk_bytes(uint64_t state, uint32_t length, bool edges) {
    const uint64_t path = ((uint64_t)length + 1) * sizeof(csaw_vertex);
    return state + path + (edges ? (uint64_t)length * sizeof(csaw_edge) : 0);
}

static uint64_t times(uint64_t a, uint64_t b) { return a < UINT64_MAX / b ? a * b : UINT64_MAX; }

/* So many walks of a batch, and of all batches; bytes each, some of which for each step. */
static csaw__fit_request for_walks(csaw__fit_request request, uint64_t walks, uint64_t all, uint64_t bytes,
                                   uint64_t of_step, uint32_t length) {
    request.one = walks ? bytes : 0;
    request.one_step = of_step;
    request.wanted = times(walks, bytes);
    request.all = times(all, bytes);
    request.steps = length;
    return request;
}

/* Of a step that reads the graph in place, csaw__fit_request.step_cost: what a copy moves in that time. The larger the
 * graph, the fewer reads hit the GPU's cache, or a page that it knows. On an H200 that copies 55.5 GB/s uniform walks
 * made 244 million steps a second on R-MAT of 0.5 GiB, 44 million on 3.9 GiB, node2vec (p = 0.25, q = 4) 33.7 million
 * on the former (docs/measured/2026-11-22-gpu-4.md, 2026-11-23-gpu-5.md); between them a straight line. */
uint32_t csaw__parts_step_cost(const csaw__fit_request *graph, bool second_order) {
    const double small = 0.5 * 1073741824.0, large = 3.9 * 1073741824.0;
    const double bytes = (double)graph->rows * graph->row_bytes + (double)graph->arcs * graph->arc_bytes;
    const double share = bytes <= small ? 0 : bytes >= large ? 1 : (bytes - small) / (large - small);
    const double uniform = 227 + share * (1261 - 227);
    return (uint32_t)(second_order ? uniform * 1646 / 227 : uniform);
}

/* Methods that scan rows read too much. */
static bool looks_at_few(uint32_t kernel) { return kernel != CSAW__KERNEL_ITS && kernel != CSAW__KERNEL_RACE; }

uint64_t csaw__parts_walk_bytes(uint32_t length, bool edges) { return walk_bytes(sizeof(csaw__walker), length, edges); }

/* The same of the device at hand. */
static uint64_t bytes_of_walk(const csaw__parts *parts, uint32_t length, bool edges) {
    const bool on_host = parts->kind->can_hold && parts->kind->can_hold(parts);
    return on_host ? parts->walk_state : walk_bytes(parts->walk_state, length, edges);
}

csaw__fit_request csaw__parts_for_walks(csaw__fit_request request, uint64_t walks, uint64_t all, uint32_t length,
                                        bool edges) {
    const uint64_t bytes = csaw__parts_walk_bytes(length, edges), of_none = csaw__parts_walk_bytes(0, edges);
    return for_walks(request, walks, all, bytes, length ? (bytes - of_none) / length : 0, length);
}

uint64_t csaw__parts_gpu_walk_bytes(uint32_t traits) {
    return sizeof(csaw__part_window) + 2 * sizeof(csaw_vertex) + sizeof(uint32_t) +
           (traits & CSAW__TRAIT_USER ? CSAW_MAX_USER_BYTES : 0) +
           (traits & CSAW__TRAIT_SECOND_ORDER ? sizeof(csaw__part_question) : 0);
}

csaw__fit_request csaw__parts_for_gpu_walks(csaw__fit_request request, uint64_t walks, uint64_t all, uint32_t length,
                                            bool second_order) {
    const uint64_t bytes = csaw__parts_gpu_walk_bytes(second_order ? CSAW__TRAIT_SECOND_ORDER : 0);
    request.no_queues = true;
    request.asks = second_order;
    request.table_bytes = CSAW__PART_TABLE_BYTES;
    return for_walks(request, walks, all, bytes, 0, length);
}

/* A batch of samples brings the graph anew and takes what instances have: how much they want, and what one takes,
 * nobody knows. Without queues memory is divided as if there were no end of them. */
static csaw__fit_request for_samples(csaw__fit_request request) {
    if (request.memory && request.no_queues) {
        request.one = 1;
        request.wanted = (uint64_t)1 << 50;
    }
    return request;
}

csaw__fit_request csaw__parts_for_gpu_samples(csaw__fit_request request) {
    request.no_queues = true;
    request.table_bytes = CSAW__PART_TABLE_BYTES;
    return for_samples(request);
}

bool csaw__parts_would_stay(const csaw__fit_request *graph, uint64_t walks, uint64_t all, uint32_t length,
                            bool second_order, bool alias) {
    csaw__fit_request request = csaw__parts_for_gpu_walks(*graph, walks, all, length, second_order);
    csaw__fit fit;
    if (alias) request = csaw__parts_with_alias(request);
    request.step_cost = csaw__parts_step_cost(graph, second_order);
    return csaw__fit_memory(&request, &fit) == CSAW_OK && fit.in_place;
}

csaw_status csaw__parts_create(const csaw_graph *graph, const csaw_plan_options *options, int ordinal,
                               csaw__parts **out) {
    csaw__parts *parts = NULL;
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__alloc_zero(&parts, 1, "a partitioned graph"));
    parts->graph = graph;
    parts->request = csaw__parts_request(graph, options);
    parts->kind = &csaw__parts_simulated;
    if (ordinal >= 0) CSAW_TRY_DONE(csaw__parts_on_cuda(parts, ordinal));
    parts->request.no_queues = !parts->kind->has_queues;
    CSAW_TRY_DONE(csaw__fit_memory(&parts->request, &parts->fit));
    parts->questions.most = csaw__question_most(parts->request.memory);
    *out = parts;
    parts = NULL;
done:
    csaw__parts_free(parts);
    return status;
}

/* ---- device memory ---- */

static uint64_t degree_bytes(const csaw__parts *parts) { return parts->request.rows * sizeof *parts->degree; }

static void close_parts(csaw__parts *parts) {
    csaw__schedule_end(&parts->schedule);
    if (parts->degree) parts->on.free(parts->on.self, parts->degree, degree_bytes(parts));
    parts->kind->clear(parts);
    csaw__ranges_clear(&parts->ranges);
    parts->degree = NULL;
    parts->open = false;
}

void csaw__parts_free(csaw__parts *parts) {
    if (!parts) return;
    close_parts(parts);
    csaw__free(parts->questions.parked);
    parts->kind->destroy(parts);
    csaw__free(parts);
}

/* Degrees first .. first + count - 1, by way of `some`. */
static csaw_status put_degrees(csaw__parts *parts, uint64_t first, uint64_t count, uint32_t *some) {
    const csaw_edge *const rowptr = parts->graph->csr.rowptr + first;
    for (uint64_t v = 0; v < count; v++) some[v] = (uint32_t)(rowptr[v + 1] - rowptr[v]);
    return parts->on.put(parts->on.self, parts->degree + first, some, count * sizeof *some);
}

static csaw_status take_degrees(csaw__parts *parts) {
    const uint64_t rows = parts->request.rows, at_once = rows < 1 << 20 ? rows : 1 << 20;
    uint32_t *some = NULL;
    csaw_status status = CSAW_OK;
    if (parts->fit.parts == 1) return CSAW_OK;
    CSAW_TRY(parts->on.alloc(parts->on.self, degree_bytes(parts), "degrees", (void **)&parts->degree));
    CSAW_TRY(csaw__alloc(&some, at_once, "degrees on their way to a device"));
    for (uint64_t first = 0; first < rows && status == CSAW_OK; first += at_once)
        status = put_degrees(parts, first, rows - first < at_once ? rows - first : at_once, some);
    csaw__free(some);
    return status;
}

static csaw_status open_parts(csaw__parts *parts, const csaw__fit_request *request, const csaw__fit *fit) {
    parts->fit = *fit;
    CSAW_TRY(csaw__ranges_create(&parts->graph->csr, parts->fit.parts, request->row_bytes, request->arc_bytes,
                                 &parts->ranges));
    CSAW_TRY(parts->kind->arrange(parts));
    CSAW_TRY(take_degrees(parts));
    parts->schedule.parts = parts->fit.parts;
    parts->schedule.resident = parts->fit.resident;
    parts->schedule.streams = parts->fit.streams;
    parts->schedule.blocks = parts->on.blocks;
    return csaw__schedule_start(&parts->schedule, &parts->on);
}

/* Whether what is open serves as it is. */
static bool is_open(const csaw__parts *parts, const csaw__fit *fit, bool with_alias) {
    return parts->open && parts->with_alias == with_alias && parts->fit.parts == fit->parts &&
           parts->fit.resident == fit->resident && parts->fit.instances == fit->instances &&
           parts->fit.in_place == fit->in_place;
}

/* Bytes of a step that reads the graph in place; 0 where none may, or nobody is to choose. */
static uint32_t cost_in_place(const csaw__parts *parts, const csaw_sampler *sampler, const csaw__job *job) {
    const bool may = parts->way == CSAW__PARTS_CHOOSE || parts->way == CSAW__PARTS_BRING_MOST;
    const csaw__fit_request *const q = &parts->request;
    if (!may || q->parts || q->resident || q->streams || !looks_at_few(job->kernel)) return 0;
    return csaw__parts_step_cost(q, sampler->traits() & CSAW__TRAIT_SECOND_ORDER);
}

csaw_status csaw__parts_prepare(csaw__parts *parts, const csaw_sampler *sampler, const csaw__job *job, uint64_t walks,
                                uint64_t all, bool edges) {
    const csaw__rows *const whole = &job->rows;
    const uint32_t length = job->length;
    const bool with_alias = whole->alias;
    uint32_t step_cost = 0;
    parts->walk_state = parts->kind->walk_state(sampler);
    const uint64_t bytes = bytes_of_walk(parts, length, edges), of_none = bytes_of_walk(parts, 0, edges);
    csaw__fit_request request =
        walks ? for_walks(parts->request, walks, all, bytes, length ? (bytes - of_none) / length : 0, length)
              : for_samples(parts->request);
    csaw__fit fit;
    request.asks = walks && sampler->traits() & CSAW__TRAIT_SECOND_ORDER;
    CSAW_TRY(parts->kind->take_tables(parts, whole->alias, whole->bias));
    if (with_alias) request = csaw__parts_with_alias(request);
    if (parts->kind->reads_in_place && parts->kind->reads_in_place(parts)) {
        const bool stays = !walks && csaw__sample_way_of(sampler, job->kernel) == CSAW__SAMPLE_STAYS;
        request.stays = parts->way == CSAW__PARTS_STAY || stays;
        step_cost = walks ? cost_in_place(parts, sampler, job) : 0;
        if (parts->way == CSAW__PARTS_CHOOSE) request.step_cost = step_cost;
    }
    CSAW_TRY(csaw__fit_memory(&request, &fit));
    if (is_open(parts, &fit, with_alias)) {
        if (with_alias) csaw__schedule_forget(&parts->schedule); /* tables may be another sampler's by now */
    } else {
        close_parts(parts);
        const csaw_status status = open_parts(parts, &request, &fit);
        if (status != CSAW_OK) {
            close_parts(parts);
            return status;
        }
        parts->open = true;
        parts->with_alias = with_alias;
    }
    parts->schedule.worth = step_cost && !fit.in_place ? fit.graph / fit.parts / step_cost : 0;
    return CSAW_OK;
}

bool csaw__parts_on_gpu(const csaw__parts *parts) { return parts && parts->cuda; }

bool csaw__parts_leave_to_cpu(const csaw__parts *parts, const csaw_sampler *sampler, uint32_t kernel, bool is_sample) {
    if (!csaw__parts_on_gpu(parts)) return false;
    if (is_sample)
        return csaw__sample_way_of(sampler, kernel) != CSAW__SAMPLE_BRINGS && !parts->kind->reads_in_place(parts);
    return sampler->traits() & CSAW__TRAIT_SECOND_ORDER && !parts->kind->can_hold(parts);
}

/* Evenly: so they take least memory, most of which is that of the deepest. */
uint32_t csaw__lots_apart(uint32_t depths) {
    const uint32_t lots = CSAW__MOST_BATCHES / CSAW__LOT;
    return depths / lots + (depths % lots != 0);
}

/* Who draws one instance, or brings partitions in cyclic order, for comparison, has batches one after the other. */
uint32_t csaw__parts_depths_apart(const csaw__parts *parts, const csaw_sampler *sampler, const csaw__job *job) {
    const bool all_stay = parts->fit.resident == parts->fit.parts || parts->fit.in_place;
    const bool brings = csaw__sample_way_of(sampler, job->kernel) == CSAW__SAMPLE_BRINGS;
    if (!csaw__parts_on_gpu(parts) || all_stay || !brings) return 0;
    return parts->one_at_a_time || parts->schedule.in_turn ? 0 : csaw__lots_apart(job->length);
}

void csaw__parts_drop_samples(csaw__parts *parts) {
    if (parts && parts->kind->drop_samples) parts->kind->drop_samples(parts);
}

void csaw__parts_forget_tables(csaw__parts *parts) { (void)parts->kind->take_tables(parts, NULL, NULL); }

uint64_t csaw__parts_instance_bytes(const csaw__parts *parts) {
    const csaw__fit *const fit = &parts->fit;
    if (!parts->request.memory || parts->kind->has_queues) return fit->instances;
    return fit->instances + fit->queues + fit->spills;
}

uint64_t csaw__parts_together(const csaw__parts *parts, uint32_t length, bool edges) {
    const bool all_stay = parts->fit.resident == parts->fit.parts && !parts->fit.in_place;
    if (!parts->request.memory || all_stay) return 0;
    return csaw__parts_instance_bytes(parts) / bytes_of_walk(parts, length, edges);
}

uint64_t csaw__parts_at_once(const csaw__parts *parts, uint64_t bytes, uint64_t most) {
    const uint64_t fitting = csaw__parts_instance_bytes(parts) / bytes;
    if (parts->one_at_a_time || fitting == 0) return 1;
    return fitting < most ? fitting : most;
}

/* ---- work ---- */

csaw__job csaw__parts_job(const csaw__parts *parts, const csaw__rows *rows, const csaw__job *whole) {
    csaw__job here = *whole;
    here.rows = *rows;
    here.degree = parts->degree;
    here.remote = parts->degree != NULL;
    return here;
}

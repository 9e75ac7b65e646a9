/* SPDX-License-Identifier: MIT */
/* runtime/engine/plan.c - plans: the device, the threads, the partitions, and what they say of themselves. */
#include "runtime/engine/plan.h"

#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static csaw_status parse_device(const char *text, int *ordinal) {
    char *end = NULL;
    *ordinal = -1;
    if (!text || strcmp(text, "cpu") == 0) return CSAW_OK;
    if (strncmp(text, "cuda:", 5) == 0 && text[5] >= '0' && text[5] <= '9') *ordinal = (int)strtol(text + 5, &end, 10);
    CSAW_REQUIRE(end && *end == 0, CSAW_EINVAL, "device '%s' is not known; give 'cpu' or 'cuda:N', N counted from 0",
                 text);
    return CSAW_OK;
}

static void explain_host(csaw_plan *plan, int partitions) {
    const csaw_csr *csr = &plan->graph->csr;
    const double bytes = 8.0 * (double)csr->num_vertices + csaw__bytes_per_arc(csr) * (double)csr->num_edges;
    int used =
        snprintf(plan->explain, sizeof plan->explain,
                 "graph       %llu vertices, %llu arcs, largest degree %u, %s, %.1f MiB\n"
                 "select auto uniform without biases, alias for static ones, reject under bounds, else its\n"
                 "tables      static biases that differ: 4 bytes an arc; alias and reject: 16 more = %.1f MiB in all\n"
                 "device      cpu, %d thread%s\n",
                 (unsigned long long)csr->num_vertices, (unsigned long long)csr->num_edges, plan->graph->max_degree,
                 csr->weight ? "weighted" : "no weights", bytes / 1048576,
                 (20.0 * (double)csr->num_edges + 16.0 * (double)csr->num_vertices) / 1048576, plan->threads,
                 plan->threads == 1 ? "" : "s");
    if (partitions > 1 && used > 0 && (size_t)used < sizeof plan->explain)
        snprintf(
            plan->explain + used, sizeof plan->explain - (size_t)used,
            "partitions  %d contiguous ranges of about %.1f MiB each; walkers and vertices of samples queue at their "
            "range, one thread\n",
            partitions, bytes / partitions / 1048576);
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

csaw_status csaw_plan_create(const csaw_graph *graph, const csaw_plan_options *given, csaw_plan **out) {
    csaw_plan *plan = NULL;
    csaw_status status = CSAW_OK;
    int ordinal;
    CSAW_REQUIRE(graph && out, CSAW_EINVAL, "csaw_plan_create needs a graph and a place for the plan; one is NULL");
    CSAW_OPTIONS(csaw_plan_options, given, options)
    CSAW_TRY(parse_device(options.device, &ordinal));
    CSAW_REQUIRE(options.threads >= 0 && options.threads <= 4096, CSAW_EINVAL,
                 "threads is %d; give 1 .. 4096, or 0 for all cores", options.threads);
    CSAW_REQUIRE(options.partitions >= 0 && options.partitions <= 65536, CSAW_EINVAL,
                 "partitions is %d; give 1 .. 65536, or 0 to keep the graph whole", options.partitions);
    CSAW_REQUIRE(
        ordinal < 0 || options.partitions <= 1, CSAW_EUNSUPPORTED,
        "%d partitions on a GPU: this version partitions graphs on the CPU only; use device 'cpu', or 1 partition",
        options.partitions);
    CSAW_TRY(csaw__alloc_zero(&plan, 1, "a plan"));
    CSAW_TRY_DONE(csaw__spare_create(ordinal >= 0, &plan->spare));
    plan->graph = graph;
    plan->threads = options.threads ? options.threads : csaw__max_threads();
    explain_host(plan, options.partitions);
    if (options.partitions > 1) CSAW_TRY_DONE(csaw__parts_create(graph, options.partitions, &plan->parts));
    if (ordinal < 0 && options.partitions <= 1) CSAW_TRY_DONE(narrow_rowptr(plan));
    if (ordinal >= 0)
        CSAW_TRY_DONE(csaw__device_open(graph, ordinal, plan->explain, sizeof plan->explain, &plan->device));
    *out = plan;
    plan = NULL;
done:
    csaw_plan_free(plan);
    return status;
}

const char *csaw_plan_explain(const csaw_plan *plan) { return plan->explain; }

void csaw_plan_free(csaw_plan *plan) {
    if (!plan) return;
    csaw__tables_clear(&plan->tables);
    csaw__free(plan->narrow_rowptr);
    csaw__workers_free(plan);
    csaw__spare_release(plan->spare);
    csaw__parts_free(plan->parts);
    csaw__device_close(plan->device);
    csaw__free(plan);
}

/* SPDX-License-Identifier: MIT */
/* runtime/engine/explain.c - what a plan says of itself: one line per decision, with the numbers that led to it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/engine/parts.h"

enum { STEPS = 80 /* of the walks in the estimate of transfers: csaw_run_options.depth by default */ };

__attribute__((format(printf, 2, 3))) static void say(csaw_plan *plan, const char *format, ...) {
    const size_t used = strlen(plan->explain);
    va_list values;
    va_start(values, format);
    vsnprintf(plan->explain + used, sizeof plan->explain - used, format, values);
    va_end(values);
}

static double mib(double bytes) { return bytes / 1048576; }

void csaw__explain_graph(csaw_plan *plan) {
    const csaw_csr *csr = &plan->graph->csr;
    const double bytes = 8.0 * (double)csr->num_vertices + csaw__bytes_per_arc(csr) * (double)csr->num_edges;
    say(plan,
        "graph       %llu vertices, %llu arcs, largest degree %u, %s, %.1f MiB\n"
        "select auto uniform without biases, alias for static ones, reject under bounds, else its\n"
        "tables      static biases that differ: 4 bytes an arc; alias and reject: 16 more = %.1f MiB in all\n",
        (unsigned long long)csr->num_vertices, (unsigned long long)csr->num_edges, plan->graph->max_degree,
        csr->weight ? "weighted" : "no weights", mib(bytes),
        mib(20.0 * (double)csr->num_edges + 16.0 * (double)csr->num_vertices));
}

void csaw__explain_host(csaw_plan *plan, bool simulates, bool in_parts) {
    if (simulates)
        say(plan, "device      simulated: a GPU's copies and launches on one thread of the cpu\n");
    else if (in_parts)
        say(plan, "device      cpu, 1 thread: partitions take turns\n");
    else
        say(plan, "device      cpu, %d thread%s\n", plan->threads, plan->threads == 1 ? "" : "s");
}

void csaw__explain_described(csaw_plan *plan, uint64_t memory) {
    say(plan, "device      a GPU of %.1f MiB that need not be here, a tenth of it left to the driver\n",
        mib((double)memory));
}

static void explain_memory(csaw_plan *plan, const csaw__fit_request *request, const csaw__fit *fit) {
    const double instances = (double)fit->instances + (double)fit->queues + (double)fit->spills;
    if (!request->memory) return;
    say(plan,
        "gpu memory  %.1f MiB: %.1f for rows and arcs, %.1f for degrees, %.1f for instances, of which queues %.1f and "
        "their overflow %.1f\n",
        mib((double)request->memory), mib((double)request->memory - instances - (double)fit->degrees),
        mib((double)fit->degrees), mib(instances), mib((double)fit->queues), mib((double)fit->spills));
}

static void explain_parts(csaw_plan *plan, const csaw__fit_request *request, const csaw__fit *fit) {
    const double share = (double)fit->graph / fit->parts, rounds = (double)csaw__fit_rounds(request, fit);
    const double transfers =
        fit->resident == fit->parts ? fit->parts : rounds * csaw__fit_transfers(fit, request->steps);
    const uint64_t walks = fit->instances / csaw__parts_walk_bytes(STEPS, false);
    char why[96] = "as asked for";
    if (!request->parts) snprintf(why, sizeof why, "the graph's %.1f MiB do not fit", mib((double)fit->graph));
    say(plan,
        "partitions  %u contiguous ranges of about %.1f MiB, a slot for each of at most %.1f MiB: %s\n"
        "resident    %u of them on %u stream%s, the one with most entries first\n"
        "transfers   %u = %.1f MiB at least; a walk of %d steps from every vertex, %llu at a time, whose arcs may lead "
        "anywhere: about %.0f = %.1f MiB\n",
        fit->parts, mib(share), mib((double)fit->part), why, fit->resident, fit->streams, fit->streams == 1 ? "" : "s",
        fit->parts, mib((double)fit->graph), STEPS, (unsigned long long)(walks < request->rows ? walks : request->rows),
        transfers, mib(transfers * share));
}

static void explain_tables(csaw_plan *plan, const csaw__fit_request *request) {
    const csaw__fit_request with = csaw__parts_with_alias(*request);
    csaw__fit fit;
    if (csaw__fit_memory(&with, &fit) != CSAW_OK)
        say(plan, "with alias  tables do not fit beside the longest row; select its\n");
    else if (fit.whole)
        say(plan, "with alias  1 partition of %.1f MiB\n", mib((double)fit.graph));
    else
        say(plan, "with alias  tables travel with their arcs: %u partitions of about %.1f MiB, %u resident\n",
            fit.parts, mib((double)fit.graph / fit.parts), fit.resident);
}

csaw_status csaw__explain_fit(csaw_plan *plan, const csaw__fit_request *graph) {
    const csaw__fit_request request = csaw__parts_for_walks(*graph, graph->rows, STEPS, false);
    csaw__fit fit;
    CSAW_TRY(csaw__fit_memory(&request, &fit));
    explain_memory(plan, &request, &fit);
    if (fit.whole)
        say(plan, "partitions  1: the graph's %.1f MiB fit as they are\n", mib((double)fit.graph));
    else
        explain_parts(plan, &request, &fit);
    if (request.memory) explain_tables(plan, &request);
    return CSAW_OK;
}

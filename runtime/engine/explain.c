/* SPDX-License-Identifier: MIT */
/* runtime/engine/explain.c - what a plan says of itself: one line per decision, with the numbers that led to it. */
#include <csaw/samplers.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/size_text.h"
#include "runtime/engine/device_exchange.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/run.h"

#define say csaw__explain_say

void say(csaw_plan *plan, const char *format, ...) {
    const size_t used = strlen(plan->explain);
    va_list values;
    va_start(values, format);
    vsnprintf(plan->explain + used, sizeof plan->explain - used, format, values);
    va_end(values);
}

/* Of so many bytes, or about. */
#define SIZE(bytes) csaw__size_text((uint64_t)(bytes)).text

/* Of biases, thresholds and sums, as csaw__tables holds them. */
static double table_bytes(const csaw_csr *csr) {
    const double arc = sizeof(float) + sizeof(csaw__alias);
    return arc * (double)csr->num_edges + sizeof(csaw__row_bias) * (double)csr->num_vertices;
}

void csaw__explain_graph(csaw_plan *plan) {
    const csaw_csr *csr = &plan->graph->csr;
    const double bytes = 8.0 * (double)csr->num_vertices + csaw__bytes_per_arc(csr) * (double)csr->num_edges;
    say(plan,
        "graph       %llu vertices, %llu arcs, largest degree %u, %s, %s\n"
        "select auto uniform without biases, alias for static ones, reject under bounds, else its\n"
        "tables      static biases that differ: 4 bytes an arc; alias and reject: 16 more = %s in all\n",
        (unsigned long long)csr->num_vertices, (unsigned long long)csr->num_edges, plan->graph->max_degree,
        csr->weight ? "weighted" : "no weights", SIZE(bytes), SIZE(table_bytes(csr)));
}

void csaw__explain_job(csaw_plan *plan) {
    const uint64_t vertices = plan->graph->csr.num_vertices;
    const double walks = (double)vertices * plan->job.walks_per_seed;
    say(plan, "job         %u walk%s of %u steps from each of %llu vertices: %.0f walks, %s of paths\n",
        plan->job.walks_per_seed, plan->job.walks_per_seed == 1 ? "" : "s", plan->job.depth,
        (unsigned long long)vertices, walks, SIZE(walks * sizeof(csaw_vertex) * (plan->job.depth + 1.0)));
}

void csaw__explain_ranks(csaw_plan *plan, uint32_t ranks) {
    const csaw_csr *csr = &plan->graph->csr;
    const uint64_t walks = csr->num_vertices * plan->job.walks_per_seed, most = walks / ranks + (walks % ranks != 0),
                   of_one = ((uint64_t)plan->job.depth + 1) * sizeof(csaw_vertex),
                   batch = csaw__walks_in_batch(of_one, 0, 0);
    const double graph = 8.0 * (double)csr->num_vertices + csaw__bytes_per_arc(csr) * (double)csr->num_edges;
    if (ranks == 1) return;
    say(plan,
        "ranks       %u, each with the whole graph: %llu .. %llu walks each, in %llu round%s; host memory of each: %s "
        "of graph, %s of a batch\n",
        ranks, (unsigned long long)(walks / ranks), (unsigned long long)most,
        (unsigned long long)(most / batch + (most % batch != 0)), most > batch || !most ? "s" : "", SIZE(graph),
        SIZE((most < batch ? most : batch) * of_one));
}

void csaw__explain_host(csaw_plan *plan, bool simulates, bool in_parts) {
    if (simulates)
        say(plan, "device      simulated: a GPU's copies and launches on one thread of the cpu\n");
    else if (in_parts)
        say(plan, "device      cpu, 1 thread: partitions take turns\n");
    else
        say(plan, "device      cpu, %d thread%s\n", plan->threads, plan->threads == 1 ? "" : "s");
}

void csaw__explain_gpu(csaw_plan *plan, int ordinal) {
    say(plan, "device      cuda:%d, to which partitions of the graph come from the host's memory\n", ordinal);
}

void csaw__explain_described(csaw_plan *plan, uint64_t memory, uint32_t count) {
    if (count == 1)
        say(plan, "device      a GPU of %s that need not be here, a tenth of it left to the driver\n", SIZE(memory));
    else
        say(plan, "device      each GPU has %s and need not be here, a tenth of it left to the driver\n", SIZE(memory));
}

void csaw__explain_gpus(csaw_plan *plan, uint32_t count, bool together, bool exchange) {
    const csaw_plan_options none = {0};
    const csaw__fit_request graph = csaw__parts_request(plan->graph, &none);
    if (count == 1) return;
    say(plan, "gpus        %u: of every batch each draws one of as many equal groups, in this order%s\n", count,
        together ? "" : "; what follows is of each by itself");
    if (together)
        say(plan,
            "split       over them: each holds %s of the arcs, and its part of tables, reads the others' from their "
            "memory, and holds all row offsets\n",
            SIZE(graph.arcs * graph.arc_bytes / count));
    if (together && exchange)
        say(plan,
            "exchange    walkers go to the GPU that has their row, 32 bytes a time, 64 with a question, and 32 more "
            "with bytes of their own; samples read rows where they are\n"
            "under way   each GPU takes %d bytes for every walk of a batch, %d more with bytes of its own, %d more "
            "with questions; batches are as small as its memory asks for\n",
            CSAW__EXCHANGE_BYTES, CSAW__EXCHANGE_USER_BYTES, CSAW__EXCHANGE_QUESTION_BYTES);
}

void csaw__explain_one_of(csaw_plan *plan, const csaw_plan *one, bool first) {
    const char *const text = one->explain, *const device = strstr(text, "device      ");
    char *const tables = strstr(plan->explain, "tables      ");
    if (first && device != text && tables) { /* the GPU has lines of its own for what the CPU's say */
        char *const end = strchr(tables, '\n') + 1;
        memmove(tables, end, strlen(end) + 1);
    }
    say(plan, "%s", first || !device ? text : device);
}

static void explain_memory(csaw_plan *plan, const csaw__fit_request *request, const csaw__fit *fit) {
    const uint64_t instances = fit->instances + fit->queues + fit->spills;
    if (!request->memory) return;
    say(plan, "gpu memory  %s: %s for rows and arcs, ", SIZE(request->memory),
        SIZE(request->memory - instances - fit->degrees - fit->tables));
    if (fit->tables) say(plan, "%s for tables of partitions, ", SIZE(fit->tables));
    say(plan, "%s for degrees, %s for instances, of which queues %s and their overflow %s\n", SIZE(fit->degrees),
        SIZE(instances), SIZE(fit->queues), SIZE(fit->spills));
}

static void explain_parts(csaw_plan *plan, const csaw__fit_request *request, const csaw__fit *fit) {
    char why[96] = "as asked for";
    if (!request->parts) snprintf(why, sizeof why, "the graph's %s do not fit", SIZE(fit->graph));
    say(plan,
        "partitions  %u contiguous ranges of about %s, a slot for each of at most %s: %s\n"
        "resident    %u of them on %u stream%s, %s\n",
        fit->parts, SIZE(fit->graph / fit->parts), SIZE(fit->part), why, fit->resident, fit->streams,
        fit->streams == 1 ? "" : "s",
        csaw__parts_are_many(fit->parts, fit->resident) ? "in turn, past those at which nothing waits"
                                                        : "the one with most entries first");
}

/* Walks of the plan's job that are under way together, in batches of which host memory; what all of them move. */
static void explain_walks(csaw_plan *plan, const csaw__fit_request *request, const csaw__fit *fit, uint64_t walks) {
    const uint64_t of_one = ((uint64_t)plan->job.depth + 1) * sizeof(csaw_vertex),
                   fitting = fit->instances / request->one;
    const bool go = fit->resident < fit->parts, come_and_go = request->memory && go;
    uint64_t batch = csaw__walks_in_batch(of_one, come_and_go ? fitting : 0, 0), together;
    batch = batch < walks ? batch : walks;
    together = fitting < batch ? fitting : batch;
    const uint64_t rounds = walks / together + (walks % together != 0);
    const double share = (double)fit->graph / fit->parts;
    double transfers[2]; /* of steps of first order, and of second */
    for (int asks = 0; asks < 2; asks++)
        transfers[asks] = go ? (double)rounds * csaw__fit_transfers(fit, plan->job.depth, asks) : (double)fit->parts;
    say(plan,
        "walks       %llu of them under way at a time; csaw_sample_each: %llu a batch, %s of host memory\n"
        "transfers   %u = %s at least; of the job, in %llu round%s, if arcs may lead anywhere: about %.0f = %s\n",
        (unsigned long long)together, (unsigned long long)batch, SIZE(batch * of_one), fit->parts, SIZE(fit->graph),
        (unsigned long long)rounds, rounds == 1 ? "" : "s", transfers[0], SIZE(transfers[0] * share));
    if (go)
        say(plan, "            of second order, whose steps ask at the partition before: about %.0f = %s\n",
            transfers[1], SIZE(transfers[1] * share));
}

/* On a GPU, walks that no partition is brought for, as csaw__parts_prepare() decides. */
static void explain_in_place(csaw_plan *plan, const csaw__fit_request *graph, uint64_t batch, uint64_t walks) {
    const char *const kind[] = {"uniform walks", "walks by alias", "second-order walks by reject"};
    char kinds[96] = "";
    for (int k = 0; k < 3; k++) {
        if (!csaw__parts_would_stay(graph, batch, walks, plan->job.depth, k == 2, k == 1)) continue;
        snprintf(kinds + strlen(kinds), sizeof kinds - strlen(kinds), "%s%s", *kinds ? ", " : "", kind[k]);
    }
    if (*kinds)
        say(plan,
            "in place    %s: the graph is read in the host's memory, if its pages can be locked, and no partition "
            "is brought\n",
            kinds);
}

/* Of walks that partitions are brought for, as csaw__parts_prepare() has it: where each is worth fewer bytes than its
 * transfer. */
static void explain_last_steps(csaw_plan *plan, const csaw__fit_request *graph, const csaw__fit *fit, uint64_t batch,
                               uint64_t walks) {
    for (int k = 0; k < 2; k++) {
        const bool stays = csaw__parts_would_stay(graph, batch, walks, plan->job.depth, k == 1, false);
        const uint64_t worth = fit->graph / fit->parts / csaw__parts_step_cost(graph, k == 1);
        if (!stays && worth > 1)
            say(plan,
                "last steps  of %s order: where fewer than %llu walks wait at each partition that is not resident, in "
                "place, if pages can be locked\n",
                k ? "second" : "first", (unsigned long long)worth);
    }
}

/* Neighbours of each vertex, in so many instances: partitions that they need, by the lots of batches. */
static void explain_samples(csaw_plan *plan, const csaw__fit_request *graph, uint64_t instances) {
    static const uint32_t fanout[] = {15, 10};
    const uint32_t depths = sizeof fanout / sizeof *fanout, apart = csaw__lots_apart(depths);
    const csaw__fit_request request = csaw__parts_for_gpu_samples(*graph);
    const csaw__run run = {.plan = plan,
                           .sampler = &csaw_neighbor,
                           .job = {.length = depths, .fanout = fanout, .num_roots = graph->rows},
                           .is_sample = true};
    csaw__fit fit;
    if (csaw__fit_memory(&request, &fit) != CSAW_OK) {
        say(plan, "samples     %s\n", csaw_last_error());
        return;
    }
    if (fit.resident == fit.parts) return;
    csaw__explain_layers(plan, graph, &fit, instances);
    const uint64_t most = csaw__samples_in_batch(&run, &fit, apart, instances),
                   batch = most < instances ? most : instances, batches = instances / batch + (instances % batch != 0),
                   lots = batches / CSAW__LOT + (batches % CSAW__LOT != 0), times = depths + (lots - 1) * apart;
    const double transfers = fit.parts + (double)(times - 1) * (fit.parts - fit.resident);
    char shared[64] = "";
    if (batches > 1) snprintf(shared, sizeof shared, ", of which %d share what is brought", (int)CSAW__LOT);
    say(plan,
        "samples     of %u and %u neighbours of each vertex: %u partitions, %u resident; %llu batch%s of at most "
        "%llu%s: "
        "%llu times the graph, if each needs all of it: about %.0f transfers = %s\n",
        fanout[0], fanout[1], fit.parts, fit.resident, (unsigned long long)batches, batches == 1 ? "" : "es",
        (unsigned long long)batch, shared, (unsigned long long)times, transfers,
        SIZE(transfers * (double)fit.graph / fit.parts));
}

/* The graph's pages in the host's memory. */
static void explain_lock(csaw_plan *plan, const csaw__fit *fit) {
    const bool asked = csaw__parts_on_gpu(plan->parts);
    const csaw__parts_use use = asked ? plan->parts->kind->use(plan->parts) : (csaw__parts_use){0};
    if (!asked)
        say(plan, "locked      the graph's %s of the host's memory, if that has room for them\n", SIZE(fit->graph));
    else if (use.locked)
        say(plan, "locked      the graph's %s of the host's memory\n", SIZE(use.locked));
    else if (use.no_room)
        say(plan,
            "locked      nothing: the graph's pages take more than seven eighths of the %s that are left of the host's "
            "memory; copies go by way of blocks\n",
            SIZE(use.no_room));
    else
        say(plan, "locked      nothing, since the system refused (ulimit -l); copies go by way of blocks\n");
}

static void explain_tables(csaw_plan *plan, const csaw__fit_request *request) {
    const csaw__fit_request with = csaw__parts_with_alias(*request);
    const double tables = table_bytes(&plan->graph->csr);
    csaw__fit fit;
    if (csaw__fit_memory(&with, &fit) != CSAW_OK)
        say(plan, "with alias  %s; or select its\n", csaw_last_error());
    else if (fit.whole)
        say(plan, "with alias  1 partition of %s; %s of tables in host memory\n", SIZE(fit.graph), SIZE(tables));
    else
        say(plan,
            "with alias  tables travel with their arcs: %u partitions of about %s, %u resident; made whole before, %s "
            "in host memory\n",
            fit.parts, SIZE(fit.graph / fit.parts), fit.resident, SIZE(tables));
}

csaw_status csaw__explain_fit(csaw_plan *plan, const csaw__fit_request *graph) {
    const uint64_t of_one = ((uint64_t)plan->job.depth + 1) * sizeof(csaw_vertex), most = csaw__most_in_batch(of_one);
    const uint64_t all = graph->rows * plan->job.walks_per_seed, sharers = plan->sharers ? plan->sharers : 1,
                   walks = all / sharers + (all % sharers != 0);
    const bool on_gpu = csaw__parts_on_gpu(plan->parts),
               locked = on_gpu && plan->parts->kind->reads_in_place(plan->parts),
               paths_leave = plan->described || (on_gpu && plan->parts->kind->can_hold(plan->parts));
    const uint64_t batch = walks < most ? walks : most;
    const csaw__fit_request request = paths_leave
                                          ? csaw__parts_for_gpu_walks(*graph, batch, walks, plan->job.depth, true)
                                          : csaw__parts_for_walks(*graph, batch, walks, plan->job.depth, false);
    csaw__fit fit;
    CSAW_TRY(csaw__fit_memory(&request, &fit));
    explain_memory(plan, &request, &fit);
    if (fit.whole)
        say(plan, "partitions  1: the graph's %s fit as they are\n", SIZE(fit.graph));
    else
        explain_parts(plan, &request, &fit);
    if (walks) explain_walks(plan, &request, &fit, walks);
    const bool go = fit.resident < fit.parts, chosen = !graph->parts && !graph->resident && !graph->streams;
    if (!fit.whole && (plan->described || locked)) explain_in_place(plan, graph, batch, walks);
    if (go && chosen && (plan->described || locked)) explain_last_steps(plan, graph, &fit, batch, walks);
    if (on_gpu || (plan->described && !fit.whole)) explain_lock(plan, &fit);
    if (go && graph->rows && (plan->described || on_gpu))
        explain_samples(plan, graph, graph->rows / sharers + (graph->rows % sharers != 0));
    if (request.memory) explain_tables(plan, &request);
    if (go && plan->parts && !on_gpu) csaw__explain_exchange(plan, &fit);
    if (plan->parts && !csaw__parts_on_gpu(plan->parts))
        say(plan, "questions   of second-order steps about rows elsewhere: at most %s of host memory at a time\n",
            SIZE(plan->parts->questions.most));
    if (csaw__parts_on_gpu(plan->parts))
        say(plan, locked
                      ? "in place    rows of prev that are not resident; arcs that layers pick, whole rows where they "
                        "take all or distinct vertices, or where their candidates are few; second-order samples, "
                        "pools that are lists\n"
                      : "in place    nothing, since the graph's pages are not locked: layers, second-order walks and "
                        "samples, and pools that are lists are drawn by the cpu\n");
    return CSAW_OK;
}

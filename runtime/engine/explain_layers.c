/* SPDX-License-Identifier: MIT */
/* runtime/engine/explain_layers.c - what a plan says of layers on partitions: what an exchange brings, and which layers
 * a GPU reads in place, by the rule of parts_sample_way.c. */
#include <csaw/samplers.h>
#include <math.h>

#include "runtime/base/parallel.h"
#include "runtime/base/size_text.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/run.h"

#define say csaw__explain_say
#define SIZE(bytes) csaw__size_text((uint64_t)(bytes)).text

void csaw__explain_exchange(csaw_plan *plan, const csaw__fit *fit) {
    const double transfers = csaw__exchange_transfers(fit, fit->parts);
    say(plan,
        "layers      %u partitions, %u resident: three passes a depth, for largest biases, sums and the arcs that are "
        "drawn: about %.0f transfers = %s, if each needs all; then those at which an arc is drawn again\n",
        fit->parts, fit->resident, transfers, SIZE(transfers * (double)fit->graph / fit->parts));
}

/* Of a depth: its layers, candidates of those from which not all is taken, and how many of these no launch has memory
 * for, whose candidates do not count. */
typedef struct layers_at {
    double layers, candidates, too_large;
} layers_at;

/* Layers from each vertex, of which some are in a batch. */
static layers_at first_layers(const csaw_csr *csr, uint32_t fanout, uint64_t of_one, double in_batch) {
    const double share = csr->num_vertices ? in_batch / (double)csr->num_vertices : 0;
    uint64_t candidates = 0, too_large = 0;
    CSAW__OMP(parallel for reduction(+ : candidates, too_large))
    for (uint64_t v = 0; v < csr->num_vertices; v++) {
        const uint64_t degree = csr->rowptr[v + 1] - csr->rowptr[v];
        const bool is_drawn = degree > fanout, is_large = is_drawn && degree > of_one;
        candidates += is_drawn && !is_large ? degree : 0;
        too_large += is_large;
    }
    return (layers_at){in_batch, share * (double)candidates, share * (double)too_large};
}

/* Layers that are as large as each other. */
static layers_at later_layers(double each, uint32_t fanout, uint64_t of_one, double in_batch) {
    layers_at out = {in_batch, 0, 0};
    if (each > fanout && each > (double)of_one) out.too_large = in_batch;
    if (each > fanout && each <= (double)of_one) out.candidates = each * in_batch;
    return out;
}

/* As parts_sample_way.c decides. Each layer that is too large stands at a partition of its own, while there are any. */
static void explain_way(csaw_plan *plan, const csaw__fit_request *graph, const csaw__fit *fit, const layers_at *at) {
    const uint32_t come = at->too_large < fit->parts ? (uint32_t)ceil(at->too_large) : fit->parts;
    const double most = (double)csaw__layers_in_place(graph, fit, come).candidates;
    if (at->too_large > 0 && at->too_large >= at->layers)
        say(plan, "exchanged, since each is too large");
    else if (at->candidates > most)
        say(plan, "exchanged, since they are many");
    else if (at->too_large > 0)
        say(plan, "in place, since they are few, but %.0f too large, exchanged", ceil(at->too_large));
    else
        say(plan, at->candidates > 0 ? "in place, since they are few" : "in place, since all of them are taken");
}

/* Which layers a GPU reads in place, of any run, and of one of two depths from each vertex. */
void csaw__explain_layers(csaw_plan *plan, const csaw__fit_request *graph, const csaw__fit *fit, uint64_t instances) {
    static const uint32_t fanout[] = {32, 32};
    enum { depths = sizeof fanout / sizeof *fanout };
    double candidates[depths]; /* of a layer */
    const csaw__layer_limits most = csaw__layers_in_place(graph, fit, 0);
    const uint64_t of_one = most.words / CSAW__LAYER_WORDS;
    const csaw__run run = {
        .plan = plan,
        .sampler = &csaw_layer,
        .job = {.kernel = CSAW__KERNEL_ITS, .length = depths, .fanout = fanout, .num_roots = graph->rows},
        .is_sample = true};
    if (csaw__parts_on_gpu(plan->parts) && !plan->parts->kind->reads_in_place(plan->parts)) return; /* the CPU's */
    csaw__explain_exchange(plan, fit);
    if (most.words == 0) {
        say(plan, "            for each depth, and none is read in place, since partitions, resident or streams were "
                  "given\n");
        return;
    }
    const uint64_t in_batch = csaw__samples_in_batch(&run, fit, 0, instances),
                   together = in_batch < instances ? in_batch : instances;
    say(plan,
        "            or in place, where a depth has at most %llu candidates, %s, which are reckoned to "
        "take as long there, but for layers of more than %llu, which is what a launch has memory for\n"
        "            by biases, of %u and %u arcs from each vertex, %llu layer%s a batch:",
        (unsigned long long)most.candidates, SIZE(most.candidates * graph->arc_bytes), (unsigned long long)of_one,
        fanout[0], fanout[1], (unsigned long long)together, together == 1 ? "" : "s");
    csaw__layer_candidates(&run, candidates);
    for (uint32_t d = 0; d < depths; d++) {
        const double each = candidates[d], layers = (double)together;
        const layers_at at = d ? later_layers(each, fanout[d], of_one, layers)
                               : first_layers(&plan->graph->csr, fanout[d], of_one, layers); /* of one vertex each */
        say(plan, "%s depth %u has about %.0f candidates, %.0f a layer", d ? ";" : "", d, each * layers, each);
        if (d == 0) say(plan, " and %llu in the largest", (unsigned long long)graph->longest_row);
        say(plan, ": ");
        explain_way(plan, graph, fit, &at);
    }
    say(plan, "\n");
}

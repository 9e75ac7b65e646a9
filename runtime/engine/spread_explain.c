/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread_explain.c - what a plan says of a graph that is split over ranks: the ranges, the memory of a
 * rank, and what steps send (docs/scaling.md derives it). */
#include "runtime/base/size_text.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/run.h"
#include "runtime/engine/spread.h"

#define SIZE(bytes) csaw__size_text((uint64_t)(bytes)).text

typedef struct extents {  /* of all ranges */
    uint64_t least, most; /* vertices */
    double bytes;         /* of rows and arcs, at most */
    double leaving;       /* share of steps that end at another rank, if arcs may lead anywhere */
} extents;

static extents extents_of(const csaw_csr *csr, const csaw__ranges *ranges) {
    extents e = {.least = csr->num_vertices};
    double stays = 0;
    for (uint32_t r = 0; r < ranges->count; r++) {
        const uint64_t rows = ranges->first[r + 1] - ranges->first[r];
        const double arcs = (double)(csr->rowptr[ranges->first[r + 1]] - csr->rowptr[ranges->first[r]]);
        const double bytes = 8.0 * (double)rows + csaw__bytes_per_arc(csr) * arcs;
        e.least = rows < e.least ? rows : e.least;
        e.most = rows > e.most ? rows : e.most;
        e.bytes = bytes > e.bytes ? bytes : e.bytes;
        if (csr->num_edges) stays += arcs / (double)csr->num_edges * (arcs / (double)csr->num_edges);
    }
    e.leaving = csr->num_edges ? 1 - stays : 0;
    return e;
}

static void explain(csaw_plan *plan, uint32_t ranks, bool by_visits, const extents *e) {
    const csaw_csr *const csr = &plan->graph->csr;
    const uint64_t walks = csr->num_vertices * plan->job.walks_per_seed, most = walks / ranks + (walks % ranks != 0),
                   of_one = ((uint64_t)plan->job.depth + 1) * sizeof(csaw_vertex),
                   batch = csaw__walks_in_batch(of_one, 0, 0);
    const double depth = plan->job.depth, buffers = (double)ranks * CSAW__BATCHES_UNDER_WAY * CSAW__BATCH_BYTES;
    const double step = e->leaving * (CSAW__RECORD_BYTES + CSAW__WALKER_BYTES * (depth - 1) / depth);
    csaw__explain_say(
        plan,
        "ranks       %u, the graph split over them by %s: %llu .. %llu vertices each, %s of rows and arcs at most; "
        "%llu .. %llu walks each, in %llu round%s\n",
        ranks, by_visits ? "arcs" : "bytes", (unsigned long long)e->least, (unsigned long long)e->most, SIZE(e->bytes),
        (unsigned long long)(walks / ranks), (unsigned long long)most,
        (unsigned long long)(most / batch + (most % batch != 0)), most > batch || !most ? "s" : "");
    csaw__explain_say(
        plan,
        "memory      of each rank besides: %s of degrees of all vertices, %s of a batch, %s to send by; at "
        "most %s of walkers and, of what other ranks ask, %s of answers or of entries\n",
        SIZE(4.0 * (double)csr->num_vertices), SIZE((most < batch ? most : batch) * of_one), SIZE(buffers),
        SIZE(CSAW__WALKERS_ROOM), SIZE(CSAW__SPREAD_ROOM));
    csaw__explain_say(plan,
                      "exchange    if arcs may lead anywhere %.1f%% of steps end at another rank: about %.1f bytes a "
                      "step, %s in all; of second-order walks by reject about twice that\n",
                      100 * e->leaving, step, SIZE(step * depth * (double)walks));
}

csaw_status csaw__explain_split(csaw_plan *plan, uint32_t ranks, bool by_visits) {
    const csaw_csr *const csr = &plan->graph->csr;
    csaw__ranges ranges;
    CSAW_TRY(csaw__share_ranges(plan->graph, ranks, by_visits, &ranges));
    const extents e = extents_of(csr, &ranges);
    csaw__ranges_clear(&ranges);
    explain(plan, ranks, by_visits, &e);
    return CSAW_OK;
}

void csaw__explain_split_gpu(csaw_plan *plan, int ordinal) {
    csaw__explain_say(
        plan,
        "device      cuda:%d, which holds the rank's part, makes the steps of walks; samples are picked by "
        "the rank's thread\n",
        ordinal);
}

void csaw__explain_straight(csaw_plan *plan) {
    const bool straight = csaw__spread_straight(plan->spread);
    if (!plan->spread->gpu || plan->spread->on.size < 2) return;
    csaw__explain_say(plan, "%s",
                      straight ? "transfers   walkers go straight from GPU to GPU: MPI moves their memory\n"
                               : "transfers   walkers go through the host's memory: this MPI does not say on all ranks "
                                 "that it moves the memory of GPUs\n");
}

csaw_status csaw__explain_split_fit(csaw_plan *plan, uint32_t ranks, bool by_visits, uint64_t memory) {
    const csaw_csr *const csr = &plan->graph->csr;
    const double usable = (double)csaw__fit_usable(memory), degrees = 4.0 * (double)csr->num_vertices;
    csaw__ranges ranges;
    CSAW_TRY(csaw__share_ranges(plan->graph, ranks, by_visits, &ranges));
    const extents e = extents_of(csr, &ranges);
    csaw__ranges_clear(&ranges);
    const double needed = e.bytes + degrees;
    CSAW_REQUIRE(needed <= usable, CSAW_EDEVMEM,
                 "of the graph split over %u ranks a part and the degrees of all vertices take %s, but of a GPU %s are "
                 "to be had; describe more ranks",
                 ranks, SIZE(needed), SIZE(usable));
    plan->described = true;
    csaw__explain_say(
        plan,
        "device      a GPU of %s for each rank, which need not be here, a tenth of it left to the driver: "
        "%s for its part and degrees, the rest for tables and walkers\n",
        SIZE(memory), SIZE(needed));
    return CSAW_OK;
}

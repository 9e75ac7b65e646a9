/* SPDX-License-Identifier: MIT */
/* bench/parts_check.c - bench/parts_check.h. */
#include "bench/parts_check.h"

#include <string.h>

#include "bench/measure.h"

void parts_check(const csaw_graph *graph, const csaw_sampler *sampler, const void *params, const csaw_seeds *seeds,
                 const csaw_run_options *run, const csaw_vertex *path, uint64_t kept) {
    csaw_plan *cpu = NULL;
    csaw_samples *samples = NULL;
    csaw_walks walks;
    csaw_arcs arcs;
    bool same;
    must(csaw_plan_create(graph, NULL, &cpu));
    must(csaw_sample(cpu, sampler, params, seeds, run, &samples));
    if (run->fanout) {
        must(csaw_samples_arcs(samples, CSAW_HOST, &arcs));
        const uint64_t all = arcs.offset[arcs.num_instances], first = all < kept ? all : kept;
        same = memcmp(arcs.dst, path, first * sizeof *path) == 0;
    } else {
        must(csaw_samples_walks(samples, CSAW_HOST, &walks));
        same = memcmp(walks.path, path, kept * ((uint64_t)walks.length + 1) * sizeof *path) == 0;
    }
    csaw_samples_free(samples);
    csaw_plan_free(cpu);
    if (same) return;
    fprintf(stderr, "%s differ from the CPU's\n", run->fanout ? "samples" : "walks");
    exit(3);
}

void parts_keep_first(const csaw_walks *batch, uint64_t kept, csaw_vertex *path) {
    const uint64_t places = (uint64_t)batch->length + 1;
    for (uint64_t i = 0; i < batch->num_walks && batch->first + i < kept; i++)
        memcpy(path + (batch->first + i) * places, batch->path + i * places, places * sizeof *path);
}

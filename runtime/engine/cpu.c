/* SPDX-License-Identifier: MIT */
/* runtime/engine/cpu.c - the CPU engine: whole walks, dealt to threads in chunks. The loops themselves are compiled
 * with the sampler (runtime/engine/host_kernels.h). */
#include "runtime/base/parallel.h"
#include "runtime/base/watch.h"
#include "runtime/engine/fault.h"
#include "runtime/engine/plan.h"

/* Debug mode: one step at a time, hooks compared with traits before each. */
static void walk_checked(const csaw_sampler *sampler, const csaw__job *job, uint64_t walk, csaw__fault *fault) {
    const uint64_t root = (job->first + walk) % job->num_roots;
    csaw__walker walker = {.walk = walk, .prev = CSAW_NONE, .edge = CSAW_NO_EDGE};
    walker.at = walker.root = job->roots ? job->roots[root] : (csaw_vertex)root;
    csaw_vertex *path = job->path + walk * ((uint64_t)job->length + 1);
    *path = walker.at;
    for (uint32_t depth = 0; depth < job->length; depth++) {
        walker.edge = CSAW_NO_EDGE;
        if (walker.at != CSAW_NONE &&
            (sampler->check(job, &walker, fault) || sampler->step(job, &walker, NULL, fault) == CSAW__FAULTY))
            walker.at = CSAW_NONE;
        path[depth + 1] = walker.at;
        if (job->edge) job->edge[walk * job->length + depth] = walker.edge;
    }
}

/* Walks that a thread takes at a time: groups that the loops keep under way together, several for each thread. Where
 * steps look at all of a row and somebody is asked, no more than take a tenth of a second if all rows are as long as
 * the longest: scans gain nothing from others under way (ITS and RACE on R-MAT 18 by 1, 4 and 64: as fast). */
static uint64_t chunk_of(const csaw_plan *plan, const csaw__job *job, bool check, bool asked) {
    const uint64_t group = 64, share = job->num_walks / (8 * (uint64_t)plan->threads) / group * group;
    const uint64_t chunk = share < group ? group : share > 16 * group ? 16 * group : share;
    const bool scans = check || job->kernel == CSAW__KERNEL_RACE || job->kernel == CSAW__KERNEL_ITS;
    const double arcs = (double)job->length * (double)plan->graph->max_degree, most = 1e8 / (arcs > 1 ? arcs : 1);
    return !asked || !scans || most > (double)chunk ? chunk : most < 1 ? 1 : (uint64_t)most;
}

csaw_status csaw__cpu_walk(csaw_plan *plan, const csaw_sampler *sampler, csaw__job *job, bool check, csaw__heard *heard,
                           csaw__fault *fault) {
    csaw__watch *const watch = heard ? heard->watch : NULL;
    bool left_out = false;
    const uint64_t chunk = chunk_of(plan, job, check, watch != NULL), chunks = (job->num_walks + chunk - 1) / chunk;
    const int threads = chunks < (uint64_t)plan->threads ? (int)chunks + (chunks == 0) : plan->threads;
    (void)threads; /* of a build without OpenMP */
    CSAW__OMP(parallel num_threads(threads)) {
        csaw__fault mine = {.kind = CSAW__FAULT_NONE};
CSAW__OMP(for schedule(dynamic))
for (uint64_t c = 0; c < chunks; c++) {
    if (csaw__stopped(watch)) {
        CSAW__OMP(atomic write)
        left_out = true;
        continue;
    }
    uint64_t first = c * chunk, count = job->num_walks - first < chunk ? job->num_walks - first : chunk;
    if (!check) sampler->walk(job, first, count, &mine);
    for (uint64_t walk = first; check && walk < first + count; walk++) walk_checked(sampler, job, walk, &mine);
    if (!watch) continue;
    CSAW__OMP(atomic)
    heard->done += count;
}
CSAW__OMP(critical(csaw__cpu_fault))
csaw__fault_merge(fault, &mine);
    }
    return left_out ? csaw__was_stopped() : CSAW_OK;
}

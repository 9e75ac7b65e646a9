/* SPDX-License-Identifier: MIT */
/* runtime/engine/seeds.c - what is asked of seeds. Which vertices they are takes as long as memory is read: a GPU's
 * engine looks as it copies them (device_upload.cu), each of several GPUs at its share. */
#include "runtime/base/copy.h"
#include "runtime/base/each_cpu.h"
#include "runtime/base/largest.h"
#include "runtime/base/parallel.h"
#include "runtime/engine/run.h"

/* What pools are: such as an offset falls after, or of another number of seeds than one. */
enum { FALLS = 1, OTHERS = 2 };

CSAW__EACH_CPU static unsigned kinds_in(const uint64_t *offset, uint64_t first, uint64_t end) {
    uint64_t falls = 0, others = 0;
    for (uint64_t j = first; j < end; j++) {
        falls |= offset[j] > offset[j + 1];
        others |= offset[j + 1] ^ (j + 1);
    }
    return (falls ? FALLS : 0) | (others ? OTHERS : 0);
}

static unsigned kinds_of(const uint64_t *offset, uint64_t pools) {
    const uint64_t share = 1 << 15;
    const int most = pools * sizeof *offset < CSAW__WORTH_THREADS ? 1 : 8, there = csaw__max_threads(),
              threads = most < there ? most : there;
    unsigned kinds = 0;
    (void)threads; /* not read without OpenMP */
    CSAW__OMP(parallel for num_threads(threads) schedule(static) reduction(| : kinds))
    for (uint64_t first = 0; first < pools; first += share)
        kinds |= kinds_in(offset, first, pools - first < share ? pools : first + share);
    return kinds;
}

csaw_status csaw__pools_check(const csaw_plan *plan, const csaw_seeds *seeds, bool *one_each) {
    const uint64_t num_vertices = plan->graph->csr.num_vertices;
    *one_each = true;
    if (!seeds) return CSAW_OK;
    CSAW_REQUIRE(!seeds->offset || seeds->offset[0] == 0, CSAW_EINVAL,
                 "offsets of pools begin with 0, but the first is %llu", (unsigned long long)seeds->offset[0]);
    const unsigned kinds = seeds->offset ? kinds_of(seeds->offset, seeds->count) : 0;
    *one_each = !(kinds & OTHERS);
    for (uint64_t j = 0; kinds & FALLS && j < seeds->count; j++)
        CSAW_REQUIRE(seeds->offset[j] <= seeds->offset[j + 1], CSAW_EINVAL,
                     "offsets of pools never fall, but pool %llu is %llu .. %llu", (unsigned long long)j,
                     (unsigned long long)seeds->offset[j], (unsigned long long)seeds->offset[j + 1]);
    const uint64_t count = seeds->offset ? seeds->offset[seeds->count] : seeds->count;
    CSAW_REQUIRE(seeds->vertex || count <= num_vertices, CSAW_EINVAL,
                 "%llu seeds without an array are the first vertices, but the graph has %llu; give the array",
                 (unsigned long long)count, (unsigned long long)num_vertices);
    return CSAW_OK;
}

csaw_status csaw__roots_refuse(const csaw_vertex *root, uint64_t first, uint64_t count, uint64_t num_vertices) {
    for (uint64_t i = first; i < first + count; i++)
        CSAW_REQUIRE(
            root[i] < num_vertices, CSAW_EINVAL,
            "seed %llu is vertex %u, but the graph has %llu vertices (0 .. %lld); leave it out or load the right graph",
            (unsigned long long)i, root[i], (unsigned long long)num_vertices, (long long)num_vertices - 1);
    return CSAW_OK;
}

csaw_status csaw__roots_check(const csaw_vertex *root, uint64_t first, uint64_t count, uint64_t num_vertices) {
    if (!root || count == 0 || csaw__largest(root + first, count, NULL) < num_vertices) return CSAW_OK;
    return csaw__roots_refuse(root, first, count, num_vertices);
}

csaw_status csaw__seeds_check(const csaw_plan *plan, const csaw_seeds *seeds) {
    bool one_each;
    CSAW_TRY(csaw__pools_check(plan, seeds, &one_each));
    return csaw__seeds_look(plan, seeds);
}

csaw_status csaw__seeds_look(const csaw_plan *plan, const csaw_seeds *seeds) {
    if (!seeds) return CSAW_OK;
    return csaw__roots_check(seeds->vertex, 0, seeds->offset ? seeds->offset[seeds->count] : seeds->count,
                             plan->graph->csr.num_vertices);
}

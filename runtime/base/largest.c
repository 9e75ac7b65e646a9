/* SPDX-License-Identifier: MIT */
/* runtime/base/largest.c - see largest.h. What is copied is read once. */
#include "runtime/base/largest.h"

#include "runtime/base/copy.h"
#include "runtime/base/each_cpu.h"
#include "runtime/base/parallel.h"

static const uint64_t share = 1 << 16; /* vertices of a thread at a time */
enum { MOST_THREADS = 8 };             /* they have all of the bandwidth */

CSAW__EACH_CPU static csaw_vertex largest_in(const csaw_vertex *vertex, uint64_t count) {
    csaw_vertex largest = 0;
    for (uint64_t i = 0; i < count; i++) largest = vertex[i] > largest ? vertex[i] : largest;
    return largest;
}

CSAW__EACH_CPU static csaw_vertex largest_copied(const csaw_vertex *restrict vertex, uint64_t count,
                                                 csaw_vertex *restrict to) {
    csaw_vertex largest = 0;
    for (uint64_t i = 0; i < count; i++) {
        const csaw_vertex v = vertex[i];
        to[i] = v;
        largest = v > largest ? v : largest;
    }
    return largest;
}

csaw_vertex csaw__largest(const csaw_vertex *vertex, uint64_t count, csaw_vertex *to) {
    const int most = count * sizeof *vertex < CSAW__WORTH_THREADS ? 1 : MOST_THREADS, there = csaw__max_threads(),
              threads = most < there ? most : there;
    csaw_vertex largest = 0;
    (void)threads; /* not read without OpenMP */
    CSAW__OMP(parallel for num_threads(threads) schedule(static) reduction(max : largest))
    for (uint64_t first = 0; first < count; first += share) {
        const uint64_t left = count - first, here = left < share ? left : share;
        const csaw_vertex of_share =
            to ? largest_copied(vertex + first, here, to + first) : largest_in(vertex + first, here);
        largest = of_share > largest ? of_share : largest;
    }
    return largest;
}

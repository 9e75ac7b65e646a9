/* SPDX-License-Identifier: MIT */
/* bench/parts_steps.h - what is a step of a walk on a graph, and how many a walk made. */
#ifndef CSAW_BENCH_PARTS_STEPS_H
#define CSAW_BENCH_PARTS_STEPS_H

#include <csaw/csaw.h>

static inline bool has_arc(const csaw_csr *csr, csaw_vertex from, csaw_vertex to) {
    csaw_edge lo = csr->rowptr[from], hi = csr->rowptr[from + 1], end = hi;
    while (lo < hi) {
        const csaw_edge middle = lo + (hi - lo) / 2;
        if (csr->col[middle] < to)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < end && csr->col[lo] == to;
}

/* A walk ends where no arc leads on, and nowhere else. */
static inline bool is_step(const csaw_csr *csr, csaw_vertex from, csaw_vertex to) {
    if (from == CSAW_NONE) return to == CSAW_NONE;
    if (to == CSAW_NONE) return csr->rowptr[from] == csr->rowptr[from + 1];
    return has_arc(csr, from, to);
}

/* path: [length + 1]. */
static inline uint64_t steps_of(const csaw_vertex *path, uint32_t length) {
    uint32_t steps = 0;
    if (path[length] != CSAW_NONE) return length;
    while (path[steps + 1] != CSAW_NONE) steps++;
    return steps;
}

#endif

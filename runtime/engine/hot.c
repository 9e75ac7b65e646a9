/* SPDX-License-Identifier: MIT */
/* runtime/engine/hot.c - see hot.h. Arcs to each vertex are counted, then the count above which too few vertices stand
 * is found by bisection: nothing is sorted. */
#include "runtime/engine/hot.h"

#include "runtime/base/memory.h"

static uint64_t count_above(const uint64_t *arcs, uint64_t num_vertices, uint64_t limit) {
    uint64_t count = 0;
    for (uint64_t v = 0; v < num_vertices; v++) count += arcs[v] > limit;
    return count;
}

csaw_status csaw__hot_vertices(const csaw_csr *csr, uint64_t count, csaw_vertex *hot, csaw_vertex *place) {
    const uint64_t num_vertices = csr->num_vertices;
    uint64_t *arcs = NULL, low = 0, high = csr->num_edges, kept = 0;
    CSAW_TRY(csaw__alloc_zero(&arcs, num_vertices, "arcs to each vertex"));
    for (uint64_t e = 0; e < csr->num_edges; e++) arcs[csr->col[e]]++;
    while (low < high) { /* the least limit with no more than count vertices above it */
        const uint64_t middle = low + (high - low) / 2;
        if (count_above(arcs, num_vertices, middle) <= count)
            high = middle;
        else
            low = middle + 1;
    }
    uint64_t at_limit = count - count_above(arcs, num_vertices, low); /* that still have room */
    for (uint64_t v = 0; v < num_vertices; v++) {
        const bool is_hot = arcs[v] > low || (arcs[v] == low && at_limit);
        place[v] = is_hot ? (csaw_vertex)kept : CSAW_NONE;
        if (!is_hot) continue;
        if (arcs[v] == low) at_limit--;
        hot[kept++] = (csaw_vertex)v;
    }
    csaw__free(arcs);
    return CSAW_OK;
}

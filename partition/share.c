/* SPDX-License-Identifier: MIT */
/* partition/share.c - the share of a graph that a rank holds. */
#include "partition/share.h"

#include <string.h>

#include "runtime/base/memory.h"

#define FROM(ARRAY, PLACE) ((ARRAY) ? (ARRAY) + (PLACE) : NULL)

static csaw_status take_rows(const csaw_csr *csr, uint32_t rank, csaw__share *share) {
    const csaw_vertex first = share->ranges.first[rank], count = share->ranges.first[rank + 1] - first;
    const csaw_edge arc = csr->rowptr[first];
    CSAW_TRY(csaw__alloc(&share->offset, (uint64_t)count + 1, "row offsets of a rank"));
    for (uint64_t v = 0; v <= count; v++) share->offset[v] = csr->rowptr[first + v] - arc;
    share->rows = (csaw__rows){.offset = share->offset,
                               .col = FROM(csr->col, arc),
                               .weight = FROM(csr->weight, arc),
                               .type = FROM(csr->type, arc),
                               .time = FROM(csr->time, arc),
                               .first_arc = arc,
                               .first = first,
                               .count = count,
                               .wide = 1};
    return CSAW_OK;
}

static csaw_status take_degrees(const csaw_csr *csr, csaw__share *share) {
    CSAW_TRY(csaw__alloc(&share->degree, csr->num_vertices, "degrees of all vertices"));
    for (uint64_t v = 0; v < csr->num_vertices; v++) share->degree[v] = (uint32_t)(csr->rowptr[v + 1] - csr->rowptr[v]);
    return CSAW_OK;
}

csaw_status csaw__share_cut(const csaw_csr *csr, uint32_t bytes_per_arc, uint32_t ranks, bool by_visits,
                            csaw__ranges *out) {
    return csaw__ranges_create(csr, ranks, by_visits ? 0 : sizeof *csr->rowptr, by_visits ? 1 : bytes_per_arc, out);
}

csaw_status csaw__share_ranges(const csaw_graph *graph, uint32_t ranks, bool by_visits, csaw__ranges *out) {
    if (graph->held) return csaw__ranges_from(graph->held->first, ranks, out);
    return csaw__share_cut(&graph->csr, csaw__bytes_per_arc(&graph->csr), ranks, by_visits, out);
}

csaw_status csaw__share_create(const csaw_graph *graph, uint32_t ranks, uint32_t rank, bool by_visits,
                               csaw__share *out) {
    const csaw_csr *const csr = &graph->csr;
    csaw__share share;
    csaw_status status = CSAW_OK;
    memset(&share, 0, sizeof share);
    CSAW_TRY(csaw__share_ranges(graph, ranks, by_visits, &share.ranges));
    CSAW_TRY_DONE(take_rows(csr, rank, &share));
    CSAW_TRY_DONE(take_degrees(csr, &share));
    *out = share;
    return CSAW_OK;
done:
    csaw__share_clear(&share);
    return status;
}

void csaw__share_clear(csaw__share *share) {
    csaw__ranges_clear(&share->ranges);
    csaw__free(share->offset);
    csaw__free(share->degree);
    memset(share, 0, sizeof *share);
}

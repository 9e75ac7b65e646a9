/* SPDX-License-Identifier: MIT */
/* runtime/base/graph_from_edges.c - a graph from an edge list in memory: ids are checked, then csr_build.c builds. */
#include "runtime/base/csr_build.h"
#include "runtime/base/graph.h"
#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"

#include <string.h>

typedef unsigned long long number;

/* The largest id + 1. */
static uint64_t ids_needed(const csaw_edges *edges) {
    uint64_t needed = 0;
    CSAW__OMP(parallel for reduction(max : needed) if (csaw__is_long(edges->num_edges)))
    for (uint64_t i = 0; i < edges->num_edges; i++) {
        uint64_t larger = edges->src[i] > edges->dst[i] ? edges->src[i] : edges->dst[i];
        if (larger + 1 > needed) needed = larger + 1;
    }
    return needed;
}

static csaw_status check_edges(const csaw_edges *edges, uint64_t *num_vertices) {
    CSAW_REQUIRE(edges, CSAW_EINVAL, "the edge list is NULL; pass a filled csaw_edges");
    CSAW_REQUIRE(edges->num_edges == 0 || (edges->src && edges->dst), CSAW_EINVAL,
                 "src or dst is NULL, but num_edges is %llu; pass both arrays", (number)edges->num_edges);
    CSAW_REQUIRE(edges->num_vertices <= CSAW__MAX_VERTICES, CSAW_EINVAL,
                 "num_vertices is %llu, but a graph holds at most %llu; split the graph", (number)edges->num_vertices,
                 CSAW__MAX_VERTICES);
    uint64_t needed = ids_needed(edges), limit = edges->num_vertices ? edges->num_vertices : CSAW__MAX_VERTICES;
    *num_vertices = edges->num_vertices ? edges->num_vertices : needed;
    if (needed <= limit) return CSAW_OK;
    uint64_t i = 0;
    while (edges->src[i] < limit && edges->dst[i] < limit) i++;
    return csaw__fail(CSAW_EINVAL, "edge %llu is %u -> %u, but vertex ids end at %llu; %s", (number)i, edges->src[i],
                      edges->dst[i], (number)limit - 1,
                      edges->num_vertices ? "raise num_vertices or fix the edge" : "renumber the vertices from 0");
}

csaw_status csaw_graph_from_edges(const csaw_edges *edges, const csaw_load_options *given, csaw_graph **out) {
    CSAW_REQUIRE(out, CSAW_EINVAL, "csaw_graph_from_edges needs a place for the graph; out is NULL");
    const uint64_t stretch = (uint64_t)1 << 16; /* edges of a segment: the unit of work for a thread */
    uint64_t num_vertices = 0;
    csaw__edge_segment *segments = NULL;
    csaw_csr csr = {0};
    csaw_status status = CSAW_OK;
    CSAW_OPTIONS(csaw_load_options, given, options);
    CSAW_TRY(check_edges(edges, &num_vertices));
    uint64_t num_segments = (edges->num_edges + stretch - 1) / stretch;
    CSAW_TRY(csaw__alloc(&segments, num_segments, "an edge list"));
    for (uint64_t s = 0; s < num_segments; s++) {
        uint64_t first = s * stretch, left = edges->num_edges - first;
        segments[s] = (csaw__edge_segment){.src = edges->src + first,
                                           .dst = edges->dst + first,
                                           .weight = edges->weight ? edges->weight + first : NULL,
                                           .type = edges->type ? edges->type + first : NULL,
                                           .time = edges->time ? edges->time + first : NULL,
                                           .count = left < stretch ? left : stretch};
    }
    uint32_t columns =
        (edges->weight ? CSAW__WEIGHT : 0) | (edges->type ? CSAW__TYPE : 0) | (edges->time ? CSAW__TIME : 0);
    CSAW_TRY_DONE(csaw__csr_build(segments, num_segments, num_vertices, columns, &options, &csr));
    CSAW_TRY_DONE(csaw__graph_adopt(&csr, true, out));
    csr = (csaw_csr){0};
done:
    csaw__csr_free(&csr);
    csaw__free(segments);
    return status;
}

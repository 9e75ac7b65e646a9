/* SPDX-License-Identifier: MIT */
/* runtime/base/graph.c - the graph handle, and the checks that a caller's CSR must pass.
 *
 * Every engine trusts a csaw_graph: rows in bounds, ascending, at most 2^32 - 16 arcs long. So everything that comes
 * from outside is checked here once, in parallel; the lowest row at fault is the one reported, whatever the number
 * of threads. Weights are not judged: whether a weight may be a bias is for the sampler's hook to say. */
#include "runtime/base/graph.h"

#include "runtime/base/columns.h"
#include "runtime/base/memory.h"
#include "runtime/base/names.h"
#include "runtime/base/parallel.h"
#include "runtime/base/watch.h"

#include <string.h>
#include <sys/mman.h>

void csaw__csr_free(csaw_csr *csr) {
    csaw__free((void *)csr->rowptr);
    csaw__free((void *)csr->col);
    csaw__free((void *)csr->weight);
    csaw__free((void *)csr->type);
    csaw__free((void *)csr->time);
}

csaw_status csaw__graph_adopt(const csaw_csr *csr, bool owned, csaw_graph **out) {
    csaw_graph *graph = NULL;
    CSAW_TRY(csaw__alloc(&graph, 1, "a graph handle"));
    uint64_t longest = 0;
    int parallel_arcs = 0;
    CSAW__OMP(parallel for schedule(dynamic, 1024) reduction(max : longest) reduction(| : parallel_arcs)
                  if (csaw__is_long(csr->num_edges)))
    for (uint64_t v = 0; v < csr->num_vertices; v++) {
        csaw_edge begin = csr->rowptr[v], end = csr->rowptr[v + 1];
        if (end - begin > longest) longest = end - begin;
        for (csaw_edge e = begin + 1; e < end && !parallel_arcs; e++) parallel_arcs |= csr->col[e] == csr->col[e - 1];
    }
    *graph =
        (csaw_graph){.csr = *csr, .owned = owned, .parallel_arcs = parallel_arcs != 0, .max_degree = (uint32_t)longest};
    *out = graph;
    return CSAW_OK;
}

/* The lowest vertex whose row does not begin where it should or is too long; num_vertices if there is none. */
static uint64_t lowest_bad_extent(const csaw_csr *csr) {
    uint64_t lowest = csr->num_vertices;
    CSAW__OMP(parallel for reduction(min : lowest) if (csaw__is_long(csr->num_vertices)))
    for (uint64_t v = 0; v < csr->num_vertices; v++) {
        bool bad = csr->rowptr[v + 1] < csr->rowptr[v] || csr->rowptr[v + 1] - csr->rowptr[v] > CSAW__MAX_DEGREE;
        if (bad && v < lowest) lowest = v;
    }
    return lowest;
}

static bool bad_arc(const csaw_csr *csr, uint64_t v, csaw_edge e) {
    return csr->col[e] >= csr->num_vertices || (e > csr->rowptr[v] && csr->col[e] < csr->col[e - 1]);
}

/* The lowest vertex whose row holds a destination out of bounds or out of order; num_vertices if there is none. */
static uint64_t lowest_bad_row(const csaw_csr *csr) {
    uint64_t lowest = csr->num_vertices;
    csaw__watch *const watch = csaw__watching();
    CSAW__OMP(parallel for schedule(dynamic, 1024) reduction(min : lowest) if (csaw__is_long(csr->num_edges)))
    for (uint64_t v = 0; v < csr->num_vertices; v++) {
        if (csaw__stopped(watch)) continue;
        for (csaw_edge e = csr->rowptr[v]; e < csr->rowptr[v + 1] && v < lowest; e++)
            if (bad_arc(csr, v, e)) lowest = v;
    }
    return lowest;
}

csaw_status csaw__csr_check(const csaw_csr *csr) {
    typedef unsigned long long number;
    CSAW_REQUIRE(csr, CSAW_EINVAL, "the CSR is NULL; pass a filled csaw_csr");
    CSAW_REQUIRE(csr->num_vertices <= CSAW__MAX_VERTICES, CSAW_EINVAL,
                 "num_vertices is %llu, but a graph holds at most %llu; split the graph", (number)csr->num_vertices,
                 CSAW__MAX_VERTICES);
    CSAW_REQUIRE(csr->rowptr, CSAW_EINVAL, "rowptr is NULL; pass num_vertices + 1 = %llu offsets",
                 (number)csr->num_vertices + 1);
    CSAW_REQUIRE(csr->col || csr->num_edges == 0, CSAW_EINVAL, "col is NULL; pass num_edges = %llu destinations",
                 (number)csr->num_edges);
    CSAW_REQUIRE(csr->rowptr[0] == 0, CSAW_EINVAL, "rowptr[0] is %llu, but must be 0; subtract it from every offset",
                 (number)csr->rowptr[0]);
    CSAW_REQUIRE(csr->rowptr[csr->num_vertices] == csr->num_edges, CSAW_EINVAL,
                 "rowptr[%llu] is %llu, but num_edges is %llu; make them equal", (number)csr->num_vertices,
                 (number)csr->rowptr[csr->num_vertices], (number)csr->num_edges);
    uint64_t v = lowest_bad_extent(csr);
    if (v < csr->num_vertices) {
        number begin = csr->rowptr[v], end = csr->rowptr[v + 1];
        CSAW_REQUIRE(end >= begin, CSAW_EINVAL,
                     "rowptr[%llu] is %llu, less than rowptr[%llu] = %llu; offsets must not fall, or build the graph "
                     "with csaw_graph_from_edges()",
                     (number)v + 1, end, (number)v, begin);
        return csaw__fail(CSAW_EINVAL, "row %llu has %llu arcs, but a row holds at most %llu; merge parallel arcs",
                          (number)v, end - begin, CSAW__MAX_DEGREE);
    }
    v = lowest_bad_row(csr);
    CSAW_TRY(csaw__go_on());
    if (v == csr->num_vertices) return CSAW_OK;
    csaw_edge e = csr->rowptr[v];
    while (!bad_arc(csr, v, e)) e++;
    CSAW_REQUIRE(csr->col[e] < csr->num_vertices, CSAW_EINVAL,
                 "row %llu holds col[%llu] = %u, but num_vertices is %llu; raise num_vertices or fix the arc",
                 (number)v, (number)e, csr->col[e], (number)csr->num_vertices);
    return csaw__fail(CSAW_EINVAL,
                      "row %llu is not ascending: col[%llu] = %u comes after %u; sort the row, or use "
                      "csaw_graph_from_edges(), which sorts",
                      (number)v, (number)e, csr->col[e], csr->col[e - 1]);
}

csaw_status csaw_graph_borrow_csr(const csaw_csr *csr, csaw_graph **out) {
    CSAW_REQUIRE(out, CSAW_EINVAL, "csaw_graph_borrow_csr needs a place for the graph; out is NULL");
    CSAW_TRY(csaw__csr_check(csr));
    return csaw__graph_adopt(csr, false, out);
}

csaw_status csaw_graph_from_csr(const csaw_csr *csr, csaw_graph **out) {
    CSAW_REQUIRE(out, CSAW_EINVAL, "csaw_graph_from_csr needs a place for the graph; out is NULL");
    csaw_edge *rowptr = NULL;
    csaw__columns arcs = {0};
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__csr_check(csr));
    CSAW_TRY_DONE(csaw__alloc(&rowptr, csr->num_vertices + 1, "the row offsets of a graph"));
    CSAW_TRY_DONE(csaw__columns_alloc(csaw__columns_of(csr), csr->num_edges, &arcs));
    memcpy(rowptr, csr->rowptr, (csr->num_vertices + 1) * sizeof *rowptr);
    const csaw__columns given = csaw__columns_view(csr);
    csaw__columns_copy(&arcs, &given, csr->num_edges);
    CSAW_TRY_DONE(csaw__graph_adopt(
        &(csaw_csr){csr->num_vertices, csr->num_edges, rowptr, arcs.dst, arcs.weight, arcs.type, arcs.time}, true,
        out));
    return CSAW_OK;
done:
    csaw__columns_free(&arcs);
    csaw__free(rowptr);
    return status;
}

csaw_status csaw__graph_check_whole(const csaw_graph *graph, const char *what) {
    CSAW_REQUIRE(!graph || !graph->held, CSAW_EINVAL,
                 "%s needs all arcs, but csaw_graph_load_split() gave this rank a part of them; load the graph with "
                 "csaw_graph_load()",
                 what);
    return CSAW_OK;
}

csaw_csr csaw_graph_csr(const csaw_graph *graph) { return graph->csr; }

void csaw_graph_free(csaw_graph *graph) {
    if (!graph) return;
    if (graph->held) {
        csaw__free((void *)graph->csr.rowptr);
        csaw__csr_free(&graph->held->own);
        csaw__free(graph->held->first);
        csaw__free(graph->held);
    }
    if (graph->owned) csaw__csr_free(&graph->csr);
    if (graph->mapping) {
        munmap(graph->mapping, graph->mapping_bytes);
    } else {
        csaw__names_free(&graph->names);
        csaw__free((void *)graph->name_order);
    }
    csaw__free(graph);
}

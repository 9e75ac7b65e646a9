/* SPDX-License-Identifier: MIT */
/* runtime/base/graph_order.c - graphs made from graphs: arcs reversed, or vertices renumbered by falling degree.
 *
 * Renumbering brings the hubs, where walks are most of the time, together: their rows share cache lines and pages. It
 * goes row by row, in memory for one more graph. Reversing, and arcs with types or times, go by way of an edge list,
 * since csr_build.c sorts in parallel, stably, and keeps parallel arcs in input order. */
#include "runtime/base/csr_build.h"
#include "runtime/base/graph.h"
#include "runtime/base/memory.h"
#include "runtime/base/names.h"
#include "runtime/base/parallel.h"
#include "runtime/base/row_sort.h"
#include "runtime/base/watch.h"

enum { DIGIT_BITS = 11, NUM_DIGITS = 1 << DIGIT_BITS };

/* A graph with the columns of `graph`, arc e running from src[e] to dst[e], all arcs kept. */
static csaw_status build_like(const csaw_graph *graph, const csaw_vertex *src, const csaw_vertex *dst,
                              csaw_graph **out) {
    const uint64_t stretch = (uint64_t)1 << 16, num_segments = (graph->csr.num_edges + stretch - 1) / stretch;
    const csaw_csr *csr = &graph->csr;
    csaw__edge_segment *segments = NULL;
    csaw_csr built = {0};
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__alloc(&segments, num_segments, "an edge list"));
    for (uint64_t s = 0; s < num_segments; s++) {
        uint64_t first = s * stretch, left = csr->num_edges - first;
        segments[s] = (csaw__edge_segment){.src = src + first,
                                           .dst = dst + first,
                                           .weight = csr->weight ? csr->weight + first : NULL,
                                           .type = csr->type ? csr->type + first : NULL,
                                           .time = csr->time ? csr->time + first : NULL,
                                           .count = left < stretch ? left : stretch};
    }
    CSAW_TRY_DONE(csaw__csr_build(segments, num_segments, csr->num_vertices, csaw__columns_of(csr),
                                  &(csaw_load_options){.keep_loops = true, .keep_duplicates = true}, &built));
    CSAW_TRY_DONE(csaw__graph_adopt(&built, true, out));
    built = (csaw_csr){0};
done:
    csaw__csr_free(&built);
    csaw__free(segments);
    return status;
}

/* The row of every arc, by its new number if rank says so. */
static void list_sources(const csaw_csr *csr, const csaw_vertex *rank, csaw_vertex *src) {
    CSAW__OMP(parallel for schedule(dynamic, 1024))
    for (uint64_t v = 0; v < csr->num_vertices; v++)
        for (csaw_edge e = csr->rowptr[v]; e < csr->rowptr[v + 1]; e++) src[e] = rank ? rank[v] : (csaw_vertex)v;
}

csaw_status csaw_graph_transpose(const csaw_graph *graph, csaw_graph **out) {
    CSAW_REQUIRE(out, CSAW_EINVAL, "csaw_graph_transpose needs a place for the graph; out is NULL");
    csaw_vertex *row = NULL;
    csaw_graph *made = NULL;
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(graph, CSAW_EINVAL, "the graph to transpose is NULL; load or make one first");
    CSAW_TRY(csaw__graph_check_whole(graph, "csaw_graph_transpose"));
    CSAW_TRY(csaw__alloc(&row, graph->csr.num_edges, "the rows of arcs"));
    list_sources(&graph->csr, NULL, row);
    CSAW_TRY_DONE(build_like(graph, graph->csr.col, row, &made));
    CSAW_TRY_DONE(csaw__names_carry(graph, NULL, NULL, made));
    *out = made;
    made = NULL;
done:
    csaw_graph_free(made);
    csaw__free(row);
    return status;
}

/* Vertices by falling degree, ties ascending: a radix sort by what the degree falls short of the largest, least
 * significant digit first, as many digits as that has. old_of, spare: [num_vertices]; the result is in old_of. */
static void sort_by_degree(const csaw_graph *graph, csaw_vertex *old_of, csaw_vertex *spare) {
    const csaw_csr *csr = &graph->csr;
    const uint64_t n = csr->num_vertices;
    for (uint64_t v = 0; v < n; v++) old_of[v] = (csaw_vertex)v;
    for (uint32_t shift = 0; shift < 32 && graph->max_degree >> shift; shift += DIGIT_BITS) {
#define DIGIT(V) ((graph->max_degree - (uint32_t)(csr->rowptr[(V) + 1] - csr->rowptr[V])) >> shift & (NUM_DIGITS - 1))
        uint64_t place[NUM_DIGITS] = {0}, sum = 0;
        for (uint64_t i = 0; i < n; i++) place[DIGIT(i)]++;
        for (uint32_t digit = 0; digit < NUM_DIGITS; digit++) {
            uint64_t count = place[digit];
            place[digit] = sum;
            sum += count;
        }
        for (uint64_t i = 0; i < n; i++) spare[place[DIGIT((uint64_t)old_of[i])]++] = old_of[i];
        memcpy(old_of, spare, n * sizeof *old_of);
#undef DIGIT
    }
}

/* Renumbers by way of an edge list. */
static csaw_status relabel_list(const csaw_graph *graph, const csaw_vertex *rank, csaw_graph **out) {
    csaw_vertex *src = NULL, *dst = NULL;
    const csaw_csr *csr = &graph->csr;
    csaw_status status = CSAW_OK;
    CSAW_TRY_DONE(csaw__alloc(&src, csr->num_edges, "the rows of arcs"));
    CSAW_TRY_DONE(csaw__alloc(&dst, csr->num_edges, "the arcs of a graph"));
    list_sources(csr, rank, src);
    CSAW_TRY_DONE(csaw__go_on());
    CSAW__OMP(parallel for)
    for (uint64_t e = 0; e < csr->num_edges; e++) dst[e] = rank[csr->col[e]];
    CSAW_TRY_DONE(build_like(graph, src, dst, out));
done:
    csaw__free(dst);
    csaw__free(src);
    return status;
}

/* Where rows are sorted: [max_degree] of each thread. */
typedef struct scratch {
    csaw_vertex *col;
    float *weight; /* NULL without */
} scratch;

/* New row v from the old one, to its place in `made`. */
static void relabel_row(const csaw_csr *csr, const csaw_vertex *old_of, const csaw_vertex *rank, uint64_t v,
                        const csaw_csr *made, scratch spare) {
    const csaw_edge from = csr->rowptr[old_of[v]], to = made->rowptr[v], length = made->rowptr[v + 1] - to;
    csaw_vertex *col = (csaw_vertex *)made->col + to;
    float *weight = made->weight ? (float *)made->weight + to : NULL;
    for (csaw_edge i = 0; i < length; i++) col[i] = rank[csr->col[from + i]];
    if (weight) memcpy(weight, csr->weight + from, length * sizeof *weight);
    csaw__sort_row(col, weight, spare.col, spare.weight, length);
}

/* Renumbers row by row; arcs have neither types nor times. */
static csaw_status relabel_rows(const csaw_graph *graph, const csaw_vertex *old_of, const csaw_vertex *rank,
                                csaw_graph **out) {
    const csaw_csr *csr = &graph->csr;
    const uint64_t n = csr->num_vertices, most = graph->max_degree, threads = (uint64_t)csaw__max_threads();
    csaw_edge *rowptr = NULL;
    csaw_vertex *col = NULL;
    float *weight = NULL;
    scratch spare = {NULL, NULL};
    csaw__watch *const watch = csaw__watching();
    csaw_status status = CSAW_OK;
    CSAW_TRY_DONE(csaw__alloc(&rowptr, n + 1, "the row offsets of a graph"));
    CSAW_TRY_DONE(csaw__alloc(&col, csr->num_edges, "the arcs of a graph"));
    if (csr->weight) CSAW_TRY_DONE(csaw__alloc(&weight, csr->num_edges, "the weights of a graph"));
    CSAW_TRY_DONE(csaw__alloc(&spare.col, threads * most, "rows being sorted"));
    if (csr->weight) CSAW_TRY_DONE(csaw__alloc(&spare.weight, threads * most, "rows being sorted"));
    rowptr[0] = 0;
    for (uint64_t v = 0; v < n; v++) rowptr[v + 1] = rowptr[v] + (csr->rowptr[old_of[v] + 1] - csr->rowptr[old_of[v]]);
    const csaw_csr made = {
        .num_vertices = n, .num_edges = csr->num_edges, .rowptr = rowptr, .col = col, .weight = weight};
    CSAW__OMP(parallel for schedule(dynamic, 1) if (csaw__is_long(n + csr->num_edges)))
    for (uint64_t v = 0; v < n; v++) {
        const uint64_t place = csaw__thread() * most;
        if (csaw__stopped(watch)) continue;
        relabel_row(csr, old_of, rank, v, &made,
                    (scratch){spare.col + place, spare.weight ? spare.weight + place : NULL});
    }
    CSAW_TRY_DONE(csaw__go_on());
    CSAW_TRY_DONE(csaw__graph_adopt(&made, true, out));
    rowptr = NULL;
    col = NULL;
    weight = NULL;
done:
    csaw__free(spare.weight);
    csaw__free(spare.col);
    csaw__free(weight);
    csaw__free(col);
    csaw__free(rowptr);
    return status;
}

csaw_status csaw_graph_by_degree(const csaw_graph *graph, csaw_graph **out) {
    CSAW_REQUIRE(out, CSAW_EINVAL, "csaw_graph_by_degree needs a place for the graph; out is NULL");
    csaw_vertex *old_of = NULL, *rank = NULL;
    csaw_graph *made = NULL;
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(graph, CSAW_EINVAL, "the graph to renumber is NULL; load or make one first");
    CSAW_TRY(csaw__graph_check_whole(graph, "csaw_graph_by_degree"));
    const csaw_csr *csr = &graph->csr;
    CSAW_TRY_DONE(csaw__alloc(&old_of, csr->num_vertices, "the old numbers of vertices"));
    CSAW_TRY_DONE(csaw__alloc(&rank, csr->num_vertices, "the new numbers of vertices"));
    sort_by_degree(graph, old_of, rank);
    CSAW_TRY_DONE(csaw__go_on());
    for (uint64_t v = 0; v < csr->num_vertices; v++) rank[old_of[v]] = (csaw_vertex)v;
    if (csr->type || csr->time)
        CSAW_TRY_DONE(relabel_list(graph, rank, &made));
    else
        CSAW_TRY_DONE(relabel_rows(graph, old_of, rank, &made));
    CSAW_TRY_DONE(csaw__names_carry(graph, old_of, rank, made));
    *out = made;
    made = NULL;
done:
    csaw_graph_free(made);
    csaw__free(rank);
    csaw__free(old_of);
    return status;
}

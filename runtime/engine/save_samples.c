/* SPDX-License-Identifier: MIT */
/* runtime/engine/save_samples.c - samples in a file: as text, as a matrix over all vertices of the graph, as GraphML.
 */
#include "runtime/base/memory.h"
#include "runtime/engine/save.h"
#include "runtime/engine/subgraph.h"

#include <string.h>

static csaw_status save_text(const csaw_graph *graph, csaw_samples *samples, const char *path,
                             const csaw_save_options *options) {
    csaw_arc_writer *writer = NULL;
    CSAW_TRY(csaw_arc_writer_open(graph, path, options, &writer));
    const csaw_status status = csaw_arc_writer_write(writer, samples);
    if (status == CSAW_OK) return csaw_arc_writer_close(writer);
    csaw_arc_writer_discard(writer);
    return status;
}

/* Every sampled arc once, in the order of the graph's CSR: rows of the union, each by edge id. */
static csaw_status put_matrix(const csaw_subgraph *all, csaw__output *output) {
    const csaw_graph *graph = all->graph;
    const uint64_t n = graph->csr.num_vertices, count = all->vertex_offset[1], num_edges = all->rowptr[count];
    uint64_t *rowptr = NULL, *place = NULL, at = 0; /* place: of a vertex in the union; count = it is not there */
    int64_t *column = NULL;
    csaw_edge *edge = NULL;
    csaw_status status = CSAW_OK;
    CSAW_TRY_DONE(csaw__alloc(&rowptr, n + 1, "a matrix"));
    CSAW_TRY_DONE(csaw__alloc(&place, n, "a matrix"));
    CSAW_TRY_DONE(csaw__alloc(&column, num_edges, "a matrix"));
    CSAW_TRY_DONE(csaw__alloc(&edge, num_edges, "a matrix"));
    for (uint64_t v = 0; v < n; v++) place[v] = count;
    for (uint64_t i = 0; i < count; i++) place[all->vertex[i]] = i;
    for (uint64_t v = 0; v < n; v++) {
        rowptr[v] = at;
        if (place[v] == count) continue;
        for (uint64_t k = all->rowptr[place[v]]; k < all->rowptr[place[v] + 1]; k++) edge[at++] = all->edge[k];
        csaw__sort_arcs(NULL, edge + rowptr[v], at - rowptr[v]);
    }
    rowptr[n] = at;
    for (uint64_t k = 0; k < num_edges; k++) column[k] = graph->csr.col[edge[k]];
    status =
        csaw__save_matrix(graph, &(csaw__matrix){.count = n, .rowptr = rowptr, .column = column, .edge = edge}, output);
done:
    csaw__free(edge);
    csaw__free(column);
    csaw__free(place);
    csaw__free(rowptr);
    return status;
}

static csaw_status put_graphml(const csaw_subgraph *all, const csaw_arcs *arcs, csaw__output *output) {
    const csaw_graph *graph = all->graph;
    CSAW_TRY(csaw__graphml_begin(graph, true, output));
    CSAW_TRY(csaw__graphml_graph(0, output));
    for (uint64_t i = 0; i < all->vertex_offset[1]; i++) CSAW_TRY(csaw__graphml_node(graph, all->vertex[i], output));
    for (uint64_t i = 0; i < arcs->num_instances; i++)
        for (uint64_t k = arcs->offset[i]; k < arcs->offset[i + 1]; k++)
            CSAW_TRY(csaw__graphml_edge(graph,
                                        &(csaw__graphml_arc){.src = arcs->src[k],
                                                             .dst = arcs->dst[k],
                                                             .edge = arcs->edge[k],
                                                             .sampled = true,
                                                             .instance = arcs->first + i,
                                                             .depth = arcs->depth[k]},
                                        output));
    CSAW_TRY(csaw__graphml_graph_end(output));
    return csaw__graphml_end(output);
}

csaw_status csaw_samples_save(const csaw_graph *graph, csaw_samples *samples, const char *path,
                              const csaw_save_options *given) {
    enum csaw__save_kind kind;
    bool gzip;
    csaw_subgraph *all = NULL;
    csaw__output *output = NULL;
    csaw_arcs arcs;
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(graph && samples, CSAW_EINVAL,
                 "csaw_samples_save needs the graph that was sampled and samples; one is NULL");
    CSAW_OPTIONS(csaw_save_options, given, options)
    CSAW_TRY(csaw__save_kind(&options, path, &kind, &gzip));
    CSAW_REQUIRE(kind != CSAW__SAVE_CSAW, CSAW_EINVAL,
                 "%s: a .csaw file holds a graph, not samples; make a subgraph of them (csaw subgraph)", path);
    options.size = sizeof options;
    if (kind == CSAW__SAVE_TEXT) return save_text(graph, samples, path, &options);
    CSAW_TRY(csaw_samples_arcs(samples, CSAW_HOST, &arcs));
    CSAW_TRY(csaw_subgraph_create(graph, samples, NULL, &all));
    CSAW_TRY_DONE(csaw__output_open(path, gzip, &output));
    const csaw__plain_locale locale = csaw__plain_begin();
    status = kind == CSAW__SAVE_NPZ ? put_matrix(all, output) : put_graphml(all, &arcs, output);
    csaw__plain_end(locale);
    if (status == CSAW_OK) {
        status = csaw__output_close(output);
        output = NULL;
    }
done:
    csaw__output_discard(output);
    csaw_subgraph_free(all);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* runtime/engine/save_subgraph.c - subgraphs in a file: as text and GraphML by the graph's own names, as a relabelled
 * matrix, or one as a .csaw file. */
#include "runtime/base/csaw_file.h"
#include "runtime/base/edge_text.h"
#include "runtime/base/memory.h"
#include "runtime/base/number_text.h"
#include "runtime/engine/save.h"
#include "runtime/engine/subgraph.h"

#include <string.h>

static csaw_status put_instance(const csaw_subgraph *s, uint64_t g, csaw__output *output) {
    char *place;
    CSAW_TRY(csaw__output_room(output, CSAW__MAX_WIDE_DIGITS + 1, &place));
    char *at = csaw__put_wide(place, s->first + g);
    *at++ = ' ';
    csaw__output_advance(output, (uint64_t)(at - place));
    return CSAW_OK;
}

/* So that every vertex comes back. */
static csaw_status put_lone_vertices(const csaw_subgraph *s, uint64_t first, uint64_t end, csaw__output *output) {
    bool *entered = NULL;
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__alloc_zero(&entered, end - first, "marks of vertices"));
    for (uint64_t k = s->rowptr[first]; k < s->rowptr[end]; k++) entered[s->col[k]] = true;
    for (uint64_t i = first; i < end; i++) {
        if (entered[i - first] || s->rowptr[i + 1] > s->rowptr[i]) continue;
        CSAW_TRY_DONE(csaw__output_put(output, "# csaw vertex ", 14));
        CSAW_TRY_DONE(csaw__put_vertex(s->graph, s->vertex[i], '\n', output));
    }
done:
    csaw__free(entered);
    return status;
}

static csaw_status put_text(const csaw_subgraph *s, const csaw_save_options *options, csaw__output *output) {
    const csaw_graph *graph = s->graph;
    const bool instance = s->per_instance && !options->plain;
    const bool more = graph->csr.weight || graph->csr.type || graph->csr.time;
    if (!options->no_header)
        CSAW_TRY(csaw__save_heading(graph, instance ? "subgraphs" : "graph", instance ? "instance,src,dst" : "src,dst",
                                    output));
    for (uint64_t g = 0; g < s->num_graphs; g++) {
        const uint64_t first = s->vertex_offset[g], end = s->vertex_offset[g + 1];
        if (!options->no_header && !instance) CSAW_TRY(put_lone_vertices(s, first, end, output));
        for (uint64_t i = first; i < end; i++)
            for (uint64_t k = s->rowptr[i]; k < s->rowptr[i + 1]; k++) {
                if (instance) CSAW_TRY(put_instance(s, g, output));
                CSAW_TRY(csaw__put_vertex(graph, s->vertex[i], ' ', output));
                CSAW_TRY(csaw__put_vertex(graph, s->vertex[first + s->col[k]], more ? ' ' : '\n', output));
                if (more) CSAW_TRY(csaw__put_columns(graph, s->vertex[i], s->edge[k], output));
            }
    }
    return CSAW_OK;
}

static csaw_status put_graphml(const csaw_subgraph *s, csaw__output *output) {
    CSAW_TRY(csaw__graphml_begin(s->graph, false, output));
    for (uint64_t g = 0; g < s->num_graphs; g++) {
        const uint64_t first = s->vertex_offset[g], end = s->vertex_offset[g + 1];
        CSAW_TRY(csaw__graphml_graph(s->first + g, output));
        for (uint64_t i = first; i < end; i++) CSAW_TRY(csaw__graphml_node(s->graph, s->vertex[i], output));
        for (uint64_t i = first; i < end; i++)
            for (uint64_t k = s->rowptr[i]; k < s->rowptr[i + 1]; k++)
                CSAW_TRY(csaw__graphml_edge(
                    s->graph,
                    &(csaw__graphml_arc){.src = s->vertex[i], .dst = s->vertex[first + s->col[k]], .edge = s->edge[k]},
                    output));
        CSAW_TRY(csaw__graphml_graph_end(output));
    }
    return csaw__graphml_end(output);
}

/* Several graphs lie on the diagonal, one behind the other. */
static csaw_status put_matrix(const csaw_subgraph *s, csaw__output *output) {
    const uint64_t count = s->vertex_offset[s->num_graphs];
    int64_t *column = NULL;
    CSAW_TRY(csaw__alloc(&column, s->rowptr[count], "a matrix"));
    for (uint64_t g = 0; g < s->num_graphs; g++)
        for (uint64_t k = s->rowptr[s->vertex_offset[g]]; k < s->rowptr[s->vertex_offset[g + 1]]; k++)
            column[k] = (int64_t)(s->col[k] + s->vertex_offset[g]);
    const csaw__matrix matrix = {.count = count,
                                 .rowptr = s->rowptr,
                                 .column = column,
                                 .edge = s->edge,
                                 .keep = true,
                                 .vertex = s->vertex,
                                 .offset = s->vertex_offset,
                                 .num_offsets = s->num_graphs + 1};
    const csaw_status status = csaw__save_matrix(s->graph, &matrix, output);
    csaw__free(column);
    return status;
}

static csaw_status save_csaw(const csaw_subgraph *s, const char *path) {
    csaw_graph *graph = NULL;
    CSAW_REQUIRE(
        s->num_graphs == 1, CSAW_EINVAL,
        "%s: a .csaw file holds one graph, and these are %llu; make one of all instances, or write text, npz or "
        "graphml",
        path, (unsigned long long)s->num_graphs);
    CSAW_TRY(csaw_subgraph_graph(s, 0, &graph));
    const csaw_status status = csaw__csaw_save(graph, path);
    csaw_graph_free(graph);
    return status;
}

csaw_status csaw_subgraph_save(const csaw_subgraph *subgraph, const char *path, const csaw_save_options *given) {
    enum csaw__save_kind kind;
    bool gzip;
    csaw__output *output = NULL;
    CSAW_REQUIRE(subgraph, CSAW_EINVAL, "the subgraph to save is NULL; make one first");
    CSAW_OPTIONS(csaw_save_options, given, options)
    CSAW_TRY(csaw__save_kind(&options, path, &kind, &gzip));
    if (kind == CSAW__SAVE_CSAW) return save_csaw(subgraph, path);
    CSAW_TRY(csaw__output_open(path, gzip, &output));
    const csaw__plain_locale locale = csaw__plain_begin();
    const csaw_status status = kind == CSAW__SAVE_NPZ       ? put_matrix(subgraph, output)
                               : kind == CSAW__SAVE_GRAPHML ? put_graphml(subgraph, output)
                                                            : put_text(subgraph, &options, output);
    csaw__plain_end(locale);
    if (status == CSAW_OK) return csaw__output_close(output);
    csaw__output_discard(output);
    return status;
}

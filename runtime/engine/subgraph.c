/* SPDX-License-Identifier: MIT */
/* runtime/engine/subgraph.c - the subgraph of samples: vertices numbered by first visit, arcs put into rows by
 * counting, each row sorted, repeated arcs dropped. Rows are short and many, so that a sort within rows costs less than
 * one of all arcs. */
#include "runtime/engine/subgraph.h"

#include "runtime/base/grow.h"
#include "runtime/base/watch.h"
#include "runtime/engine/relabel.h"

typedef unsigned long long number;

typedef struct build {
    csaw_subgraph *out;
    csaw_subgraph_options options;
    csaw_arcs arcs;
    csaw__relabel map;
    uint64_t vertex_room, row_room, col_room, edge_room;
    uint64_t *row; /* of the graph at hand: [count + 1] in out->rowptr */
    bool fill;     /* put() fills rows; else it counts them */
} build;

csaw_status csaw__arcs_check(const csaw_graph *graph, const csaw_arcs *arcs) {
    const csaw_csr *csr = &graph->csr;
    const uint64_t num_arcs = arcs->offset[arcs->num_instances], num_seeds = arcs->seed_offset[arcs->num_instances];
    for (uint64_t s = 0; s < num_seeds; s++)
        CSAW_REQUIRE(
            arcs->seed[s] < csr->num_vertices, CSAW_EINVAL,
            "these samples begin at vertex %u, and the graph has %llu vertices; give the graph that was sampled",
            arcs->seed[s], (number)csr->num_vertices);
    for (uint64_t k = 0; k < num_arcs; k++) {
        const csaw_vertex src = arcs->src[k];
        const csaw_edge e = arcs->edge[k];
        const bool holds = csaw__graph_holds(graph, src); /* of other ranks' rows, where they begin and end is known */
        CSAW_REQUIRE(
            src < csr->num_vertices && e >= csr->rowptr[src] && e < csr->rowptr[(uint64_t)src + 1] &&
                (!holds || csr->col[e] == arcs->dst[k]),
            CSAW_EINVAL,
            "these samples hold edge %llu from %u to %u, which the graph does not have; give the graph that was "
            "sampled",
            (number)e, src, arcs->dst[k]);
    }
    return CSAW_OK;
}

/* ---- sorting ---- */

static bool before(const csaw_vertex *col, const csaw_edge *edge, uint64_t a, uint64_t b) {
    return col && col[a] != col[b] ? col[a] < col[b] : edge[a] < edge[b];
}

static void swap(csaw_vertex *col, csaw_edge *edge, uint64_t a, uint64_t b) {
    const csaw_edge e = edge[a];
    edge[a] = edge[b];
    edge[b] = e;
    if (!col) return;
    const csaw_vertex v = col[a];
    col[a] = col[b];
    col[b] = v;
}

static void sift(csaw_vertex *col, csaw_edge *edge, uint64_t at, uint64_t count) {
    for (uint64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && before(col, edge, child, child + 1)) child++;
        if (!before(col, edge, at, child)) return;
        swap(col, edge, at, child);
    }
}

void csaw__sort_arcs(csaw_vertex *col, csaw_edge *edge, uint64_t count) {
    uint64_t ascending = 1;
    while (ascending < count && !before(col, edge, ascending, ascending - 1)) ascending++;
    if (ascending >= count) return;
    for (uint64_t i = count / 2; i-- > 0;) sift(col, edge, i, count);
    for (uint64_t i = count; i-- > 1;) {
        swap(col, edge, 0, i);
        sift(col, edge, 0, i);
    }
}

/* ---- one graph, of instances first .. end - 1 ---- */

static csaw_status number_vertices(build *b, uint64_t base, uint64_t first, uint64_t end) {
    const csaw_arcs *arcs = &b->arcs;
    const uint64_t num_vertices = b->out->graph->csr.num_vertices;
    const uint64_t seeds = b->options.arcs_only ? 0 : arcs->seed_offset[end] - arcs->seed_offset[first];
    uint64_t most = seeds + 2 * (arcs->offset[end] - arcs->offset[first]);
    most = most < num_vertices ? most : num_vertices;
    CSAW_TRY(CSAW__GROW(&b->out->vertex, &b->vertex_room, base + most + 1, "vertices of a subgraph"));
    CSAW_TRY(csaw__relabel_start(&b->map, most, b->out->vertex + base));
    for (uint64_t s = 0; s < seeds; s++) csaw__relabel_add(&b->map, arcs->seed[arcs->seed_offset[first] + s]);
    for (uint64_t k = arcs->offset[first]; k < arcs->offset[end]; k++) {
        csaw__relabel_add(&b->map, arcs->src[k]);
        csaw__relabel_add(&b->map, arcs->dst[k]);
    }
    return CSAW_OK;
}

/* While rows are filled, row[src + 1] is where the next arc of src goes. */
static void put(build *b, csaw_vertex src, csaw_vertex dst, csaw_edge edge) {
    const uint64_t at = b->row[(uint64_t)src + 1]++;
    if (!b->fill) return;
    b->out->col[at] = dst;
    b->out->edge[at] = edge;
}

static csaw_status put_arcs(build *b, uint64_t first, uint64_t end) {
    const csaw_csr *csr = &b->out->graph->csr;
    csaw__watch *const watch = csaw__watching();
    for (uint64_t k = b->arcs.offset[first]; !b->options.induced && k < b->arcs.offset[end]; k++) {
        if (k % CSAW__STRETCH == 0 && csaw__stopped(watch)) break;
        put(b, csaw__relabel_find(&b->map, b->arcs.src[k]), csaw__relabel_find(&b->map, b->arcs.dst[k]),
            b->arcs.edge[k]);
    }
    for (uint64_t i = 0; b->options.induced && i < b->map.count && !csaw__stopped(watch); i++) {
        const uint64_t v = b->map.vertex[i];
        for (csaw_edge e = csr->rowptr[v]; e < csr->rowptr[v + 1]; e++) {
            const csaw_vertex dst = csaw__relabel_find(&b->map, csr->col[e]);
            if (dst != CSAW_NONE) put(b, (csaw_vertex)i, dst, e);
        }
    }
    return csaw__go_on();
}

/* Sorts rows, drops repeated arcs, closes the gaps. */
static void tidy(build *b) {
    csaw_subgraph *out = b->out;
    uint64_t begin = b->row[0], kept = begin;
    for (uint64_t i = 0; i < b->map.count; i++) {
        const uint64_t end = b->row[i + 1], row = kept;
        csaw__sort_arcs(out->col + begin, out->edge + begin, end - begin);
        for (uint64_t k = begin; k < end; k++) {
            if (kept > row && out->edge[kept - 1] == out->edge[k]) continue;
            out->col[kept] = out->col[k];
            out->edge[kept++] = out->edge[k];
        }
        begin = end;
        b->row[i + 1] = kept;
    }
}

static csaw_status build_graph(build *b, uint64_t g, uint64_t first, uint64_t end) {
    csaw_subgraph *out = b->out;
    const uint64_t base = out->vertex_offset[g];
    CSAW_TRY(number_vertices(b, base, first, end));
    const uint64_t count = b->map.count;
    out->vertex_offset[g + 1] = base + count;
    CSAW_TRY(CSAW__GROW(&out->rowptr, &b->row_room, base + count + 1, "rows of a subgraph"));
    b->row = out->rowptr + base;
    memset(b->row + 1, 0, count * sizeof *b->row);
    b->fill = false;
    CSAW_TRY(put_arcs(b, first, end));
    uint64_t sum = b->row[0];
    for (uint64_t i = 1; i <= count; i++) {
        const uint64_t arcs = b->row[i];
        b->row[i] = sum;
        sum += arcs;
    }
    CSAW_TRY(CSAW__GROW(&out->col, &b->col_room, sum + 1, "arcs of a subgraph"));
    CSAW_TRY(CSAW__GROW(&out->edge, &b->edge_room, sum + 1, "arcs of a subgraph"));
    b->fill = true;
    CSAW_TRY(put_arcs(b, first, end));
    tidy(b);
    return CSAW_OK;
}

csaw_status csaw_subgraph_create(const csaw_graph *graph, csaw_samples *samples, const csaw_subgraph_options *given,
                                 csaw_subgraph **out) {
    build b = {0};
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(graph && samples && out, CSAW_EINVAL,
                 "csaw_subgraph_create needs the graph that was sampled, samples and a place for the subgraph; one is "
                 "NULL");
    CSAW_TRY(csaw__graph_check_whole(graph, "csaw_subgraph_create"));
    CSAW_OPTIONS(csaw_subgraph_options, given, options)
    CSAW_TRY(csaw_samples_arcs(samples, CSAW_HOST, &b.arcs));
    CSAW_TRY(csaw__arcs_check(graph, &b.arcs));
    b.options = options;
    CSAW_TRY(csaw__alloc_zero(&b.out, 1, "a subgraph"));
    b.out->graph = graph;
    b.out->per_instance = options.per_instance;
    b.out->num_graphs = options.per_instance ? b.arcs.num_instances : 1;
    b.out->first = options.per_instance ? b.arcs.first : 0;
    CSAW_TRY_DONE(csaw__alloc_zero(&b.out->vertex_offset, b.out->num_graphs + 1, "graphs of a subgraph"));
    CSAW_TRY_DONE(CSAW__GROW(&b.out->rowptr, &b.row_room, 1, "rows of a subgraph"));
    b.out->rowptr[0] = 0;
    for (uint64_t g = 0; g < b.out->num_graphs; g++)
        CSAW_TRY_DONE(options.per_instance ? build_graph(&b, g, g, g + 1)
                                           : build_graph(&b, g, 0, b.arcs.num_instances));
    *out = b.out;
    b.out = NULL;
done:
    csaw_subgraph_free(b.out);
    csaw__free(b.map.slot);
    return status;
}

csaw_subgraph_view csaw_subgraph_look(const csaw_subgraph *s) {
    return (csaw_subgraph_view){s->num_graphs, s->first, s->vertex_offset, s->vertex, s->rowptr, s->col, s->edge};
}

void csaw_subgraph_free(csaw_subgraph *subgraph) {
    if (!subgraph) return;
    csaw__free(subgraph->vertex_offset);
    csaw__free(subgraph->vertex);
    csaw__free(subgraph->rowptr);
    csaw__free(subgraph->col);
    csaw__free(subgraph->edge);
    csaw__free(subgraph);
}

/* SPDX-License-Identifier: MIT */
/* runtime/engine/load_split.c - csaw_graph_load_split(): ranks that have read a share of an edge list each
 * (load_share.c) send its arcs to the ranks that hold their rows, which build those alone.
 *
 * Ranges are cut by the arcs of every vertex as they stand in the file, so they are known before an arc is sent. Arcs
 * go in order of lines, from rank to rank in turn, and come together in order of rank: a row's arcs have the order of
 * the file, and csr_build.c makes of them what it makes of the whole. Beyond its range a rank has at a time its share
 * of the lines, the arcs of those, or both the arcs that came and the rows; and 8 bytes a vertex. */
#include "runtime/engine/load_split.h"

#include "partition/share.h"
#include "runtime/base/columns.h"
#include "runtime/base/csaw_file.h"
#include "runtime/base/memory.h"
#include "runtime/base/names.h"

#include <string.h>

/* Arcs side by side, those of each rank together. */
typedef struct bundle {
    csaw_vertex *src; /* in a rank's range, counted from its first */
    csaw__columns arcs;
    uint64_t *begin; /* [ranks + 1] */
} bundle;

typedef struct exchange {
    csaw__ranges ranges;
    csaw_edge *rowptr; /* [num_vertices + 1] of all arcs in the file, later of the graph */
    uint64_t *count;   /* [ranks, ranks] arcs from each to each */
    bundle out, in;
} exchange;

static void free_bundle(bundle *b) {
    csaw__free(b->src);
    csaw__columns_free(&b->arcs);
    csaw__free(b->begin);
    *b = (bundle){0};
}

/* Calls ARC(row, destination, edge) for every arc of the share, in order of lines. */
#define FOR_ARCS(L, ARC)                                                                                            \
    for (uint64_t s = 0; s < (L)->edges.num_segments; s++) {                                                        \
        const csaw__edge_segment segment = (L)->edges.segments[s];                                                  \
        const csaw__columns edges = {(csaw_vertex *)segment.dst, (float *)segment.weight, (uint32_t *)segment.type, \
                                     (int64_t *)segment.time};                                                      \
        (void)edges;                                                                                                \
        for (uint64_t i = 0; i < segment.count; i++) {                                                              \
            const csaw_vertex u = segment.src[i], v = segment.dst[i];                                               \
            if (u == v && !(L)->options.keep_loops) continue;                                                       \
            ARC(u, v, i);                                                                                           \
            if ((L)->options.undirected && u != v) ARC(v, u, i);                                                    \
        }                                                                                                           \
    }

/* ---- ranges ---- */

static uint32_t bytes_per_arc(uint32_t columns) {
    return 4u + (columns & CSAW__WEIGHT ? 4u : 0u) + (columns & CSAW__TYPE ? 4u : 0u) +
           (columns & CSAW__TIME ? 8u : 0u);
}

/* From lengths of rows, rowptr[v + 1], to offsets. */
static void add_up(csaw_edge *rowptr, uint64_t num_vertices) {
    rowptr[0] = 0;
    for (uint64_t v = 0; v < num_vertices; v++) rowptr[v + 1] += rowptr[v];
}

static csaw_status check_lengths(const csaw_edge *rowptr, uint64_t num_vertices) {
    uint64_t v = 0;
    while (v < num_vertices && rowptr[v + 1] <= CSAW__MAX_DEGREE) v++;
    CSAW_REQUIRE(v == num_vertices, CSAW_EINVAL,
                 "vertex %llu has more than %llu arcs, the most that a row holds; merge parallel edges beforehand",
                 (unsigned long long)v, CSAW__MAX_DEGREE);
    return CSAW_OK;
}

static csaw_status find_ranges(csaw__split_load *l, exchange *x) {
    const uint64_t n = l->edges.num_vertices;
    csaw_status status = csaw__alloc_zero(&x->rowptr, n + 1, "the row offsets of a graph");
    CSAW_TRY(csaw__load_meet(l, status, NULL));
#define COUNT(ROW, TO, EDGE) x->rowptr[(uint64_t)(ROW) + 1]++
    FOR_ARCS(l, COUNT)
#undef COUNT
    CSAW_TRY(csaw__ranks_sum(l->ranks, x->rowptr, n + 1));
    CSAW_TRY(check_lengths(x->rowptr, n));
    add_up(x->rowptr, n);
    const csaw_csr csr = {.num_vertices = n, .num_edges = x->rowptr[n], .rowptr = x->rowptr};
    return csaw__load_meet(l, csaw__share_cut(&csr, bytes_per_arc(l->columns), l->size, l->by_visits, &x->ranges),
                           NULL);
}

/* ---- arcs to their ranks ---- */

static csaw_status take_bundle(const csaw__split_load *l, bundle *b) {
    const uint64_t count = b->begin[l->size];
    CSAW_TRY(csaw__alloc(&b->src, count, "arcs between ranks"));
    return csaw__columns_alloc(l->columns, count, &b->arcs);
}

static csaw_status pack(csaw__split_load *l, exchange *x) {
    bundle *const out = &x->out;
    uint64_t *const count = x->count + (uint64_t)l->rank * l->size;
#define COUNT(ROW, TO, EDGE) count[csaw__range_of(&x->ranges, (ROW))]++
    FOR_ARCS(l, COUNT)
#undef COUNT
    CSAW_TRY(csaw__alloc_zero(&out->begin, (uint64_t)l->size + 1, "counts of arcs"));
    for (uint32_t r = 0; r < l->size; r++) out->begin[r + 1] = out->begin[r] + count[r];
    CSAW_TRY(take_bundle(l, out));
#define PUT(ROW, TO, EDGE)                                        \
    do {                                                          \
        const uint32_t owner = csaw__range_of(&x->ranges, (ROW)); \
        const uint64_t at = out->begin[owner]++;                  \
        out->src[at] = (ROW)-x->ranges.first[owner];              \
        csaw__columns_put(&out->arcs, at, (TO), &edges, (EDGE));  \
    } while (0)
    FOR_ARCS(l, PUT)
#undef PUT
    for (uint32_t r = l->size; r > 0; r--) out->begin[r] = out->begin[r - 1]; /* where they began */
    out->begin[0] = 0;
    return CSAW_OK;
}

static csaw_status make_room(const csaw__split_load *l, exchange *x) {
    CSAW_TRY(csaw__alloc_zero(&x->in.begin, (uint64_t)l->size + 1, "counts of arcs"));
    for (uint32_t r = 0; r < l->size; r++)
        x->in.begin[r + 1] = x->in.begin[r] + x->count[(uint64_t)r * l->size + l->rank];
    return take_bundle(l, &x->in);
}

/* To the rank `step` further, from the one as far behind. */
static csaw_status swap(csaw__split_load *l, exchange *x, uint32_t step) {
    const uint32_t to = (l->rank + step) % l->size, from = (l->rank + l->size - step) % l->size;
    const uint64_t sent = x->out.begin[to], sends = x->out.begin[to + 1] - sent, came = x->in.begin[from],
                   comes = x->in.begin[from + 1] - came;
    const csaw__columns *const out = &x->out.arcs, *const in = &x->in.arcs;
#define SWAP(OUT, IN) \
    CSAW_TRY(         \
        csaw__ranks_swap(l->ranks, to, (OUT) + sent, sends * sizeof *(OUT), from, (IN) + came, comes * sizeof *(IN)))
    SWAP(x->out.src, x->in.src);
    SWAP(out->dst, in->dst);
    if (out->weight) SWAP(out->weight, in->weight);
    if (out->type) SWAP(out->type, in->type);
    if (out->time) SWAP(out->time, in->time);
#undef SWAP
    return CSAW_OK;
}

static csaw_status bring(csaw__split_load *l, exchange *x) {
    csaw_status status = csaw__alloc_zero(&x->count, (uint64_t)l->size * l->size, "counts of arcs");
    if (status == CSAW_OK) status = pack(l, x);
    CSAW_TRY(csaw__load_meet(l, status, NULL));
    csaw__edge_list_free(&l->list);
    csaw__free(l->edges.segments);
    l->edges.segments = NULL;
    CSAW_TRY(csaw__ranks_sum(l->ranks, x->count, (uint64_t)l->size * l->size));
    CSAW_TRY(csaw__load_meet(l, make_room(l, x), NULL));
    for (uint32_t step = 0; step < l->size; step++) CSAW_TRY(swap(l, x, step));
    free_bundle(&x->out);
    return CSAW_OK;
}

/* ---- rows ---- */

static csaw_status build_rows(const csaw__split_load *l, const exchange *x, csaw_csr *rows) {
    const csaw_load_options options = {.keep_loops = true, .keep_duplicates = l->options.keep_duplicates};
    const bundle *const in = &x->in;
    csaw__edge_segment *segments;
    CSAW_TRY(csaw__alloc(&segments, l->size, "an edge list"));
    for (uint32_t r = 0; r < l->size; r++) {
        const csaw__columns from = csaw__columns_from(in->arcs, in->begin[r]);
        segments[r] = (csaw__edge_segment){.src = in->src + in->begin[r],
                                           .dst = from.dst,
                                           .weight = from.weight,
                                           .type = from.type,
                                           .time = from.time,
                                           .count = in->begin[r + 1] - in->begin[r]};
    }
    const uint64_t count = x->ranges.first[l->rank + 1] - x->ranges.first[l->rank];
    const csaw_status status = csaw__csr_build(segments, l->size, count, l->columns, &options, rows);
    csaw__free(segments);
    return status;
}

static bool has_parallel_arcs(const csaw_csr *rows) {
    for (uint64_t v = 0; v < rows->num_vertices; v++)
        for (csaw_edge e = rows->rowptr[v] + 1; e < rows->rowptr[v + 1]; e++)
            if (rows->col[e] == rows->col[e - 1]) return true;
    return false;
}

/* The row offsets of the graph, of which each rank knows its rows. */
static csaw_status join_lengths(csaw__split_load *l, exchange *x, const csaw_csr *rows) {
    const csaw_vertex *const first = x->ranges.first;
    csaw_edge *const length = x->rowptr + 1;
    for (uint64_t v = 0; v < rows->num_vertices; v++)
        length[first[l->rank] + v] = rows->rowptr[v + 1] - rows->rowptr[v];
    for (uint32_t r = 0; r < l->size; r++)
        CSAW_TRY(csaw__ranks_broadcast(l->ranks, r, length + first[r], (first[r + 1] - first[r]) * sizeof *length));
    add_up(x->rowptr, l->edges.num_vertices);
    return CSAW_OK;
}

static void fill_graph(csaw__split_load *l, exchange *x, csaw_csr *rows, csaw_graph *graph, csaw__held *held) {
    const uint64_t n = l->edges.num_vertices;
    const csaw_edge before = x->rowptr[x->ranges.first[l->rank]];
    csaw__free((void *)rows->rowptr);
    rows->rowptr = NULL;
    *held = (csaw__held){l->size, l->rank, l->by_visits, x->ranges.first, *rows};
    graph->held = held;
    graph->names = l->edges.names;
    graph->csr = (csaw_csr){.num_vertices = n, .num_edges = x->rowptr[n], .rowptr = x->rowptr};
    /* As if the arcs of the ranks before stood there; an array that is empty here is there all the same. */
#define FROM(ARRAY) (void *)((uintptr_t)((ARRAY) ? (void *)(ARRAY) : (void *)x->rowptr) - before * sizeof *(ARRAY))
    graph->csr.col = FROM(rows->col);
    if (l->columns & CSAW__WEIGHT) graph->csr.weight = FROM(rows->weight);
    if (l->columns & CSAW__TYPE) graph->csr.type = FROM(rows->type);
    if (l->columns & CSAW__TIME) graph->csr.time = FROM(rows->time);
#undef FROM
    for (uint64_t v = 0; v < n; v++) {
        const uint64_t length = x->rowptr[v + 1] - x->rowptr[v];
        if (length > graph->max_degree) graph->max_degree = (uint32_t)length;
    }
    x->ranges.first = NULL;
    x->rowptr = NULL;
    *rows = (csaw_csr){0};
    l->edges.names = (csaw_names){0};
}

static csaw_status make_graph(csaw__split_load *l, exchange *x, csaw_csr *rows, csaw_graph **out) {
    uint64_t values[CSAW__RANK_VALUES] = {0};
    csaw_graph *graph = NULL;
    csaw__held *held = NULL;
    csaw_status status = build_rows(l, x, rows);
    free_bundle(&x->in);
    if (status == CSAW_OK) status = csaw__alloc_zero(&graph, 1, "a graph handle");
    if (status == CSAW_OK) status = csaw__alloc_zero(&held, 1, "a graph handle");
    if (status == CSAW_OK) values[0] = has_parallel_arcs(rows);
    status = csaw__load_meet(l, status, values);
    for (uint32_t r = 0; r < l->size && status == CSAW_OK; r++)
        graph->parallel_arcs |= csaw__ranks_said(l->ranks, r, 0) != 0;
    if (status == CSAW_OK) status = join_lengths(l, x, rows);
    if (status == CSAW_OK) {
        fill_graph(l, x, rows, graph, held);
        held = NULL;
        status = csaw__split_checksum(l->ranks, graph, &graph->checksum);
    }
    csaw__free(held);
    if (status == CSAW_OK)
        *out = graph;
    else
        csaw_graph_free(graph);
    return status;
}

/* ---- all ---- */

static csaw_status load(csaw__split_load *l, csaw_graph **out) {
    bool whole = false;
    exchange x = {.rowptr = NULL};
    csaw_csr rows = {0};
    csaw_graph *graph = NULL;
    csaw_status status = csaw__load_share(l, &whole);
    if (status == CSAW_OK && whole) {
        csaw__edge_list_free(&l->list); /* what was read of it so far */
        status = csaw__load_meet(l, csaw_graph_load(l->path, &l->options, &graph), NULL);
    } else if (status == CSAW_OK) {
        status = find_ranges(l, &x);
        if (status == CSAW_OK) status = bring(l, &x);
        if (status == CSAW_OK) status = make_graph(l, &x, &rows, &graph);
    }
    free_bundle(&x.out);
    free_bundle(&x.in);
    csaw__ranges_clear(&x.ranges);
    csaw__free(x.rowptr);
    csaw__free(x.count);
    csaw__csr_free(&rows);
    csaw__numbered_edges_free(&l->edges);
    csaw__edge_list_free(&l->list);
    if (status == CSAW_OK)
        *out = graph;
    else
        csaw_graph_free(graph);
    return status;
}

static csaw_status take_arguments(const csaw_load_options *given, csaw_graph **out, csaw_load_options *taken) {
    CSAW_REQUIRE(out, CSAW_EINVAL, "csaw_graph_load_split needs a place for the graph; out is NULL");
    CSAW_OPTIONS(csaw_load_options, given, options)
    options.size = sizeof options; /* they may go on to csaw_graph_load() */
    *taken = options;
    return CSAW_OK;
}

csaw_status csaw_graph_load_split(const char *path, const csaw_load_options *given, const void *communicator,
                                  bool by_visits, csaw_graph **out) {
    csaw__ranks *ranks;
    csaw_load_options options = {0};
    const csaw_status status = take_arguments(given, out, &options);
    CSAW_TRY(csaw__ranks_open(communicator, &ranks));
    if (csaw__ranks_size(ranks) == 1) return status == CSAW_OK ? csaw_graph_load(path, &options, out) : status;
    csaw__ranks_enter(ranks);
    csaw__split_load l = {.ranks = ranks,
                          .rank = csaw__ranks_rank(ranks),
                          .size = csaw__ranks_size(ranks),
                          .arguments = status,
                          .path = path,
                          .options = options,
                          .by_visits = by_visits};
    return load(&l, out);
}

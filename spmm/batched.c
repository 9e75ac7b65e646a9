/* SPDX-License-Identifier: MIT */
/* spmm/batched.c - batches of small graphs: descriptors from a list or from shared arrays, every offset and index read
 * once. Nothing is converted or copied. Source: Nagasaka et al., CCGrid 2019, whose batches are lists of matrices in
 * COO or CSR. */
#include "spmm/batched.h"

#include <string.h>

#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"

typedef unsigned long long number;

enum { AT_ONCE = 256 }; /* graphs that a thread checks before it asks for more */

/* ---- a graph's entries -------------------------------------------------------- */

/* Faults are found in any order and told of in the order of graphs, so finding and telling are apart. */
typedef enum fault { FINE, FAULT_ROWPTR, FAULT_ROWPTR_END, FAULT_ROW, FAULT_COL } fault;

static fault find_fault(const csaw__small *g, uint64_t *place) {
    const uint64_t first = g->rowptr ? g->rowptr[0] : 0;
    for (uint64_t i = 0; g->rowptr && i < g->rows; i++)
        if (g->rowptr[ *place = i] > g->rowptr[i + 1]) return FAULT_ROWPTR;
    *place = g->rows;
    if (g->rowptr && g->rowptr[g->rows] - first != g->num_edges) return FAULT_ROWPTR_END;
    for (uint64_t k = 0; !g->rowptr && k < g->num_edges; k++)
        if ((csaw_vertex)(g->row[k * g->index_stride] - g->row_base) >= g->rows) return *place = k, FAULT_ROW;
    for (uint64_t k = 0; k < g->num_edges; k++)
        if ((csaw_vertex)(g->col[(first + k) * g->index_stride] - g->col_base) >= g->cols) return *place = k, FAULT_COL;
    return FINE;
}

static csaw_status tell_index(const csaw_batch *batch, const csaw__small *g, const char *what, uint64_t place,
                              csaw_vertex index, csaw_vertex base, csaw_vertex limit) {
    return csaw__fail(
        CSAW_EINVAL, "graph %llu of %llu: entry %llu has %s %u, but the graph has %u %ss from %u on; mend the entry",
        (number)(g - batch->graph), (number)batch->total.graphs, (number)place, what, index, limit, what, base);
}

static csaw_status tell(const csaw_batch *batch, const csaw__small *g) {
    const number at = (number)(g - batch->graph), of = batch->total.graphs;
    uint64_t place;
    switch (find_fault(g, &place)) {
    case FINE: return CSAW_OK;
    case FAULT_ROWPTR:
        return csaw__fail(CSAW_EINVAL,
                          "graph %llu of %llu: rowptr falls from %llu to %llu at row %llu; a rowptr never falls", at,
                          of, (number)g->rowptr[place], (number)g->rowptr[place + 1], (number)place);
    case FAULT_ROWPTR_END:
        return csaw__fail(CSAW_EINVAL, "graph %llu of %llu: rowptr ends with %llu, but num_edges is %u; the two agree",
                          at, of, (number)(g->rowptr[place] - g->rowptr[0]), g->num_edges);
    case FAULT_ROW: return tell_index(batch, g, "row", place, g->row[place * g->index_stride], g->row_base, g->rows);
    case FAULT_COL: break;
    }
    const uint64_t first = g->rowptr ? g->rowptr[0] : 0;
    return tell_index(batch, g, "column", place, g->col[(first + place) * g->index_stride], g->col_base, g->cols);
}

static csaw_status check_entries(const csaw_batch *batch) {
    uint64_t first = batch->total.graphs; /* that has a fault */
    CSAW__OMP(parallel for schedule(dynamic, AT_ONCE) reduction(min : first) if (csaw__is_long(batch->total.edges)))
    for (uint64_t g = 0; g < batch->total.graphs; g++) {
        uint64_t place;
        if (find_fault(&batch->graph[g], &place) != FINE && g < first) first = g;
    }
    return first < batch->total.graphs ? tell(batch, &batch->graph[first]) : CSAW_OK;
}

/* ---- descriptors -------------------------------------------------------------- */

static csaw_status check_sizes(const csaw_small *s, uint64_t g, uint64_t graphs) {
    const uint64_t limit = CSAW_NONE - 1;
    const number at = g, of = graphs;
    CSAW_REQUIRE(s->rows <= limit && s->cols <= limit && s->num_edges <= limit, CSAW_EINVAL,
                 "graph %llu of %llu: %llu rows, %llu columns and %llu entries, but %llu of each is the limit; give it "
                 "to csaw_spmm() by itself",
                 at, of, (number)s->rows, (number)s->cols, (number)s->num_edges, (number)limit);
    CSAW_REQUIRE(s->format == CSAW_COO || s->format == CSAW_CSR, CSAW_EINVAL,
                 "graph %llu of %llu: format %d; give CSAW_COO or CSAW_CSR", at, of, (int)s->format);
    CSAW_REQUIRE(s->format == CSAW_COO || s->rowptr, CSAW_EINVAL, "graph %llu of %llu: rowptr is NULL; CSR needs it",
                 at, of);
    CSAW_REQUIRE(s->format == CSAW_CSR || s->row || !s->num_edges, CSAW_EINVAL,
                 "graph %llu of %llu: row is NULL, but it has %llu entries; COO needs it", at, of,
                 (number)s->num_edges);
    CSAW_REQUIRE(s->col || !s->num_edges, CSAW_EINVAL,
                 "graph %llu of %llu: col is NULL, but it has %llu entries; give its columns", at, of,
                 (number)s->num_edges);
    return CSAW_OK;
}

/* Puts a graph behind those that the batch has. */
static csaw_status append(csaw_batch *batch, uint64_t g, uint64_t graphs, const csaw_small *s) {
    CSAW_TRY(check_sizes(s, g, graphs));
    batch->graph[g] = (csaw__small){.rowptr = s->format == CSAW_CSR ? s->rowptr : NULL,
                                    .row = s->row,
                                    .col = s->col,
                                    .weight = s->weight,
                                    .index_stride = s->index_stride ? s->index_stride : 1,
                                    .row_begin = batch->total.rows,
                                    .col_begin = batch->total.cols,
                                    .num_begin = batch->total.edges,
                                    .rows = (csaw_vertex)s->rows,
                                    .cols = (csaw_vertex)s->cols,
                                    .num_edges = (csaw_vertex)s->num_edges};
    const csaw_vertex most = s->rows > s->cols ? (csaw_vertex)s->rows : (csaw_vertex)s->cols;
    if (most > batch->most) batch->most = most;
    batch->total.rows += s->rows;
    batch->total.cols += s->cols;
    batch->total.edges += s->num_edges;
    return CSAW_OK;
}

static csaw_status check_options(const csaw_batch_options *given) {
    CSAW_OPTIONS(csaw_batch_options, given, options)
    CSAW_REQUIRE(!options.device || strcmp(options.device, "cpu") == 0, CSAW_EUNSUPPORTED,
                 "no batch on device \"%s\": aggregation runs on the CPU so far; ask for \"cpu\"", options.device);
    return CSAW_OK;
}

static csaw_status create(uint64_t num_graphs, const csaw_batch_options *options, csaw_batch **out) {
    csaw_status status;
    csaw_batch *batch;
    CSAW_TRY(check_options(options));
    CSAW_REQUIRE(num_graphs < CSAW_NONE, CSAW_EINVAL, "%llu graphs, but a batch has at most %llu; make several batches",
                 (number)num_graphs, (number)CSAW_NONE - 1);
    CSAW_TRY(csaw__alloc_zero(&batch, 1, "a batch"));
    status = csaw__alloc(&batch->graph, num_graphs, "descriptors of a batch");
    if (status == CSAW_OK)
        *out = batch;
    else
        csaw_batch_free(batch);
    return status;
}

static csaw_status finish(csaw_batch *batch, uint64_t num_graphs, csaw_batch **out) {
    batch->total.graphs = num_graphs;
    CSAW_TRY(check_entries(batch));
    CSAW_TRY(csaw__batch_deal(batch));
    *out = batch;
    return CSAW_OK;
}

csaw_status csaw_batch_list(const csaw_small *graphs, uint64_t num_graphs, const csaw_batch_options *options,
                            csaw_batch **out) {
    csaw_status status;
    csaw_batch *batch;
    CSAW_REQUIRE(out, CSAW_EINVAL, "out is NULL; give a place for the batch");
    CSAW_REQUIRE(graphs || !num_graphs, CSAW_EINVAL, "graphs is NULL, but there are %llu; give their structs",
                 (number)num_graphs);
    CSAW_TRY(create(num_graphs, options, &batch));
    for (uint64_t g = 0; g < num_graphs; g++) {
        CSAW_TRY_DONE(append(batch, g, num_graphs, &graphs[g]));
        CSAW_REQUIRE_DONE(!batch->graph[g].rowptr || batch->graph[g].rowptr[0] == 0, CSAW_EINVAL,
                          "graph %llu of %llu: rowptr begins with %llu; it begins with 0", (number)g,
                          (number)num_graphs, (number)batch->graph[g].rowptr[0]);
    }
    CSAW_TRY_DONE(finish(batch, num_graphs, out));
    return CSAW_OK;
done:
    csaw_batch_free(batch);
    return status;
}

/* ---- shared arrays ------------------------------------------------------------ */

static csaw_status check_offset(const uint64_t *offset, const char *name, uint64_t g, uint64_t graphs) {
    return offset[g] <= offset[g + 1]
               ? CSAW_OK
               : csaw__fail(CSAW_EINVAL, "graph %llu of %llu: %s falls from %llu to %llu; offsets never fall",
                            (number)g, (number)graphs, name, (number)offset[g], (number)offset[g + 1]);
}

/* Graph g of s, with offsets that do not fall. */
static csaw_small look(const csaw_small_graphs *s, const uint64_t *col_offset, uint64_t g) {
    const bool csr = s->format == CSAW_CSR;
    const uint64_t *const rowptr = csr ? s->rowptr + s->row_offset[g] : NULL;
    const uint64_t rows = s->row_offset[g + 1] - s->row_offset[g];
    const uint64_t edge = csr ? 0 : s->edge_offset[g], stride = s->index_stride ? s->index_stride : 1;
    return (csaw_small){.rows = rows,
                        .cols = col_offset[g + 1] - col_offset[g],
                        .num_edges = csr ? rowptr[rows] - rowptr[0] : s->edge_offset[g + 1] - edge,
                        .format = s->format,
                        .row = s->row ? s->row + edge * stride : NULL,
                        .rowptr = rowptr,
                        .col = s->col ? s->col + edge * stride : NULL,
                        .index_stride = stride,
                        .weight = s->weight ? s->weight + edge : NULL};
}

static csaw_status join(const csaw_small_graphs *s, csaw_batch *batch) {
    const uint64_t *const cols = s->col_offset ? s->col_offset : s->row_offset, n = s->num_graphs;
    for (uint64_t g = 0; g < n; g++) {
        CSAW_TRY(check_offset(s->row_offset, "row_offset", g, n));
        CSAW_TRY(check_offset(cols, "col_offset", g, n));
        if (s->format == CSAW_COO) CSAW_TRY(check_offset(s->edge_offset, "edge_offset", g, n));
        const csaw_small small = look(s, cols, g);
        CSAW_REQUIRE(!small.rowptr || small.rowptr[0] <= small.rowptr[small.rows], CSAW_EINVAL,
                     "graph %llu of %llu: rowptr falls from %llu to %llu; a rowptr never falls", (number)g, (number)n,
                     (number)small.rowptr[0], (number)small.rowptr[small.rows]);
        CSAW_TRY(append(batch, g, n, &small));
        if (!s->global) continue;
        CSAW_REQUIRE(s->row_offset[g + 1] < CSAW_NONE && cols[g + 1] < CSAW_NONE, CSAW_EINVAL,
                     "graph %llu of %llu: its rows or columns count beyond %u, which indices of 32 bits cannot say; "
                     "count them from 0 in each graph",
                     (number)g, (number)n, CSAW_NONE - 1);
        batch->graph[g].row_base = (csaw_vertex)s->row_offset[g];
        batch->graph[g].col_base = (csaw_vertex)cols[g];
    }
    return CSAW_OK;
}

csaw_status csaw_batch_join(const csaw_small_graphs *graphs, const csaw_batch_options *options, csaw_batch **out) {
    csaw_status status;
    csaw_batch *batch;
    CSAW_REQUIRE(graphs && out, CSAW_EINVAL, "graphs or out is NULL; give the arrays, and a place for the batch");
    const bool csr = graphs->format == CSAW_CSR;
    CSAW_REQUIRE(csr || graphs->format == CSAW_COO, CSAW_EINVAL, "format %d; give CSAW_COO or CSAW_CSR",
                 (int)graphs->format);
    CSAW_REQUIRE(!graphs->num_graphs || (graphs->row_offset && (csr ? graphs->rowptr : graphs->edge_offset)),
                 CSAW_EINVAL, "%s is NULL, but there are %llu graphs; give it",
                 !graphs->row_offset ? "row_offset"
                 : csr               ? "rowptr"
                                     : "edge_offset",
                 (number)graphs->num_graphs);
    CSAW_TRY(create(graphs->num_graphs, options, &batch));
    CSAW_TRY_DONE(join(graphs, batch));
    CSAW_TRY_DONE(finish(batch, graphs->num_graphs, out));
    return CSAW_OK;
done:
    csaw_batch_free(batch);
    return status;
}

csaw_batch_totals csaw_batch_count(const csaw_batch *batch) { return batch->total; }

void csaw_batch_free(csaw_batch *batch) {
    if (!batch) return;
    csaw__free(batch->piece);
    csaw__free(batch->graph);
    csaw__free(batch);
}

/* SPDX-License-Identifier: MIT */
/* spmm/transpose.c - the transpose of a sparse matrix by a stable counting sort of its edges by column: equal parts of
 * the edges count in parallel, each part finds its places behind those of the parts before it, and fills them. Where an
 * edge goes does not depend on the number of parts. */
#include "runtime/base/parallel.h"
#include "spmm/plan.h"

/* Edges of part t: bound(t) .. bound(t + 1) - 1. */
static uint64_t bound(const csaw_sparse *a, uint64_t parts, uint64_t t) {
    return a->num_edges / parts * t + (a->num_edges % parts * t) / parts;
}

/* count: [parts, cols], zero. Returns the first edge whose column is out of range, UINT64_MAX if there is none. */
static uint64_t count_columns(const csaw_sparse *a, uint64_t parts, uint64_t *count) {
    uint64_t bad = UINT64_MAX;
    CSAW__OMP(parallel for schedule(static, 1) if(parts > 1) reduction(min : bad))
    for (uint64_t t = 0; t < parts; t++)
        for (uint64_t e = bound(a, parts, t); e < bound(a, parts, t + 1); e++) {
            if (a->col[e] < a->cols)
                count[t * a->cols + a->col[e]]++;
            else if (e < bad)
                bad = e;
        }
    return bad;
}

/* From counts to the place of the first edge of each part and column; fills rowptr: [cols + 1]. */
static void sum_counts(const csaw_sparse *a, uint64_t parts, uint64_t *count, uint64_t *rowptr) {
    uint64_t sum = 0;
    for (uint64_t j = 0; j < a->cols; j++) {
        rowptr[j] = sum;
        for (uint64_t t = 0; t < parts; t++) {
            const uint64_t here = count[t * a->cols + j];
            count[t * a->cols + j] = sum;
            sum += here;
        }
    }
    rowptr[a->cols] = sum;
}

static void place_edges(const csaw_sparse *a, uint64_t parts, uint64_t *place, csaw_vertex *row, csaw_edge *edge) {
    CSAW__OMP(parallel for schedule(static, 1) if(parts > 1))
    for (uint64_t t = 0; t < parts; t++) {
        const uint64_t begin = bound(a, parts, t), end = bound(a, parts, t + 1);
        uint64_t r = begin < end ? csaw__row_of_edge(a, begin) : 0;
        for (uint64_t e = begin; e < end; e++) {
            while (e >= a->rowptr[r + 1]) r++;
            const uint64_t at = place[t * a->cols + a->col[e]]++;
            row[at] = (csaw_vertex)r;
            edge[at] = e;
        }
    }
}

/* Parts are worth their counts only if they have as many edges. */
static uint64_t parts_of(const csaw_sparse *a) {
    const uint64_t worth = a->num_edges / (a->cols + 1024), threads = (uint64_t)csaw__max_threads();
    return worth < 1 ? 1 : worth < threads ? worth : threads;
}

uint64_t csaw__transpose_bytes(const csaw_sparse *a, csaw__rows *rows) {
    const uint64_t count = parts_of(a) * a->cols * sizeof(uint64_t), rowptr = (a->cols + 1) * sizeof(uint64_t);
    *rows = (csaw__rows){.num_hubs = a->num_edges / (CSAW__HUB + 1), .longest = a->num_edges};
    if (rows->num_hubs > a->cols) rows->num_hubs = a->cols;
    return count + rowptr + a->num_edges * (sizeof(csaw_vertex) + sizeof(csaw_edge)) + csaw__rows_bytes(rows);
}

csaw_status csaw__transpose_create(const csaw_sparse *a, csaw__transpose *out) {
    csaw_status status = CSAW_OK;
    uint64_t *count = NULL, *rowptr = NULL;
    csaw_vertex *row = NULL;
    csaw__transpose t = {.edge = NULL};
    CSAW_REQUIRE(a->rows <= 0xffffffffu, CSAW_EINVAL,
                 "a matrix of %llu rows cannot be transposed: its rows become columns, which reach 2^32 - 1; split it",
                 (unsigned long long)a->rows);
    const uint64_t parts = parts_of(a);
    CSAW_TRY_DONE(csaw__alloc_zero(&count, parts * a->cols, "counts of columns"));
    CSAW_TRY_DONE(csaw__alloc(&rowptr, a->cols + 1, "the rows of a transpose"));
    CSAW_TRY_DONE(csaw__alloc(&row, a->num_edges, "the edges of a transpose"));
    CSAW_TRY_DONE(csaw__alloc(&t.edge, a->num_edges, "the edges of a transpose"));
    const uint64_t bad = count_columns(a, parts, count);
    CSAW_REQUIRE_DONE(bad == UINT64_MAX, CSAW_EINVAL,
                      "edge %llu has column %u, but the matrix has %llu columns, numbered from 0; fix it, or cols",
                      (unsigned long long)bad, a->col[bad], (unsigned long long)a->cols);
    sum_counts(a, parts, count, rowptr);
    place_edges(a, parts, count, row, t.edge);
    t.a = (csaw_sparse){.rows = a->cols, .cols = a->rows, .num_edges = a->num_edges, .rowptr = rowptr, .col = row};
    CSAW_TRY_DONE(csaw__rows_find(&t.a, &t.rows));
    *out = t;
    rowptr = NULL;
    row = NULL;
    t.edge = NULL;
done:
    csaw__free(count);
    csaw__free(rowptr);
    csaw__free(row);
    csaw__free(t.edge);
    return status;
}

void csaw__transpose_weights(const csaw_sparse *a, const csaw__transpose *t, uint32_t heads, bool mean,
                             const float *kept, float *out) {
    const uint64_t count = a->num_edges;
    CSAW__OMP(parallel for if(csaw__is_long(count)))
    for (uint64_t k = 0; k < count; k++)
        for (uint32_t h = 0; h < heads; h++) {
            const float w = kept ? kept[k * heads + h] : a->weight ? a->weight[t->edge[k] * heads + h] : 1.0f;
            out[k * heads + h] = mean ? w / (float)csaw__row_length(a, t->a.col[k]) : w;
        }
}

void csaw__transpose_free(csaw__transpose *t) {
    csaw__free((void *)t->a.rowptr);
    csaw__free((void *)t->a.col);
    csaw__free(t->edge);
    csaw__rows_free(&t->rows);
}

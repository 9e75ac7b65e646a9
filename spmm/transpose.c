/* SPDX-License-Identifier: MIT */
/* spmm/transpose.c - the transpose of a sparse matrix by a stable counting sort of its edges by column: equal parts of
 * the edges count in parallel, each part finds its places behind those of the parts before it, and fills them. Where an
 * edge goes does not depend on the number of parts. */
#include "runtime/base/parallel.h"
#include "spmm/by_column.h"

static void place_edges(const csaw_sparse *a, const csaw__by_column *c, csaw_vertex *row, csaw_edge *edge) {
    CSAW__OMP(parallel for schedule(static, 1) if(c->parts > 1))
    for (uint64_t t = 0; t < c->parts; t++) {
        const uint64_t begin = csaw__by_column_bound(a, c->parts, t), end = csaw__by_column_bound(a, c->parts, t + 1);
        uint64_t r = begin < end ? csaw__row_of_edge(a, begin) : 0;
        for (uint64_t e = begin; e < end; e++) {
            while (e >= a->rowptr[r + 1]) r++;
            const uint64_t at = c->place[t * a->cols + a->col[e]]++;
            row[at] = (csaw_vertex)r;
            edge[at] = e;
        }
    }
}

uint64_t csaw__transpose_bytes(const csaw_sparse *a, csaw__rows *rows) {
    *rows = (csaw__rows){.num_hubs = a->num_edges / (CSAW__HUB + 1), .longest = a->num_edges};
    if (rows->num_hubs > a->cols) rows->num_hubs = a->cols;
    return csaw__by_column_bytes(a) + a->num_edges * (sizeof(csaw_vertex) + sizeof(csaw_edge)) + csaw__rows_bytes(rows);
}

csaw_status csaw__transpose_create(const csaw_sparse *a, csaw__transpose *out) {
    csaw_status status = CSAW_OK;
    csaw__by_column c = {.parts = 0};
    csaw_vertex *row = NULL;
    csaw__transpose t = {.edge = NULL};
    CSAW_REQUIRE(a->rows <= 0xffffffffu, CSAW_EINVAL,
                 "a matrix of %llu rows cannot be transposed: its rows become columns, which reach 2^32 - 1; split it",
                 (unsigned long long)a->rows);
    CSAW_TRY_DONE(csaw__by_column_count(a, &c));
    CSAW_TRY_DONE(csaw__alloc(&row, a->num_edges, "the edges of a transpose"));
    CSAW_TRY_DONE(csaw__alloc(&t.edge, a->num_edges, "the edges of a transpose"));
    place_edges(a, &c, row, t.edge);
    t.a = (csaw_sparse){.rows = a->cols, .cols = a->rows, .num_edges = a->num_edges, .rowptr = c.rowptr, .col = row};
    CSAW_TRY_DONE(csaw__rows_find(&t.a, &t.rows));
    *out = t;
    c.rowptr = NULL;
    row = NULL;
    t.edge = NULL;
done:
    csaw__by_column_free(&c);
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

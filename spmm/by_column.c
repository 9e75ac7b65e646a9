/* SPDX-License-Identifier: MIT */
/* spmm/by_column.c - edges counted by column. What comes out does not depend on the number of parts. */
#include "spmm/by_column.h"

#include "runtime/base/parallel.h"

/* count: [parts, cols], zero. Returns the first edge whose column is out of range, UINT64_MAX if there is none. */
static uint64_t count_edges(const csaw_sparse *a, uint64_t parts, uint64_t *count) {
    uint64_t bad = UINT64_MAX;
    CSAW__OMP(parallel for schedule(static, 1) if(parts > 1) reduction(min : bad))
    for (uint64_t t = 0; t < parts; t++) {
        const uint64_t end = csaw__by_column_bound(a, parts, t + 1);
        for (uint64_t e = csaw__by_column_bound(a, parts, t); e < end; e++) {
            if (a->col[e] < a->cols)
                count[t * a->cols + a->col[e]]++;
            else if (e < bad)
                bad = e;
        }
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

/* Parts are worth their counts only if they have as many edges. */
static uint64_t parts_of(const csaw_sparse *a) {
    const uint64_t worth = a->num_edges / (a->cols + 1024), threads = (uint64_t)csaw__max_threads();
    return worth < 1 ? 1 : worth < threads ? worth : threads;
}

uint64_t csaw__by_column_bytes(const csaw_sparse *a) {
    return (parts_of(a) * a->cols + a->cols + 1) * sizeof(uint64_t);
}

csaw_status csaw__by_column_count(const csaw_sparse *a, csaw__by_column *out) {
    csaw_status status = CSAW_OK;
    csaw__by_column c = {.parts = parts_of(a)};
    CSAW_TRY_DONE(csaw__alloc_zero(&c.place, c.parts * a->cols, "counts of columns"));
    CSAW_TRY_DONE(csaw__alloc(&c.rowptr, a->cols + 1, "the rows of a transpose"));
    const uint64_t bad = count_edges(a, c.parts, c.place);
    CSAW_REQUIRE_DONE(bad == UINT64_MAX, CSAW_EINVAL,
                      "edge %llu has column %u, but the matrix has %llu columns, numbered from 0; fix it, or cols",
                      (unsigned long long)bad, a->col[bad], (unsigned long long)a->cols);
    sum_counts(a, c.parts, c.place, c.rowptr);
    *out = c;
    c = (csaw__by_column){.parts = 0};
done:
    csaw__by_column_free(&c);
    return status;
}

void csaw__by_column_free(csaw__by_column *c) {
    csaw__free(c->place);
    csaw__free(c->rowptr);
    *c = (csaw__by_column){.parts = 0};
}

/* Chunks of a column but its first. */
static uint64_t more_chunks(const uint64_t *rowptr, uint64_t j) {
    const uint64_t length = rowptr[j + 1] - rowptr[j];
    return length ? (length - 1) / CSAW_CHUNK : 0;
}

static uint64_t count_chunks(const uint64_t *rowptr, uint64_t cols) {
    uint64_t count = 0;
    for (uint64_t j = 0; j < cols; j++) count += more_chunks(rowptr, j);
    return count;
}

static void find_first(const csaw_sparse *a, const csaw__by_column *c, const uint64_t *begin, csaw_edge *first) {
    CSAW__OMP(parallel for schedule(static, 1) if(c->parts > 1))
    for (uint64_t t = 0; t < c->parts; t++) {
        const uint64_t end = csaw__by_column_bound(a, c->parts, t + 1);
        for (uint64_t e = csaw__by_column_bound(a, c->parts, t); e < end; e++) {
            const csaw_vertex j = a->col[e];
            const uint64_t place = c->place[t * a->cols + j]++ - c->rowptr[j];
            if (place && place % CSAW_CHUNK == 0) first[begin[j] + place / CSAW_CHUNK - 1] = e;
        }
    }
}

uint64_t csaw__column_chunks_bytes(const csaw_sparse *a, const csaw__transpose *t, uint64_t *count) {
    *count = t ? count_chunks(t->a.rowptr, a->cols) : a->num_edges / CSAW_CHUNK;
    const uint64_t own = *count ? (a->cols + 1) * sizeof(uint64_t) + *count * sizeof(csaw_edge) : 0;
    return own + (t || a->num_edges <= CSAW_CHUNK ? 0 : csaw__by_column_bytes(a));
}

csaw_status csaw__column_chunks_create(const csaw_sparse *a, const csaw__transpose *t, csaw__column_chunks *out) {
    csaw_status status = CSAW_OK;
    csaw__by_column counted = {.parts = 0};
    csaw__column_chunks c = {.begin = NULL};
    *out = c;
    if (a->num_edges <= CSAW_CHUNK) return CSAW_OK;
    if (!t) CSAW_TRY(csaw__by_column_count(a, &counted));
    const uint64_t *const rowptr = t ? t->a.rowptr : counted.rowptr;
    const uint64_t count = count_chunks(rowptr, a->cols);
    if (!count) goto done;
    CSAW_TRY_DONE(csaw__alloc(&c.begin, a->cols + 1, "chunks of columns"));
    CSAW_TRY_DONE(csaw__alloc(&c.first, count, "chunks of columns"));
    c.begin[0] = 0;
    for (uint64_t j = 0; j < a->cols; j++) c.begin[j + 1] = c.begin[j] + more_chunks(rowptr, j);
    if (!t) find_first(a, &counted, c.begin, c.first);
    for (uint64_t j = 0; t && j < a->cols; j++)
        for (uint64_t k = c.begin[j]; k < c.begin[j + 1]; k++)
            c.first[k] = t->edge[rowptr[j] + (k - c.begin[j] + 1) * CSAW_CHUNK];
    *out = c;
    c = (csaw__column_chunks){.begin = NULL};
done:
    csaw__by_column_free(&counted);
    csaw__column_chunks_free(&c);
    return status;
}

void csaw__column_chunks_free(csaw__column_chunks *c) {
    csaw__free(c->begin);
    csaw__free(c->first);
    *c = (csaw__column_chunks){.begin = NULL};
}

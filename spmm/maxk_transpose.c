/* SPDX-License-Identifier: MIT */
/* spmm/maxk_transpose.c - a counting sort of the edges by column. Each thread owns a range of columns, reads all edges
 * and moves its own, in order: so places are decided without atomics, and the same for any number of threads. Every
 * thread reads every column number, so reading does not get faster with threads; moving, which misses the cache, does.
 */
#include "spmm/maxk_transpose.h"

#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"

typedef unsigned long long ull;

/* count [cols + 1], cleared: count[j + 1] becomes the edges in column j. Returns the first edge whose column is not
 * below cols. */
static uint64_t count_columns(const csaw_sparse *a, uint64_t threads, uint64_t *count) {
    uint64_t bad = UINT64_MAX;
    CSAW__OMP(parallel for schedule(static, 1) if (threads > 1) reduction(min : bad))
    for (uint64_t t = 0; t < threads; t++) {
        const uint64_t low = a->cols * t / threads, high = a->cols * (t + 1) / threads;
        for (uint64_t e = 0; e < a->num_edges; e++) {
            const uint64_t j = a->col[e];
            if (j >= low && j < high) count[j + 1]++;
            if (j >= a->cols && e < bad) bad = e;
        }
    }
    return bad;
}

/* The column where part t of `parts` begins: parts hold about equal numbers of edges. */
static uint64_t part_begin(const uint64_t *rowptr, uint64_t cols, uint64_t t, uint64_t parts) {
    const uint64_t edges = rowptr[cols], place = edges / parts * t + edges % parts * t / parts;
    uint64_t low = 0, high = cols;
    if (t == parts) return cols;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (rowptr[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* next [cols]: where the next edge of each column goes. */
static void move_edges(const csaw_sparse *a, uint64_t low, uint64_t high, uint64_t *next, csaw_vertex *col,
                       float *weight) {
    for (uint64_t r = 0; r < a->rows; r++)
        for (uint64_t e = a->rowptr[r]; e < a->rowptr[r + 1]; e++) {
            const uint64_t j = a->col[e];
            if (j < low || j >= high) continue;
            const uint64_t to = next[j]++;
            col[to] = (csaw_vertex)r;
            if (weight) weight[to] = a->weight[e];
        }
}

csaw_status csaw__maxk_transpose(const csaw_sparse *a, csaw_sparse *out) {
    const uint64_t cols = a->cols, threads = csaw__is_long(a->num_edges) ? (uint64_t)csaw__max_threads() : 1;
    csaw_status status = CSAW_OK;
    uint64_t *rowptr = NULL, *next = NULL;
    csaw_vertex *col = NULL;
    float *weight = NULL;
    CSAW_REQUIRE(a->rows <= 0xffffffffu, CSAW_EINVAL,
                 "a has %llu rows, but its transpose numbers them by 32 bits, up to 2^32 - 1; split a by rows",
                 (ull)a->rows);
    CSAW_TRY_DONE(csaw__alloc_zero(&rowptr, cols + 1, "the transpose"));
    CSAW_TRY_DONE(csaw__alloc(&next, cols, "the transpose"));
    CSAW_TRY_DONE(csaw__alloc(&col, a->num_edges, "the transpose"));
    if (a->weight) CSAW_TRY_DONE(csaw__alloc(&weight, a->num_edges, "the transpose"));
    const uint64_t bad = count_columns(a, threads, rowptr);
    CSAW_REQUIRE_DONE(bad == UINT64_MAX, CSAW_EINVAL,
                      "edge %llu has column %u, but a has %llu columns, numbered from 0; fix the edge, or cols",
                      (ull)bad, a->col[bad], (ull)cols);
    for (uint64_t j = 0; j < cols; j++) {
        rowptr[j + 1] += rowptr[j];
        next[j] = rowptr[j];
    }
    CSAW__OMP(parallel for schedule(static, 1) if (threads > 1))
    for (uint64_t t = 0; t < threads; t++)
        move_edges(a, part_begin(rowptr, cols, t, threads), part_begin(rowptr, cols, t + 1, threads), next, col,
                   weight);
    *out = (csaw_sparse){
        .rows = cols, .cols = a->rows, .num_edges = a->num_edges, .rowptr = rowptr, .col = col, .weight = weight};
    rowptr = NULL, col = NULL, weight = NULL;
done:
    csaw__free(weight);
    csaw__free(col);
    csaw__free(next);
    csaw__free(rowptr);
    return status;
}

void csaw__maxk_transpose_free(csaw_sparse *transpose) {
    csaw__free((void *)transpose->rowptr);
    csaw__free((void *)transpose->col);
    csaw__free((void *)transpose->weight);
}

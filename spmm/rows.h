/* SPDX-License-Identifier: MIT */
/* spmm/rows.h - how the rows of a sparse matrix are shared out among threads.
 *
 * Rows differ in length by factors of thousands, so threads take stretches of about equal work, a row counting as its
 * edges and one more: stretch t holds the rows r with t * CSAW__STRETCH <= rowptr[r] + r < (t + 1) * CSAW__STRETCH,
 * found by bisection (the idea of merge-path SpMV: Merrill, Garland, SC'16). Rows too long for one thread, the hubs,
 * are left out of the stretches: all threads take the chunks of one together. None of this decides a result: that is
 * fixed by the chunks of each row alone. */
#ifndef CSAW_SPMM_ROWS_H
#define CSAW_SPMM_ROWS_H

#include "runtime/base/memory.h"

#include <csaw/spmm.h>

#define CSAW__STRETCH 4096ull /* edges and rows */
#define CSAW__HUB 32768ull    /* edges; longer rows are hubs */

typedef struct csaw__rows {
    uint64_t num_hubs, longest; /* longest: edges of the longest row */
    uint64_t *hub;              /* [num_hubs] rows, ascending */
} csaw__rows;

/* Checks that rowptr ascends from 0 to num_edges (CSAW_EINVAL), and finds the hubs. */
csaw_status csaw__rows_find(const csaw_sparse *a, csaw__rows *out);
void csaw__rows_free(csaw__rows *rows);
/* Of memory that it took. */
static inline uint64_t csaw__rows_bytes(const csaw__rows *rows) { return rows->num_hubs * sizeof *rows->hub; }

static inline uint64_t csaw__row_length(const csaw_sparse *a, uint64_t row) {
    return a->rowptr[row + 1] - a->rowptr[row];
}

static inline uint64_t csaw__num_stretches(const csaw_sparse *a) {
    return (a->num_edges + a->rows + CSAW__STRETCH - 1) / CSAW__STRETCH;
}

/* The first row of stretch t; of the one past the last: rows. */
static inline uint64_t csaw__stretch_begin(const csaw_sparse *a, uint64_t t) {
    uint64_t low = 0, high = a->rows;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (a->rowptr[middle] + middle < t * CSAW__STRETCH)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The row that edge e < num_edges stands in. */
static inline uint64_t csaw__row_of_edge(const csaw_sparse *a, uint64_t e) {
    uint64_t low = 0, high = a->rows; /* rowptr[low] <= e < rowptr[high] */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (a->rowptr[middle] <= e)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static inline uint64_t csaw__num_chunks(uint64_t edges) { return (edges + CSAW_CHUNK - 1) / CSAW_CHUNK; }

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/maxk_rows.h - sums over the edges of each row, shared out among threads, in an order that hangs on the rows
 * alone.
 *
 * Order: csaw/maxk.h. Threads take stretches of rows with about equal numbers of edges and rows (merge-path, by
 * bisection: Merrill, Garland, SC'16), each row summed in the thread's own memory, which fits L1 or L2. A long row, the
 * hub of a power law, would keep one thread while the others wait: all threads take its chunks, some at a time, and add
 * them up in order, each thread some columns. */
#ifndef CSAW_SPMM_MAXK_ROWS_H
#define CSAW_SPMM_MAXK_ROWS_H

#include <csaw/spmm.h>

#include "runtime/base/status.h"

#define CSAW__MAXK_HUB 32768ull    /* edges; longer rows are taken by all threads */
#define CSAW__MAXK_STRETCH 4096ull /* edges and rows that a thread takes at a time */

typedef struct csaw__row_sums {
    const uint64_t *rowptr; /* [rows + 1] */
    uint64_t rows, width;   /* a sum has `width` elements */
    const void *job;        /* of the functions */
    /* Adds the products of edges begin .. end - 1 of this row to sum [width], one after the other. */
    void (*add)(const void *job, uint64_t row, uint64_t begin, uint64_t end, float *sum);
    /* Stores the sum [width] of a row, which it may change. */
    void (*store)(const void *job, uint64_t row, float *sum);
} csaw__row_sums;

/* CSAW_ENOMEM before anything is stored. */
csaw_status csaw__sum_rows(const csaw__row_sums *s);

#endif

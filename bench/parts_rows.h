/* SPDX-License-Identifier: MIT */
/* bench/parts_rows.h - what parts_bench and largest_bench say: a line of text for each way that walks were drawn, and
 * JSON if asked: whole after every row, so that what cuts the run leaves those that were told. */
#ifndef CSAW_BENCH_PARTS_ROWS_H
#define CSAW_BENCH_PARTS_ROWS_H

#include <stdio.h>

#include "bench/parts_settings.h"
#include "bench/phases.h"
#include "runtime/engine/parts.h"

typedef struct parts_row {
    uint64_t walks, steps, launches, batches, partitions, resident;
    double seconds, least, most; /* of several runs; all else is of the run that took so many seconds */
    csaw__parts_use moved;       /* during it, but for used and peak */
} parts_row;

/* Of the run that begins here and ends there, less seconds that are not its own. */
parts_row parts_row_begin(const csaw__parts *parts, uint64_t walks);
void parts_row_end(parts_row *row, const csaw__parts *parts, double less);

typedef struct parts_rows {
    FILE *json; /* or NULL */
    double rate;
    bool first;
} parts_rows;

/* rate: bytes a second to the device. */
parts_rows parts_rows_begin(const parts_settings *settings, const parts_graph *graph, uint64_t walks, double rate);
/* in_memory: seconds of the same walks on the graph in memory; 0: they were not drawn. */
void parts_rows_add(parts_rows *rows, const char *walk, const char *by, const parts_row *row, double in_memory);
void parts_rows_end(parts_rows *rows, const phases *phases); /* NULL: they were not told apart */

#endif

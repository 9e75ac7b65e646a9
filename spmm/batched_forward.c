/* SPDX-License-Identifier: MIT */
/* spmm/batched_forward.c - csaw_batched_spmm(): y_g = A_g x_g for every graph of a batch.
 *
 * Method: a graph at a time, in slices of columns so narrow that its part of x and y stays in cache (the shared-memory
 * blocking of Nagasaka et al., chosen for each graph by its own size and not by the largest of the batch). CSR and COO
 * go through one loop over runs of entries of one row; of CSR a run is the whole row. */
#include <string.h>

#include "runtime/base/status.h"
#include "spmm/batched_exact.h"
#include "spmm/batched_options.h"
#include "spmm/batched_run.h"
#include "spmm/device.h"

enum { LINE = 16, LONG_ROW = 128 }; /* elements; of a cache line */

typedef struct forward {
    const csaw_batch *batch;
    csaw__batched_dense x, y;
    csaw_batched_options options;
} forward;

typedef struct slices {     /* of one graph */
    csaw__slice x, y, next; /* next: what this thread is likely to read afterwards */
    uint32_t *arg;          /* [rows, arg_stride] */
    uint64_t arg_stride;
    csaw_reduce reduce;
} slices;

/* Entries read rows of x in any order, which no hardware foresees. So a row of the next graph is asked for with each
 * row of this one, which pays for short rows that come from memory and costs time with long ones. */
static void ask_for(const csaw__slice *next, uint64_t row) {
    for (uint64_t c = 0; row < next->rows && c < next->cols; c += LINE)
        __builtin_prefetch(next->at + row * next->stride + c);
}

static void reduce_run(const slices *s, const csaw__run *run, uint32_t first, uint64_t row) {
    float *const y = s->y.at + row * s->y.stride;
    ask_for(&s->next, row);
    if (s->arg)
        csaw__best_run(run, first, &s->x, s->reduce == CSAW_MAX ? 1.0f : -1.0f, y, s->arg + row * s->arg_stride);
    else
        csaw__add_run(run, &s->x, y);
}

static void reduce_csr(const slices *s, const csaw__small *g) {
    for (uint64_t i = 0; i < g->rows; i++) {
        const csaw__run run = {g, g->rowptr[i], g->rowptr[i + 1]};
        if (run.begin < run.end) reduce_run(s, &run, (uint32_t)(run.begin - g->rowptr[0]), i);
    }
}

static void reduce_coo(const slices *s, const csaw__small *g) {
    for (uint64_t k = 0, end; k < g->num_edges; k = end) {
        const uint64_t row = csaw__row(g, k);
        for (end = k + 1; end < g->num_edges && csaw__row(g, end) == row;) end++;
        const csaw__run run = {g, k, end};
        reduce_run(s, &run, (uint32_t)k, row);
    }
}

static void clear(const slices *s) {
    for (uint64_t i = 0; i < s->y.rows; i++) {
        memset(s->y.at + i * s->y.stride, 0, s->y.cols * sizeof *s->y.at);
        for (uint64_t c = 0; s->arg && c < s->y.cols; c++) s->arg[i * s->arg_stride + c] = CSAW_NONE;
    }
}

static void divide(const csaw__slice *y, const uint32_t *count) {
    for (uint64_t i = 0; i < y->rows; i++) {
        const float by = (float)count[i];
        for (uint64_t c = 0; count[i] > 1 && c < y->cols; c++) y->at[i * y->stride + c] /= by;
    }
}

/* The next graph's x, if this slice is the last of its graph; nothing for long rows, which the hardware follows by
 * itself, nor for 16 bits, which are converted in order. */
static csaw__slice next_of(const forward *f, uint64_t number, uint64_t end) {
    const csaw__slice nothing = {NULL, 0, 0, 0};
    if (end < f->x.d.cols || end > LONG_ROW || f->x.d.dtype != CSAW_F32) return nothing;
    if (number + 1 == f->batch->total.graphs) return nothing;
    return csaw__slice_open(&f->x, number + 1, 0, csaw__slice_width(&f->batch->graph[number + 1], end), NULL);
}

static void forward_slice(const forward *f, const csaw__small *g, uint64_t number, uint64_t begin, uint64_t cols,
                          const csaw__scratch *mine) {
    const bool best = f->options.reduce == CSAW_MAX || f->options.reduce == CSAW_MIN;
    slices s = {.x = csaw__slice_read(&f->x, number, begin, cols, mine->in),
                .y = csaw__slice_open(&f->y, number, begin, cols, mine->out),
                .next = next_of(f, number, begin + cols),
                .arg_stride = cols,
                .reduce = f->options.reduce};
    if (best) s.arg = mine->arg;
    if (best && f->options.arg) {
        s.arg = f->options.arg + g->row_begin * f->y.d.cols + begin;
        s.arg_stride = f->y.d.cols;
    }
    clear(&s);
    if (g->rowptr)
        reduce_csr(&s, g);
    else
        reduce_coo(&s, g);
    if (f->options.reduce == CSAW_MEAN) divide(&s.y, mine->count);
    csaw__slice_close(&f->y, number, begin, &s.y);
}

static void forward_graph(const void *job, uint64_t number, uint64_t part, uint64_t parts,
                          const csaw__scratch *scratch) {
    const forward *const f = job;
    const csaw__small g = csaw__batched_graph(f->batch, &f->options, number);
    const uint64_t cols = f->y.d.cols, width = csaw__slice_width(&g, cols);
    if (f->options.reduce == CSAW_MEAN && part * width < cols) csaw__batch_count_entries(&g, scratch->count);
    for (uint64_t begin = part * width; begin < cols; begin += parts * width)
        forward_slice(f, &g, number, begin, begin + width < cols ? width : cols - begin, scratch);
}

csaw_status csaw_batched_spmm(const csaw_batch *batch, const csaw_batched_dense *x, const csaw_batched_options *options,
                              const csaw_batched_dense *y) {
    CSAW_REQUIRE(batch, CSAW_EINVAL, "batch is NULL; give one of csaw_batch_list() or csaw_batch_join()");
    forward f = {.batch = batch};
    CSAW_TRY(csaw__batched_options_check(batch, options, &f.options));
    CSAW_TRY(csaw__batched_dense_check(batch, CSAW__COLS, "x", x, &f.x));
    CSAW_TRY(csaw__batched_dense_check(batch, CSAW__ROWS, "y", y, &f.y));
    CSAW_TRY(csaw__batched_widths_check("x", &f.x, "y", &f.y));
    CSAW_TRY(csaw__batched_apart_check(&f.y, "y", &f.x, "x"));
    if (batch->device) return csaw__device_batched_spmm(batch, 0, &f.x.d, &f.options, &f.y.d);
    if (f.options.exact) return csaw__batched_exact(batch, &f.options, &f.x, &f.y);
    const bool best = f.options.reduce == CSAW_MAX || f.options.reduce == CSAW_MIN;
    const csaw__needs needs = {.in = f.x.d.dtype != CSAW_F32,
                               .out = f.y.d.dtype != CSAW_F32,
                               .arg = best && !f.options.arg,
                               .count = f.options.reduce == CSAW_MEAN};
    return csaw__batch_run(batch, f.y.d.cols, needs, forward_graph, &f);
}

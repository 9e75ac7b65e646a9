/* SPDX-License-Identifier: MIT */
/* spmm/batched_exact.c - see the header. Graphs and slices of columns are dealt out as in float32; of a slice the sums
 * of all its rows are kept until the last entry was added, since entries of COO stand in any order. */
#define REAL double
#include "spmm/batched_exact.h"

#include "spmm/batched_options.h"
#include "spmm/batched_run.h"
#include "spmm/real.h"

typedef struct exact {
    const csaw_batch *batch;
    const csaw_batched_options *options;
    const csaw__batched_dense *x, *y; /* backward: x and dy; y has a matrix of rows for every graph */
    const csaw__batched_dense *dx;    /* or NULL */
    float *dw;                        /* [sum of edges] or NULL */
    bool best, mean;
} exact;

/* ---- entries ---------------------------------------------------------------------- */

typedef struct entry {
    uint64_t number, row, col;
    double weight;
} entry;

/* Entry `number` of a graph; those of CSR come in order, from an entry whose row is 0 on. */
static void look(const csaw__small *g, uint64_t number, entry *e) {
    const uint64_t place = (g->rowptr ? g->rowptr[0] : 0) + number;
    while (g->rowptr && g->rowptr[e->row + 1] <= place) e->row++;
    if (!g->rowptr) e->row = csaw__row(g, place);
    *e = (entry){number, e->row, csaw__col(g, place), csaw__weight(g, place)};
}

/* Row `row` of graph g's matrix, from a column on. */
static const void *row_of(const csaw__batched_dense *m, uint64_t g, uint64_t row, uint64_t column) {
    return csaw__batched_element(m, g, row, column);
}

/* sum: [rows, cols], to a slice of graph g's matrix. */
static void store(const csaw__batched_dense *m, uint64_t g, uint64_t rows, uint64_t begin, uint64_t cols,
                  const double *sum) {
    for (uint64_t i = 0; cols && i < rows; i++) {
        const csaw_dense row = {1, cols, cols, m->d.dtype, csaw__batched_element(m, g, i, begin)};
        store_elements(&row, 0, (uint32_t)cols, sum + i * cols);
    }
}

/* ---- forward ------------------------------------------------------------------------ */

typedef struct winners { /* of one slice */
    uint32_t *arg;       /* [rows, stride] or NULL */
    uint64_t stride;
} winners;

static winners winners_of(const exact *e, const csaw__small *g, uint64_t begin, uint64_t cols, uint32_t *scratch) {
    if (!e->best) return (winners){NULL, 0};
    if (!e->options->arg) return (winners){scratch, cols};
    return (winners){e->options->arg + g->row_begin * e->y->d.cols + begin, e->y->d.cols};
}

static void add(const exact *e, const entry *at, const void *x, uint64_t cols, double *sum, uint32_t *arg) {
    const double sign = e->options->reduce == CSAW_MIN ? -1 : 1;
    for (uint64_t c = 0; c < cols; c++) {
        const double v = at->weight * element(x, c, e->x->d.dtype), best = sum[c];
        if (!e->best)
            sum[c] += v;
        else if (arg[c] == CSAW_NONE || !(sign * v <= sign * best || best != best))
            sum[c] = v, arg[c] = (uint32_t)at->number;
    }
}

static void forward_slice(const exact *e, const csaw__small *g, uint64_t number, uint64_t begin, uint64_t cols,
                          const csaw__scratch *s) {
    const winners won = winners_of(e, g, begin, cols, s->arg);
    entry at = {0};
    memset(s->sum, 0, g->rows * cols * sizeof *s->sum);
    for (uint64_t i = 0; won.arg && i < g->rows; i++)
        for (uint64_t c = 0; c < cols; c++) won.arg[i * won.stride + c] = CSAW_NONE;
    for (uint64_t k = 0; k < g->num_edges; k++) {
        look(g, k, &at);
        add(e, &at, row_of(e->x, number, at.col, begin), cols, s->sum + at.row * cols,
            won.arg ? won.arg + at.row * won.stride : NULL);
    }
    for (uint64_t i = 0; e->mean && i < g->rows; i++)
        for (uint64_t c = 0; s->count[i] && c < cols; c++) s->sum[i * cols + c] /= s->count[i];
    store(e->y, number, g->rows, begin, cols, s->sum);
}

static void forward_graph(const void *job, uint64_t number, uint64_t part, uint64_t parts, const csaw__scratch *s) {
    const exact *const e = job;
    const csaw__small g = csaw__batched_graph(e->batch, e->options, number);
    const uint64_t cols = e->y->d.cols, width = csaw__slice_width(&g, cols);
    if (e->mean) csaw__batch_count_entries(&g, s->count);
    for (uint64_t begin = part * width; begin < cols; begin += parts * width)
        forward_slice(e, &g, number, begin, begin + width < cols ? width : cols - begin, s);
}

static exact exact_of(const csaw_batch *batch, const csaw_batched_options *options) {
    return (exact){.batch = batch,
                   .options = options,
                   .best = options->reduce == CSAW_MAX || options->reduce == CSAW_MIN,
                   .mean = options->reduce == CSAW_MEAN};
}

csaw_status csaw__batched_exact(const csaw_batch *batch, const csaw_batched_options *options,
                                const csaw__batched_dense *x, const csaw__batched_dense *y) {
    exact e = exact_of(batch, options);
    e.x = x, e.y = y;
    const csaw__needs needs = {.sum = true, .arg = e.best && !options->arg, .count = e.mean};
    return csaw__batch_run(batch, y->d.cols, needs, forward_graph, &e);
}

/* ---- backward ------------------------------------------------------------------------- */

static bool has_won(const exact *e, const csaw__small *g, const entry *at, uint64_t column) {
    return !e->best || e->options->arg[(g->row_begin + at->row) * e->y->d.cols + column] == at->number;
}

static void dx_slice(const exact *e, const csaw__small *g, uint64_t number, uint64_t begin, uint64_t cols,
                     const csaw__scratch *s) {
    entry at = {0};
    memset(s->sum, 0, g->cols * cols * sizeof *s->sum);
    for (uint64_t k = 0; k < g->num_edges; k++) {
        look(g, k, &at);
        const void *const dy = row_of(e->y, number, at.row, begin);
        const double w = e->mean ? at.weight / s->count[at.row] : at.weight;
        for (uint64_t c = 0; c < cols; c++)
            if (has_won(e, g, &at, begin + c)) s->sum[at.col * cols + c] += w * element(dy, c, e->y->d.dtype);
    }
    store(e->dx, number, g->cols, begin, cols, s->sum);
}

/* Entries begin .. end - 1 of a graph. */
static void dw_entries(const exact *e, const csaw__small *g, uint64_t number, uint64_t begin, uint64_t end,
                       const uint32_t *count) {
    entry at = {0};
    for (uint64_t k = begin; k < end; k++) {
        look(g, k, &at);
        const void *const x = row_of(e->x, number, at.col, 0), *const dy = row_of(e->y, number, at.row, 0);
        double sum = 0;
        for (uint64_t c = 0; c < e->y->d.cols; c++)
            if (has_won(e, g, &at, c)) sum += element(x, c, e->x->d.dtype) * element(dy, c, e->y->d.dtype);
        e->dw[g->num_begin + k] = (float)(e->mean ? sum / count[at.row] : sum);
    }
}

static void backward_graph(const void *job, uint64_t number, uint64_t part, uint64_t parts, const csaw__scratch *s) {
    const exact *const e = job;
    const csaw__small g = csaw__batched_graph(e->batch, e->options, number);
    const uint64_t cols = e->y->d.cols, width = csaw__slice_width(&g, cols);
    if (e->mean) csaw__batch_count_entries(&g, s->count);
    for (uint64_t begin = part * width; e->dx && begin < cols; begin += parts * width)
        dx_slice(e, &g, number, begin, begin + width < cols ? width : cols - begin, s);
    if (e->dw) dw_entries(e, &g, number, g.num_edges * part / parts, g.num_edges * (part + 1) / parts, s->count);
}

csaw_status csaw__batched_exact_backward(const csaw_batch *batch, const csaw_batched_options *options,
                                         const csaw__batched_dense *x, const csaw__batched_dense *dy,
                                         const csaw__batched_dense *dx, float *dw) {
    exact e = exact_of(batch, options);
    e.x = x, e.y = dy, e.dx = dx, e.dw = dw;
    const csaw__needs needs = {.sum = dx != NULL, .count = e.mean};
    return csaw__batch_run(batch, dy->d.cols, needs, backward_graph, &e);
}

/* SPDX-License-Identifier: MIT */
/* spmm/batched_backward.c - csaw_batched_spmm_backward(): gradients of x and of the weights.
 *
 * Method: a graph's dx is small enough to be added to where it stands, in the order of its entries, so no transpose is
 * made of anything. dx goes by slices of columns as forward does; dw by entries, each a dot product of two rows in 16
 * interleaved sums, whose order hangs on the width alone. */
#include <string.h>

#include "spmm/batched_arg.h"
#include "spmm/batched_exact.h"
#include "spmm/batched_options.h"
#include "spmm/batched_run.h"
#include "spmm/device.h"

enum { LANES = 16, AT_ONCE = 64 };

typedef struct backward {
    const csaw_batch *batch;
    csaw__batched_dense x, dy, dx; /* x: if given; dx: if with_dx */
    csaw_batched_options options;
    bool with_dx, best;
    float *dw; /* [sum of edges] or NULL */
} backward;

/* ---- dx ------------------------------------------------------------------------ */

/* Where arg, if there is one, says that the entry won. */
static void add_scaled(float *restrict to, const float *restrict from, const uint32_t *restrict arg, uint32_t entry,
                       float w, uint64_t n) {
    for (uint64_t c = 0; !arg && c < n; c++) to[c] += w * from[c];
    for (uint64_t c = 0; arg && c < n; c++) {
        const float product = w * from[c]; /* of every place: without a branch */
        to[c] += arg[c] == entry ? product : 0.0f;
    }
}

typedef struct sending { /* of one graph's slice */
    csaw__slice dy, dx;
    const uint32_t *arg, *count; /* [rows, arg_stride] of MAX and MIN; [rows] of MEAN; else NULL */
    uint64_t arg_stride;
} sending;

/* The entry at a place, number `entry` of its graph. */
static void send_back(const sending *s, const csaw__small *g, uint64_t place, uint32_t entry, uint64_t row) {
    const float w = csaw__weight(g, place);
    add_scaled(s->dx.at + csaw__col(g, place) * s->dx.stride, s->dy.at + row * s->dy.stride,
               s->arg ? s->arg + row * s->arg_stride : NULL, entry, s->count ? w / (float)s->count[row] : w,
               s->dx.cols);
}

static void send_all_back(const sending *s, const csaw__small *g) {
    for (uint64_t i = 0; g->rowptr && i < g->rows; i++)
        for (uint64_t k = g->rowptr[i]; k < g->rowptr[i + 1]; k++) send_back(s, g, k, (uint32_t)(k - g->rowptr[0]), i);
    for (uint64_t k = 0; !g->rowptr && k < g->num_edges; k++) send_back(s, g, k, (uint32_t)k, csaw__row(g, k));
}

static void dx_slice(const backward *b, const csaw__small *g, uint64_t number, uint64_t begin, uint64_t cols,
                     const csaw__scratch *mine) {
    sending s = {.dy = csaw__slice_read(&b->dy, number, begin, cols, mine->in),
                 .dx = csaw__slice_open(&b->dx, number, begin, cols, mine->out),
                 .count = b->options.reduce == CSAW_MEAN ? mine->count : NULL,
                 .arg_stride = b->dy.d.cols};
    if (b->best) s.arg = b->options.arg + g->row_begin * s.arg_stride + begin;
    for (uint64_t i = 0; i < s.dx.rows; i++) memset(s.dx.at + i * s.dx.stride, 0, cols * sizeof *s.dx.at);
    send_all_back(&s, g);
    csaw__slice_close(&b->dx, number, begin, &s.dx);
}

/* ---- dw ------------------------------------------------------------------------ */

/* sum[c mod 16] += x[c] * y[c] of 16 columns, where arg, if there is one, says that the entry won. */
CSAW__ALWAYS void add_lanes(const float *x, const float *y, const uint32_t *arg, uint32_t entry, csaw__four *sum) {
#pragma GCC unroll 4
    for (int i = 0; i < LANES / 4; i++) {
        csaw__four a, b;
        csaw__mask from;
        memcpy(&a, x + 4 * i, sizeof a);
        memcpy(&b, y + 4 * i, sizeof b);
        a *= b;
        if (arg) {
            memcpy(&from, arg + 4 * i, sizeof from);
            a = (csaw__four)((csaw__mask)a & (from == (int32_t)entry));
        }
        sum[i] += a;
    }
}

/* The same of n columns, the last ones filled up with zeros; arg is followed by others' places. */
CSAW__ALWAYS void add_dot(const float *x, const float *y, const uint32_t *arg, uint32_t entry, uint64_t n,
                          csaw__four *sum) {
    uint64_t c = 0;
    for (; c + LANES <= n; c += LANES) add_lanes(x + c, y + c, arg ? arg + c : NULL, entry, sum);
    if (c == n) return;
    float last_x[LANES] = {0}, last_y[LANES] = {0};
    uint32_t last[LANES] = {0};
    for (uint64_t l = 0; c + l < n; l++) {
        last_x[l] = x[c + l];
        last_y[l] = y[c + l];
        if (arg) last[l] = arg[c + l];
    }
    add_lanes(last_x, last_y, arg ? last : NULL, entry, sum);
}

static float dot(const backward *b, const void *x, const void *dy, const uint32_t *arg, uint32_t entry) {
    const uint64_t cols = b->dy.d.cols;
    csaw__four sum[LANES / 4] = {{0}};
    if (b->x.d.dtype == CSAW_F32 && b->dy.d.dtype == CSAW_F32) {
        if (arg)
            add_dot(x, dy, arg, entry, cols, sum);
        else
            add_dot(x, dy, NULL, 0, cols, sum);
    }
    for (uint64_t c = 0; (b->x.d.dtype != CSAW_F32 || b->dy.d.dtype != CSAW_F32) && c < cols; c += AT_ONCE) {
        const uint64_t n = cols - c < AT_ONCE ? cols - c : AT_ONCE;
        float from_x[AT_ONCE], from_dy[AT_ONCE];
        csaw__load(b->x.d.dtype, (const char *)x + c * csaw__dtype_bytes(b->x.d.dtype), n, from_x);
        csaw__load(b->dy.d.dtype, (const char *)dy + c * csaw__dtype_bytes(b->dy.d.dtype), n, from_dy);
        add_dot(from_x, from_dy, arg ? arg + c : NULL, entry, n, sum);
    }
    sum[0] = (sum[0] + sum[2]) + (sum[1] + sum[3]);
    return (sum[0][0] + sum[0][2]) + (sum[0][1] + sum[0][3]);
}

/* Entries begin .. end - 1 of a graph. count: of MEAN, else NULL. */
static void dw_entries(const backward *b, uint64_t number, uint64_t begin, uint64_t end, const uint32_t *count) {
    const csaw__small *const g = &b->batch->graph[number];
    float *const dw = b->dw + g->num_begin;
    const uint64_t first = g->rowptr ? g->rowptr[0] : 0, cols = b->dy.d.cols;
    uint64_t row = 0;
    for (uint64_t k = begin; k < end; k++) {
        if (g->rowptr)
            while (g->rowptr[row + 1] <= first + k) row++;
        else
            row = csaw__row(g, k);
        dw[k] = 0;
        if (!cols) continue;
        dw[k] = dot(b, csaw__batched_element(&b->x, number, csaw__col(g, first + k), 0),
                    csaw__batched_element(&b->dy, number, row, 0),
                    b->best ? b->options.arg + (g->row_begin + row) * cols : NULL, (uint32_t)k);
        if (count) dw[k] /= (float)count[row];
    }
}

/* ---- a graph -------------------------------------------------------------------- */

static void backward_graph(const void *job, uint64_t number, uint64_t part, uint64_t parts,
                           const csaw__scratch *scratch) {
    const backward *const b = job;
    const csaw__small g = csaw__batched_graph(b->batch, &b->options, number);
    const uint64_t cols = b->dy.d.cols, width = csaw__slice_width(&g, cols);
    const bool mean = b->options.reduce == CSAW_MEAN;
    if (mean) csaw__batch_count_entries(&g, scratch->count);
    for (uint64_t begin = part * width; b->with_dx && begin < cols; begin += parts * width)
        dx_slice(b, &g, number, begin, begin + width < cols ? width : cols - begin, scratch);
    if (b->dw)
        dw_entries(b, number, g.num_edges * part / parts, g.num_edges * (part + 1) / parts,
                   mean ? scratch->count : NULL);
}

/* That dw is not the weights of the call, nor of a graph. */
static csaw_status check_weights(const csaw_batch *batch, const csaw_batched_options *options, const float *dw) {
    if (options->weight) return csaw__apart_check(dw, "dw", options->weight, "weight");
    for (uint64_t i = 0; !batch->device && i < batch->total.graphs; i++) {
        const csaw__small *const g = &batch->graph[i];
        const uint64_t first = g->rowptr ? g->rowptr[0] : 0;
        if (g->weight && g->num_edges)
            CSAW_TRY(csaw__apart_check(dw + g->num_begin, "dw", g->weight + first, "weight"));
    }
    return CSAW_OK;
}

static csaw_status check(backward *b, const csaw_batched_dense *x, const csaw_batched_dense *dy,
                         const csaw_batched_dense *dx) {
    CSAW_TRY(csaw__batched_dense_check(b->batch, CSAW__ROWS, "dy", dy, &b->dy));
    CSAW_REQUIRE(b->options.arg || !b->best || !b->batch->total.rows || !b->dy.d.cols, CSAW_EINVAL,
                 "arg is NULL; MAX and MIN need it as csaw_batched_spmm() wrote it");
    if (x || b->dw) {
        CSAW_TRY(csaw__batched_dense_check(b->batch, CSAW__COLS, "x", x, &b->x));
        CSAW_TRY(csaw__batched_widths_check("x", &b->x, "dy", &b->dy));
    }
    if (dx) {
        CSAW_TRY(csaw__batched_dense_check(b->batch, CSAW__COLS, "dx", dx, &b->dx));
        CSAW_TRY(csaw__batched_widths_check("dx", &b->dx, "dy", &b->dy));
        CSAW_TRY(csaw__batched_apart_check(&b->dx, "dx", &b->dy, "dy"));
        if (x) CSAW_TRY(csaw__batched_apart_check(&b->dx, "dx", &b->x, "x"));
    }
    if (b->dw) {
        CSAW_TRY(csaw__apart_check(b->dw, "dw", b->x.d.data, "x"));
        CSAW_TRY(csaw__apart_check(b->dw, "dw", b->dy.d.data, "dy"));
        CSAW_TRY(check_weights(b->batch, &b->options, b->dw));
    }
    return b->best && !b->batch->device ? csaw__batched_arg_check(b->batch, b->options.arg, b->dy.d.cols) : CSAW_OK;
}

csaw_status csaw_batched_spmm_backward(const csaw_batch *batch, const csaw_batched_dense *x,
                                       const csaw_batched_dense *dy, const csaw_batched_options *options,
                                       const csaw_batched_dense *dx, float *dw) {
    CSAW_REQUIRE(batch, CSAW_EINVAL, "batch is NULL; give one of csaw_batch_list() or csaw_batch_join()");
    backward b = {.batch = batch, .with_dx = dx != NULL, .dw = dw};
    CSAW_TRY(csaw__batched_options_check(batch, options, &b.options));
    b.best = b.options.reduce == CSAW_MAX || b.options.reduce == CSAW_MIN;
    CSAW_TRY(check(&b, x, dy, dx));
    if (!dx && !dw) return CSAW_OK;
    if (batch->device)
        return csaw__device_batched_backward(batch, 0, &b.x.d, &b.dy.d, &b.options, dx ? &b.dx.d : NULL, dw);
    if (b.options.exact) return csaw__batched_exact_backward(batch, &b.options, &b.x, &b.dy, dx ? &b.dx : NULL, dw);
    const csaw__needs needs = {.in = dx && b.dy.d.dtype != CSAW_F32,
                               .out = dx && b.dx.d.dtype != CSAW_F32,
                               .count = b.options.reduce == CSAW_MEAN};
    return csaw__batch_run(batch, b.dy.d.cols, needs, backward_graph, &b);
}

/* SPDX-License-Identifier: MIT */
/* spmm/dots_rows.h - dot products of rows of x and y, one an edge. Edges do not depend on each other, so threads take
 * stretches of them, whatever the rows. Sums by column mod 32, so that a product is vector instructions and its
 * bits the same on every machine. REAL: float or double; DOTS: the function's name. */
#include "runtime/base/parallel.h"
#include "spmm/dots.h"
#include "spmm/real.h"

enum { LANES = 32, AHEAD = 8 /* edges, for prefetching */ };

CSAW__EACH_CPU static REAL dot(const REAL *x, const REAL *y, uint64_t count) {
    REAL sum[LANES] = {0};
    uint64_t c = 0;
    for (; c + LANES <= count; c += LANES)
        for (uint64_t l = 0; l < LANES; l++) sum[l] += x[c + l] * y[c + l];
    for (uint64_t l = 0; c < count; c++, l++) sum[l] += x[c] * y[c];
    for (int half = LANES / 2; half > 2; half /= 2)
        for (int l = 0; l < half; l++) sum[l] += sum[l + half];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* out: [count] */
CSAW__EACH_CPU static void convert(const void *restrict from, uint64_t count, csaw_dtype dtype, REAL *restrict out) {
    if (dtype == CSAW_F32)
        for (uint64_t c = 0; c < count; c++) out[c] = element(from, c, CSAW_F32);
    else if (dtype == CSAW_F16)
        for (uint64_t c = 0; c < count; c++) out[c] = element(from, c, CSAW_F16);
    else
        for (uint64_t c = 0; c < count; c++) out[c] = element(from, c, CSAW_BF16);
}

/* A row of m as REAL, in `room` ([cols]) unless it is that already. */
static const REAL *row_of(const csaw_dense *m, uint64_t row, REAL *room) {
    const void *const from = elements_at(m, row, 0, m->dtype);
    if (sizeof(REAL) == sizeof(float) && m->dtype == CSAW_F32) return from;
    convert(from, m->cols, m->dtype, room);
    return room;
}

static void prefetch(const csaw__dots *d, uint64_t e) {
    if (e >= d->a.num_edges) return;
    const char *row = elements_at(&d->y, d->a.col[e], 0, d->y.dtype);
    const uint64_t bytes = d->y.cols * csaw__dtype_bytes(d->y.dtype);
    for (uint64_t b = 0; b < bytes; b += 64) __builtin_prefetch(row + b);
}

/* Edges first .. end - 1. room: [2, cols], for rows of x, which many edges share, and of y. */
static void dots_of(const csaw__dots *d, uint64_t first, uint64_t end, REAL *room) {
    const uint64_t cols = d->x.cols, columns = cols / d->heads;
    uint64_t row = csaw__row_of_edge(&d->a, first);
    const REAL *x = row_of(&d->x, row, room);
    for (uint64_t e = first; e < end; e++) {
        if (e >= d->a.rowptr[row + 1]) {
            while (e >= d->a.rowptr[row + 1]) row++;
            x = row_of(&d->x, row, room);
        }
        prefetch(d, e + AHEAD);
        const REAL *const y = row_of(&d->y, d->a.col[e], room + cols);
        for (uint64_t h = 0; h < d->heads; h++) {
            REAL value = dot(x + h * columns, y + h * columns, columns);
            if (d->mean) value /= (REAL)csaw__row_length(&d->a, row);
            d->out[e * d->heads + h] = (float)value;
        }
    }
}

void DOTS(const csaw__dots *d) {
    const uint64_t edges = d->a.num_edges, stretches = (edges + CSAW__STRETCH - 1) / CSAW__STRETCH, cols = d->x.cols;
    REAL *const room = d->room;
    CSAW__OMP(parallel for schedule(dynamic, 1) num_threads((int)d->threads))
    for (uint64_t t = 0; t < stretches; t++) {
        const uint64_t first = t * CSAW__STRETCH, left = edges - first;
        dots_of(d, first, first + (left < CSAW__STRETCH ? left : CSAW__STRETCH), room + csaw__thread() * 2 * cols);
    }
}

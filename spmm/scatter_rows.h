/* SPDX-License-Identifier: MIT */
/* spmm/scatter_rows.h - gradients of MAX and MIN. Only [rows, columns] products exist, not one per edge and column, so
 * the transpose would read far too much. Instead a thread takes a few columns of all rows and adds each product where
 * arg says, in sums of its own: no two threads meet, and every sum runs by ascending row. REAL: float or double. */
#include "runtime/base/parallel.h"
#include "spmm/real.h"
#include "spmm/scatter.h"

/* Columns first .. first + width - 1 of dx. sum: [cols of a, CSAW__SCATTER_WIDTH]. */
static void scatter_columns(const csaw__scatter *s, uint64_t first, uint32_t width, REAL *sum) {
    const uint64_t cols = s->dy.cols, of_head = cols / s->heads;
    memset(sum, 0, s->a.cols * CSAW__SCATTER_WIDTH * sizeof *sum);
    for (uint64_t row = 0; row < s->a.rows; row++) {
        if (!csaw__row_length(&s->a, row)) continue;
        const csaw_edge *const arg = s->arg + row * cols + first;
        const void *const dy = elements_at(&s->dy, row, first, s->dy.dtype);
        for (uint32_t c = 0; c < width; c++) {
            const REAL w = s->a.weight ? (REAL)s->a.weight[arg[c] * s->heads + (first + c) / of_head] : (REAL)1;
            sum[(uint64_t)s->a.col[arg[c]] * CSAW__SCATTER_WIDTH + c] += w * element(dy, c, s->dy.dtype);
        }
    }
    for (uint64_t j = 0; j < s->a.cols; j++)
        store_elements(&s->dx, j * s->dx.stride + first, width, sum + j * CSAW__SCATTER_WIDTH);
}

void SCATTER_FEATURES(const csaw__scatter *s) {
    const uint64_t cols = s->dy.cols, tasks = (cols + CSAW__SCATTER_WIDTH - 1) / CSAW__SCATTER_WIDTH,
                   one = s->a.cols * CSAW__SCATTER_WIDTH;
    REAL *const sum = s->features_room;
    CSAW__OMP(parallel for schedule(dynamic, 1) num_threads((int)s->threads))
    for (uint64_t t = 0; t < tasks; t++) {
        const uint64_t first = t * CSAW__SCATTER_WIDTH, left = cols - first;
        scatter_columns(s, first, (uint32_t)(left < CSAW__SCATTER_WIDTH ? left : CSAW__SCATTER_WIDTH),
                        sum + csaw__thread() * one);
    }
}

void SCATTER_WEIGHTS(const csaw__scatter *s) {
    const uint64_t cols = s->dy.cols, of_head = cols / s->heads;
    const bool in_place = sizeof(REAL) == sizeof(float);
    REAL *const sum = in_place ? (REAL *)(void *)s->dweight : s->weights_room;
    CSAW__OMP(parallel for if(csaw__is_long(s->a.num_edges * s->heads + s->a.rows * cols)))
    for (uint64_t row = 0; row < s->a.rows; row++) {
        const uint64_t begin = s->a.rowptr[row] * s->heads, end = s->a.rowptr[row + 1] * s->heads;
        if (begin == end) continue;
        memset(sum + begin, 0, (end - begin) * sizeof *sum);
        const void *const dy = elements_at(&s->dy, row, 0, s->dy.dtype);
        for (uint64_t c = 0; c < cols; c++) {
            const csaw_edge e = s->arg[row * cols + c];
            const void *const x = elements_at(&s->x, s->a.col[e], 0, s->x.dtype);
            sum[e * s->heads + c / of_head] += element(x, c, s->x.dtype) * element(dy, c, s->dy.dtype);
        }
        for (uint64_t k = begin; !in_place && k < end; k++) s->dweight[k] = (float)sum[k];
    }
}

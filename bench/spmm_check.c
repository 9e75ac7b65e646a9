/* SPDX-License-Identifier: MIT */
/* bench/spmm_check.c - sums in float64, one element after the other. */
#include "bench/spmm_check.h"

#include <math.h>
#include <stdlib.h>

#include "bench/measure.h"
#include "spmm/element.h"

static void *memory(uint64_t bytes) {
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) must(CSAW_ENOMEM);
    return p;
}

double element_of(const csaw_dense *m, uint64_t row, uint64_t col) {
    const uint64_t at = row * csaw__stride(m) + col;
    if (m->dtype == CSAW_F32) return (double)((const float *)m->data)[at];
    const uint16_t half = ((const uint16_t *)m->data)[at];
    return (double)(m->dtype == CSAW_F16 ? csaw__from_f16(half) : csaw__from_bf16(half));
}

void set_element(const csaw_dense *m, uint64_t row, uint64_t col, float value) {
    const uint64_t at = row * csaw__stride(m) + col;
    if (m->dtype == CSAW_F32)
        ((float *)m->data)[at] = value;
    else
        ((uint16_t *)m->data)[at] = m->dtype == CSAW_F16 ? csaw__to_f16(value) : csaw__to_bf16(value);
}

/* Sums and sums of magnitudes: [cols]. */
typedef struct exact_row {
    uint64_t row, terms;
    double *sum, *size;
} exact_row;

static exact_row new_row(uint64_t row, uint64_t cols) {
    return (exact_row){row, 0, memory(cols * sizeof(double)), memory(cols * sizeof(double))};
}

/* arg: [cols] of the row, NULL = all: columns where it is the edge. */
static void add(exact_row *to, double weight, const csaw_dense *x, uint64_t row, const csaw_edge *arg, csaw_edge edge) {
    to->terms++;
    for (uint64_t c = 0; c < x->cols; c++) {
        if (arg && arg[c] != edge) continue;
        const double product = weight * element_of(x, row, c);
        to->sum[c] += product;
        to->size[c] += fabs(product);
    }
}

static uint64_t compare_and_free(exact_row *exact, const csaw_dense *y) {
    uint64_t wrong = 0;
    for (uint64_t c = 0; c < y->cols; c++) {
        const double bound = 2 * (double)exact->terms * 0x1p-24 * exact->size[c];
        const double stored = y->dtype == CSAW_F32 ? 0 : y->dtype == CSAW_F16 ? 0x1p-11 : 0x1p-8;
        const double most = bound + fmax(stored * (fabs(exact->sum[c]) + bound), y->dtype == CSAW_F16 ? 0x1p-25 : 0);
        wrong += !(fabs(element_of(y, exact->row, c) - exact->sum[c]) <= most);
    }
    free(exact->sum);
    free(exact->size);
    return wrong;
}

/* Which rows are checked, [count], to be freed: about `rows` of all, about as many of those that are longer than a
 * chunk, since these are put together, and the longest. */
static bool *chosen_rows(const uint64_t *length, uint64_t count, uint64_t rows) {
    const uint64_t step = count / rows + 1;
    uint64_t top = 0, chunked = 0;
    bool *const chosen = memory(count * sizeof *chosen);
    for (uint64_t r = 0; r < count; r++) {
        if (length[r] > length[top]) top = r;
        chunked += length[r] > CSAW_CHUNK;
    }
    const uint64_t step_of_chunked = (chunked + rows - 1) / rows;
    for (uint64_t r = 0; r < count; r++) {
        chosen[r] = r == top || r % step == 0;
        if (length[r] > CSAW_CHUNK && --chunked % step_of_chunked == 0) chosen[r] = true;
    }
    return chosen;
}

static double weight_of(const csaw_sparse *a, uint64_t e) { return a->weight ? (double)a->weight[e] : 1; }

uint64_t wrong_products(const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y, bool mean, uint64_t rows) {
    uint64_t wrong = 0, *length = memory(a->rows * sizeof *length);
    for (uint64_t r = 0; r < a->rows; r++) length[r] = a->rowptr[r + 1] - a->rowptr[r];
    bool *const chosen = chosen_rows(length, a->rows, rows);
    for (uint64_t r = 0; r < a->rows; r++) {
        if (!chosen[r]) continue;
        exact_row exact = new_row(r, x->cols);
        for (uint64_t e = a->rowptr[r]; e < a->rowptr[r + 1]; e++) add(&exact, weight_of(a, e), x, a->col[e], NULL, e);
        for (uint64_t c = 0; mean && exact.terms && c < x->cols; c++) {
            exact.sum[c] /= (double)exact.terms;
            exact.size[c] /= (double)exact.terms;
        }
        wrong += compare_and_free(&exact, y);
    }
    free(chosen);
    free(length);
    return wrong;
}

/* x as it is stored. */
static double stored(float x, csaw_dtype dtype) {
    if (dtype == CSAW_F32) return (double)x;
    return (double)(dtype == CSAW_F16 ? csaw__from_f16(csaw__to_f16(x)) : csaw__from_bf16(csaw__to_bf16(x)));
}

uint64_t wrong_largest(const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y, const csaw_edge *arg,
                       uint64_t rows) {
    const uint64_t step = a->rows / rows + 1;
    uint64_t wrong = 0;
    for (uint64_t r = 0; r < a->rows; r += step)
        for (uint64_t c = 0; c < x->cols; c++) {
            csaw_edge best = CSAW_NO_EDGE;
            float largest = 0;
            for (uint64_t e = a->rowptr[r]; e < a->rowptr[r + 1]; e++) {
                const float product = (float)weight_of(a, e) * (float)element_of(x, a->col[e], c);
                if (best != CSAW_NO_EDGE && !(product > largest)) continue;
                best = e;
                largest = product;
            }
            wrong += arg[r * x->cols + c] != best || element_of(y, r, c) != stored(largest, y->dtype);
        }
    return wrong;
}

/* arg: [cols] of the row, NULL = all: columns where it is the edge. */
static bool dot_is_wrong(const csaw_sparse *a, const csaw_dense *x, uint64_t row, const csaw_edge *arg, csaw_edge edge,
                         float dweight) {
    double sum = 0, size = 0;
    for (uint64_t c = 0; c < x->cols; c++) {
        if (arg && arg[c] != edge) continue;
        const double product = element_of(x, row, c) * element_of(x, a->col[edge], c);
        sum += product;
        size += fabs(product);
    }
    return !(fabs((double)dweight - sum) <= 2 * (double)x->cols * 0x1p-24 * size);
}

uint64_t wrong_dots(const csaw_sparse *a, const csaw_dense *x, const float *dweight, uint64_t edges) {
    const uint64_t step = a->num_edges / edges + 1;
    uint64_t wrong = 0, r = 0;
    for (uint64_t e = 0; e < a->num_edges; e += step) {
        while (a->rowptr[r + 1] <= e) r++;
        wrong += dot_is_wrong(a, x, r, NULL, e, dweight[e]);
    }
    return wrong;
}

uint64_t wrong_picked_dots(const csaw_sparse *a, const csaw_dense *x, const csaw_edge *arg, const float *dweight,
                           uint64_t rows) {
    const uint64_t step = a->rows / rows + 1;
    uint64_t wrong = 0;
    for (uint64_t r = 0; r < a->rows; r += step)
        for (uint64_t e = a->rowptr[r]; e < a->rowptr[r + 1]; e++)
            wrong += dot_is_wrong(a, x, r, arg + r * x->cols, e, dweight[e]);
    return wrong;
}

uint64_t wrong_transposed(const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y, const csaw_edge *arg,
                          uint64_t rows) {
    uint64_t wrong = 0, count = 0, *length = memory(a->cols * sizeof *length), *place = memory(a->cols * sizeof *place);
    exact_row *exact = memory((2 * rows + 3) * sizeof *exact);
    for (uint64_t e = 0; e < a->num_edges; e++) length[a->col[e]]++;
    bool *const chosen = chosen_rows(length, a->cols, rows);
    for (uint64_t j = 0; j < a->cols; j++) /* place: 1 + where its sums are, 0 = not asked for */
        if (chosen[j]) {
            exact[count] = new_row(j, x->cols);
            place[j] = ++count;
        }
    for (uint64_t r = 0; r < a->rows; r++)
        for (uint64_t e = a->rowptr[r]; e < a->rowptr[r + 1]; e++)
            if (place[a->col[e]])
                add(&exact[place[a->col[e]] - 1], weight_of(a, e), x, r, arg ? arg + r * x->cols : NULL, e);
    for (uint64_t k = 0; k < count; k++) wrong += compare_and_free(&exact[k], y);
    free(exact);
    free(chosen);
    free(place);
    free(length);
    return wrong;
}

/* That has most edges; 0 if there is none. */
static uint64_t longest_row(const csaw_sparse *a) {
    uint64_t best = 0;
    for (uint64_t r = 0; r < a->rows; r++)
        if (a->rowptr[r + 1] - a->rowptr[r] > a->rowptr[best + 1] - a->rowptr[best]) best = r;
    return best;
}

uint64_t wrong_softmax(const csaw_sparse *a, const float *score, const float *out, uint64_t rows) {
    const uint64_t step = a->rows / rows + 1, top = longest_row(a);
    uint64_t wrong = 0;
    for (uint64_t r = 0; r < a->rows; r++) {
        double largest = -INFINITY, sum = 0;
        if (r % step && r != top) continue;
        for (uint64_t e = a->rowptr[r]; e < a->rowptr[r + 1]; e++) largest = fmax(largest, (double)score[e]);
        for (uint64_t e = a->rowptr[r]; e < a->rowptr[r + 1]; e++) sum += exp((double)score[e] - largest);
        for (uint64_t e = a->rowptr[r]; e < a->rowptr[r + 1]; e++) {
            const double exact = exp((double)score[e] - largest) / sum;
            wrong += !(fabs((double)out[e] - exact) <= 0x1p-20 * exact);
        }
    }
    return wrong;
}

uint64_t wrong_softmax_gradient(const csaw_sparse *a, const float *out, const float *dout, const float *dscore,
                                uint64_t rows) {
    const uint64_t step = a->rows / rows + 1, top = longest_row(a);
    uint64_t wrong = 0;
    for (uint64_t r = 0; r < a->rows; r++) {
        double sum = 0, size = 0;
        if (r % step && r != top) continue;
        for (uint64_t e = a->rowptr[r]; e < a->rowptr[r + 1]; e++) {
            sum += (double)out[e] * (double)dout[e];
            size += fabs((double)out[e] * (double)dout[e]);
        }
        for (uint64_t e = a->rowptr[r]; e < a->rowptr[r + 1]; e++) {
            const double exact = (double)out[e] * ((double)dout[e] - sum);
            const double terms = (double)out[e] * (fabs((double)dout[e]) + size);
            wrong += !(fabs((double)dscore[e] - exact) <= 0x1p-20 * terms);
        }
    }
    return wrong;
}

void hand_spmm(const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y) {
#pragma omp parallel for schedule(dynamic, 64)
    for (uint64_t r = 0; r < a->rows; r++) {
        float *restrict to = (float *)y->data + r * y->cols;
        for (uint64_t c = 0; c < y->cols; c++) to[c] = 0;
        for (uint64_t e = a->rowptr[r]; e < a->rowptr[r + 1]; e++) {
            const float *from = (const float *)x->data + (uint64_t)a->col[e] * x->cols;
            const float w = a->weight[e];
            for (uint64_t c = 0; c < y->cols; c++) to[c] += w * from[c];
        }
    }
}

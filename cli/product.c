/* SPDX-License-Identifier: MIT */
/* cli/product.c - see product.h. Written without the library's conversions and loops, so that it can judge them. */
#include "product.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static size_t bytes_of(csaw_dtype dtype) { return dtype == CSAW_F32 ? 4 : 2; }

/* ---- features ---- */

csaw_dense features_new(uint64_t rows, uint64_t cols, csaw_dtype dtype) {
    return (csaw_dense){rows, cols, 0, dtype, allocate(rows * cols + 1, bytes_of(dtype))};
}

uint64_t features_bytes(const csaw_dense *m) { return m->rows * m->cols * bytes_of(m->dtype); }

void features_poison(const csaw_dense *m) { memset(m->data, 0xff, features_bytes(m)); }

/* A multiple of 1/64 below 1 in size: a normal number, or 0, of either kind of 16 bits. */
static uint16_t half_of(float x, csaw_dtype dtype) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (dtype == CSAW_BF16 || x == 0) return (uint16_t)(bits >> 16);
    return (uint16_t)((bits >> 16 & 0x8000) | ((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 0x3ff));
}

static double element(const csaw_dense *m, uint64_t row, uint64_t col) {
    const uint64_t at = row * m->cols + col;
    if (m->dtype == CSAW_F32) return (double)((const float *)m->data)[at];
    const uint32_t half = ((const uint16_t *)m->data)[at];
    const double sign = half & 0x8000 ? -1 : 1;
    const int exponent = m->dtype == CSAW_BF16 ? half >> 7 & 255 : half >> 10 & 31;
    const int fraction_bits = m->dtype == CSAW_BF16 ? 7 : 10, bias = m->dtype == CSAW_BF16 ? 127 : 15;
    const double fraction = half & ((1u << fraction_bits) - 1), one = 1u << fraction_bits;
    if (exponent == 2 * bias + 1) return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    return exponent ? sign * ldexp(one + fraction, exponent - bias - fraction_bits)
                    : sign * ldexp(fraction, 1 - bias - fraction_bits);
}

void features_fill(const csaw_dense *m, uint64_t seed) {
    for (uint64_t i = 0; i < m->rows * m->cols; i++) {
        const uint64_t mixed = (i + seed * 0x9E3779B97F4A7C15u + 1) * 0xD1342543DE82EF95u;
        const float x = (float)((int)(mixed >> 57) - 64) / 64;
        if (m->dtype == CSAW_F32)
            ((float *)m->data)[i] = x;
        else
            ((uint16_t *)m->data)[i] = half_of(x, m->dtype);
    }
}

/* ---- checks ---- */

typedef struct sums { /* of a row of the result */
    double *value, *size;
    uint64_t terms;
} sums;

static sums sums_new(uint64_t rows, uint64_t cols) {
    return (sums){allocate(rows * cols + 1, sizeof(double)), allocate(rows * cols + 1, sizeof(double)), 0};
}

static double storage_error(double x, csaw_dtype dtype) { /* half a unit, at x */
    if (dtype == CSAW_F32) return 0;                      /* in the bound already */
    return dtype == CSAW_F16 ? fmax(x * 0x1p-11, 0x1p-25) : x * 0x1p-8;
}

static double largest_of(csaw_dtype dtype) {
    return dtype == CSAW_F16 ? 65504 : dtype == CSAW_BF16 ? 0xffp120 : FLT_MAX;
}

/* Row `row` of the result against value and size: [cols]. right: what else is known of it. */
static void judge(const csaw_dense *y, uint64_t row, const double *value, const double *size, uint64_t terms,
                  bool right, verdict *out) {
    for (uint64_t c = 0; c < y->cols; c++) {
        const double sum = 2 * (double)terms * 0x1p-24 * size[c];
        if (fabs(value[c]) + sum < largest_of(y->dtype) && size[c] * (double)(terms ? terms : 1) < FLT_MAX) continue;
        out->beyond++; /* infinite, or not, as sums go */
        return;
    }
    for (uint64_t c = 0; c < y->cols; c++) {
        const double sum = 2 * (double)terms * 0x1p-24 * size[c], error = fabs(element(y, row, c) - value[c]);
        const double bound = sum + storage_error(fabs(value[c]) + sum, y->dtype);
        if (!(error <= bound)) right = false; /* NaN too */
        if (bound > 0 && error / bound > out->worst) out->worst = error / bound;
    }
    out->checked++;
    out->wrong += !right;
}

static void reduce(sums *s, csaw_reduce reduce, double weight, const csaw_dense *x, uint64_t row) {
    for (uint64_t c = 0; c < x->cols; c++) {
        const double product = weight * element(x, row, c);
        s->size[c] += fabs(product);
        if (reduce == CSAW_SUM || reduce == CSAW_MEAN)
            s->value[c] += product;
        else if (s->terms == 0 || (reduce == CSAW_MAX ? product > s->value[c] : product < s->value[c]))
            s->value[c] = product;
    }
    s->terms++;
}

static double weight_of(const csaw_sparse *a, uint64_t edge) { return a->weight ? (double)a->weight[edge] : 1; }

/* arg: [cols] of the row. */
static bool picks_are_right(const csaw_sparse *a, const csaw_dense *x, csaw_reduce how, const csaw_edge *arg,
                            uint64_t row) {
    for (uint64_t c = 0; c < x->cols; c++) {
        csaw_edge best = CSAW_NO_EDGE;
        float most = 0;
        for (uint64_t e = a->rowptr[row]; e < a->rowptr[row + 1]; e++) {
            const float product = (float)weight_of(a, e) * (float)element(x, a->col[e], c);
            if (best != CSAW_NO_EDGE && !(how == CSAW_MAX ? product > most : product < most)) continue;
            best = e;
            most = product;
        }
        if (arg[c] != best) return false;
    }
    return true;
}

/* arg: [cols] of the row, or NULL. */
static void check_row(const csaw_sparse *a, const csaw_dense *x, csaw_reduce how, const csaw_dense *y,
                      const csaw_edge *arg, uint64_t row, sums *s, verdict *out) {
    memset(s->value, 0, x->cols * sizeof *s->value);
    memset(s->size, 0, x->cols * sizeof *s->size);
    s->terms = 0;
    for (uint64_t e = a->rowptr[row]; e < a->rowptr[row + 1]; e++) reduce(s, how, weight_of(a, e), x, a->col[e]);
    for (uint64_t c = 0; how == CSAW_MEAN && s->terms && c < x->cols; c++) {
        s->value[c] /= (double)s->terms;
        s->size[c] /= (double)s->terms;
    }
    const bool right = !arg || picks_are_right(a, x, how, arg, row);
    judge(y, row, s->value, s->size, s->terms + (how == CSAW_MEAN), right, out);
}

verdict product_check(const csaw_sparse *a, const csaw_dense *x, csaw_reduce how, const csaw_dense *y,
                      const csaw_edge *arg, uint64_t rows) {
    verdict out = {0};
    sums s = sums_new(1, x->cols);
    const uint64_t step = a->rows / (rows ? rows : 1) + 1;
    uint64_t longest = 0;
    for (uint64_t r = 0; r < a->rows; r++)
        if (a->rowptr[r + 1] - a->rowptr[r] > a->rowptr[longest + 1] - a->rowptr[longest]) longest = r;
    for (uint64_t r = 0; r < a->rows; r++)
        if (r % step == 0 || r == longest) check_row(a, x, how, y, arg ? arg + r * x->cols : NULL, r, &s, &out);
    free(s.value);
    free(s.size);
    return out;
}

verdict transposed_check(const csaw_sparse *a, const csaw_dense *dy, csaw_reduce how, const csaw_edge *arg,
                         const csaw_dense *dx, uint64_t rows) {
    verdict out = {0};
    const bool mean = how == CSAW_MEAN, picked = how == CSAW_MAX || how == CSAW_MIN;
    const uint64_t step = a->cols / (rows ? rows : 1) + 1, count = (a->cols + step - 1) / step, n = dy->cols;
    sums s = sums_new(count, n);
    uint64_t *terms = allocate(count + 1, sizeof *terms);
    for (uint64_t r = 0; r < a->rows; r++)
        for (uint64_t e = a->rowptr[r]; e < a->rowptr[r + 1]; e++) {
            if (a->col[e] % step) continue;
            const uint64_t at = a->col[e] / step, degree = a->rowptr[r + 1] - a->rowptr[r];
            const double w = weight_of(a, e) / (mean ? (double)degree : 1);
            for (uint64_t c = 0; c < n; c++) {
                if (picked && arg[r * n + c] != e) continue;
                s.value[at * n + c] += w * element(dy, r, c);
                s.size[at * n + c] += fabs(w * element(dy, r, c));
            }
            terms[at]++;
        }
    for (uint64_t at = 0; at < count; at++)
        judge(dx, at * step, s.value + at * n, s.size + at * n, terms[at] + mean, true, &out);
    free(terms);
    free(s.value);
    free(s.size);
    return out;
}

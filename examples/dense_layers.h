/* SPDX-License-Identifier: MIT */
/* examples/dense_layers.h - the dense half of a small neural network: products by OpenBLAS, ReLU, softmax with its
 * loss, and Adam. All matrices are float32, row-major. */
#ifndef DENSE_LAYERS_H
#define DENSE_LAYERS_H

#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* y = y + the product of a and b, transposed where it says so. y: [rows, cols], row-major; both are read along `inner`.
 */
static inline void multiply_add_by(CBLAS_TRANSPOSE of_a, CBLAS_TRANSPOSE of_b, const float *a, const float *b,
                                   uint64_t rows, uint64_t inner, uint64_t cols, float *y) {
    const uint64_t a_stride = of_a == CblasTrans ? rows : inner, b_stride = of_b == CblasTrans ? inner : cols;
    if (!rows || !inner || !cols) return;
    cblas_sgemm(CblasRowMajor, of_a, of_b, (int)rows, (int)cols, (int)inner, 1, a, (int)a_stride, b, (int)b_stride, 1,
                y, (int)cols);
}

/* y += x w. x: [rows, in], w: [in, out], y: [rows, out] */
static inline void multiply_add(const float *x, const float *w, uint64_t rows, uint64_t in, uint64_t out, float *y) {
    multiply_add_by(CblasNoTrans, CblasNoTrans, x, w, rows, in, out, y);
}

/* dw += x^T dy: the gradient of w. */
static inline void multiply_add_weight(const float *x, const float *dy, uint64_t rows, uint64_t in, uint64_t out,
                                       float *dw) {
    multiply_add_by(CblasTrans, CblasNoTrans, x, dy, in, rows, out, dw);
}

/* dx += dy w^T: the gradient of x. */
static inline void multiply_add_input(const float *dy, const float *w, uint64_t rows, uint64_t in, uint64_t out,
                                      float *dx) {
    multiply_add_by(CblasNoTrans, CblasTrans, dy, w, rows, out, in, dx);
}

static inline void relu(float *h, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) h[i] = h[i] > 0 ? h[i] : 0;
}

/* dh: where h, after ReLU, is 0, becomes 0. */
static inline void relu_backward(const float *h, uint64_t count, float *dh) {
    for (uint64_t i = 0; i < count; i++) dh[i] = h[i] > 0 ? dh[i] : 0;
}

/* The class with the largest entry of a row. */
static inline int64_t largest(const float *row, uint64_t classes) {
    uint64_t best = 0;
    for (uint64_t c = 1; c < classes; c++) best = row[c] > row[best] ? c : best;
    return (int64_t)best;
}

/* Cross-entropy of the softmax of a row against its label; the row becomes its own gradient, times scale. */
static inline double softmax_loss(float *row, uint64_t classes, int64_t label, float scale) {
    const float most = row[largest(row, classes)];
    double sum = 0;
    for (uint64_t c = 0; c < classes; c++) sum += exp((double)(row[c] - most));
    const double loss = log(sum) - (double)(row[label] - most);
    for (uint64_t c = 0; c < classes; c++)
        row[c] = scale * ((float)(exp((double)(row[c] - most)) / sum) - ((int64_t)c == label ? 1.0f : 0.0f));
    return loss;
}

/* Parameters with their gradients, trained by Adam (Kingma, Ba, ICLR 2015, algorithm 1). */
typedef struct trained {
    float *value, *gradient, *mean, *square; /* [count] each, in one block */
    uint64_t count, steps;
} trained;

/* rows x cols by Glorot's uniform law, from numbers in [0, 1) that unit() gives. */
static inline int trained_create(trained *t, uint64_t rows, uint64_t cols, double (*unit)(void)) {
    const double limit = sqrt(6.0 / (double)(rows + cols));
    *t = (trained){.count = rows * cols, .value = calloc(4 * rows * cols + 1, sizeof(float))};
    if (!t->value) return 0;
    t->gradient = t->value + t->count;
    t->mean = t->gradient + t->count;
    t->square = t->mean + t->count;
    for (uint64_t i = 0; i < t->count; i++) t->value[i] = (float)((2 * unit() - 1) * limit);
    return 1;
}

/* One step along the gradient, which is then 0 again. decay: of the weights, added to the gradient. */
static inline void trained_step(trained *t, double rate, double decay) {
    t->steps++;
    const double first = 1 - pow(0.9, (double)t->steps), second = 1 - pow(0.999, (double)t->steps);
    for (uint64_t i = 0; i < t->count; i++) {
        const double g = (double)t->gradient[i] + decay * (double)t->value[i];
        t->mean[i] = (float)(0.9 * (double)t->mean[i] + 0.1 * g);
        t->square[i] = (float)(0.999 * (double)t->square[i] + 0.001 * g * g);
        t->value[i] -= (float)(rate * ((double)t->mean[i] / first) / (sqrt((double)t->square[i] / second) + 1e-8));
        t->gradient[i] = 0;
    }
}

#endif

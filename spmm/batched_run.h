/* SPDX-License-Identifier: MIT */
/* spmm/batched_run.h - the inner loop of a batched product: a run, that is, entries of one row that stand side by side,
 * added into the row's slice of y. 32 columns at a time are held in registers over the whole run, then 8 at a time. A
 * run goes on from what y holds, so that entries in any order give the sum in that order. Sums are spelled as vectors
 * of the compiler's: gcc 12 turns the plain loops over entries and columns inside out, and then does not vectorise
 * them. */
#ifndef CSAW_SPMM_BATCHED_RUN_H
#define CSAW_SPMM_BATCHED_RUN_H

#include <string.h>

#include "spmm/batched_dense.h"

#define CSAW__ALWAYS static inline __attribute__((always_inline))

typedef struct csaw__run {
    const csaw__small *g;
    uint64_t begin, end; /* places of the entries */
} csaw__run;

CSAW__ALWAYS float csaw__weight(const csaw__small *g, uint64_t place) { return g->weight ? g->weight[place] : 1.0f; }

CSAW__ALWAYS uint64_t csaw__row(const csaw__small *g, uint64_t place) {
    return g->row[place * g->index_stride] - g->row_base;
}

CSAW__ALWAYS uint64_t csaw__col(const csaw__small *g, uint64_t place) {
    return g->col[place * g->index_stride] - g->col_base;
}

typedef float csaw__four __attribute__((vector_size(16)));

/* y[c] += w * x[column, c] of `fours` times 4 columns, a constant of at most 8. */
CSAW__ALWAYS void csaw__add_fours(const csaw__run *run, const float *x, uint64_t stride, float *y, const int fours) {
    const csaw__small g = *run->g; /* in registers, whatever y points to */
    csaw__four sum[8];
#pragma GCC unroll 8
    for (int i = 0; i < fours; i++) memcpy(&sum[i], y + 4 * i, sizeof *sum);
    for (uint64_t k = run->begin, end = run->end; k < end; k++) {
        const float w = csaw__weight(&g, k), *const from = x + csaw__col(&g, k) * stride;
#pragma GCC unroll 8
        for (int i = 0; i < fours; i++) {
            csaw__four a;
            memcpy(&a, from + 4 * i, sizeof a);
            sum[i] += w * a;
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < fours; i++) memcpy(y + 4 * i, &sum[i], sizeof *sum);
}

CSAW__ALWAYS void csaw__add_1(const csaw__run *run, const float *x, uint64_t stride, float *y) {
    float sum = *y;
    for (uint64_t k = run->begin; k < run->end; k++) sum += csaw__weight(run->g, k) * x[csaw__col(run->g, k) * stride];
    *y = sum;
}

/* y[c] += w * x[column, c] for every entry of the run. */
static inline void csaw__add_run(const csaw__run *run, const csaw__slice *x, float *y) {
    uint64_t c = 0;
    for (; c + 32 <= x->cols; c += 32) csaw__add_fours(run, x->at + c, x->stride, y + c, 8);
    for (; c + 8 <= x->cols; c += 8) csaw__add_fours(run, x->at + c, x->stride, y + c, 2);
    for (; c < x->cols; c++) csaw__add_1(run, x->at + c, x->stride, y + c);
}

typedef int32_t csaw__mask __attribute__((vector_size(16)));

CSAW__ALWAYS csaw__mask csaw__choose(csaw__mask which, csaw__mask a, csaw__mask b) {
    return (which & a) | (~which & b);
}

/* As csaw__add_fours(), of the largest sign * w * x and the entry it comes from; y is sign times the best so far if arg
 * is not CSAW_NONE. The run's first entry is number `first` of the graph. */
CSAW__ALWAYS void csaw__best_fours(const csaw__run *run, uint32_t first, const float *x, uint64_t stride, float sign,
                                   float *y, uint32_t *arg, const int fours) {
    const csaw__small g = *run->g;
    csaw__four best[4];
    csaw__mask from[4];
#pragma GCC unroll 4
    for (int i = 0; i < fours; i++) {
        memcpy(&best[i], y + 4 * i, sizeof *best);
        memcpy(&from[i], arg + 4 * i, sizeof *from);
        best[i] *= sign;
    }
    for (uint64_t k = run->begin, end = run->end; k < end; k++) {
        const float w = sign * csaw__weight(&g, k), *const row = x + csaw__col(&g, k) * stride;
        const csaw__mask entry = (csaw__mask){0} + (int32_t)(first + (uint32_t)(k - run->begin));
#pragma GCC unroll 4
        for (int i = 0; i < fours; i++) {
            csaw__four v;
            memcpy(&v, row + 4 * i, sizeof v);
            v *= w;
            const csaw__mask wins = (from[i] == -1) | (~(v <= best[i]) & (best[i] == best[i]));
            best[i] = (csaw__four)csaw__choose(wins, (csaw__mask)v, (csaw__mask)best[i]);
            from[i] = csaw__choose(wins, entry, from[i]);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < fours; i++) {
        best[i] *= sign;
        memcpy(y + 4 * i, &best[i], sizeof *best);
        memcpy(arg + 4 * i, &from[i], sizeof *from);
    }
}

CSAW__ALWAYS void csaw__best_1(const csaw__run *run, uint32_t first, const float *x, uint64_t stride, float sign,
                               float *y, uint32_t *arg) {
    float best = sign * *y;
    for (uint64_t k = run->begin; k < run->end; k++) {
        const float v = sign * csaw__weight(run->g, k) * x[csaw__col(run->g, k) * stride];
        if (*arg != CSAW_NONE && (v <= best || best != best)) continue;
        best = v;
        *arg = first + (uint32_t)(k - run->begin);
    }
    *y = sign * best;
}

/* The largest (sign 1) or least (-1) of y, if arg says that it comes from an entry, and of the products of the run. */
static inline void csaw__best_run(const csaw__run *run, uint32_t first, const csaw__slice *x, float sign, float *y,
                                  uint32_t *arg) {
    uint64_t c = 0;
    for (; c + 16 <= x->cols; c += 16) csaw__best_fours(run, first, x->at + c, x->stride, sign, y + c, arg + c, 4);
    for (; c + 4 <= x->cols; c += 4) csaw__best_fours(run, first, x->at + c, x->stride, sign, y + c, arg + c, 1);
    for (; c < x->cols; c++) csaw__best_1(run, first, x->at + c, x->stride, sign, y + c, arg + c);
}

#endif

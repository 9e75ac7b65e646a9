/* SPDX-License-Identifier: MIT */
/* spmm/softmax_passes.h - the passes of a softmax over the edges of a row and head (spmm/edge_softmax.c), and of its
 * gradient, over some edges. Each gives a number, which csaw__softmax_larger() or csaw__softmax_plus() merges with
 * those of the edges before. What is done with one edge is one text for CPU and GPU, and so the same bits. */
#ifndef CSAW_SPMM_SOFTMAX_PASSES_H
#define CSAW_SPMM_SOFTMAX_PASSES_H

#include <csaw/math.h>
#include <csaw/spmm.h>

typedef struct csaw__softmax { /* all [num_edges, heads] */
    const float *in, *dout;    /* score, NULL; backward: out, dout */
    float *out;                /* out; backward: dscore */
    uint32_t heads;
} csaw__softmax;

typedef struct csaw__softmax_row { /* and head */
    uint64_t begin, length;        /* edges */
    uint32_t head;
    double largest, sum; /* what the passes before found */
} csaw__softmax_row;

CSAW_FN double csaw__softmax_larger(double so_far, double chunk) {
    return chunk > so_far || chunk != chunk ? chunk : so_far;
}
CSAW_FN double csaw__softmax_plus(double so_far, double chunk) { return so_far + chunk; }

/* ---- of one edge ---- */

CSAW_FN double csaw__softmax_exponential(float score, double largest) { return csaw_exp((double)score - largest); }
CSAW_FN float csaw__softmax_share(float exponential, double sum) { return (float)((double)exponential / sum); }
CSAW_FN double csaw__softmax_product(float out, float dout) { return (double)out * (double)dout; }
CSAW_FN float csaw__softmax_gradient(float out, float dout, double sum) {
    return (float)((double)out * ((double)dout - sum));
}

/* ---- over places first, first + heads, ... below end, one after the other ---- */

CSAW_FN double csaw__softmax_largest(const csaw__softmax *j, const csaw__softmax_row *s, uint64_t first, uint64_t end) {
    double most = -csaw__infinity();
    for (uint64_t p = first; p < end && most == most; p += j->heads)
        most = csaw__softmax_larger(most, (double)j->in[p]);
    (void)s;
    return most;
}

CSAW_FN double csaw__softmax_exponentials(const csaw__softmax *j, const csaw__softmax_row *s, uint64_t first,
                                          uint64_t end) {
    double sum = 0;
    for (uint64_t p = first; p < end; p += j->heads) {
        const double e = csaw__softmax_exponential(j->in[p], s->largest);
        j->out[p] = (float)e;
        sum += e;
    }
    return sum;
}

CSAW_FN double csaw__softmax_divide(const csaw__softmax *j, const csaw__softmax_row *s, uint64_t first, uint64_t end) {
    for (uint64_t p = first; p < end; p += j->heads) j->out[p] = csaw__softmax_share(j->out[p], s->sum);
    return 0;
}

CSAW_FN double csaw__softmax_products(const csaw__softmax *j, const csaw__softmax_row *s, uint64_t first,
                                      uint64_t end) {
    double sum = 0;
    for (uint64_t p = first; p < end; p += j->heads) sum += csaw__softmax_product(j->in[p], j->dout[p]);
    (void)s;
    return sum;
}

CSAW_FN double csaw__softmax_gradients(const csaw__softmax *j, const csaw__softmax_row *s, uint64_t first,
                                       uint64_t end) {
    for (uint64_t p = first; p < end; p += j->heads) j->out[p] = csaw__softmax_gradient(j->in[p], j->dout[p], s->sum);
    return 0;
}

#endif

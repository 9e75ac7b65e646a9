/* SPDX-License-Identifier: MIT */
/* spmm/backward.c - gradients of csaw_spmm().
 *
 *   y = A x                dx = A^T dy, by the same loops over the transpose
 *                          dweight[e] = <dy[i], x[j]>, one dot product an edge (SDDMM)
 *   MEAN                   both divided by the number of edges of row i: the weights beforehand, in float32, or by
 *                          the loops in float64
 *   MAX, MIN               by arg alone: spmm/scatter_rows.h
 *
 * All memory is taken before the first output is written, so that a call that fails leaves both as they were. */
#include "spmm/call.h"
#include "spmm/device.h"
#include "spmm/dots.h"
#include "spmm/scatter.h"

static csaw_dense with_stride(const csaw_dense *m) {
    csaw_dense out = *m;
    out.stride = csaw__stride(m);
    return out;
}

typedef struct features { /* dx = A^T dy */
    const csaw_spmm_plan *plan;
    bool divide;         /* weights, for MEAN, in float32 */
    const float *kept;   /* weights that the plan has */
    csaw__transpose own; /* of a call without a plan */
    float *weight;       /* [num_edges, heads], or NULL; by the transpose's edges */
    csaw__reduction product;
} features;

static features features_of(const csaw__call *call, const csaw_sparse *a, const csaw_dense *dy, const csaw_dense *dx) {
    const csaw_spmm_plan *const plan = call->options.plan;
    const bool mean = call->options.reduce == CSAW_MEAN, divide = mean && !call->options.exact;
    const uint32_t heads = a->weight ? call->options.heads : 1;
    const bool fixed = plan && plan->weight && plan->a.weight == a->weight && plan->heads == heads;
    return (features){.plan = plan,
                      .divide = divide,
                      .kept = fixed ? plan->weight : NULL,
                      .product = {.x = with_stride(dy),
                                  .y = with_stride(dx),
                                  .reduce = CSAW_SUM,
                                  .heads = heads,
                                  .divisor = mean && !divide ? a->rowptr : NULL}};
}

/* Weights by the transpose's edges: looked up within the loops of the product they would slow csaw_spmm(). */
static uint64_t num_weights(const features *f, const csaw_sparse *a) {
    return f->divide || (a->weight && !f->kept) ? a->num_edges * f->product.heads : 0;
}

/* Takes what features_bytes() counts. It is released by features_close(), even if this fails. */
static csaw_status features_open(features *f, const csaw_sparse *a, bool exact) {
    if (!f->plan) CSAW_TRY(csaw__transpose_create(a, &f->own));
    const csaw__transpose *const t = f->plan ? &f->plan->transpose : &f->own;
    if (num_weights(f, a)) {
        CSAW_TRY(csaw__alloc(&f->weight, num_weights(f, a), "weights of a transpose"));
        csaw__transpose_weights(a, t, f->product.heads, f->divide, f->kept, f->weight);
    }
    f->product.a = t->a;
    f->product.a.weight = f->weight ? f->weight : f->kept;
    f->product.rows = t->rows;
    return csaw__reduce_room(&f->product, exact);
}

static uint64_t features_bytes(features *f, const csaw_sparse *a, bool exact) {
    uint64_t bytes = num_weights(f, a) * sizeof *f->weight;
    if (f->plan)
        f->product.rows = f->plan->transpose.rows;
    else
        bytes += csaw__transpose_bytes(a, &f->product.rows);
    return bytes + csaw__reduce_bytes(&f->product, exact);
}

static void features_close(features *f) {
    csaw__free(f->product.room);
    csaw__free(f->weight);
    csaw__transpose_free(&f->own);
}

static csaw_status by_products(const csaw__call *call, const csaw_sparse *a, const csaw_dense *x, const csaw_dense *dy,
                               const csaw_dense *dx, float *dweight) {
    const bool exact = call->options.exact;
    csaw_status status = CSAW_OK;
    features f = {.plan = NULL};
    csaw__dots d = {.a = *a,
                    .x = with_stride(dy),
                    .heads = call->options.heads,
                    .mean = call->options.reduce == CSAW_MEAN,
                    .out = dweight};
    if (x) d.y = with_stride(x);
    if (dx) f = features_of(call, a, dy, dx);
    if (call->work) {
        *call->work += (dx ? features_bytes(&f, a, exact) : 0) + (dweight ? csaw__dots_bytes(&d, exact) : 0);
        return CSAW_OK;
    }
    if (dx) CSAW_TRY_DONE(features_open(&f, a, exact));
    if (dweight) CSAW_TRY_DONE(csaw__dots_room(&d, exact));
    if (dx) (exact ? csaw__reduce_f64 : csaw__reduce_f32)(&f.product);
    if (dweight) (exact ? csaw__dots_f64 : csaw__dots_f32)(&d);
done:
    features_close(&f);
    csaw__free(d.room);
    return status;
}

static csaw_status by_arg(const csaw__call *call, const csaw_sparse *a, const csaw_dense *x, const csaw_dense *dy,
                          const csaw_dense *dx, float *dweight) {
    const bool exact = call->options.exact;
    csaw_status status = CSAW_OK;
    const csaw__transpose *const t = call->options.plan ? &call->options.plan->transpose : NULL;
    csaw__scatter s = {
        .a = *a, .dy = with_stride(dy), .heads = call->options.heads, .arg = call->options.arg, .dweight = dweight};
    if (dx) s.dx = with_stride(dx);
    CSAW_TRY(csaw__array_check(s.arg, "arg of the backward pass of MAX or MIN", a->rows * dy->cols));
    if (call->work) {
        if (dx && dy->cols) *call->work += csaw__column_chunks_bytes(a, t, &s.num_chunks);
        *call->work += csaw__scatter_bytes(&s, dx != NULL, dweight != NULL, exact);
        return CSAW_OK;
    }
    CSAW_TRY(csaw__scatter_check(&s));
    if (x) s.x = with_stride(x);
    if (dx && dy->cols) CSAW_TRY_DONE(csaw__column_chunks_create(a, t, &s.chunks));
    if (s.chunks.begin) s.num_chunks = s.chunks.begin[a->cols];
    CSAW_TRY_DONE(csaw__scatter_room(&s, dx != NULL, dweight != NULL, exact));
    if (dx) (exact ? csaw__scatter_features_f64 : csaw__scatter_features_f32)(&s);
    if (dweight) (exact ? csaw__scatter_weights_f64 : csaw__scatter_weights_f32)(&s);
done:
    csaw__free(s.features_room);
    csaw__free(s.weights_room);
    csaw__free(s.chunks_room);
    csaw__column_chunks_free(&s.chunks);
    return status;
}

static csaw_status check(const csaw_sparse *a, const csaw_dense *x, const csaw_dense *dy, const csaw_dense *dx,
                         const float *dweight) {
    CSAW_TRY(csaw__dense_check(dy, "dy", a->rows, dy ? dy->cols : 0));
    if (x || dweight) CSAW_TRY(csaw__dense_check(x, "x", a->cols, dy->cols));
    if (dx) {
        CSAW_TRY(csaw__dense_check(dx, "dx", a->cols, dy->cols));
        CSAW_TRY(csaw__apart_check(dx->data, "dx", dy->data, "dy"));
        if (x) CSAW_TRY(csaw__apart_check(dx->data, "dx", x->data, "x"));
    }
    return csaw__apart_check(dweight, "dweight", a->weight, "weight");
}

/* work: see csaw__call. */
static csaw_status backward(const csaw_sparse *a, const csaw_dense *x, const csaw_dense *dy,
                            const csaw_spmm_options *options, const csaw_dense *dx, float *dweight, uint64_t *work) {
    csaw__call call;
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__call_open(a, options, dy ? dy->cols : 0, work, &call));
    CSAW_REQUIRE_DONE(!call.options.reducer, CSAW_EINVAL,
                      "reducer '%s' has no gradient that csaw knows; write the backward pass from csaw_spmm() and "
                      "csaw_sddmm(), or reduce by CSAW_SUM, MEAN, MAX or MIN",
                      call.options.reducer->name);
    CSAW_TRY_DONE(check(a, x, dy, dx, dweight));
    if (call.ordinal >= 0)
        status = csaw__device_backward(&call, a, x, dy, dx, dweight);
    else
        status = (call.extreme ? by_arg : by_products)(&call, a, x, dy, dx, dweight);
done:
    csaw__call_close(&call);
    return status;
}

csaw_status csaw_spmm_backward(const csaw_sparse *a, const csaw_dense *x, const csaw_dense *dy,
                               const csaw_spmm_options *options, const csaw_dense *dx, float *dweight) {
    return backward(a, x, dy, options, dx, dweight, NULL);
}

csaw_status csaw_spmm_backward_work_bytes(const csaw_sparse *a, const csaw_dense *x, const csaw_dense *dy,
                                          const csaw_spmm_options *options, const csaw_dense *dx, const float *dweight,
                                          uint64_t *bytes) {
    uint64_t work = 0;
    CSAW_REQUIRE(bytes, CSAW_EINVAL, "csaw_spmm_backward_work_bytes needs a place for the bytes; bytes is NULL");
    CSAW_TRY(backward(a, x, dy, options, dx, (float *)(uintptr_t)dweight, &work)); /* which is not written */
    *bytes = work;
    return CSAW_OK;
}

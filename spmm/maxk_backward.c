/* SPDX-License-Identifier: MIT */
/* spmm/maxk_backward.c - backward of MaxK aggregation: A^T times dense, at the entries of a CBSR matrix alone
 * (MaxK-GNN, section 4.2, algorithm 2).
 *
 * The paper goes by columns of A^T and adds into rows of the result by atomics, in whatever order they come. Here a
 * thread takes whole rows of A^T and gathers from dy what the row's index names, so each sum belongs to one thread and
 * its order to the matrix; the price is the transpose, and that a row of dy is read again for every edge into it. */
#include "runtime/base/parallel.h"
#include "spmm/cbsr.h"
#include "spmm/device_maxk.h"
#include "spmm/maxk_check.h"
#include "spmm/maxk_convert.h"
#include "spmm/maxk_rows.h"
#include "spmm/maxk_transpose.h"
#include "spmm/plan.h"

#define BLOCK 256u /* entries that are made float32 at a time */
#define AHEAD 8u   /* edges from the one that is added to the one that is fetched */
#define LINES 4096 /* of 64 bytes in a row of 65,536 float32 */

typedef struct job {
    const csaw_sparse *transpose;
    const csaw_dense *dy;
    const csaw_cbsr *dx;
    const uint64_t *degree_of; /* rowptr of a; NULL = sums */
} job;

/* Adds weight * dy[index] to sum, for `count` entries of a row of dy. */
#define GATHER(INDEX)                                                                                                \
    static inline void gather_##INDEX(csaw_dtype dtype, const void *dy, const INDEX *restrict index, uint64_t count, \
                                      float weight, float *restrict sum) {                                           \
        if (dtype == CSAW_F32) {                                                                                     \
            const float *const restrict from = dy;                                                                   \
            for (uint64_t t = 0; t < count; t++) sum[t] += weight * from[index[t]];                                  \
            return;                                                                                                  \
        }                                                                                                            \
        const uint16_t *const restrict from = dy;                                                                    \
        uint16_t half[BLOCK];                                                                                        \
        float value[BLOCK];                                                                                          \
        for (uint64_t t = 0; t < count; t++) half[t] = from[index[t]];                                               \
        csaw__widen(dtype, half, count, value);                                                                      \
        for (uint64_t t = 0; t < count; t++) sum[t] += weight * value[t];                                            \
    }
GATHER(uint8_t)
GATHER(uint16_t)
#undef GATHER

static const char *row_of(const csaw_dense *m, uint64_t row) {
    return (const char *)m->data + row * csaw__stride(m) * csaw__dtype_bytes(m->dtype);
}

typedef struct lines { /* of a row of dy, those that an index names */
    uint64_t count;
    uint16_t column[LINES]; /* [count], one in each */
} lines;

/* index: [k] columns; out: empty. An index that does not ascend, or rows that do not begin with a line, cost speed
 * alone. */
static void find_lines(const job *j, const void *index, lines *out) {
    const uint64_t k = j->dx->k, of_line = 64 / csaw__dtype_bytes(j->dy->dtype);
    const bool narrow = csaw__cbsr_is_narrow(j->dx);
    uint64_t last = UINT64_MAX;
    for (uint64_t t = 0; t < k && out->count < LINES; t++) {
        const uint16_t column = narrow ? ((const uint8_t *)index)[t] : ((const uint16_t *)index)[t];
        if (column / of_line == last) continue;
        last = column / of_line;
        out->column[out->count++] = column;
    }
}

static void fetch(const job *j, uint64_t row, const lines *named) {
    const char *const from = row_of(j->dy, row);
    const size_t bytes = csaw__dtype_bytes(j->dy->dtype);
    for (uint64_t l = 0; l < named->count; l++) __builtin_prefetch(from + named->column[l] * bytes);
}

static void add(const void *of, uint64_t row, uint64_t begin, uint64_t end, float *sum) {
    const job *const j = of;
    const csaw_sparse *const a = j->transpose;
    const uint64_t k = j->dx->k;
    const bool narrow = csaw__cbsr_is_narrow(j->dx);
    const void *const index = csaw__cbsr_index(j->dx, row);
    lines named;
    named.count = 0;
    if (end - begin > AHEAD) find_lines(j, index, &named);
    for (uint64_t e = begin; e < end; e++) {
        const uint64_t i = a->col[e];
        const char *const dy = row_of(j->dy, i);
        float weight = a->weight ? a->weight[e] : 1.0f;
        if (j->degree_of) weight /= (float)(j->degree_of[i + 1] - j->degree_of[i]);
        if (e + AHEAD < end) fetch(j, a->col[e + AHEAD], &named); /* of another row other lines are named */
        for (uint64_t t = 0; t < k; t += BLOCK) {
            const uint64_t count = k - t < BLOCK ? k - t : BLOCK;
            if (narrow)
                gather_uint8_t(j->dy->dtype, dy, (const uint8_t *)index + t, count, weight, sum + t);
            else
                gather_uint16_t(j->dy->dtype, dy, (const uint16_t *)index + t, count, weight, sum + t);
        }
    }
}

static void store(const void *of, uint64_t row, float *sum) {
    const csaw_cbsr *const dx = ((const job *)of)->dx;
    csaw__narrow(dx->dtype, sum, dx->k, dx->values, row * dx->k);
}

static csaw_status check_transpose(const csaw_sparse *transpose, const csaw_sparse *a, const csaw__where *where) {
    CSAW_TRY(csaw__maxk_check_sparse(transpose, "the transpose", where));
    CSAW_REQUIRE(
        transpose->rows == a->cols && transpose->cols == a->rows && transpose->num_edges == a->num_edges &&
            !transpose->weight == !a->weight,
        CSAW_EINVAL,
        "the transpose is %llu x %llu with %llu edges%s, but that of a is %llu x %llu with %llu%s; give the one "
        "of a, or NULL",
        (unsigned long long)transpose->rows, (unsigned long long)transpose->cols,
        (unsigned long long)transpose->num_edges, transpose->weight ? " and weights" : "", (unsigned long long)a->cols,
        (unsigned long long)a->rows, (unsigned long long)a->num_edges, a->weight ? " and weights" : "");
    return CSAW_OK;
}

typedef struct turned { /* the transpose: given, the plan's, or made here */
    csaw_sparse a, made;
    float *weight; /* taken here, of the plan's */
} turned;

/* out: cleared; csaw__free() its weight, csaw__maxk_transpose_free() what was made, even if this fails. */
static csaw_status turn(const csaw_sparse *a, const csaw_maxk_spmm_options *o, turned *out) {
    const csaw_spmm_plan *const plan = o->plan;
    if (o->transpose) {
        out->a = *o->transpose;
    } else if (plan) {
        const bool fixed = plan->weight && plan->a.weight == a->weight && plan->heads == 1;
        if (a->weight && !fixed) {
            CSAW_TRY(csaw__alloc(&out->weight, a->num_edges, "weights of a transpose"));
            csaw__transpose_weights(a, &plan->transpose, 1, false, NULL, out->weight);
        }
        out->a = plan->transpose.a;
        out->a.weight = !a->weight ? NULL : fixed ? plan->weight : out->weight;
    } else {
        CSAW_TRY(csaw__maxk_transpose(a, &out->made));
        out->a = out->made;
    }
    return CSAW_OK;
}

csaw_status csaw_maxk_spmm_backward(const csaw_sparse *a, const csaw_dense *dy, const csaw_maxk_spmm_options *options,
                                    const csaw_cbsr *dx) {
    CSAW_OPTIONS(csaw_maxk_spmm_options, options, o);
    csaw__where where;
    CSAW_TRY(csaw__maxk_check_product(a, &o, dx, "dx", dy, "dy", &where));
    CSAW_TRY(csaw__maxk_check_apart(dy->data, "dy", dx, "dx"));
    CSAW_REQUIRE(!o.plan || !o.transpose, CSAW_EINVAL,
                 "a plan is given, which has a's transpose, and a transpose; leave one of the two out");
    if (o.transpose) CSAW_TRY(check_transpose(o.transpose, a, &where));
    if (where.ordinal >= 0) return csaw__device_maxk_backward(&where, a, dy, &o, dx);
    csaw_status status = CSAW_OK;
    turned t = {.weight = NULL};
    CSAW_TRY_DONE(turn(a, &o, &t));
    const job j = {.transpose = &t.a, .dy = dy, .dx = dx, .degree_of = o.reduce == CSAW_MEAN ? a->rowptr : NULL};
    CSAW_TRY_DONE(csaw__sum_rows(&(csaw__row_sums){
        .rowptr = t.a.rowptr, .rows = dx->rows, .width = dx->k, .job = &j, .add = add, .store = store}));
done:
    csaw__free(t.weight);
    csaw__maxk_transpose_free(&t.made);
    return status;
}

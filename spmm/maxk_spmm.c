/* SPDX-License-Identifier: MIT */
/* spmm/maxk_spmm.c - forward of MaxK aggregation: A times CBSR gives dense rows (MaxK-GNN, section 4.1, algorithm 1).
 *
 * Row-wise product: the entries of each neighbour are scattered into the sum of the row, which stays in cache as the
 * paper's stays in shared memory, and is stored once. Rows and their order of adding: maxk_rows.h. */
#include "runtime/base/parallel.h"
#include "spmm/cbsr.h"
#include "spmm/device_maxk.h"
#include "spmm/maxk_check.h"
#include "spmm/maxk_convert.h"
#include "spmm/maxk_rows.h"

#define BLOCK 256u /* entries that are made float32 at a time */
#define AHEAD 8u   /* edges from the one that is added to the one that is fetched */

typedef struct job {
    const csaw_sparse *a;
    const csaw_cbsr *x;
    const csaw_dense *y;
    bool mean;
} job;

#define SCATTER(INDEX)                                                                                           \
    static inline void scatter_##INDEX(const float *restrict value, const INDEX *restrict index, uint64_t count, \
                                       float weight, float *restrict sum) {                                      \
        for (uint64_t t = 0; t < count; t++) sum[index[t]] += weight * value[t];                                 \
    }
SCATTER(uint8_t)
SCATTER(uint16_t)
#undef SCATTER

static void fetch(const csaw_cbsr *x, uint64_t row) {
    const size_t bytes = csaw__cbsr_bytes(x);
    const char *const value = (const char *)x->values + row * x->k * bytes, *const index = csaw__cbsr_index(x, row);
    for (uint64_t at = 0; at < x->k * bytes; at += 64) __builtin_prefetch(value + at);
    for (uint64_t at = 0; at < x->k; at += 64) __builtin_prefetch(index + at);
}

static void add(const void *of, uint64_t row, uint64_t begin, uint64_t end, float *sum) {
    const job *const j = of;
    const csaw_cbsr *const x = j->x;
    const csaw_vertex *const col = j->a->col;
    const uint64_t k = x->k, num_edges = j->a->num_edges;
    const bool narrow = csaw__cbsr_is_narrow(x);
    float buffer[BLOCK];
    (void)row;
    for (uint64_t e = begin; e < end; e++) {
        const uint64_t at = col[e];
        const float weight = j->a->weight ? j->a->weight[e] : 1.0f;
        const void *const index = csaw__cbsr_index(x, at);
        if (e + AHEAD < num_edges) fetch(x, col[e + AHEAD]);
        for (uint64_t t = 0; t < k; t += BLOCK) {
            const uint64_t count = k - t < BLOCK ? k - t : BLOCK;
            const float *const value = csaw__as_float(x->dtype, x->values, at * k + t, count, buffer);
            if (narrow)
                scatter_uint8_t(value, (const uint8_t *)index + t, count, weight, sum);
            else
                scatter_uint16_t(value, (const uint16_t *)index + t, count, weight, sum);
        }
    }
}

static void store(const void *of, uint64_t row, float *sum) {
    const job *const j = of;
    const uint64_t cols = j->y->cols, edges = j->a->rowptr[row + 1] - j->a->rowptr[row];
    if (j->mean && edges)
        for (uint64_t c = 0; c < cols; c++) sum[c] /= (float)edges;
    csaw__narrow(j->y->dtype, sum, cols, j->y->data, row * csaw__stride(j->y));
}

csaw_status csaw_maxk_spmm(const csaw_sparse *a, const csaw_cbsr *x, const csaw_maxk_spmm_options *options,
                           const csaw_dense *y) {
    CSAW_OPTIONS(csaw_maxk_spmm_options, options, o);
    csaw__where where;
    CSAW_TRY(csaw__maxk_check_product(a, &o, x, "x", y, "y", &where));
    CSAW_TRY(csaw__maxk_check_apart(y->data, "y", x, "x"));
    if (where.ordinal >= 0) return csaw__device_maxk_spmm(&where, a, x, &o, y);
    const job j = {.a = a, .x = x, .y = y, .mean = o.reduce == CSAW_MEAN};
    return csaw__sum_rows(&(csaw__row_sums){
        .rowptr = a->rowptr, .rows = a->rows, .width = x->cols, .job = &j, .add = add, .store = store});
}

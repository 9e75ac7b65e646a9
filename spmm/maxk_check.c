/* SPDX-License-Identifier: MIT */
/* spmm/maxk_check.c - checks of arguments: limit, value, remedy. */
#include "spmm/maxk_check.h"

#include "runtime/base/parallel.h"
#include "spmm/element.h"
#include "spmm/plan.h"

typedef unsigned long long ull;

static csaw_status check_dtype(csaw_dtype dtype, const char *name) {
    CSAW_REQUIRE((unsigned)dtype <= CSAW_BF16, CSAW_EINVAL,
                 "dtype of %s is %d, but storage is CSAW_F32 (0), CSAW_F16 (1) or CSAW_BF16 (2)", name, (int)dtype);
    return CSAW_OK;
}

/* That rows * width elements of 4 bytes fit the address space. */
static csaw_status check_extent(const char *name, uint64_t rows, uint64_t width) {
    CSAW_REQUIRE(!rows || width <= (uint64_t)PTRDIFF_MAX / 4 / rows, CSAW_EINVAL,
                 "%s of %llu rows of %llu elements is larger than the address space; fix its shape", name, (ull)rows,
                 (ull)width);
    return CSAW_OK;
}

csaw_status csaw__maxk_check_cbsr(const csaw_cbsr *m, const char *name) {
    CSAW_REQUIRE(m, CSAW_EINVAL, "%s is NULL; this call needs a csaw_cbsr there", name);
    CSAW_REQUIRE(m->cols <= 65536, CSAW_EINVAL,
                 "%s has %llu columns, but its index reaches 65,536; split the features by columns", name,
                 (ull)m->cols);
    CSAW_REQUIRE(m->k <= m->cols && (m->k || !m->cols), CSAW_EINVAL,
                 "k of %s is %llu, but of %llu columns a row keeps 1 to %llu", name, (ull)m->k, (ull)m->cols,
                 (ull)m->cols);
    CSAW_TRY(check_dtype(m->dtype, name));
    CSAW_TRY(check_extent(name, m->rows, m->k));
    CSAW_REQUIRE((m->values && m->index) || !m->rows || !m->k, CSAW_EINVAL,
                 "%s of %s is NULL, but it has %llu x %llu entries", m->values ? "index" : "values", name, (ull)m->rows,
                 (ull)m->k);
    CSAW_REQUIRE(m->values != m->index || !m->values, CSAW_EINVAL,
                 "values and index of %s share memory; give each memory of its own", name);
    return CSAW_OK;
}

csaw_status csaw__maxk_check_apart(const void *array, const char *array_name, const csaw_cbsr *m, const char *m_name) {
    CSAW_TRY(csaw__apart_check(array, array_name, m->values, m_name));
    return csaw__apart_check(array, array_name, m->index, m_name);
}

csaw_status csaw__maxk_check_pair(const csaw_dense *x, const char *x_name, const csaw_cbsr *m, const char *m_name,
                                  const csaw_maxk_options *options, csaw__where *where) {
    CSAW_OPTIONS(csaw_maxk_options, options, o);
    CSAW_TRY(csaw__where_of(o.device, o.stream, false, where));
    CSAW_TRY(csaw__maxk_check_cbsr(m, m_name));
    CSAW_TRY(csaw__dense_check(x, x_name, m->rows, m->cols));
    CSAW_REQUIRE(x->dtype == m->dtype, CSAW_EINVAL,
                 "dtype of %s is %d and that of %s is %d, but elements are copied as they are; give both the same",
                 x_name, (int)x->dtype, m_name, (int)m->dtype);
    return csaw__maxk_check_apart(x->data, x_name, m, m_name);
}

csaw_status csaw__maxk_check_sparse(const csaw_sparse *a, const char *name, const csaw__where *where) {
    CSAW_REQUIRE(a && a->rowptr, CSAW_EINVAL, "%s %s; it takes rowptr [rows + 1], also for no rows", name,
                 a ? "has no rowptr" : "is NULL");
    CSAW_REQUIRE(a->cols <= 0xffffffffu && a->rows < UINT64_MAX / 16 && a->num_edges < UINT64_MAX / 16, CSAW_EINVAL,
                 "%s of %llu rows, %llu columns and %llu edges is beyond 2^32 - 1 columns, or beyond any memory; were "
                 "its fields filled in?",
                 name, (ull)a->rows, (ull)a->cols, (ull)a->num_edges);
    CSAW_REQUIRE(a->col || !a->num_edges, CSAW_EINVAL, "col of %s is NULL, but it has %llu edges", name,
                 (ull)a->num_edges);
    if (where->ordinal >= 0) return CSAW_OK; /* the rest would wait for the GPU */
    const uint64_t *const rowptr = a->rowptr, rows = a->rows;
    uint64_t falls = UINT64_MAX;
    CSAW__OMP(parallel for if (csaw__is_long(rows)) reduction(min : falls))
    for (uint64_t r = 0; r < rows; r++)
        if (rowptr[r + 1] < rowptr[r] && r < falls) falls = r;
    CSAW_REQUIRE(falls == UINT64_MAX, CSAW_EINVAL, "rowptr of %s falls from %llu to %llu at row %llu; it must ascend",
                 name, (ull)rowptr[falls], (ull)rowptr[falls + 1], (ull)falls);
    CSAW_REQUIRE(rowptr[0] == 0 && rowptr[rows] == a->num_edges, CSAW_EINVAL,
                 "rowptr of %s runs from %llu to %llu, but must run from 0 to the number of edges, %llu", name,
                 (ull)rowptr[0], (ull)rowptr[rows], (ull)a->num_edges);
    return CSAW_OK;
}

csaw_status csaw__maxk_check_product(const csaw_sparse *a, const csaw_maxk_spmm_options *options, const csaw_cbsr *m,
                                     const char *m_name, const csaw_dense *dense, const char *dense_name,
                                     csaw__where *where) {
    CSAW_TRY(csaw__where_of(options->device, options->stream, false, where));
    CSAW_TRY(csaw__mean_check(options->reduce));
    CSAW_TRY(csaw__maxk_check_sparse(a, "a", where));
    if (options->plan) CSAW_TRY(csaw__plan_check(options->plan, a, where->ordinal));
    CSAW_TRY(csaw__maxk_check_cbsr(m, m_name));
    CSAW_REQUIRE(m->rows == a->cols, CSAW_EINVAL, "%s has %llu rows, but a has %llu columns; give one row for each",
                 m_name, (ull)m->rows, (ull)a->cols);
    return csaw__dense_check(dense, dense_name, a->rows, m->cols);
}

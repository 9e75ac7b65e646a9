/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_forward.cu - csaw_maxk_spmm() on a GPU. */
#include "spmm/device_maxk_forward.cuh"
#include "spmm/device_maxk_run.cuh"
#include "spmm/device_private.cuh"

static csaw__maxk_kernel *kernel_of(csaw__maxk_product *m) {
    if (m->m.dtype == CSAW_F32) return csaw__maxk_forward_of<CSAW_F32>(m);
    return m->m.dtype == CSAW_F16 ? csaw__maxk_forward_of<CSAW_F16>(m) : csaw__maxk_forward_of<CSAW_BF16>(m);
}

csaw_status csaw__device_maxk_spmm(const csaw__where *given, const csaw_sparse *a, const csaw_cbsr *x,
                                   const csaw_maxk_spmm_options *options, const csaw_dense *y) {
    const csaw_spmm_plan *const plan = options->plan;
    csaw__maxk_product m = {};
    place where;
    csaw__maxk_run run;
    m.p.rowptr = a->rowptr, m.p.col = a->col, m.p.weight = a->weight;
    m.p.rows = a->rows, m.p.num_edges = a->num_edges;
    m.p.y = *y, m.p.y.stride = csaw__stride(y);
    m.p.vector = y->cols % CSAW__VECTOR == 0 && csaw__takes_vectors(&m.p.y) ? CSAW__VECTOR : 1;
    m.p.reduce = options->reduce;
    m.m = *x;
    csaw__maxk_kernel *const kernel = kernel_of(&m);
    CSAW_TRY(where.enter(given->ordinal, given->stream, csaw__pool_of(plan)));
    CSAW_TRY(run.open(where, m, y->cols, true, plan ? &plan->device->matrix : nullptr));
    return run.run(where, kernel);
}

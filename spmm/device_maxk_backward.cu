/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_backward.cu - csaw_maxk_spmm_backward() on a GPU: which way it goes, and those by the transpose:
 * given, a plan's, or made here. Of a row of dx each edge takes k elements of dy by gathering, which stand in sectors
 * of their own, or a whole row of dy side by side, for all columns of dx, from which its entries are then taken; the
 * sums are the same, bit for bit. */
#include "spmm/device_maxk_gathered.cuh"
#include "spmm/device_maxk_private.cuh"
#include "spmm/device_maxk_run.cuh"
#include "spmm/device_private.cuh"

static csaw__maxk_kernel *kernel_of(csaw__maxk_product *m) {
    if (m->p.x.dtype == CSAW_F32) return csaw__maxk_gathered_of<CSAW_F32>(m);
    return m->p.x.dtype == CSAW_F16 ? csaw__maxk_gathered_of<CSAW_F16>(m) : csaw__maxk_gathered_of<CSAW_BF16>(m);
}

static csaw_status gathered(const place &where, const csaw_sparse *a, const csaw_dense *dy,
                            const csaw_maxk_spmm_options *options, const csaw_cbsr *dx) {
    const csaw_spmm_plan *const plan = options->plan;
    csaw__maxk_product m = {};
    csaw__device_turned turned;
    csaw__maxk_run run;
    m.p.rows = a->cols, m.p.num_edges = a->num_edges;
    m.p.x = *dy, m.p.x.stride = csaw__stride(dy);
    m.p.y = csaw_dense{dx->rows, dx->k, dx->k, dx->dtype, dx->values};
    m.m = *dx;
    csaw__maxk_kernel *const kernel = kernel_of(&m);
    CSAW_TRY(turned.open(where, a, options->transpose, plan, 1, options->reduce == CSAW_MEAN, &m.p));
    CSAW_TRY(run.open(where, m, dx->k, true, plan ? &plan->device->transposed : nullptr));
    CSAW_TRY(turned.fill(where));
    return run.run(where, kernel);
}

static csaw_status by_dense(const place &where, const csaw__where *given, const csaw_sparse *a, const csaw_dense *dy,
                            const csaw_maxk_spmm_options *options, const csaw_cbsr *dx) {
    csaw_dense dense = {dx->rows, dx->cols, 0, dx->dtype, nullptr};
    work<char> memory;
    CSAW_TRY(memory.take(where, dx->rows * dx->cols * csaw__dtype_bytes(dx->dtype), "a dense gradient"));
    dense.data = memory.get();
    CSAW_TRY(csaw__device_features(where, CSAW_SPMM_AUTO, a, options->transpose, options->plan, 1,
                                   options->reduce == CSAW_MEAN, dy, &dense));
    return csaw__device_maxk_gather(given, &dense, dx);
}

csaw_status csaw__device_maxk_backward_by(const csaw__where *given, csaw__maxk_way way, const csaw_sparse *a,
                                          const csaw_dense *dy, const csaw_maxk_spmm_options *options,
                                          const csaw_cbsr *dx) {
    const csaw_spmm_plan *const plan = options->plan;
    place where;
    if (!dx->rows || !dx->k) return CSAW_OK;
    CSAW_TRY(where.enter(given->ordinal, given->stream, csaw__pool_of(plan)));
    switch (way) {
    case CSAW__MAXK_DENSE: return by_dense(where, given, a, dy, options, dx);
    case CSAW__MAXK_GATHERED: return gathered(where, a, dy, options, dx);
    default:
        return csaw__device_maxk_atomic(where, a, dy, options->reduce == CSAW_MEAN,
                                        plan ? &plan->device->matrix : nullptr, dx);
    }
}

csaw_status csaw__device_maxk_backward(const csaw__where *given, const csaw_sparse *a, const csaw_dense *dy,
                                       const csaw_maxk_spmm_options *options, const csaw_cbsr *dx) {
    const bool turned = options->transpose || options->plan;
    const csaw_status status = csaw__device_maxk_backward_by(
        given, csaw__maxk_backward_way(dx, options->deterministic, turned), a, dy, options, dx);
    if (status != CSAW_EDEVMEM || options->deterministic || turned) return status;
    /* by the way that needs least memory: in float32, where no row is long, none */
    return csaw__device_maxk_backward_by(given, CSAW__MAXK_ATOMIC, a, dy, options, dx);
}

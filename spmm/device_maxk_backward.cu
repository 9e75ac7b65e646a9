/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_backward.cu - csaw_maxk_spmm_backward() on a GPU: by rows of the transpose: given, a plan's, or made
 * here. */
#include "spmm/device_maxk_gathered.cuh"
#include "spmm/device_maxk_private.cuh"
#include "spmm/device_maxk_run.cuh"
#include "spmm/device_private.cuh"

static csaw__maxk_kernel *kernel_of(csaw__maxk_product *m) {
    if (m->p.x.dtype == CSAW_F32) return csaw__maxk_gathered_of<CSAW_F32>(m);
    return m->p.x.dtype == CSAW_F16 ? csaw__maxk_gathered_of<CSAW_F16>(m) : csaw__maxk_gathered_of<CSAW_BF16>(m);
}

csaw_status csaw__device_maxk_backward(const csaw__where *given, const csaw_sparse *a, const csaw_dense *dy,
                                       const csaw_maxk_spmm_options *options, const csaw_cbsr *dx) {
    const csaw_sparse *const turned = options->transpose;
    const bool mean = options->reduce == CSAW_MEAN;
    csaw__maxk_product m = {};
    place where;
    csaw__device_turned made;
    csaw__maxk_run run;
    if (!dx->rows || !dx->k) return CSAW_OK;
    CSAW_TRY(where.enter(given->ordinal, given->stream, csaw__pool_of(options->plan)));
    if (!options->deterministic) return csaw__device_maxk_atomic(where, a, dy, mean, dx);
    m.p.rows = a->cols, m.p.num_edges = a->num_edges;
    m.p.x = *dy, m.p.x.stride = csaw__stride(dy);
    m.p.y = csaw_dense{dx->rows, dx->k, dx->k, dx->dtype, dx->values};
    m.m = *dx;
    csaw__maxk_kernel *const kernel = kernel_of(&m);
    if (turned) {
        m.p.rowptr = turned->rowptr, m.p.col = turned->col, m.p.weight = turned->weight;
        m.degree_of = mean ? a->rowptr : nullptr;
    } else {
        CSAW_TRY(made.open(where, a, options->plan, 1, mean, &m.p));
    }
    CSAW_TRY(run.open(where, m, dx->k, true));
    if (!turned) CSAW_TRY(made.fill(where));
    return run.run(where, kernel);
}

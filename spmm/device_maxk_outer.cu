/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_outer.cu - csaw_maxk_spmm_backward() on a GPU by atomic additions: by rows of a, into zeros; for
 * 16-bit storage into float32 work memory, rounded afterwards. */
#include "spmm/device_maxk_outer.cuh"
#include "spmm/device_maxk_private.cuh"
#include "spmm/device_maxk_run.cuh"

static csaw__maxk_kernel *kernel_of(csaw__maxk_product *m, uint64_t l2_bytes) {
    if (m->p.x.dtype == CSAW_F32) return csaw__maxk_outer_of<CSAW_F32>(m, l2_bytes);
    return m->p.x.dtype == CSAW_F16 ? csaw__maxk_outer_of<CSAW_F16>(m, l2_bytes)
                                    : csaw__maxk_outer_of<CSAW_BF16>(m, l2_bytes);
}

csaw_status csaw__device_maxk_atomic(const place &where, const csaw_sparse *a, const csaw_dense *dy, bool mean,
                                     const csaw__device_known *planned, const csaw_cbsr *dx) {
    const uint64_t entries = dx->rows * dx->k;
    csaw__maxk_product m = {};
    work<float> sums;
    csaw__maxk_run run;
    int l2_bytes = 0;
    m.p.rowptr = a->rowptr, m.p.col = a->col, m.p.weight = a->weight;
    m.p.rows = a->rows, m.p.num_edges = a->num_edges;
    m.p.x = *dy, m.p.x.stride = csaw__stride(dy);
    m.m = *dx;
    m.mean = mean;
    if (dx->dtype != CSAW_F32) CSAW_TRY(sums.take(where, entries, "sums of 16-bit gradients"));
    m.sums = dx->dtype == CSAW_F32 ? (float *)dx->values : sums.get();
    CSAW_CUDA(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, where.ordinal));
    csaw__maxk_kernel *const kernel = kernel_of(&m, (uint64_t)l2_bytes);
    CSAW_TRY(run.open(where, m, dx->cols, false, planned));
    CSAW_CUDA(cudaMemsetAsync(m.sums, 0, entries * sizeof *m.sums, where.stream));
    CSAW_TRY(run.run(where, kernel));
    if (dx->dtype != CSAW_F32) CSAW__LAUNCH(where, entries, csaw__maxk_narrow, m);
    return CSAW_OK;
}

/* SPDX-License-Identifier: MIT */
/* spmm/device_stretch.cu - csaw_spmm() by stretches on a GPU: its kernels, launched. */
#include "spmm/device_stretch.cuh"

#include "spmm/device_private.cuh"

static csaw__stretch_kernel *kernel_of(const csaw__product *p) {
    const bool extreme = csaw__is_extreme(p->reduce);
    if (p->x.dtype == CSAW_F32) return csaw__stretch_kernel_of<CSAW_F32>(p->vector, extreme);
    return p->x.dtype == CSAW_F16 ? csaw__stretch_kernel_of<CSAW_F16>(p->vector, extreme)
                                  : csaw__stretch_kernel_of<CSAW_BF16>(p->vector, extreme);
}

csaw_status csaw__launch_stretch_merge(const place &where, const csaw__product *p, const csaw__stretch_deal *deal) {
    const unsigned merging = (unsigned)csaw__stretch_merging_blocks(p, p->slices);
    const auto merge = csaw__is_extreme(p->reduce) ? csaw__merge_stretches<true> : csaw__merge_stretches<false>;
    return merging ? csaw__launch_early(where, merging, CSAW__THREADS, merge, *p, deal->moved) : CSAW_OK;
}

csaw_status csaw__launch_stretches(const place &where, const csaw__product *p, const csaw__stretch_deal *deal) {
    CSAW_TRY(
        csaw__launch_early(where, (unsigned)(p->slices * p->blocks), CSAW__STRETCH_THREADS, kernel_of(p), *p, *deal));
    return csaw__launch_stretch_merge(where, p, deal);
}

csaw_status csaw__device_first_rows(const place &where, const uint64_t *rowptr, uint64_t rows, uint64_t edges,
                                    uint32_t **out) {
    work<uint32_t> first;
    const uint64_t stretches = csaw__stretches_of(rows, edges, CSAW__STRETCH_GRAIN);
    if (!csaw__has_stretches(rows)) return CSAW_OK;
    CSAW_TRY(first.take(where, stretches, "where stretches of rows and edges begin"));
    CSAW__LAUNCH(where, stretches * 32, csaw__find_first_rows, rowptr, rows, edges, first.get());
    *out = first.leave();
    return CSAW_OK;
}

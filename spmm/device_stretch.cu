/* SPDX-License-Identifier: MIT */
/* spmm/device_stretch.cu - csaw_spmm() by stretches on a GPU: its kernels, launched. */
#include "spmm/device_stretch.cuh"

#include "spmm/device_private.cuh"

static csaw__stretch_kernel *kernel_of(const csaw__product *p) {
    if (p->x.dtype == CSAW_F32) return csaw__stretch_kernel_of<CSAW_F32>(p->vector);
    return p->x.dtype == CSAW_F16 ? csaw__stretch_kernel_of<CSAW_F16>(p->vector)
                                  : csaw__stretch_kernel_of<CSAW_BF16>(p->vector);
}

/* Merging begins beside the stretches, and waits for them by itself. */
static csaw_status merge(const place &where, const csaw__product *p) {
    unsigned blocks = 0;
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute early = {};
    CSAW_TRY(blocks_for(p->slices * csaw__stretch_mergers(p) * 32, &blocks));
    if (!blocks) return CSAW_OK;
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3(blocks), config.blockDim = dim3(256);
    config.stream = where.stream;
    config.attrs = &early, config.numAttrs = 1;
    CSAW_CUDA(cudaLaunchKernelEx(&config, csaw__merge_stretches, *p));
    return CSAW_OK;
}

csaw_status csaw__launch_stretches(const place &where, const csaw__product *p) {
    CSAW_TRY(csaw__device_launch(where.stream, (unsigned)(p->slices * p->blocks), CSAW__STRETCH_THREADS, kernel_of(p),
                                 *p, (uint32_t)CSAW__STRETCH_PLACES, csaw__stretches_of(p, CSAW__STRETCH_PLACES)));
    return merge(where, p);
}

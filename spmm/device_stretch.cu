/* SPDX-License-Identifier: MIT */
/* spmm/device_stretch.cu - csaw_spmm() by stretches on a GPU: its kernels, launched. */
#include "spmm/device_stretch.cuh"

#include "spmm/device_private.cuh"

static csaw__stretch_kernel *kernel_of(const csaw__product *p, unsigned batch) {
    if (p->x.dtype == CSAW_F32) return csaw__stretch_kernel_of<CSAW_F32>(p->vector, batch);
    return p->x.dtype == CSAW_F16 ? csaw__stretch_kernel_of<CSAW_F16>(p->vector, batch)
                                  : csaw__stretch_kernel_of<CSAW_BF16>(p->vector, batch);
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

/* The rows of the last matrix that was asked for; to be timed, never freed. */
static csaw_status first_rows_of(const place &where, const csaw__product *p, uint32_t stretch, uint32_t **out) {
    static const uint64_t *rowptr;
    static uint32_t of, *rows;
    const uint64_t count = csaw__stretches_of(p, stretch);
    unsigned blocks = 0;
    if (rowptr != p->rowptr || of != stretch) {
        CSAW_CUDA(cudaMalloc(&rows, count * sizeof *rows));
        CSAW_TRY(blocks_for(count * 32, &blocks));
        CSAW_TRY(csaw__device_launch(where.stream, blocks, 256, csaw__find_first_rows, *p, stretch, count, rows));
        rowptr = p->rowptr, of = stretch;
    }
    *out = rows;
    return CSAW_OK;
}

csaw_status csaw__launch_stretches(const place &where, const csaw__product *p) {
    const csaw__stretch_way way = csaw__stretch_way_now();
    static int multiprocessors = 0;
    const uint64_t of_slice = csaw__stretches_of(p, way.places);
    const unsigned warps = way.threads / 32;
    unsigned blocks = (unsigned)((p->slices * of_slice + warps - 1) / warps);
    uint32_t *rows = nullptr;
    const csaw__stretch_rule rule = {(uint32_t)__builtin_ctz(way.places), (way.flags & 4) != 0, (way.flags & 8) != 0};
    if (!multiprocessors)
        CSAW_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, where.ordinal));
    const unsigned most = way.resident * (unsigned)multiprocessors / warps;
    if (most && blocks > most) blocks = most;
    if (way.flags & 2) CSAW_TRY(first_rows_of(where, p, way.places, &rows));
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3(blocks), config.blockDim = dim3(way.threads);
    config.stream = where.stream;
    if (way.flags & 1) config.attrs = &early, config.numAttrs = 1;
    CSAW_CUDA(cudaLaunchKernelEx(&config, kernel_of(p, way.batch), *p, rule, of_slice, (const uint32_t *)rows));
    return merge(where, p);
}

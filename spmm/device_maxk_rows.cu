/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_rows.cu - csaw_maxk(), csaw_maxk_dense() and csaw_maxk_gather() on a GPU: one launch, no work
 * memory.
 */
#include "spmm/device_maxk_choice.cuh"
#include "spmm/device_maxk_move.cuh"
#include "spmm/device_shared_limit.cuh"

static csaw__maxk_rows job_of(const csaw_dense *x, const csaw_cbsr *m) {
    csaw__maxk_rows job = {*x, *m};
    job.x.stride = csaw__stride(x);
    return job;
}

/* To as many blocks as the GPU has at once. */
static csaw_status limit(const place &where, csaw__maxk_rows_kernel *kernel, const csaw__maxk_blocks &of,
                         uint64_t *blocks) {
    int of_one = 0, multiprocessors = 0;
    CSAW_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_one, kernel, (int)of.threads, of.shared));
    CSAW_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, where.ordinal));
    const uint64_t most = (uint64_t)of_one * (uint64_t)multiprocessors;
    *blocks = most && *blocks > most ? most : *blocks;
    return CSAW_OK;
}

static csaw_status launch(const csaw__where *given, csaw__maxk_rows_kernel *kernel, const csaw__maxk_blocks &of,
                          const csaw__maxk_rows &job) {
    uint64_t blocks = (job.m.rows + of.rows - 1) / of.rows;
    place where;
    if (!blocks) return CSAW_OK;
    CSAW_TRY(where.enter(given->ordinal, given->stream, nullptr));
    if (of.shared) CSAW_TRY(allow_shared(where, (const void *)kernel)); /* more than a kernel gets unasked */
    if (of.resident) CSAW_TRY(limit(where, kernel, of, &blocks));
    CSAW_REQUIRE(blocks <= 0x7fffffffu, CSAW_EINVAL,
                 "%llu rows take %llu blocks, but a launch has at most 2^31 - 1; split the matrix by rows",
                 (unsigned long long)job.m.rows, (unsigned long long)blocks);
    return csaw__device_launch_shared(where.stream, (unsigned)blocks, of.threads, of.shared, kernel, job);
}

template <csaw_dtype T> static csaw_status select(const csaw__where *where, const csaw__maxk_rows &job) {
    csaw__maxk_blocks blocks;
    int most_shared = 0;
    CSAW_CUDA(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, where->ordinal));
    csaw__maxk_rows_kernel *const kernel = csaw__maxk_kernel_of<T>(&job, (uint64_t)most_shared, &blocks);
    return launch(where, kernel, blocks, job);
}

csaw_status csaw__device_maxk(const csaw__where *where, const csaw_dense *x, const csaw_cbsr *out) {
    const csaw__maxk_rows job = job_of(x, out);
    if (x->dtype == CSAW_F32) return select<CSAW_F32>(where, job);
    return x->dtype == CSAW_F16 ? select<CSAW_F16>(where, job) : select<CSAW_BF16>(where, job);
}

csaw_status csaw__device_maxk_dense(const csaw__where *where, const csaw_cbsr *m, const csaw_dense *out) {
    const csaw__maxk_rows job = job_of(out, m);
    return launch(where, csaw__maxk_spread_of(&job), {CSAW__MAXK_THREADS, CSAW__MAXK_THREADS / 32, 0, false}, job);
}

csaw_status csaw__device_maxk_gather(const csaw__where *where, const csaw_dense *x, const csaw_cbsr *out) {
    const csaw__maxk_rows job = job_of(x, out);
    uint64_t lanes = 1;
    csaw__maxk_rows_kernel *const kernel = csaw__maxk_pick_of(&job, &lanes);
    return launch(where, kernel, {CSAW__MAXK_THREADS, CSAW__MAXK_THREADS / lanes, 0, false}, job);
}

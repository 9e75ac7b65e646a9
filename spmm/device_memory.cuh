/* SPDX-License-Identifier: MIT */
/* spmm/device_memory.cuh - a call's GPU, stream and work memory. Memory is taken and released in the order of the
 * stream, so that nothing waits. */
#ifndef CSAW_SPMM_DEVICE_MEMORY_CUH
#define CSAW_SPMM_DEVICE_MEMORY_CUH

#include <utility>

#include "runtime/base/device_launch.cuh"
#include "runtime/base/memory.h"

/* The pool of calls without a plan on this GPU, which is current: made by the first of them, never destroyed. */
csaw_status csaw__work_pool(int ordinal, cudaMemPool_t *out);
/* A pool there that keeps so many bytes which nobody uses. */
csaw_status csaw__pool_create(int ordinal, uint64_t kept, cudaMemPool_t *out);

namespace csaw_aggregation { /* of the .cu files of this folder, which use it whole */

/* Where a call runs: the GPU is current until the end of the scope, then again the one that was. */
class place {
  public:
    int ordinal = -1;
    cudaStream_t stream = nullptr;
    cudaMemPool_t pool = nullptr; /* the plan's; NULL = that of calls without one */
    uint64_t *counted = nullptr;  /* if given, memory is not taken, but its bytes are added here; nothing is launched */

    place() = default;
    place(const place &) = delete;
    ~place() {
        if (before_ >= 0) cudaSetDevice(before_);
    }
    csaw_status enter(int of_call, void *of_caller, cudaMemPool_t of_plan) {
        int before = -1;
        CSAW_CUDA(cudaGetDevice(&before));
        if (before != of_call) {
            CSAW_CUDA(cudaSetDevice(of_call));
            before_ = before;
        }
        ordinal = of_call;
        stream = (cudaStream_t)of_caller;
        pool = of_plan;
        return CSAW_OK;
    }

  private:
    int before_ = -1; /* another GPU, to be current again */
};

/* Work memory, released where the stream stands at the end of the scope. */
template <typename T> class work {
  public:
    work() = default;
    work(const work &) = delete;
    ~work() {
        if (at_) cudaFreeAsync(at_, stream_);
    }
    csaw_status take(const place &where, uint64_t count, const char *what) {
        const uint64_t bytes = count ? count * sizeof(T) : 16;
        if (where.counted) {
            *where.counted += bytes;
            return CSAW_OK;
        }
        cudaError_t error = cudaErrorMemoryAllocation;
        void *memory = nullptr;
        cudaMemPool_t pool = where.pool;
        if (!pool) CSAW_TRY(csaw__work_pool(where.ordinal, &pool));
        const bool allowed = csaw__alloc_allowed();
        if (allowed) error = cudaMallocFromPoolAsync(&memory, bytes, pool, where.stream);
        if (allowed && error == cudaErrorMemoryAllocation) { /* without what the pool keeps */
            cudaMemPoolTrimTo(pool, 0);
            error = cudaMallocFromPoolAsync(&memory, bytes, pool, where.stream);
        }
        if (error == cudaErrorMemoryAllocation)
            return csaw__device_refused(what, bytes, "release some, or use device 'cpu'");
        CSAW_CUDA(error);
        csaw__count_bytes(bytes);
        at_ = (T *)memory;
        stream_ = where.stream;
        return CSAW_OK;
    }
    T *get() const { return at_; }
    T *leave() { return std::exchange(at_, nullptr); } /* it is the caller's to free now */

  private:
    T *at_ = nullptr;
    cudaStream_t stream_ = nullptr;
};

/* Blocks of so many threads each, for all threads. */
inline csaw_status blocks_for(uint64_t threads, uint32_t of_block, unsigned *out) {
    const uint64_t blocks = (threads + of_block - 1) / of_block;
    CSAW_REQUIRE(blocks <= 0x7fffffffu, CSAW_EINVAL,
                 "%llu blocks of %u threads in one launch, but 2^31 - 1 is the limit; split the matrix by rows",
                 (unsigned long long)blocks, (unsigned)of_block);
    *out = (unsigned)blocks;
    return CSAW_OK;
}

} // namespace csaw_aggregation
using namespace csaw_aggregation;

/* KERNEL on THREADS threads in blocks of 256. */
#define CSAW__LAUNCH(WHERE, THREADS, KERNEL, ...)                                                                  \
    do {                                                                                                           \
        unsigned launch_blocks = 0;                                                                                \
        CSAW_TRY(blocks_for(THREADS, 256, &launch_blocks));                                                        \
        if (launch_blocks) CSAW_TRY(csaw__device_launch((WHERE).stream, launch_blocks, 256, KERNEL, __VA_ARGS__)); \
    } while (0)

#endif

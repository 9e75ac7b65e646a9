/* SPDX-License-Identifier: MIT */
/* spmm/device_address.cuh - addresses in global memory by few instructions, for kernels that wait for these. */
#ifndef CSAW_SPMM_DEVICE_ADDRESS_CUH
#define CSAW_SPMM_DEVICE_ADDRESS_CUH

#include <stdint.h>

/* An address in global memory, or a number, is worked out here, and not anew wherever it is used. */
template <typename T> static __device__ __forceinline__ void csaw__work_out(T *&address) {
#ifdef __CUDA_ARCH__
    asm volatile("" : "+l"(address));
    __builtin_assume(__isGlobal(address));
#else
    (void)address;
#endif
}
template <typename T> static __device__ __forceinline__ void csaw__work_out(T &number) {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof number == 8)
        asm volatile("" : "+l"(number));
    else
        asm volatile("" : "+r"(number));
#else
    (void)number;
#endif
}

/* What stands `i` times so many bytes after `from`, in global memory. It takes one instruction so: of a product of 64
 * bits the compiler makes three. */
static __device__ __forceinline__ const char *csaw__address(const char *from, uint32_t i, uint32_t bytes) {
#ifdef __CUDA_ARCH__
    uint64_t to;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(to) : "r"(i), "r"(bytes));
    const char *const at = from + to;
    __builtin_assume(__isGlobal(at));
    return at;
#else
    return from + (uint64_t)i * bytes;
#endif
}

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/device_beside.cuh - two kernels of a stream side by side, by programmatic dependent launch (CUDA C++ Programming
 * Guide; compute capability 9): the first lets the next one begin as soon as all of its own blocks have. The next waits
 * for it before it needs what the first one makes, in every thread. So a launch costs less. Code for older GPUs has
 * no such wait, so it is launched when the first one is done. */
#ifndef CSAW_SPMM_DEVICE_BESIDE_CUH
#define CSAW_SPMM_DEVICE_BESIDE_CUH

/* The first kernel, in every block. */
static __device__ __forceinline__ void csaw__let_next_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* The next. */
static __device__ __forceinline__ void csaw__end_after_last() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#endif

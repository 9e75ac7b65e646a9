/* SPDX-License-Identifier: MIT */
/* spmm/device_shared.cuh - shared memory of as many bytes as the launch says (csaw__device_launch_shared); and words of
 * shared memory whose place is worked out once. Through a pointer the compiler does so at each access, by way of the
 * block's number in its cluster, which takes longer than the access. */
#ifndef CSAW_SPMM_DEVICE_SHARED_CUH
#define CSAW_SPMM_DEVICE_SHARED_CUH

#include <stdint.h>

enum { CSAW__MOST_SHARED = 48 << 10 }; /* bytes */

#ifdef __CUDA_ARCH__
template <typename T> static __device__ __forceinline__ T *csaw__launch_shared() {
    extern __shared__ __align__(16) unsigned char csaw__shared_bytes[];
    return (T *)csaw__shared_bytes;
}

class csaw__shared_floats {
  public:
    explicit __device__ __forceinline__ csaw__shared_floats(float *first)
        : at_((uint32_t)__cvta_generic_to_shared(first)) {
        asm volatile("" : "+r"(at_));
    }
    __device__ __forceinline__ float get(uint32_t word) const {
        float x;
        asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(at_ + word * 4) : "memory");
        return x;
    }
    __device__ __forceinline__ void put(uint32_t word, float x) const {
        asm volatile("st.shared.f32 [%0], %1;" ::"r"(at_ + word * 4), "f"(x) : "memory");
    }

  private:
    uint32_t at_;
};
#else
template <typename T> static inline T *csaw__launch_shared() {
    alignas(16) static unsigned char bytes[CSAW__MOST_SHARED];
    return (T *)bytes;
}

class csaw__shared_floats {
  public:
    explicit csaw__shared_floats(float *first) : first_(first) {}
    float get(uint32_t word) const { return first_[word]; }
    void put(uint32_t word, float x) const { first_[word] = x; }

  private:
    float *first_;
};
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/device_shared.cuh - shared memory of as many bytes as the launch says (csaw__device_launch_shared); and arrays
 * in shared memory whose place is worked out once. Through a pointer the compiler does so at each access, by way of the
 * block's number in its cluster, which takes longer than the access. */
#ifndef CSAW_SPMM_DEVICE_SHARED_CUH
#define CSAW_SPMM_DEVICE_SHARED_CUH

#include <stdint.h>

#ifdef __CUDA_ARCH__
template <typename T> static __device__ __forceinline__ T *csaw__launch_shared() {
    extern __shared__ __align__(16) unsigned char csaw__shared_bytes[];
    return (T *)csaw__shared_bytes;
}

template <typename T> class csaw__shared_array {
  public:
    explicit __device__ __forceinline__ csaw__shared_array(T *first) : at_((uint32_t)__cvta_generic_to_shared(first)) {
        asm volatile("" : "+r"(at_));
    }
    __device__ __forceinline__ T get(uint32_t i) const {
        uint32_t x;
        if constexpr (sizeof(T) == 4)
            asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(at_ + i * 4) : "memory");
        else if constexpr (sizeof(T) == 2)
            asm volatile("ld.shared.u16 %0, [%1];" : "=r"(x) : "r"(at_ + i * 2) : "memory");
        else
            asm volatile("ld.shared.u8 %0, [%1];" : "=r"(x) : "r"(at_ + i) : "memory");
        return of_bits(x, T());
    }
    /* x: of a narrower T its lower bits */
    template <typename X> __device__ __forceinline__ void put(uint32_t i, X x) const {
        if constexpr (sizeof(T) == 4)
            asm volatile("st.shared.u32 [%0], %1;" ::"r"(at_ + i * 4), "r"(bits_of(x)) : "memory");
        else if constexpr (sizeof(T) == 2)
            asm volatile("st.shared.u16 [%0], %1;" ::"r"(at_ + i * 2), "h"((uint16_t)x) : "memory");
        else
            asm volatile("st.shared.u8 [%0], %1;" ::"r"(at_ + i), "r"(bits_of(x)) : "memory");
    }
    __device__ __forceinline__ void add_if(bool is, uint32_t i, uint32_t x) const { /* atomically */
        static_assert(sizeof(T) == 4);
        asm volatile(
            "{\n.reg .pred is;\nsetp.ne.u32 is, %2, 0;\n@is red.shared.add.u32 [%0], %1;\n}" ::"r"(at_ + i * 4), "r"(x),
            "r"((uint32_t)is)
            : "memory");
    }
    __device__ __forceinline__ void or_if(bool is, uint32_t i, uint32_t bits) const { /* atomically */
        static_assert(sizeof(T) == 4);
        asm volatile("{\n.reg .pred is;\nsetp.ne.u32 is, %2, 0;\n@is red.shared.or.b32 [%0], %1;\n}" ::"r"(at_ + i * 4),
                     "r"(bits), "r"((uint32_t)is)
                     : "memory");
    }
    template <typename X> __device__ __forceinline__ void put_next(X x) { /* to the first; the next is then the first */
        put(0, x);
        at_ += sizeof(T);
    }
    /* Adds 1 and returns what was there, if `is`. By atom.inc: of atom.add ptxas makes a sum of the warp. */
    __device__ __forceinline__ uint32_t count_if(bool is) const {
        uint32_t before = 0;
        static_assert(sizeof(T) == 4);
        asm volatile("{\n.reg .pred is;\nsetp.ne.u32 is, %2, 0;\n@is atom.shared.inc.u32 %0, [%1], 0x7fffffff;\n}"
                     : "+r"(before)
                     : "r"(at_), "r"((uint32_t)is)
                     : "memory");
        return before;
    }
    __device__ __forceinline__ csaw__shared_array from(uint32_t i) const {
        csaw__shared_array other = *this;
        other.at_ += i * sizeof(T);
        return other;
    }

  private:
    static __device__ __forceinline__ float of_bits(uint32_t x, float) { return __uint_as_float(x); }
    template <typename U> static __device__ __forceinline__ U of_bits(uint32_t x, U) { return (U)x; }
    static __device__ __forceinline__ uint32_t bits_of(float x) { return __float_as_uint(x); }
    template <typename U> static __device__ __forceinline__ uint32_t bits_of(U x) { return (uint32_t)x; }
    uint32_t at_;
};

/* Whether a value stands in shared memory is known as it is loaded. */
class csaw__shared_bytes {
  public:
    explicit __device__ __forceinline__ csaw__shared_bytes(const char *first) : first_(first) {}
    /* *to = what stands at byte `byte` if here, else at `there`, in global memory: without a branch */
    template <typename T>
    __device__ __forceinline__ void get_or(bool here, uint32_t byte, const void *there, T *to) const {
        if constexpr (sizeof(T) == 16) { /* of which the compiler would make a load of any memory */
            uint32_t word[4];
            asm volatile("{\n.reg .pred here;\nsetp.ne.u32 here, %4, 0;\n"
                         "@here ld.shared.v4.u32 {%0, %1, %2, %3}, [%5];\n"
                         "@!here ld.global.v4.u32 {%0, %1, %2, %3}, [%6];\n}"
                         : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                         : "r"((uint32_t)here), "r"((uint32_t)__cvta_generic_to_shared(first_) + byte), "l"(there));
            memcpy(to, word, sizeof word);
        } else {
            *to = here ? *(const T *)(first_ + byte) : *(const T *)there;
        }
    }

  private:
    const char *first_;
};
#else
template <typename T> static inline T *csaw__launch_shared() {
    alignas(16) static unsigned char bytes[227 << 10]; /* as many as a GPU gives a block at most */
    return (T *)bytes;
}

template <typename T> class csaw__shared_array {
  public:
    explicit csaw__shared_array(T *first) : first_(first) {}
    T get(uint32_t i) const { return first_[i]; }
    template <typename X> void put(uint32_t i, X x) const { first_[i] = (T)x; }
    void add_if(bool is, uint32_t i, T x) const {
        if (is) first_[i] += x;
    }
    void or_if(bool is, uint32_t i, T bits) const {
        if (is) first_[i] |= bits;
    }
    template <typename X> void put_next(X x) { *first_++ = (T)x; }
    uint32_t count_if(bool is) const { return is ? (*first_)++ : 0; }
    csaw__shared_array from(uint32_t i) const { return csaw__shared_array(first_ + i); }

  private:
    T *first_;
};

class csaw__shared_bytes {
  public:
    explicit csaw__shared_bytes(const char *first) : first_(first) {}
    template <typename T> void get_or(bool here, uint32_t byte, const void *there, T *to) const {
        *to = here ? *(const T *)(first_ + byte) : *(const T *)there;
    }

  private:
    const char *first_;
};
#endif

#endif

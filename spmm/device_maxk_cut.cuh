/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_cut.cuh - the search for the half at which a row is cut, which every lane of the row goes through
 * alike. */
#ifndef CSAW_SPMM_DEVICE_MAXK_CUT_CUH
#define CSAW_SPMM_DEVICE_MAXK_CUT_CUH

#include "spmm/device_maxk_key.cuh"

/* Halves as numbers of float32, and by their place, ascending; infinity is the last. */
template <csaw_dtype T> struct csaw__maxk_half {
    enum { LAST = T == CSAW_F16 ? 0x7c00 : 0x7f80 };
    static __device__ __forceinline__ uint32_t bits_of(float x) {
        return T == CSAW_F16 ? csaw__narrow<CSAW_F16>(x) : __float_as_uint(x) >> 16;
    }
    static __device__ __forceinline__ float value_of(uint32_t bits) {
        return csaw__widen < T == CSAW_F16 ? CSAW_F16 : CSAW_BF16 > ((uint16_t)bits);
    }
    static __device__ __forceinline__ float near(float x) { /* a half beside x, or x itself */
        if constexpr (T == CSAW_F16)
            return value_of(bits_of(x));
        else
            return __uint_as_float(__float_as_uint(x) & 0xffff0000u);
    }
    static __device__ __forceinline__ uint32_t twice(float x) { /* a word of two */
        if constexpr (T == CSAW_F16)
            return bits_of(x) * 0x10001u;
        else
            return (__float_as_uint(x) & 0xffff0000u) | __float_as_uint(x) >> 16;
    }
    static __device__ __forceinline__ int32_t place_of(float x) {
        const int32_t place = (int16_t)bits_of(x);
        return place ^ (place >> 31 & 0x7fff);
    }
    static __device__ __forceinline__ float at_place(int32_t place) {
        return value_of((uint32_t)(place ^ (place >> 31 & 0x7fff)) & 0xffff);
    }
};

static __device__ __forceinline__ float csaw__maxk_about(float x, float by) { /* x / by; by is 1 at least */
#ifdef __CUDA_ARCH__
    float one;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(one) : "f"(by));
    return x * one;
#else
    return x / by;
#endif
}

/* Looks for halves low and high of which k elements of a row or more are not less than low, and fewer than k not less
 * than high: exactly k, or a few more than high has, or neighbours. By value, as far away as the spacing of elements
 * asks; halfway where that does not settle. The guess and the spacing that it begins with decide how long it takes,
 * and nothing else. To go on when it is done costs time alone: other rows of the warp may not be, and columns
 * that do not exist are counted at -infinity, which leaves more to be compared. Counts are whole numbers of float32. */
template <csaw_dtype T> struct csaw__maxk_cut {
    typedef csaw__maxk_half<T> half;
    float low, high;       /* at first -infinity, and NaN: beyond infinity */
    float at_low, at_high; /* how many are not less */
    float at;              /* to be counted next */
    float spacing;         /* of elements, if both ends are known */
    float reach;           /* else: goes for the spacing, twice as far each time */
    bool neighbours;

    __device__ __forceinline__ csaw__maxk_cut(float n, float guess, float spacing_before) {
        low = __uint_as_float(0xff800000u), high = __uint_as_float(0x7fffffffu);
        at_low = n, at_high = 0;
        spacing = reach = spacing_before;
        neighbours = false;
        go_to(half::near(guess), false, false);
    }

    __device__ __forceinline__ bool done(float k) const {
        return at_low == k || at_low - at_high <= (float)CSAW__MAXK_FEW || neighbours;
    }

    /* Where the k-th element may be. */
    __device__ __forceinline__ float place(float k) const { return low + (at_low - k) * spacing; }

    __device__ __forceinline__ void go_to(float x, bool halve, bool stay) {
        at = stay ? low : x;
        if (stay || (!halve && x > low && !(x >= high))) return;
        const int32_t from = half::place_of(low), end = half::place_of(high);
        const int32_t to = end > half::LAST ? half::LAST + 1 : end;
        neighbours = to - from <= 1;
        at = half::at_place(from + (to - from) / 2);
    }

    /* so many elements are not less than `at` */
    __device__ __forceinline__ void take(float count, float k, bool halve) {
        const bool enough = count >= k;
        low = enough ? at : low, at_low = enough ? count : at_low;
        high = enough ? high : at, at_high = enough ? at_high : count;
        const float width = high - low, finer = csaw__maxk_about(width, at_low - at_high);
        const bool bracketed = width < __uint_as_float(0x7f800000u);
        spacing = bracketed ? finer : spacing;
        const float aim = at_low - k <= k - at_high ? k - 1 : k + 1; /* past k, so that it lies between two counts */
        const float beyond = at + (count - aim) * reach;
        reach *= 2;
        go_to(half::near(bracketed ? place(aim) : beyond), halve, done(k));
    }
};

#endif

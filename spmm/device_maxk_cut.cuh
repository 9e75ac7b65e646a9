/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_cut.cuh - the search for the half at which a row is cut, which every lane of the row goes through
 * alike. */
#ifndef CSAW_SPMM_DEVICE_MAXK_CUT_CUH
#define CSAW_SPMM_DEVICE_MAXK_CUT_CUH

#include <math.h>

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
#ifdef __CUDA_ARCH__
            return __byte_perm(__float_as_uint(x), 0, 0x3232);
#else
            return (__float_as_uint(x) & 0xffff0000u) | __float_as_uint(x) >> 16;
#endif
    }
    static __device__ __forceinline__ int32_t place_of(float x) {
        const int32_t place = (int16_t)bits_of(x);
        return place ^ (place >> 31 & 0x7fff);
    }
    static __device__ __forceinline__ float at_place(int32_t place) {
        return value_of((uint32_t)(place ^ (place >> 31 & 0x7fff)) & 0xffff);
    }
};

static __device__ __forceinline__ float csaw__maxk_about(float x, float by) { /* x / by; by is not 0 */
#ifdef __CUDA_ARCH__
    float one;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(one) : "f"(by));
    return x * one;
#else
    return x / by;
#endif
}

static __device__ __forceinline__ float csaw__maxk_about_log(float x) { /* of base 2; x: 0.5 at least */
#ifdef __CUDA_ARCH__
    float power;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
#else
    return log2f(x);
#endif
}

static __device__ __forceinline__ float csaw__maxk_fused(float x, float y, float z) {
#ifdef __CUDA_ARCH__
    return __fmaf_rn(x, y, z);
#else
    return x * y + z;
#endif
}

/* `size` with the sign of x. */
static __device__ __forceinline__ float csaw__maxk_signed(float size, float x) {
    return __uint_as_float(__float_as_uint(size) | (__float_as_uint(x) & 0x80000000u));
}

/* Looks for halves low and high of which k elements of a row or more are not less than low, and fewer than k not less
 * than high: exactly k, or a few more than high has, or equal halves between them. By value, as far away as the
 * spacing of elements asks; where that does not settle (`far`), along the logarithm of the counts, which beyond the
 * middle of most rows falls more evenly than the counts, and halfway between the elements that stand between the ends,
 * so that equal ones are found at once. The guess and the spacing that it begins with decide how long it takes, and
 * nothing else. To go on when it is done costs time alone: other rows of the warp may not be, and columns that do not
 * exist are counted at -infinity, which leaves more to be compared. Counts are whole numbers of float32. */
template <csaw_dtype T> struct csaw__maxk_cut {
    typedef csaw__maxk_half<T> half;
    float low, high; /* at first -infinity, and NaN: beyond infinity */
    float k;
    float over, under; /* how many are not less, less k: 0 or more of low, less than 0 of high */
    float at;          /* to be counted next */
    float step;        /* from one element to the next; twice as much each time until both ends are known */
    uint32_t open;     /* 1 or 0: settled */

    __device__ __forceinline__ csaw__maxk_cut(float n, float asked, float guess, float spacing) : k(asked) {
        low = __uint_as_float(0xff800000u), high = __uint_as_float(0x7fffffffu);
        over = n - k, under = -k;
        step = spacing;
        at = half::near(guess);
        if (!(at > low)) at = halfway();
        open = over != 0 && n > (float)CSAW__MAXK_FEW;
    }

    /* What the spacing of elements is, if both ends are known, else `before`. */
    __device__ __forceinline__ float spacing(float before) const {
        return high - low < __uint_as_float(0x7f800000u) ? step * 0.5f : before;
    }

    __device__ __forceinline__ float halfway() { /* between low and high, by place; settled if they are neighbours */
        const int32_t from = half::place_of(low), end = half::place_of(high);
        const int32_t to = end > half::LAST ? half::LAST + 1 : end;
        open = to - from > 1;
        return half::at_place(from + (to - from) / 2);
    }

    /* count: how many elements are not less than `at`, less k; far: after a few steps */
    __device__ __forceinline__ void take(float count, bool far) {
        const bool enough = count >= 0;
        low = enough ? at : low, over = enough ? count : over;
        high = enough ? high : at, under = enough ? under : count;
        const float width = high - low, between = over - under, finer = csaw__maxk_about(width, between);
        step = width < __uint_as_float(0x7f800000u) ? finer : step;
        /* Along the line through both ends, of which `at` is one, to one past k as seen from the nearer end, so that
         * k lies between two counts. */
        float x = half::near(csaw__maxk_fused(count - csaw__maxk_signed(1, over + under), step, at));
        if (far && width < __uint_as_float(0x7f800000u)) {
            const float from = csaw__maxk_about_log(over + k), to = csaw__maxk_about_log(under + k + 0.5f);
            x = half::near(low + csaw__maxk_about(width * (from - csaw__maxk_about_log(k + 0.5f)), from - to));
        }
        step += step;
        const bool settled = over == 0 || between <= (float)CSAW__MAXK_FEW;
        open = !settled;
        at = settled ? low : x;
        if (!settled && (!(x > low) || x >= high)) at = halfway();
    }

    /* least, most: of the elements not less than low, and of those less than high. Numbers between them are tried in
     * place of those between the ends, or none where all are equal. */
    __device__ __forceinline__ void tighten(float least, float most) {
        const int32_t from = half::place_of(least + 0.0f), to = half::place_of(most + 0.0f); /* -0 as +0 */
        if (!open) return;
        open = least < most;
        at = open ? half::at_place(from + (to - from + 1) / 2) : low;
    }
};

#endif

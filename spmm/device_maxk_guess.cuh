/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_guess.cuh - where the search for a cut begins in the first rows of a warp or block, of which no row
 * before tells: where rows would be cut if their elements were distributed normally, with the mean and the deviation of
 * a sample. */
#ifndef CSAW_SPMM_DEVICE_MAXK_GUESS_CUH
#define CSAW_SPMM_DEVICE_MAXK_GUESS_CUH

#include "spmm/device_maxk_lanes.cuh"

/* words: of the tile, of which some are the sample; numbers of it alone count. k, n: of a row. guess, spacing: as
 * csaw__maxk_cut() takes them. The same in all lanes of the warp. */
template <csaw_dtype T, int WORDS>
static __device__ __forceinline__ void csaw__maxk_first_guess(const uint32_t *words, float k, float n, float *guess,
                                                              float *spacing) {
    enum { EVERY = 4 /* word */ };
    float sum = 0, squares = 0, count = 0;
#pragma unroll
    for (int i = 0; i < WORDS; i += EVERY)
#pragma unroll
        for (int upper = 0; upper < 2; upper++) {
            const float x = csaw__maxk_half<T>::value_of(upper ? words[i] >> 16 : words[i] & 0xffff);
            if (!(fabsf(x) < 1e15f)) continue; /* whose square is no number of float32, or nearly so */
            sum += x, squares += x * x, count += 1;
        }
#pragma unroll
    for (int d = 16; d; d /= 2) {
        sum += __shfl_xor_sync(CSAW__ALL_LANES, sum, d);
        squares += __shfl_xor_sync(CSAW__ALL_LANES, squares, d);
        count += __shfl_xor_sync(CSAW__ALL_LANES, count, d);
    }
    const float mean = csaw__maxk_about(sum, fmaxf(count, 1));
    const float square = csaw__maxk_about(squares, fmaxf(count, 1)) - mean * mean;
    *guess = mean, *spacing = csaw__maxk_about(2.5f, n);
    if (!(square > 0)) return; /* as far as can be seen all are equal */
    /* Beyond mean + far * deviation stands a share of less than a half: Hastings, "Approximations for Digital
     * Computers", 1955, sheet 67. */
    const float share = csaw__maxk_about(k, n), less = fmaxf(fminf(share, 1 - share), 1e-6f);
    const float t = sqrtf(-1.3862944f * csaw__maxk_about_log(less));
    const float far = t - csaw__maxk_about(2.30753f + 0.27061f * t, 1 + t * (0.99229f + 0.04481f * t));
    const float deviation = sqrtf(square);
    *guess = mean + csaw__maxk_signed(far, 0.5f - share) * deviation;
    *spacing = csaw__maxk_about(2.5066283f * deviation * exp2f(0.7213475f * far * far), n);
}

#endif

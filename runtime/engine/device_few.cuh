/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_few.cuh - prefix sums of few entries on a GPU by one launch: a minibatch has a dozen of them,
 * and CUB's take two launches, memory and questions to the driver each, of which the host has more than the GPU has of
 * the sums. One block, tile after tile; integers, so that no order shows. More entries than FEW are CUB's.
 *
 * Limit on an H200: one block; it waits for memory and its barriers (9 us in a batch of the loader).
 * docs/measured/2026-11-24-gpu-11.md. */
#ifndef CSAW_ENGINE_DEVICE_FEW_CUH
#define CSAW_ENGINE_DEVICE_FEW_CUH

#include "runtime/base/device_launch.cuh"
#include "runtime/engine/device_array.cuh"

#define CSAW__FEW 16384
#define CSAW__FEW_EACH 8 /* entries of a lane in a tile */

/* blockDim.x: a multiple of 32. */
template <typename IN, typename T> __global__ void csaw__sum_few(const IN *in, T *out, uint32_t count) {
    __shared__ T of_warp[32];
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    T of_tiles = 0; /* those before this one */
    for (uint32_t tile = 0; tile < count; tile += blockDim.x * CSAW__FEW_EACH) {
        const uint32_t first = tile + threadIdx.x * CSAW__FEW_EACH;
        T before[CSAW__FEW_EACH], own = 0;
#pragma unroll
        for (uint32_t i = 0; i < CSAW__FEW_EACH; i++) {
            before[i] = own;
            if (first + i < count) own += in[first + i];
        }
        T upto = own; /* lanes of the warp up to this one */
        for (unsigned d = 1; d < 32; d *= 2) {
            const T below = __shfl_up_sync(0xffffffffu, upto, d);
            if (lane >= d) upto += below;
        }
        if (lane == 31) of_warp[warp] = upto;
        __syncthreads();
        T base = of_tiles + upto - own;
        for (unsigned w = 0; w < warps; w++) {
            if (w < warp) base += of_warp[w];
            of_tiles += of_warp[w];
        }
#pragma unroll
        for (uint32_t i = 0; i < CSAW__FEW_EACH; i++)
            if (first + i < count) out[first + i] = base + before[i];
        __syncthreads(); /* before of_warp is written again */
    }
}

/* As sums(), and wide_sums(). */
template <typename IN, typename T> csaw_status few_sums(csaw__device *device, const IN *in, T *out, uint64_t count) {
    if constexpr (sizeof(IN) < sizeof(T)) {
        if (count > CSAW__FEW) return wide_sums(device, in, out, count);
    } else {
        if (count > CSAW__FEW) return sums(device, in, out, count);
    }
    const unsigned lanes = (unsigned)((count + CSAW__FEW_EACH - 1) / CSAW__FEW_EACH), warps = (lanes + 31) / 32;
    if (!count) return CSAW_OK;
    return csaw__device_launch(device->stream, 1, 32 * (warps < 32 ? warps : 32), csaw__sum_few<IN, T>, in, out,
                               (uint32_t)count);
}

#endif

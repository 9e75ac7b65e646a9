/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_move.cuh - device code of csaw_maxk_dense() and csaw_maxk_gather(): elements moved as they are.
 *
 * Limit on an H100, all of reddit, 256 columns to 32 and 64 (csaw__maxk_pick): DRAM, 88 to 90%, and L2, 84 to 86%. */
#ifndef CSAW_SPMM_DEVICE_MAXK_MOVE_CUH
#define CSAW_SPMM_DEVICE_MAXK_MOVE_CUH

#include "spmm/device_element.cuh"
#include "spmm/device_group.cuh"
#include "spmm/device_maxk.h"

enum { CSAW__MAXK_MOVED = 512 /* columns of a row that a warp has in shared memory */ };

/* A warp a row, a part of its columns at a time: zero, the entries, out. RAW: as wide as an element. */
template <typename RAW, typename INDEX, int VECTOR>
static __global__ void __launch_bounds__(CSAW__MAXK_THREADS)
    csaw__maxk_spread(const __grid_constant__ csaw__maxk_rows job) {
    typedef csaw__pack<RAW, VECTOR> pack;
    __shared__ pack parts[CSAW__MAXK_THREADS / 32][CSAW__MAXK_MOVED / VECTOR];
    pack *const part = parts[threadIdx.x / 32];
    RAW *const element = (RAW *)part;
    const uint64_t row = csaw__thread_number() / 32, k = job.m.k;
    const uint32_t lane = threadIdx.x % 32;
    if (row >= job.m.rows) return; /* the whole warp */
    const RAW *const value = (const RAW *)job.m.values + row * k;
    const INDEX *const index = (const INDEX *)job.m.index + row * k;
    RAW *const out = (RAW *)job.x.data + row * job.x.stride;
    for (uint64_t first = 0; first < job.x.cols; first += CSAW__MAXK_MOVED) {
        const uint64_t left = job.x.cols - first, width = left < CSAW__MAXK_MOVED ? left : (uint64_t)CSAW__MAXK_MOVED;
        for (uint32_t v = lane; v < width / VECTOR; v += 32) part[v] = pack{};
        __syncwarp();
        for (uint64_t t = lane; t < k; t += 32) {
            const uint64_t c = index[t] - first; /* below first: beyond any width */
            if (c < width) element[c] = value[t];
        }
        __syncwarp();
        for (uint32_t v = lane; v < width / VECTOR; v += 32) ((pack *)(out + first))[v] = part[v];
        __syncwarp();
    }
}

/* LANES lanes a row. */
template <typename RAW, typename INDEX, int LANES>
static __global__ void __launch_bounds__(CSAW__MAXK_THREADS)
    csaw__maxk_pick(const __grid_constant__ csaw__maxk_rows job) {
    const uint64_t row = csaw__thread_number() / LANES, k = job.m.k;
    if (row >= job.m.rows) return;
    const RAW *const from = (const RAW *)job.x.data + row * job.x.stride;
    const INDEX *const index = (const INDEX *)job.m.index + row * k;
    RAW *const to = (RAW *)job.m.values + row * k;
    for (uint64_t t = threadIdx.x % LANES; t < k; t += LANES) to[t] = from[index[t]];
}

template <typename RAW, typename INDEX>
static csaw__maxk_rows_kernel *csaw__maxk_spread_by(const csaw__maxk_rows *job) {
    const bool vectors = job->x.cols % CSAW__VECTOR == 0 && csaw__takes_vectors(&job->x);
    return vectors ? csaw__maxk_spread<RAW, INDEX, CSAW__VECTOR> : csaw__maxk_spread<RAW, INDEX, 1>;
}

static inline csaw__maxk_rows_kernel *csaw__maxk_spread_of(const csaw__maxk_rows *job) {
    const bool narrow = job->m.cols <= 256;
    if (job->m.dtype == CSAW_F32)
        return narrow ? csaw__maxk_spread_by<uint32_t, uint8_t>(job) : csaw__maxk_spread_by<uint32_t, uint16_t>(job);
    return narrow ? csaw__maxk_spread_by<uint16_t, uint8_t>(job) : csaw__maxk_spread_by<uint16_t, uint16_t>(job);
}

/* *lanes: of a row. */
template <typename RAW, typename INDEX>
static csaw__maxk_rows_kernel *csaw__maxk_pick_by(const csaw__maxk_rows *job, uint64_t *lanes) {
    *lanes = job->m.k <= 16 ? 8 : 32;
    return *lanes == 8 ? csaw__maxk_pick<RAW, INDEX, 8> : csaw__maxk_pick<RAW, INDEX, 32>;
}

static inline csaw__maxk_rows_kernel *csaw__maxk_pick_of(const csaw__maxk_rows *job, uint64_t *lanes) {
    const bool narrow = job->m.cols <= 256;
    if (job->m.dtype == CSAW_F32)
        return narrow ? csaw__maxk_pick_by<uint32_t, uint8_t>(job, lanes)
                      : csaw__maxk_pick_by<uint32_t, uint16_t>(job, lanes);
    return narrow ? csaw__maxk_pick_by<uint16_t, uint8_t>(job, lanes)
                  : csaw__maxk_pick_by<uint16_t, uint16_t>(job, lanes);
}

#endif

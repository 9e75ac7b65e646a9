/* SPDX-License-Identifier: MIT */
/* spmm/device_edge_sampled.cuh - device code of edge-sampled aggregation: Y = A' X with A' sampled on the way, A'
 * itself, and the dot products of dW. Laws and order of sums: csaw/edge_sampled.h. To be compiled without contraction
 * of a * b + c.
 *
 * Method: the CacheSample kernel of ES-SpMM (Lin, Luo, Ceze, algorithm 1). A group of threads, up to 128 as in section
 * IV-E1, takes a row: its threads choose slots and put their columns and normalised weights into shared memory; then
 * each holds some columns and adds the slots one after the other. The paper holds all S slots of a row at once, which
 * limits S; here a group holds two slots a thread, one block of random numbers, and goes on with the next ones. So S
 * has no limit, and shared memory is 4 KiB for any S.
 *
 * Limit on an H200, a twentieth of reddit, 64 columns: entries 51% of the throughput of L2, the product 42%, 25%
 * of the issue slots: kernels of 20 to 28 us that wait for memory. docs/measured/2026-11-24-gpu-11.md. */
#ifndef CSAW_SPMM_DEVICE_EDGE_SAMPLED_CUH
#define CSAW_SPMM_DEVICE_EDGE_SAMPLED_CUH

#include "spmm/device_edge_sampled.h"
#include "spmm/device_group.cuh"
#include "spmm/device_slice.cuh"

/* ---- slots ---- */

/* Slots 2 pair and 2 pair + 1 of row r, which begins at `start`: as far as they are taken, their entries as places of
 * the matrix, and the factors of their weights. */
static __device__ __forceinline__ void csaw__es_pair(const csaw__edge_rule *rule, const csaw__edge_row *row,
                                                     uint64_t start, uint64_t r, uint32_t pair, uint64_t *edge,
                                                     double *factor) {
    csaw_block block = {};
    if (csaw__edge_is_drawn(rule, row)) {
        uint32_t word[4];
        csaw__edge_counter(rule, r, pair, word);
        block = csaw_philox(word[0], word[1], word[2], word[3], (uint32_t)rule->seed, (uint32_t)(rule->seed >> 32));
    }
#pragma unroll
    for (uint32_t h = 0; h < 2; h++)
        if (2 * pair + h < row->taken)
            edge[h] = start + csaw__edge_place(rule, row, 2 * pair + h, csaw_half(&block, h), &factor[h]);
}

static __device__ __forceinline__ float csaw__es_weight(const csaw_sparse *a, uint64_t edge, double factor) {
    return csaw__edge_weight(a->weight ? a->weight[edge] : 1.0f, factor);
}

static __device__ __forceinline__ csaw__edge_row csaw__es_row(const csaw_sparse *a, const csaw__edge_rule *rule,
                                                              uint64_t r) {
    return csaw__edge_row_of(rule, r < a->rows ? a->rowptr[r + 1] - a->rowptr[r] : 0);
}

/* ---- Y = A' X ---- */

/* Threads that share a row meet: within a warp, or all of a block. */
template <int LANES> static __device__ __forceinline__ void csaw__es_meet() {
    if (LANES > 32)
        __syncthreads();
    else
        __syncwarp();
}

/* Slots that the threads which meet go through: as many as the longest of their rows has. */
template <int LANES>
static __device__ __forceinline__ uint32_t csaw__es_slots(const csaw__es_product *p, uint64_t first_row,
                                                          uint32_t taken) {
    uint32_t most = taken;
    if (LANES < 32)
        for (int apart = LANES; apart < 32; apart *= 2) {
            const uint32_t other = __shfl_xor_sync(CSAW__ALL_LANES, most, apart);
            most = other > most ? other : most;
        }
    if (LANES == 64)
        for (uint64_t r = first_row; r < first_row + 2 && r < p->a.rows; r++) {
            const uint32_t other = csaw__edges_taken(&p->rule, p->a.rowptr[r + 1] - p->a.rowptr[r]);
            most = other > most ? other : most;
        }
    return most;
}

/* sum[i] += weight * x of `left` slots, from 1 to COUNT. Loads first; the last slot is loaded again for those that are
 * not there, since that needs no branch. */
template <csaw_dtype X, int VECTOR, int COUNT>
static __device__ __forceinline__ void csaw__es_add(const csaw__cached *slot, const char *from, uint32_t left,
                                                    float *sum) {
    float x[COUNT][VECTOR], weight[COUNT];
#pragma unroll
    for (uint32_t n = 0; n < COUNT; n++) {
        const csaw__cached s = slot[n < left ? n : left - 1];
        weight[n] = s.weight;
        csaw__load<X, VECTOR>(from + s.at, x[n]);
    }
#pragma unroll
    for (uint32_t n = 0; n < COUNT; n++)
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            if (n < left) sum[i] += weight[n] * x[n][i];
}

template <csaw_dtype X, int LANES, int VECTOR>
static __global__ void __launch_bounds__(CSAW__ES_THREADS)
    csaw__es_multiply(const __grid_constant__ csaw__es_product p) {
    __shared__ csaw__cached cached[2 * CSAW__ES_THREADS];
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2;
    constexpr uint32_t groups = CSAW__ES_THREADS / LANES;
    const uint32_t lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
    const uint32_t slice = blockIdx.x / (uint32_t)p.blocks, block = blockIdx.x % (uint32_t)p.blocks;
    const uint64_t first_row = (uint64_t)block * groups, r = first_row + group;
    const uint64_t column = ((p.first_slice + slice) * LANES + lane) * VECTOR;
    const bool held = column < p.x.cols;
    const char *const x = (const char *)p.x.data + column * bytes;
    const csaw__edge_row row = csaw__es_row(&p.a, &p.rule, r);
    const uint64_t start = r < p.a.rows ? p.a.rowptr[r] : 0;
    csaw__cached *const cache = cached + group * 2 * LANES;
    const uint32_t most = csaw__es_slots<LANES>(&p, first_row, row.taken);
    float sum[VECTOR] = {0};
    for (uint32_t base = 0; base < most; base += 2 * LANES) {
        uint64_t edge[2];
        double factor[2];
        csaw__es_pair(&p.rule, &row, start, r, base / 2 + lane, edge, factor);
        csaw__cached slot[2];
#pragma unroll
        for (uint32_t h = 0; h < 2; h++)
            if (base + 2 * lane + h < row.taken) {
                slot[h].at = p.a.col[edge[h]] * p.x.stride * bytes;
                slot[h].weight = csaw__es_weight(&p.a, edge[h], factor[h]);
            }
        csaw__es_meet<LANES>(); /* the slots before were read */
#pragma unroll
        for (uint32_t h = 0; h < 2; h++)
            if (base + 2 * lane + h < row.taken) cache[2 * lane + h] = slot[h];
        csaw__es_meet<LANES>();
        const uint32_t left = base < row.taken ? row.taken - base : 0, here = left < 2 * LANES ? left : 2 * LANES;
        uint32_t k = 0;
        for (; held && k + CSAW__ES_UNROLL <= here; k += CSAW__ES_UNROLL)
            csaw__es_add<X, VECTOR, CSAW__ES_UNROLL>(cache + k, x, CSAW__ES_UNROLL, sum);
        if (held && k + CSAW__ES_UNROLL / 2 < here)
            csaw__es_add<X, VECTOR, CSAW__ES_UNROLL>(cache + k, x, here - k, sum);
        else if (held && k < here)
            csaw__es_add<X, VECTOR, CSAW__ES_UNROLL / 2>(cache + k, x, here - k, sum);
    }
    if (held && r < p.a.rows) csaw__store<VECTOR>(&p.y, r, column, sum);
}

/* ---- A' ---- */

/* out: [rows + 1], 0 and then how many entries each row has in A'; sums over it are rowptr of A'. */
static __global__ void csaw__es_count(csaw_sparse a, csaw__edge_rule rule, uint64_t *out) {
    const uint64_t r = csaw__thread_number();
    if (r < a.rows) out[r + 1] = csaw__edges_taken(&rule, a.rowptr[r + 1] - a.rowptr[r]);
    if (r == 0) out[0] = 0;
}

/* The entry of A' at place k; false if there is none. */
static __device__ __forceinline__ bool csaw__es_entry(const csaw_sparse *a, const csaw__edge_rule *rule,
                                                      const uint64_t *rowptr, uint64_t k, csaw__es_entry_at *out) {
    if (k >= rowptr[a->rows]) return false;
    uint64_t edge[2];
    out->r = csaw__row_at(rowptr, a->rows, k);
    out->slot = (uint32_t)(k - rowptr[out->r]);
    out->row = csaw__es_row(a, rule, out->r);
    double factor[2];
    csaw__es_pair(rule, &out->row, a->rowptr[out->r], out->r, out->slot / 2, edge, factor);
    out->edge = edge[out->slot % 2];
    out->factor = factor[out->slot % 2];
    return true;
}

/* One thread an entry of the first `most` places. edge, col and weight: [most] or NULL. Places past the last entry get
 * a column past the last one, and with it weight 0; else they are let alone. */
static __global__ void csaw__es_entries(csaw_sparse a, csaw__edge_rule rule, const uint64_t *rowptr, uint64_t most,
                                        csaw_edge *edge, csaw_vertex *col, float *weight) {
    const uint64_t k = csaw__thread_number();
    csaw__es_entry_at e;
    if (k >= most) return;
    if (!csaw__es_entry(&a, &rule, rowptr, k, &e)) {
        if (!col) return;
        col[k] = (csaw_vertex)a.cols;
        if (weight) weight[k] = 0; /* it is sorted with the others */
        return;
    }
    if (edge) edge[k] = e.edge;
    if (col) col[k] = a.col[e.edge];
    if (weight) weight[k] = csaw__es_weight(&a, e.edge, e.factor);
}

/* ---- dW ---- */

template <csaw_dtype X, csaw_dtype DY>
static __device__ __forceinline__ float csaw__es_dot(const csaw__es_dots *d, uint64_t r, csaw_vertex c, uint32_t lane) {
    const char *const dy = (const char *)d->dy.data + r * d->dy.stride * (DY == CSAW_F32 ? 4 : 2);
    const char *const x = (const char *)d->x.data + c * d->x.stride * (X == CSAW_F32 ? 4 : 2);
    float sum = 0;
    for (uint64_t j = lane; j < d->x.cols; j += 32) {
        float u[1], v[1];
        csaw__load<DY, 1>(dy + j * (DY == CSAW_F32 ? 4 : 2), u);
        csaw__load<X, 1>(x + j * (X == CSAW_F32 ? 4 : 2), v);
        sum += u[0] * v[0];
    }
#pragma unroll
    for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(CSAW__ALL_LANES, sum, half);
    return sum;
}

/* A warp takes 32 places of A': each lane finds the entry of one, and then all of them take the dot products one by
 * one. An entry that is taken several times is so with its first slot, times their number. dw: zeros before. */
template <csaw_dtype X, csaw_dtype DY>
static __global__ void csaw__es_dots_of_entries(const __grid_constant__ csaw__es_dots d) {
    const uint32_t lane = threadIdx.x % 32;
    csaw__es_entry_at e = {};
    double times = 0;
    bool wanted = csaw__es_entry(&d.a, &d.rule, d.rowptr, csaw__thread_number(), &e);
    csaw_vertex column = 0;
    float value = 0;
    if (wanted) {
        const uint64_t period = csaw__edge_period(&d.rule, e.row.n);
        wanted = e.slot < period;
        times = wanted ? (double)((e.row.taken - 1 - e.slot) / period + 1) : 0;
        column = d.a.col[e.edge];
    }
    for (uint32_t rest = __ballot_sync(CSAW__ALL_LANES, wanted); rest; rest &= rest - 1) {
        const int of = __ffs((int)rest) - 1;
        const float sum = csaw__es_dot<X, DY>(&d, __shfl_sync(CSAW__ALL_LANES, e.r, of),
                                              __shfl_sync(CSAW__ALL_LANES, column, of), lane);
        if ((int)lane == of) value = sum;
    }
    if (wanted) d.dw[e.edge] = (float)(times * e.factor * (double)value);
}

/* ---- kernels by storage and shape ---- */

typedef void csaw__es_kernel(csaw__es_product);
typedef void csaw__es_dots_kernel(csaw__es_dots);

template <csaw_dtype X, int LANES> static csaw__es_kernel *csaw__es_kernel_for(const csaw__es_product *p) {
    return p->vector > 1 ? csaw__es_multiply<X, LANES, CSAW__VECTOR> : csaw__es_multiply<X, LANES, 1>;
}

template <csaw_dtype X> static csaw__es_kernel *csaw__es_kernel_of(const csaw__es_product *p) {
    switch (p->lanes) {
    case 128: return csaw__es_kernel_for<X, 128>(p);
    case 64: return csaw__es_kernel_for<X, 64>(p);
    case 32: return csaw__es_kernel_for<X, 32>(p);
    case 16: return csaw__es_kernel_for<X, 16>(p);
    default: return csaw__es_kernel_for<X, 8>(p);
    }
}

static csaw__es_kernel *csaw__es_kernel_at(const csaw__es_product *p) {
    if (p->x.dtype == CSAW_F32) return csaw__es_kernel_of<CSAW_F32>(p);
    return p->x.dtype == CSAW_F16 ? csaw__es_kernel_of<CSAW_F16>(p) : csaw__es_kernel_of<CSAW_BF16>(p);
}

template <csaw_dtype X> static csaw__es_dots_kernel *csaw__es_dots_kernel_for(csaw_dtype dy) {
    if (dy == CSAW_F32) return csaw__es_dots_of_entries<X, CSAW_F32>;
    return dy == CSAW_F16 ? csaw__es_dots_of_entries<X, CSAW_F16> : csaw__es_dots_of_entries<X, CSAW_BF16>;
}

static csaw__es_dots_kernel *csaw__es_dots_kernel_at(const csaw__es_dots *d) {
    if (d->x.dtype == CSAW_F32) return csaw__es_dots_kernel_for<CSAW_F32>(d->dy.dtype);
    return d->x.dtype == CSAW_F16 ? csaw__es_dots_kernel_for<CSAW_F16>(d->dy.dtype)
                                  : csaw__es_dots_kernel_for<CSAW_BF16>(d->dy.dtype);
}

#endif

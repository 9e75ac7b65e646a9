/* SPDX-License-Identifier: MIT */
/* spmm/device_batched.cuh - device code of batched products, forward and for gradients of features. Order of sums:
 * csaw/batched.h. To be compiled without contraction of a * b + c.
 *
 * Method: sub-warp-assigned SpMM (Nagasaka et al., CCGrid 2019, slides 8 to 13): one launch for all graphs of a batch,
 * a few lanes a row of the output, which stays in their registers. The paper gives each entry of COO lanes of its own
 * and adds with atomics in shared memory, in any order; here the batch keeps all entries by row, and again by column,
 * so that COO, CSR and their transposes are one kernel without atomics, in the order that is promised. Columns are cut
 * (their cache blocking) so that what a block's rows read of x stays in the L1 cache. Nothing is looked up: a row's
 * record leads to its entries, and these to x.
 *
 * Limit on an H200: gradients of MAX and MIN of 1,000 graphs of 4 to 400 rows, 64 columns, 88% of the throughput of L2;
 * of a hundred graphs of 50 rows latency. docs/measured/2026-11-28-gpu-24.md. */
#ifndef CSAW_SPMM_DEVICE_BATCHED_CUH
#define CSAW_SPMM_DEVICE_BATCHED_CUH

#include "spmm/device_address.cuh"
#include "spmm/device_batched_entry.cuh"
#include "spmm/device_divide.cuh"
#include "spmm/device_slice.cuh"

/* ---- a graph's matrices ---- */

/* Bytes from m->data to where row 0 of all graphs would be, if rows of graph number `which` are to be found from there.
 * An offset, since a pointer out of m->each would be one to any memory. */
static __device__ __forceinline__ uint64_t csaw__batched_shift(const csaw__batched_matrix *m, const csaw__small *graph,
                                                               uint32_t which, bool columns) {
    if (!m->each) return 0;
    const uint64_t begin = columns ? graph[which].col_begin : graph[which].row_begin;
    return (uintptr_t)m->each[which] - begin * m->stride * (m->dtype == CSAW_F32 ? 4 : 2);
}

/* data may be NULL. */
static __device__ __forceinline__ char *csaw__batched_at(char *data, uint64_t shift) {
#ifdef __CUDA_ARCH__
    return data + shift;
#else
    return (char *)((uintptr_t)data + shift);
#endif
}

template <csaw_dtype X, int COUNT>
using csaw__batched_pack = csaw__pack<typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type, COUNT>;

/* COUNT elements as they are stored. WHOLE: the place is aligned to as many. */
template <csaw_dtype X, int COUNT, bool WHOLE>
static __device__ __forceinline__ csaw__batched_pack<X, COUNT> csaw__batched_load(const char *from) {
    typedef csaw__batched_pack<X, COUNT> pack;
    if constexpr (WHOLE) {
        return *(const pack *)from;
    } else {
        pack out;
#pragma unroll
        for (int i = 0; i < COUNT; i++) out.at[i] = ((const csaw__batched_pack<X, 1> *)from)[i].at[0];
        return out;
    }
}

/* COUNT elements to row `row` of a matrix whose row 0 is, or would be, at `data`. */
template <int COUNT>
static __device__ __forceinline__ void csaw__batched_store(const csaw__batched_matrix *m, char *data, uint64_t row,
                                                           uint64_t column, const float *x) {
    const csaw_dense out = {0, 0, m->stride, m->dtype, data};
    if constexpr (COUNT > 1)
        if ((uintptr_t)data % (COUNT * (m->dtype == CSAW_F32 ? 4 : 2)) != 0) {
#pragma unroll
            for (int i = 0; i < COUNT; i++) csaw__store<1>(&out, row, column + i, x + i);
            return;
        }
    csaw__store<COUNT>(&out, row, column, x);
}

/* ---- a row of the output ---- */

/* What becomes of the products of an entry's weight and features: they are added, forward or back, or the best is kept,
 * or, for gradients of MAX and MIN, those are added of which arg says that the entry won. */
enum csaw__batched_rule { CSAW__ADD, CSAW__ADD_BACK, CSAW__KEEP_BEST, CSAW__ADD_WINNERS };

/* Whose weights: the batch's entries', the call's, or these divided, of CSAW__ADD_BACK. */
enum csaw__batched_weights { CSAW__OWN, CSAW__GIVEN, CSAW__GIVEN_DIVIDED };

static __host__ __device__ constexpr bool csaw__batched_adds(csaw__batched_rule rule) {
    return rule == CSAW__ADD || rule == CSAW__ADD_BACK;
}

static __host__ __device__ constexpr int csaw__batched_factor(csaw__batched_rule rule) {
    return rule == CSAW__ADD_WINNERS ? 1 : CSAW__BATCHED_FACTOR;
}

/* Whether entries are asked for before the features of those before them have come, as measured: registers are short
 * beside arg; rows of CSAW__ADD are mostly over by then, but weights of the call are one load more to wait for. */
static __host__ __device__ constexpr bool csaw__batched_ahead(csaw__batched_rule rule, csaw__batched_weights weights) {
    return rule == CSAW__ADD ? weights != CSAW__OWN : rule != CSAW__ADD_WINNERS;
}

/* Blocks that a multiprocessor is to hold at once: as many as registers allow, but few spilled; as measured
 * (docs/measured/2026-11-28-gpu-24.md, gpu-25, gpu-26). */
static __host__ __device__ constexpr int csaw__batched_blocks(csaw__batched_rule rule) {
    return (rule == CSAW__ADD_WINNERS ? 1536 : rule == CSAW__KEEP_BEST ? 1024 : 1280) / CSAW__BATCHED_THREADS;
}

static csaw__batched_rule csaw__batched_rule_of(const csaw__batched_product *p) {
    if (csaw__is_extreme(p->reduce)) return p->transposed ? CSAW__ADD_WINNERS : CSAW__KEEP_BEST;
    return p->transposed ? CSAW__ADD_BACK : CSAW__ADD;
}

template <int VECTOR, csaw__batched_rule RULE> struct csaw__batched_sum { /* of one vector of columns */
    float value[VECTOR];                                                  /* of MIN: times -1 */
    uint32_t place[RULE == CSAW__KEEP_BEST ? VECTOR : 1];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
            value[i] = 0;
            if (RULE == CSAW__KEEP_BEST) place[i] = CSAW_NONE;
        }
    }
    /* winner: what arg has there, of CSAW__ADD_WINNERS */
    template <csaw_dtype X>
    __device__ __forceinline__ void add(float weight, const csaw__batched_pack<X, VECTOR> &x, uint32_t entry,
                                        const csaw__pack<uint32_t, VECTOR> &winner) {
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
            const float product = weight * csaw__widen<X>(x.at[i]);
            if (csaw__batched_adds(RULE))
                value[i] += product;
            else if (RULE == CSAW__ADD_WINNERS)
                value[i] += winner.at[i] == entry ? product : 0.0f;
            else if (place[i] == CSAW_NONE || csaw__larger(product, value[i])) {
                value[i] = product;
                place[i] = entry;
            }
        }
    }
};

/* Entries of a row, some at a time, whose features are on their way together. Past the end the last entry is looked at
 * again; its features are not, nor are they added, but arg is, since registers are short for one more condition. from:
 * where this lane's first column would be in row 0 of the input; won: the same of arg; step: elements to its second
 * vector. */
template <csaw_dtype X, int VECTOR, csaw__batched_rule RULE, csaw__batched_weights WEIGHTS, bool WHOLE>
static __device__ __forceinline__ void csaw__batched_reduce(const csaw__batched_product *p,
                                                            const csaw__batched_row &row, const char *from,
                                                            const char *won, uint32_t step,
                                                            csaw__batched_sum<VECTOR, RULE> *sum) {
    constexpr int FACTOR = csaw__batched_factor(RULE);
    constexpr uint32_t COUNT = CSAW__BATCHED_AT_ONCE;
    constexpr bool AHEAD = csaw__batched_ahead(RULE, WEIGHTS);
    constexpr bool GIVEN = WEIGHTS != CSAW__OWN, DIVIDED = WEIGHTS == CSAW__GIVEN_DIVIDED;
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2;
    const uint32_t stride = (uint32_t)p->in.stride * bytes, won_stride = (uint32_t)p->cols * sizeof(uint32_t);
    const char *const named = (const char *)(p->a.named + row.first);
    constexpr uint32_t entry_bytes = DIVIDED ? sizeof(csaw__batched_divided)
                                     : GIVEN ? sizeof(csaw__batched_named)
                                             : sizeof(csaw__batched_entry);
    const char *entry = DIVIDED ? (const char *)(p->divided + row.first)
                        : GIVEN ? named
                                : (const char *)(p->a.entry + row.first);
    const char *const given = (const char *)p->weight;
    csaw__work_out(entry);
    csaw__work_out(from);
    csaw__batched_entry next[COUNT];
    uint32_t next_number[COUNT] = {0};
    const auto place = [&](uint32_t k) { return k < row.count ? k : row.count - 1; };
    const auto fetch = [&](uint32_t k) {
#pragma unroll
        for (uint32_t n = 0; n < COUNT; n++) {
            const uint32_t at = place(k + n);
            if (GIVEN) {
                const auto e = *(const csaw__batched_named *)csaw__address(entry, at, entry_bytes);
                next[n].other = e.other, next_number[n] = e.number;
            } else {
                next[n] = *(const csaw__batched_entry *)csaw__address(entry, at, entry_bytes);
                if (!csaw__batched_adds(RULE))
                    next_number[n] =
                        ((const csaw__batched_named *)csaw__address(named, at, sizeof(csaw__batched_named)))->number;
            }
        }
    };
    if (AHEAD && row.count) fetch(0);
    for (uint32_t k = 0; k < row.count; k += COUNT) {
        csaw__batched_pack<X, VECTOR> x[COUNT][FACTOR];
        csaw__pack<uint32_t, VECTOR> winner[COUNT][FACTOR];
        float weight[COUNT];
        uint32_t number[COUNT];
        const uint32_t left = row.count - k;
        if (!AHEAD) fetch(k);
#pragma unroll
        for (uint32_t n = 0; n < COUNT; n++) {
            const char *const at = csaw__address(from, next[n].other, stride);
#pragma unroll
            for (int j = 0; j < FACTOR; j++) {
                if (!n || n < left) x[n][j] = csaw__batched_load<X, VECTOR, WHOLE>(at + j * step * bytes);
                if (RULE == CSAW__ADD_WINNERS) {
                    const char *const arg = csaw__address(won, next[n].other, won_stride);
                    winner[n][j] = *(const csaw__pack<uint32_t, VECTOR> *)(arg + j * step * sizeof(uint32_t));
                }
            }
            number[n] = next_number[n] - row.begin; /* as arg counts: in the graph */
            weight[n] = GIVEN ? *(const float *)csaw__address(given, next_number[n], sizeof(float)) : next[n].weight;
            if (RULE == CSAW__KEEP_BEST && p->reduce == CSAW_MIN) weight[n] = -weight[n];
        }
        if (AHEAD && left > COUNT) fetch(k + COUNT);
#pragma unroll
        for (uint32_t n = 0; n < COUNT; n++) {
            if (n >= left) continue; /* asked of the first too: sums do not begin before all loads have left */
            if (DIVIDED) { /* what stands beside the number is near by now, and takes no registers until here */
                const auto e = (const csaw__batched_divided *)csaw__address(entry, k + n, entry_bytes);
                weight[n] = csaw__over(weight[n], e->by.value, e->by.inverse);
            }
#pragma unroll
            for (int j = 0; j < FACTOR; j++) sum[j].template add<X>(weight[n], x[n][j], number[n], winner[n][j]);
        }
    }
}

/* count: entries of the row, which is number `number` of all. */
template <int VECTOR, csaw__batched_rule RULE>
static __device__ __forceinline__ void csaw__batched_finish(const csaw__batched_product *p, char *out, uint64_t number,
                                                            uint64_t column, uint32_t count,
                                                            csaw__batched_sum<VECTOR, RULE> *sum) {
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
        if (RULE == CSAW__ADD && p->reduce == CSAW_MEAN && count) sum->value[i] /= (float)count;
        if (RULE == CSAW__KEEP_BEST && p->reduce == CSAW_MIN && count) sum->value[i] = -sum->value[i];
    }
    if constexpr (RULE == CSAW__KEEP_BEST)
        if (p->arg) csaw__put<VECTOR>(p->arg + (number * p->cols + column), sum->place);
    csaw__batched_store<VECTOR>(&p->out, out, number, column, sum->value);
}

template <csaw_dtype X, int VECTOR, csaw__batched_rule RULE, csaw__batched_weights WEIGHTS>
static __global__ void __launch_bounds__(CSAW__BATCHED_THREADS, csaw__batched_blocks(RULE))
    csaw__batched_rows(const __grid_constant__ csaw__batched_product p) {
    constexpr int FACTOR = csaw__batched_factor(RULE);
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2;
    const uint32_t lane = threadIdx.x & (p.lanes - 1), apart = p.lanes * VECTOR, cols = (uint32_t)p.cols;
    const uint32_t group = threadIdx.x >> p.lanes_log, groups = CSAW__BATCHED_THREADS >> p.lanes_log;
    const uint32_t place = (blockIdx.x * p.parts + blockIdx.z) * groups + group; /* the last block's ends below 2^32 */
    const uint32_t column = (p.first_slice + blockIdx.y) * (apart * FACTOR) + lane * VECTOR;
    if (place >= p.outputs || column >= cols) return;
    const csaw__batched_row row = p.a.row[place];
    const uint32_t number = p.a.output ? p.a.output[place] : place;
    char *const in = csaw__batched_at(p.in.data, csaw__batched_shift(&p.in, p.graph, row.graph, !p.transposed));
    const bool both = FACTOR > 1 && column + apart < cols; /* vectors; else, of two, the first is read twice */
    const char *const from = in + (uint64_t)column * bytes;
    const char *const won = RULE == CSAW__ADD_WINNERS ? (const char *)(p.arg + column) : nullptr;
    const uint32_t step = both ? apart : 0;
    csaw__batched_sum<VECTOR, RULE> sum[FACTOR];
#pragma unroll
    for (int j = 0; j < FACTOR; j++) sum[j].clear();
    if (VECTOR == 1 || (uintptr_t)in % (VECTOR * bytes) == 0)
        csaw__batched_reduce<X, VECTOR, RULE, WEIGHTS, true>(&p, row, from, won, step, sum);
    else
        csaw__batched_reduce<X, VECTOR, RULE, WEIGHTS, false>(&p, row, from, won, step, sum);
    char *const out = csaw__batched_at(p.out.data, csaw__batched_shift(&p.out, p.graph, row.graph, p.transposed));
    csaw__batched_finish<VECTOR, RULE>(&p, out, number, column, row.count, sum);
    if constexpr (FACTOR > 1)
        if (both) csaw__batched_finish<VECTOR, RULE>(&p, out, number, column + apart, row.count, sum + 1);
}

/* ---- kernels by storage and shape ---- */

typedef void csaw__batched_kernel(csaw__batched_product);

template <csaw_dtype X, int VECTOR, csaw__batched_rule RULE>
static csaw__batched_kernel *csaw__batched_kernel_by(const csaw__batched_product *p) {
    if constexpr (RULE == CSAW__ADD_BACK)
        if (p->divided) return csaw__batched_rows<X, VECTOR, RULE, CSAW__GIVEN_DIVIDED>;
    return p->weight ? csaw__batched_rows<X, VECTOR, RULE, CSAW__GIVEN>
                     : csaw__batched_rows<X, VECTOR, RULE, CSAW__OWN>;
}

template <csaw_dtype X, int VECTOR>
static csaw__batched_kernel *csaw__batched_kernel_for(const csaw__batched_product *p) {
    switch (csaw__batched_rule_of(p)) {
    case CSAW__ADD: return csaw__batched_kernel_by<X, VECTOR, CSAW__ADD>(p);
    case CSAW__ADD_BACK: return csaw__batched_kernel_by<X, VECTOR, CSAW__ADD_BACK>(p);
    case CSAW__KEEP_BEST: return csaw__batched_kernel_by<X, VECTOR, CSAW__KEEP_BEST>(p);
    case CSAW__ADD_WINNERS: break;
    }
    return csaw__batched_kernel_by<X, VECTOR, CSAW__ADD_WINNERS>(p);
}

template <csaw_dtype X> static csaw__batched_kernel *csaw__batched_kernel_of(const csaw__batched_product *p) {
    return p->vector > 1 ? csaw__batched_kernel_for<X, CSAW__VECTOR>(p) : csaw__batched_kernel_for<X, 1>(p);
}

static csaw__batched_kernel *csaw__batched_kernel_at(const csaw__batched_product *p) {
    if (p->in.dtype == CSAW_F32) return csaw__batched_kernel_of<CSAW_F32>(p);
    return p->in.dtype == CSAW_F16 ? csaw__batched_kernel_of<CSAW_F16>(p) : csaw__batched_kernel_of<CSAW_BF16>(p);
}

#endif

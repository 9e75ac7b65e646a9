/* SPDX-License-Identifier: MIT */
/* spmm/device_batch.cuh - device code that looks at a batch once, when it is made: every offset and index checked, a
 * warp a graph; and the entries by row and by column, a thread each, around a stable sort.
 *
 * Limit on an H100, at most 1,000 graphs: latency. csaw__batch_check 23 us, the others 4 to 11; at most 19% of the
 * warps and 15% of the throughput of L2. */
#ifndef CSAW_SPMM_DEVICE_BATCH_CUH
#define CSAW_SPMM_DEVICE_BATCH_CUH

#include "spmm/batched_fault.h"
#include "spmm/device_batched_entry.cuh"

/* bad: the first graph with a fault; all ones before. */
static __global__ void csaw__batch_check(const csaw__small *graph, uint64_t graphs, bool from_zero,
                                         unsigned long long *bad) {
    const uint64_t number = csaw__thread_number() / 32, lane = threadIdx.x % 32;
    if (number >= graphs) return;
    const csaw__small g = graph[number];
    const uint64_t first = csaw__small_first(&g);
    bool wrong = from_zero && first != 0;
    if (g.rowptr) {
        for (uint64_t i = lane; i < g.rows; i += 32) wrong = csaw__small_falls(&g, i) || wrong;
        wrong = g.rowptr[g.rows] - first != g.num_edges || wrong;
    }
    if (!__any_sync(0xffffffffu, wrong))
        for (uint64_t k = lane; k < g.num_edges; k += 32)
            wrong = (!g.rowptr && csaw__small_row_is_off(&g, k)) || csaw__small_col_is_off(&g, first, k) || wrong;
    if (__any_sync(0xffffffffu, wrong) && lane == 0) atomicMin(bad, (unsigned long long)number);
}

/* One thread. */
static __global__ void csaw__batch_tell(const csaw__small *g, bool from_zero, csaw__small_fault *out) {
    if (csaw__thread_number() == 0) *out = csaw__small_fault_of(g, from_zero);
}

/* ---- entries by row and by column ---- */

/* Where graph g begins, by rows, columns or entries. */
enum csaw__batch_begin { CSAW__BY_ROW, CSAW__BY_COL, CSAW__BY_ENTRY };

template <csaw__batch_begin BY> static __device__ __forceinline__ uint64_t csaw__batch_begin_of(const csaw__small *g) {
    return BY == CSAW__BY_ROW ? g->row_begin : BY == CSAW__BY_COL ? g->col_begin : g->num_begin;
}

/* The last graph that begins with i or before: the one that has it. */
template <csaw__batch_begin BY>
static __device__ __forceinline__ uint64_t csaw__batch_graph_of(const csaw__small *graph, uint64_t graphs, uint64_t i) {
    uint64_t low = 0, high = graphs;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (csaw__batch_begin_of<BY>(graph + middle) <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Every entry, graph after graph: its row and column through the batch. [edges] */
static __global__ void csaw__batch_spread(const csaw__small *graph, uint64_t graphs, uint64_t edges, uint32_t *row,
                                          uint32_t *col, float *weight) {
    const uint64_t e = csaw__thread_number();
    if (e >= edges) return;
    const csaw__small *const g = graph + csaw__batch_graph_of<CSAW__BY_ENTRY>(graph, graphs, e);
    const uint64_t place = (g->rowptr ? g->rowptr[0] : 0) + (e - g->num_begin);
    row[e] = (uint32_t)g->row_begin + csaw__batched_row_at(g, place);
    col[e] = (uint32_t)g->col_begin + csaw__batched_col_at(g, place);
    weight[e] = g->weight ? g->weight[place] : 1.0f;
}

/* The first of `count` ascending keys that is not below `key`. */
static __device__ __forceinline__ uint64_t csaw__batch_lower_bound(const uint32_t *keys, uint64_t count, uint64_t key) {
    uint64_t low = 0, high = count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* out: [outputs], from the row (BY_COL: column) of every entry, in ascending order. */
template <csaw__batch_begin BY>
static __global__ void csaw__batch_rows(const csaw__small *graph, uint64_t graphs, const uint32_t *sorted,
                                        uint64_t edges, uint64_t outputs, csaw__batched_row *out) {
    const uint64_t i = csaw__thread_number();
    if (i >= outputs) return;
    const uint64_t first = csaw__batch_lower_bound(sorted, edges, i);
    const uint64_t count = csaw__batch_lower_bound(sorted + first, edges - first, i + 1);
    const uint64_t which = csaw__batch_graph_of<BY>(graph, graphs, i);
    out[i] = csaw__batched_row{(uint32_t)first, (uint32_t)count, (uint32_t)which, (uint32_t)graph[which].num_begin};
}

/* The rows of each warp by falling number of entries, so that those that share a warp end together. */
static __global__ void csaw__batch_level(const csaw__batched_row *row, uint64_t outputs, csaw__batched_row *out,
                                         uint32_t *output) {
    const uint64_t i = csaw__thread_number();
    const uint32_t lane = threadIdx.x % 32;
    const csaw__batched_row mine = i < outputs ? row[i] : csaw__batched_row{};
    uint32_t before = 0;
    for (uint32_t k = 0; k < 32; k++) {
        const uint32_t count = __shfl_sync(0xffffffffu, mine.count, (int)k);
        const bool there = i - lane + k < outputs;
        before += there && (count > mine.count || (count == mine.count && k < lane));
    }
    if (i >= outputs) return;
    out[i - lane + before] = mine;
    output[i - lane + before] = (uint32_t)i;
}

/* order: [edges] which entry stands at each place of out; other: its column, or row; named: the same entries by number;
 * moved: 0 before, 1 if they do not stand as they were. */
static __global__ void csaw__batch_entries(const uint64_t *order, const uint32_t *other, const float *weight,
                                           uint64_t edges, csaw__batched_entry *out, csaw__batched_named *named,
                                           uint32_t *moved) {
    const uint64_t i = csaw__thread_number();
    if (i >= edges) return;
    const uint64_t e = order[i];
    if (e != i) *moved = 1;
    out[i] = csaw__batched_entry{other[e], weight[e]};
    named[i] = csaw__batched_named{other[e], (uint32_t)e};
}

/* by_col, named: [edges]; out: the entries with weights divided by the number of entries of their row; divided: with
 * that number. */
static __global__ void csaw__batch_means(const csaw__batched_entry *by_col, const csaw__batched_named *named,
                                         const csaw__batched_row *row, uint64_t edges, csaw__batched_entry *out,
                                         csaw__batched_divided *divided) {
    const uint64_t i = csaw__thread_number();
    if (i >= edges) return;
    const csaw__batched_entry e = by_col[i];
    const float count = (float)row[e.other].count;
    out[i] = csaw__batched_entry{e.other, e.weight / count};
    divided[i] = csaw__batched_divided{named[i], {count, 1.0f / count}};
}

#endif

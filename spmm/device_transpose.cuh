/* SPDX-License-Identifier: MIT */
/* spmm/device_transpose.cuh - device code around a sparse matrix's transpose: its check, and what a stable sort of the
 * edges by column leaves to do. One thread an entry of the output.
 *
 * Limit on an H200, a twentieth of reddit, 64 columns: csaw__weigh 87% of the throughput of L2, csaw__count_up 63%
 * (atomic additions), csaw__find_rows 61% of the issue slots. docs/measured/2026-11-24-gpu-11.md. */
#ifndef CSAW_SPMM_DEVICE_TRANSPOSE_CUH
#define CSAW_SPMM_DEVICE_TRANSPOSE_CUH

#include "spmm/device_group.cuh"

/* bad[0]: the first row that falls; bad[1]: the first edge whose column is out of range; all ones before. */
static __global__ void csaw__check_matrix(csaw_sparse a, unsigned long long *bad) {
    const uint64_t i = csaw__thread_number();
    if (i < a.rows && a.rowptr[i + 1] < a.rowptr[i]) atomicMin(bad, (unsigned long long)i);
    if (i < a.num_edges && a.col[i] >= a.cols) atomicMin(bad + 1, (unsigned long long)i);
}

static __global__ void csaw__count_up(uint64_t *out, uint64_t count) {
    const uint64_t i = csaw__thread_number();
    if (i < count) out[i] = i;
}

/* rowptr: [cols + 1], from the columns of all edges in ascending order. */
static __global__ void csaw__find_starts(const csaw_vertex *sorted, uint64_t edges, uint64_t cols, uint64_t *rowptr) {
    const uint64_t j = csaw__thread_number();
    if (j > cols) return;
    uint64_t low = 0, high = edges;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (sorted[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    rowptr[j] = low;
}

static __global__ void csaw__find_rows(csaw_sparse a, const csaw_edge *edge, csaw_vertex *row) {
    const uint64_t k = csaw__thread_number();
    if (k < a.num_edges) row[k] = (csaw_vertex)csaw__row_at(a.rowptr, a.rows, edge[k]);
}

/* out: [rows] how many edges each has, by which MEAN divides. */
static __global__ void csaw__count_edges_of_rows(const uint64_t *rowptr, uint64_t rows, float *out) {
    const uint64_t row = csaw__thread_number();
    if (row < rows) out[row] = (float)(rowptr[row + 1] - rowptr[row]);
}

/* out: [num_edges, heads]; edge and row: of the transpose; kept: NULL, or what stood in out without mean; divisor:
 * NULL, or as csaw__count_edges_of_rows() has it, of which a sector has twice as many rows as of rowptr. */
static __global__ void csaw__weigh(csaw_sparse a, const csaw_edge *edge, const csaw_vertex *row, uint32_t heads,
                                   bool mean, const float *kept, const float *divisor, float *out) {
    const uint64_t i = csaw__thread_number(), k = heads == 1 ? i : i / heads; /* a division of 64 bits costs as much */
    if (k >= a.num_edges) return;
    const float w = kept ? kept[i] : a.weight ? a.weight[edge[k] * heads + (i - k * heads)] : 1.0f;
    if (!mean) {
        out[i] = w;
        return;
    }
    const csaw_vertex r = row[k];
    out[i] = w / (divisor ? divisor[r] : (float)(a.rowptr[r + 1ull] - a.rowptr[r]));
}

#endif

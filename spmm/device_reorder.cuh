/* SPDX-License-Identifier: MIT */
/* spmm/device_reorder.cuh - device code that brings rows of a matrix near to each other that name the same columns, so
 * that what one row reads of x is still in the L1 cache when the next one asks for it. The order decides no bit of a
 * result: a row's edges stay as they are.
 *
 * Labels are passed on (label propagation: Raghavan, Albert and Kumara, "Near linear time algorithm to detect community
 * structures in large-scale networks", Physical Review E 76, 2007), from columns to rows and from rows to columns: each
 * takes the label that most of its edges have, of equally many the least; at first a column's label is its number. A
 * row of more than 32 edges asks 32 of them, evenly spread. After a few rounds rows of a community have one label; more
 * would let large communities take over all others. Rows are then sorted by their last label, and within it by their
 * first, which is that of a smaller neighbourhood. Of equally common labels the least is taken, and equal keys keep
 * their order, so that an order of the rows that is local already stays local. Where columns are not named again more
 * often by that, which is counted, rows stay as they are.
 *
 * Limit on an H100, amazon_cs: csaw__reorder_edges 38% of the issue slots, by its search, of 12 us; the others latency,
 * of 3 to 7 us each. docs/measured/2026-11-28-gpu-22.md. */
#ifndef CSAW_SPMM_DEVICE_REORDER_CUH
#define CSAW_SPMM_DEVICE_REORDER_CUH

#include "spmm/device_group.cuh"
#include "spmm/device_slice.cuh"
#include "spmm/device_stretch_layout.cuh"

enum {
    CSAW__REORDER_ROUNDS = 3,
    CSAW__REORDER_WINDOW = 2048, /* edges, about as many as a multiprocessor has on its way */
    CSAW__REORDER_BITS_OF = 15,  /* of a column's hash */
    CSAW__REORDER_BITS = 1 << CSAW__REORDER_BITS_OF
};

static_assert(CSAW__REORDER_ROUNDS > 1, "the first labels are not the last ones");

/* Whether another order is worth its memory: of edges that follow each other a column is named again more often, at
 * least by so much. different: columns that each window names, added up. */
static inline bool csaw__reorder_serves(uint64_t different_now, uint64_t different_then) {
    return 8 * different_then <= 7 * different_now;
}

/* A warp a row: its label, of those of its columns; ~0 if it is empty. label: NULL = a column's number. */
static __global__ void csaw__pass_labels(const uint64_t *rowptr, uint64_t rows, const csaw_vertex *col,
                                         const uint32_t *label, uint32_t *out) {
    const uint64_t row = csaw__thread_number() / 32;
    const uint32_t lane = threadIdx.x % 32;
    if (row >= rows) return;
    const uint64_t begin = rowptr[row], length = rowptr[row + 1] - begin;
    const bool asks = lane < length;
    const csaw_vertex column = asks ? col[begin + (length > 32 ? lane * length / 32 : lane)] : 0;
    const uint32_t own = !asks ? ~0u : label ? label[column] : column;
    const uint32_t alike = (uint32_t)__popc(__match_any_sync(CSAW__ALL_LANES, own));
    const uint32_t most = __reduce_max_sync(CSAW__ALL_LANES, asks ? alike : 0);
    const uint32_t least = __reduce_min_sync(CSAW__ALL_LANES, asks && alike == most ? own : ~0u);
    if (lane == 0) out[row] = least;
}

/* What rows are sorted by, and their numbers. */
static __global__ void csaw__reorder_keys(const uint32_t *first, const uint32_t *last, uint64_t rows, uint64_t *key,
                                          uint32_t *number) {
    const uint64_t row = csaw__thread_number();
    if (row >= rows) return;
    key[row] = (uint64_t)last[row] << 32 | first[row];
    number[row] = (uint32_t)row;
}

/* out: [rows + 1] how many edges each row has in the new order, and 0. */
static __global__ void csaw__reorder_lengths(const uint64_t *rowptr, uint64_t rows, const uint32_t *order,
                                             uint64_t *out) {
    const uint64_t i = csaw__thread_number();
    if (i <= rows) out[i] = i < rows ? rowptr[order[i] + 1ull] - rowptr[order[i]] : 0;
}

static __global__ void csaw__note_reordered(const uint64_t *rowptr, uint64_t rows, const uint32_t *order,
                                            csaw__reordered_row *out) {
    const uint64_t i = csaw__thread_number();
    if (i < rows) out[i] = csaw__reordered_row{order[i], (uint32_t)rowptr[order[i]]};
}

/* What edges have, [edges, heads], in the new order; a thread each. */
template <typename T>
static __global__ void csaw__reorder_edges(const T *of, const uint64_t *new_rowptr, uint64_t rows,
                                           const csaw__reordered_row *moved, uint64_t edges, uint32_t heads, T *out) {
    const uint64_t i = csaw__thread_number(), k = i / heads;
    if (k >= edges) return;
    const uint64_t row = csaw__row_at(new_rowptr, rows, k), from = moved[row].edge + (k - new_rowptr[row]);
    out[i] = of[from * heads + (i - k * heads)];
}

/* Adds to *out how many columns each CSAW__REORDER_WINDOW edges that follow each other name; those whose hashes are the
 * same count as one. A block a window. */
static __global__ void csaw__count_different(const csaw_vertex *col, uint64_t edges, unsigned long long *out) {
    __shared__ uint32_t seen[CSAW__REORDER_BITS / 32];
    const uint64_t begin = blockIdx.x * (uint64_t)CSAW__REORDER_WINDOW;
    const uint64_t end = begin + CSAW__REORDER_WINDOW < edges ? begin + CSAW__REORDER_WINDOW : edges;
    uint32_t count = 0;
    for (uint32_t i = threadIdx.x; i < CSAW__REORDER_BITS / 32; i += blockDim.x) seen[i] = 0;
    __syncthreads();
    for (uint64_t k = begin + threadIdx.x; k < end; k += blockDim.x) {
        const uint32_t bit = col[k] * 2654435761u >> (32 - CSAW__REORDER_BITS_OF); /* 2^32 by the golden ratio */
        atomicOr(seen + bit / 32, 1u << bit % 32);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < CSAW__REORDER_BITS / 32; i += blockDim.x) count += (uint32_t)__popc(seen[i]);
    count = __reduce_add_sync(CSAW__ALL_LANES, count);
    if (threadIdx.x % 32 == 0) atomicAdd(out, (unsigned long long)count);
}

#endif

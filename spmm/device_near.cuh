/* SPDX-License-Identifier: MIT */
/* spmm/device_near.cuh - device code that brings rows of a matrix near to each other that name the same columns, so
 * that what one row reads of x is still in the L1 cache when the next one asks for it. The order decides no bit of a
 * result: a row's edges stay as they are.
 *
 * Labels are passed on (label propagation: Raghavan, Albert and Kumara, "Near linear time algorithm to detect community
 * structures in large-scale networks", Physical Review E 76, 2007), from columns to rows and from rows to columns: each
 * takes the label that most of its edges have, of equally many the least; at first a column's label is its number. A
 * row of more than 32 edges asks 32 of them, evenly spread. After a few rounds rows of a community have one label; more
 * would let large communities take over all others. Rows are then sorted by their last label, and within it by their
 * first, which is that of a smaller neighbourhood. Of equally common labels the least is taken, and equal keys keep
 * their order, so that an order of the rows that is local already stays local. */
#ifndef CSAW_SPMM_DEVICE_NEAR_CUH
#define CSAW_SPMM_DEVICE_NEAR_CUH

#include "spmm/device_group.cuh"
#include "spmm/device_slice.cuh"
#include "spmm/device_stretch_layout.cuh"

enum { CSAW__NEAR_ROUNDS = 3 };

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
static __global__ void csaw__near_keys(const uint32_t *first, const uint32_t *last, uint64_t rows, uint64_t *key,
                                       uint32_t *number) {
    const uint64_t row = csaw__thread_number();
    if (row >= rows) return;
    key[row] = (uint64_t)last[row] << 32 | first[row];
    number[row] = (uint32_t)row;
}

/* out: [rows + 1] how many edges each row has in the new order, and 0. */
static __global__ void csaw__near_lengths(const uint64_t *rowptr, uint64_t rows, const uint32_t *order, uint64_t *out) {
    const uint64_t i = csaw__thread_number();
    if (i <= rows) out[i] = i < rows ? rowptr[order[i] + 1ull] - rowptr[order[i]] : 0;
}

static __global__ void csaw__note_moved(const uint64_t *rowptr, uint64_t rows, const uint32_t *order,
                                        csaw__moved_row *out) {
    const uint64_t i = csaw__thread_number();
    if (i < rows) out[i] = csaw__moved_row{order[i], (uint32_t)rowptr[order[i]]};
}

/* A thread an edge of the new order, [num_edges]: its column. */
static __global__ void csaw__move_edges(const csaw_vertex *col, const uint64_t *new_rowptr, uint64_t rows,
                                        const csaw__moved_row *moved, uint64_t edges, csaw_vertex *out) {
    const uint64_t k = csaw__thread_number();
    if (k >= edges) return;
    const uint64_t row = csaw__row_at(new_rowptr, rows, k);
    out[k] = col[moved[row].edge + (k - new_rowptr[row])];
}

#endif

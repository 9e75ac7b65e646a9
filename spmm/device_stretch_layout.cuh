/* SPDX-License-Identifier: MIT */
/* spmm/device_stretch_layout.cuh - how the work of spmm/device_stretch.cuh is laid out. */
#ifndef CSAW_SPMM_DEVICE_STRETCH_LAYOUT_CUH
#define CSAW_SPMM_DEVICE_STRETCH_LAYOUT_CUH

#include "spmm/device_product.h"

enum {
    CSAW__STRETCH_BITS = 7, /* 2^7 rows and edges are a stretch; at most CSAW_CHUNK */
    CSAW__STRETCH_THREADS = 128
};

/* Whether a plan notes where stretches of a matrix begin. */
static inline bool csaw__has_stretches(uint64_t rows) { return rows && rows <= INT32_MAX; }

/* Whether stretches are for this product: sums, of so many rows that 32 bits count them, and bytes of a row of x. */
static inline bool csaw__takes_stretches(const csaw__product *p) {
    const uint64_t element = p->x.dtype == CSAW_F32 ? 4 : 2;
    return !csaw__is_extreme(p->reduce) && csaw__has_stretches(p->rows) && p->x.stride <= UINT32_MAX / element;
}

/* Of a matrix, each of 2^bits places. */
static __host__ __device__ __forceinline__ uint64_t csaw__stretches_of(uint64_t rows, uint64_t edges, uint32_t bits) {
    return (rows + edges + (1u << bits) - 1) >> bits;
}
/* Rows of a warp that merges where long ones are not listed: so few that warps fill a GPU, since a warp merges one long
 * row after the other. */
static __host__ __device__ __forceinline__ uint32_t csaw__stretch_merged_rows(uint64_t rows) {
    const uint64_t warps = 1 << 14, each = (rows + warps - 1) / warps;
    return each < 32 ? (uint32_t)each : 32;
}
/* Warps of one slice that merge: one a long row, or so many rows where these are not listed. */
static __host__ __device__ __forceinline__ uint64_t csaw__stretch_mergers(const csaw__product *p) {
    const uint64_t each = csaw__stretch_merged_rows(p->rows);
    if (!p->split.most_chunks) return 0;
    return p->split.row ? p->split.most_rows : (p->rows + each - 1) / each;
}
/* Blocks of CSAW__THREADS that merge so many slices. */
static inline uint64_t csaw__stretch_merging_blocks(const csaw__product *p, uint64_t slices) {
    return (slices * csaw__stretch_mergers(p) * 32 + CSAW__THREADS - 1) / CSAW__THREADS;
}

/* Fills in the layout, but partial; columns and vector stand. known: the long rows, by a plan; NULL = not known. */
static inline void csaw__lay_stretches(csaw__product *p, const csaw__long_rows *known, uint32_t bits) {
    const csaw__long_rows none = {};
    const uint64_t warps = CSAW__STRETCH_THREADS / 32;
    while (p->vector > 1 && p->vector / 2 * 32 >= p->columns) p->vector /= 2;
    p->width = 32 * p->vector;
    p->slices_of_head = (p->columns + p->width - 1) / p->width;
    p->first_slice = 0;
    p->blocks = (csaw__stretches_of(p->rows, p->num_edges, bits) + warps - 1) / warps;
    p->split = known ? *known : none;
    p->split.most_chunks = p->num_edges > CSAW_CHUNK && !(known && !known->most_rows)
                               ? 2 * (p->num_edges / CSAW_CHUNK + 1)
                               : 0; /* places of chunks */
}

#endif

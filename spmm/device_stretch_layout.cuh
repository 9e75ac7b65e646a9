/* SPDX-License-Identifier: MIT */
/* spmm/device_stretch_layout.cuh - how the work of spmm/device_stretch.cuh is laid out. */
#ifndef CSAW_SPMM_DEVICE_STRETCH_LAYOUT_CUH
#define CSAW_SPMM_DEVICE_STRETCH_LAYOUT_CUH

#include "spmm/device_product.h"

#include <cstdio>
#include <cstdlib>

/* To be timed: what CSAW_STRETCH says, as places/vector/batch/warps of a multiprocessor/threads/flags. */
struct csaw__stretch_way {
    unsigned places, vector, batch, resident, threads, flags; /* flags: 1 begins early, 2 rows looked up beforehand, 4
                                                                 helps, 8 halves */
};
static inline csaw__stretch_way csaw__stretch_way_now() {
    csaw__stretch_way way = {64, 0, 0, 0, 128, 0};
    const char *const text = getenv("CSAW_STRETCH");
    if (text)
        sscanf(text, "%u/%u/%u/%u/%u/%u", &way.places, &way.vector, &way.batch, &way.resident, &way.threads,
               &way.flags);
    return way;
}

enum {
    CSAW__STRETCH_PLACES = 64, /* rows and edges that a warp takes; at most CSAW_CHUNK */
    CSAW__STRETCH_THREADS = 256
};

/* Whether stretches are for this product: sums, of so many rows that 32 bits count them, and bytes of a row of x. */
static inline bool csaw__takes_stretches(const csaw__product *p) {
    const uint64_t element = p->x.dtype == CSAW_F32 ? 4 : 2;
    return !csaw__is_extreme(p->reduce) && p->rows <= INT32_MAX && p->x.stride <= UINT32_MAX / element;
}

/* Of one slice. */
static __host__ __device__ __forceinline__ uint64_t csaw__stretches_of(const csaw__product *p, uint32_t stretch) {
    return (p->rows + p->num_edges + stretch - 1) / stretch;
}
/* Warps of one slice that merge: one a long row, or 32 rows where these are not listed. */
static __host__ __device__ __forceinline__ uint64_t csaw__stretch_mergers(const csaw__product *p) {
    if (!p->split.most_chunks) return 0;
    return p->split.row ? p->split.most_rows : (p->rows + 31) / 32;
}

/* Fills in the layout, but partial; columns and vector stand. known: the long rows, by a plan; NULL = not known. */
static inline void csaw__lay_stretches(csaw__product *p, const csaw__long_rows *known, uint32_t stretch,
                                       uint32_t threads) {
    const csaw__long_rows none = {};
    const uint64_t warps = threads / 32;
    const uint32_t wanted = csaw__stretch_way_now().vector;
    while (p->vector > 1 && (wanted ? p->vector > wanted : p->vector / 2 * 32 >= p->columns)) p->vector /= 2;
    p->width = 32 * p->vector;
    p->slices_of_head = (p->columns + p->width - 1) / p->width;
    p->first_slice = 0;
    p->blocks = (csaw__stretches_of(p, stretch) + warps - 1) / warps;
    p->split = known ? *known : none;
    p->split.most_chunks = p->num_edges > CSAW_CHUNK && !(known && !known->most_rows)
                               ? 2 * (p->num_edges / CSAW_CHUNK + 1)
                               : 0; /* places of chunks */
}

#endif

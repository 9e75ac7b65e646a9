/* SPDX-License-Identifier: MIT */
/* spmm/device_stretch_layout.cuh - how the work of spmm/device_stretch.cuh is laid out. */
#ifndef CSAW_SPMM_DEVICE_STRETCH_LAYOUT_CUH
#define CSAW_SPMM_DEVICE_STRETCH_LAYOUT_CUH

#include "spmm/device_product.h"

enum {
    CSAW__STRETCH_PLACES = 128,      /* rows and edges of a stretch */
    CSAW__STRETCH_MOST_PLACES = 176, /* of one, where all are under way at the same time; at most CSAW_CHUNK */
    CSAW__STRETCH_GRAIN = 16,        /* a stretch is a multiple of it */
    CSAW__STRETCH_THREADS = 128,
    CSAW__STRETCH_EDGES = 1 << 22 /* up to which AUTO takes stretches of any degree and width where no list is,
                                   * and plans reorder */
};
static_assert(CSAW__STRETCH_MOST_PLACES <= CSAW_CHUNK && CSAW__STRETCH_MOST_PLACES % CSAW__STRETCH_GRAIN == 0 &&
                  CSAW__STRETCH_PLACES % CSAW__STRETCH_GRAIN == 0,
              "a chunk begins in a stretch, at most; a plan knows where stretches begin");

typedef struct csaw__reordered_row { /* of a matrix whose rows stand in another order than in y */
    uint32_t row, edge;              /* which one it is, and its first edge in the matrix's own order */
} csaw__reordered_row;

typedef struct csaw__stretch_rows { /* of a matrix, by a plan; device memory */
    uint32_t *first_rows;           /* where stretches begin (csaw__find_first_rows()); NULL: not known */
    /* The matrix with its rows in the order that spmm/device_reorder.cuh says; all NULL: as they are */
    uint64_t *rowptr;
    csaw_vertex *col;
    csaw__reordered_row *moved;
    csaw__long_rows split;
    float *weight;          /* [edges, heads] fixed ones in the order of col; NULL: not known */
    const float *weight_of; /* where they stand in the matrix's own order: the caller's, the transpose's the plan's */
    uint32_t heads;
} csaw__stretch_rows;

typedef struct csaw__stretch_deal { /* what kernels are given beside the product */
    uint32_t places;                /* of a stretch */
    uint32_t multiprocessors;
    const uint32_t *first_rows;       /* NULL: searched */
    const csaw__reordered_row *moved; /* NULL: the product's rows are y's */
    bool shifted;                     /* rows were moved, and weights, if there are any, were not */
} csaw__stretch_deal;

typedef struct csaw__stretch_shape { /* of a kernel */
    int batch;                       /* edges whose features a lane has on their way at once */
    int blocks;                      /* of a multiprocessor */
} csaw__stretch_shape;

/* By bytes that a lane loads of an edge, and of an element, as measured: docs/measured/2026-11-27-gpu-21.md. Of MAX and
 * MIN 2026-11-29-gpu-30.md. */
static __host__ __device__ constexpr csaw__stretch_shape csaw__stretch_shape_of(uint32_t bytes, uint32_t element,
                                                                                bool extreme) {
    if (extreme) return csaw__stretch_shape{8, bytes < 16 ? 8 : element < 4 ? 5 : 7};
    return bytes < 8     ? csaw__stretch_shape{16, 8}
           : bytes == 8  ? csaw__stretch_shape{16, element == 4 ? 6 : 5}
           : element < 4 ? csaw__stretch_shape{8, 5}
                         : csaw__stretch_shape{16, 4};
}

/* Whether a plan notes where stretches of a matrix begin. */
static inline bool csaw__has_stretches(uint64_t rows) { return rows && rows <= INT32_MAX; }

/* Whether a plan tries to reorder the rows of a matrix and of its transpose for stretches. */
static inline bool csaw__reorders(uint64_t rows, uint64_t cols, uint64_t edges) {
    return rows && cols && rows <= edges && cols <= edges && edges <= CSAW__STRETCH_EDGES;
}

/* Whether stretches are for this product: so many rows that 32 bits count them, and bytes of a row of x. */
static inline bool csaw__takes_stretches(const csaw__product *p) {
    const uint64_t element = p->x.dtype == CSAW_F32 ? 4 : 2;
    return csaw__has_stretches(p->rows) && p->x.stride <= UINT32_MAX / element;
}

/* Of a matrix, each of so many places. */
static __host__ __device__ __forceinline__ uint64_t csaw__stretches_of(uint64_t rows, uint64_t edges, uint32_t places) {
    return (rows + edges + places - 1) / places;
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

/* Elements that a lane loads at once, of a product whose columns and vector stand: no more than hold the columns; and
 * half of 16 bytes if the L2 cache holds x in so many columns, and not in twice as many. */
static inline uint32_t csaw__stretch_vector(const csaw__product *p, uint64_t l2_bytes) {
    const uint64_t element = p->x.dtype == CSAW_F32 ? 4 : 2,
                   x_bytes = p->x.rows * 32 * element; /* of a lane's element */
    uint32_t vector = p->vector;
    while (vector > 1 && vector / 2 * 32 >= p->columns) vector /= 2;
    const bool halved = vector * element == 16 && vector * x_bytes > l2_bytes && vector / 2 * x_bytes <= l2_bytes;
    return halved ? vector / 2 : vector;
}

/* Fills in the layout, but partial and blocks; columns and vector stand. known: the long rows, by a plan; NULL = not
 * known. */
static inline void csaw__lay_stretches(csaw__product *p, const csaw__long_rows *known, uint64_t l2_bytes) {
    const csaw__long_rows none = {};
    p->vector = csaw__stretch_vector(p, l2_bytes);
    p->width = 32 * p->vector;
    p->slices_of_head = (p->columns + p->width - 1) / p->width;
    p->first_slice = 0;
    p->split = known ? *known : none;
    p->split.most_chunks = p->num_edges > CSAW_CHUNK && !(known && !known->most_rows)
                               ? 2 * (p->num_edges / CSAW_CHUNK + 1)
                               : 0; /* places of chunks */
}

/* Rows and edges of a stretch, of a product that is laid out: a few more than CSAW__STRETCH_PLACES if so all stretches
 * are under way at the same time on so many multiprocessors, or that many. */
static inline uint32_t csaw__stretch_places(const csaw__product *p, uint64_t multiprocessors) {
    const uint32_t element = p->x.dtype == CSAW_F32 ? 4 : 2;
    const csaw__stretch_shape shape = csaw__stretch_shape_of(p->vector * element, element, csaw__is_extreme(p->reduce));
    const uint64_t blocks = (uint64_t)shape.blocks * multiprocessors;
    const uint64_t slices = p->slices_of_head * p->heads, grain = CSAW__STRETCH_GRAIN;
    const uint64_t warps = slices ? blocks * (CSAW__STRETCH_THREADS / 32) / slices : 0; /* of a slice */
    if (!warps) return CSAW__STRETCH_PLACES;
    const uint64_t places = (p->rows + p->num_edges + warps * grain - 1) / (warps * grain) * grain;
    const bool usual = places < CSAW__STRETCH_PLACES || places > CSAW__STRETCH_MOST_PLACES;
    return usual ? uint32_t{CSAW__STRETCH_PLACES} : (uint32_t)places;
}

/* Of so many blocks, which part of the work the b-th does. Blocks that run at the same time, of_each a multiprocessor,
 * do parts that follow each other; b, b + multiprocessors and so on, which are often the same multiprocessor's, parts
 * beside each other, so that these find in the L1 cache what the others read. */
static __host__ __device__ __forceinline__ uint32_t csaw__stretch_part_of(uint32_t b, uint32_t blocks,
                                                                          uint32_t multiprocessors, uint32_t of_each) {
    const uint32_t at_once = multiprocessors * of_each, before = b / at_once * at_once, i = b - before;
    const uint32_t here = blocks - before < at_once ? blocks - before : at_once;
    const uint32_t each = here / multiprocessors, more = here % multiprocessors, of = i % multiprocessors;
    return before + of * each + (of < more ? of : more) + i / multiprocessors;
}

/* Fills in blocks, of stretches of so many places. */
static inline void csaw__deal_stretches(csaw__product *p, uint32_t places) {
    const uint64_t warps = CSAW__STRETCH_THREADS / 32;
    p->blocks = (csaw__stretches_of(p->rows, p->num_edges, places) + warps - 1) / warps;
}

#endif

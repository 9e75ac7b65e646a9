/* SPDX-License-Identifier: MIT */
/* spmm/device_product.h - csaw_spmm() on a GPU: its kernels by name, and how the work is laid out.
 *
 * A unit of work is a row of at most CSAW_CHUNK edges, or one chunk of so many edges of a longer row; a group of lanes
 * takes one, some columns (a slice) at a time, in the order of a plan's list if there is one. Chunks of long rows leave
 * their results in work memory, where a second kernel merges them in order. So hubs are split without atomics, and
 * results do not depend on the layout: lanes hold columns, and the edges of a chunk go one after the other.
 *
 * Sources: coalesced row caching and coarse-grained warp merging by Huang et al., "GE-SpMM", SC'20, sections III-B and
 * III-C; slices of columns outermost, so that the part of x in use stays in the L2 cache, after Hong et al., "Adaptive
 * sparse tiling for sparse matrix multiplication", PPoPP'19. */
#ifndef CSAW_SPMM_DEVICE_PRODUCT_H
#define CSAW_SPMM_DEVICE_PRODUCT_H

#include <csaw/spmm.h>

#include "spmm/device_arguments.h"

#ifdef __cplusplus
static_assert(CSAW__LONG == CSAW_CHUNK, "rows of more than a chunk are long");
#endif

/* ---- methods ---- */

/* `lanes` take a unit; each holds `factor` vectors of columns (the paper's coarsening factor, CF). CSAW_SPMM_AUTO has
 * none: spmm/device_auto.h. */
typedef struct csaw__method_shape {
    uint32_t lanes, factor;
} csaw__method_shape;

static inline csaw__method_shape csaw__shape_of(csaw_spmm_method method) {
    static const csaw__method_shape shapes[] = {{0, 0}, {32, 1}, {32, 2}, {32, 4}, {16, 1},
                                                {8, 1}, {4, 1},  {8, 1},  {32, 1}};
    return shapes[method];
}

/* ---- layout ---- */

typedef struct csaw__hubs { /* of a plan; device memory */
    csaw_vertex *code;      /* [num_edges] the column, or of an edge to hub i: columns + i */
    csaw_vertex *column;    /* [count] of each hub, those that most edges name first */
    uint32_t count, columns;
} csaw__hubs;

/* Upper bounds, of any matrix of so many edges and rows. */
static inline uint64_t csaw__most_long_rows(uint64_t edges, uint64_t rows) {
    const uint64_t most = edges / (CSAW_CHUNK + 1);
    return most < rows ? most : rows;
}
static inline uint64_t csaw__most_chunks(uint64_t edges, uint64_t rows) { /* one of a long row is not full, at most */
    const uint64_t most_rows = csaw__most_long_rows(edges, rows);
    return most_rows ? edges / CSAW_CHUNK + most_rows : 0;
}

static inline bool csaw__is_extreme(csaw_reduce reduce) { return reduce == CSAW_MAX || reduce == CSAW_MIN; }

/* Whether every row begins where `vector` elements can be loaded or stored, up to 16 bytes at once. */
static inline bool csaw__takes_vectors_of(const csaw_dense *m, uint32_t vector) {
    const uint64_t element = m->dtype == CSAW_F32 ? 4 : 2, bytes = vector * element < 16 ? vector * element : 16;
    return m->stride * element % bytes == 0 && (uintptr_t)m->data % bytes == 0;
}
static inline bool csaw__takes_vectors(const csaw_dense *m) { return csaw__takes_vectors_of(m, CSAW__VECTOR); }

/* The widest vectors in which so many columns of x go to y. */
static inline uint32_t csaw__vector_of(const csaw_dense *x, const csaw_dense *y, uint64_t columns) {
    uint32_t vector = x->dtype == CSAW_F32 ? CSAW__VECTOR : CSAW__VECTOR_16;
    while (vector >= CSAW__VECTOR) {
        if (columns % vector == 0 && csaw__takes_vectors_of(x, vector) && csaw__takes_vectors_of(y, vector))
            return vector;
        vector /= 2;
    }
    return 1;
}

/* Fills in columns and vector of a product whose matrices and heads stand. */
static inline void csaw__lay_vectors(csaw__product *p) {
    p->columns = p->y.cols / p->heads;
    p->vector = csaw__vector_of(&p->x, &p->y, p->columns);
}

/* Fills in the rest of the layout, but partial and place; split stands. method: not AUTO. */
static inline void csaw__lay_out(csaw__product *p, csaw_spmm_method method, uint32_t threads) {
    const csaw__method_shape shape = csaw__shape_of(method);
    const uint64_t units = p->split.most_chunks + p->rows, groups = threads / shape.lanes;
    p->width = shape.lanes * shape.factor * p->vector;
    p->slices_of_head = (p->columns + p->width - 1) / p->width;
    p->first_slice = 0;
    p->blocks = (units + groups - 1) / groups;
}

/* Of long rows, one block each, 32 columns at a time (spmm/device_in_order.cuh). */
static inline void csaw__lay_out_long(csaw__product *p) {
    p->vector = 1;
    csaw__lay_out(p, CSAW_SPMM_CRC, 32);
    p->blocks = p->split.most_rows;
}

/* Bytes of partial results of one slice. */
static inline uint64_t csaw__partial_bytes(const csaw__product *p) {
    return p->split.most_chunks * p->width * (csaw__is_extreme(p->reduce) ? 8 : 4);
}

#endif

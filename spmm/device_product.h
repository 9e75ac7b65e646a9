/* SPDX-License-Identifier: MIT */
/* spmm/device_product.h - csaw_spmm() on a GPU: its kernels by name, and how the work is laid out.
 *
 * A unit of work is a row of at most CSAW_CHUNK edges, or one chunk of so many edges of a longer row; a group of lanes
 * takes one, some columns (a slice) at a time. Chunks of long rows leave their results in work memory, where a
 * second kernel merges them in order. So hubs are split without atomics, and results do not depend on the layout: lanes
 * hold columns, and the edges of a chunk go one after the other.
 *
 * Sources: coalesced row caching and coarse-grained warp merging by Huang et al., "GE-SpMM", SC'20, sections III-B and
 * III-C; slices of columns outermost, so that the part of x in use stays in the L2 cache, after Hong et al., "Adaptive
 * sparse tiling for sparse matrix multiplication", PPoPP'19. */
#ifndef CSAW_SPMM_DEVICE_PRODUCT_H
#define CSAW_SPMM_DEVICE_PRODUCT_H

#include <csaw/spmm.h>

#include "spmm/device_arguments.h"

/* ---- methods ---- */

/* The kernels: `lanes` take a unit; each lane holds `factor` vectors of columns (the paper's coarsening factor, CF). */
typedef enum csaw__way {
    CSAW__AUTO,
    CSAW__CRC,       /* a warp a unit, CF = 1 */
    CSAW__CWM2,      /* CF = 2 */
    CSAW__CWM4,      /* CF = 4 */
    CSAW__SUBWARP16, /* two units a warp, or narrower slices */
    CSAW__SUBWARP8,
    CSAW__SUBWARP4,
    CSAW__HUBS, /* hubs' features in shared memory, spmm/device_hubs.cuh: with a plan alone */
    CSAW__WAYS
} csaw__way;

typedef struct csaw__way_shape {
    const char *name;
    uint32_t lanes, factor;
} csaw__way_shape;

static inline csaw__way_shape csaw__shape_of(csaw__way way) {
    static const csaw__way_shape shapes[] = {{"auto", 0, 0},     {"crc", 32, 1},       {"cwm2", 32, 2},
                                             {"cwm4", 32, 4},    {"subwarp16", 16, 1}, {"subwarp8", 8, 1},
                                             {"subwarp4", 4, 1}, {"hubs", 8, 1}};
    return shapes[way];
}

/* Which kernel AUTO takes for a head of so many vectors of columns (single: of one element), of which all rows of x
 * take bytes_of_vector: the narrowest with room for all of them. Where x is read often, the widest of CRC and narrower
 * whose slice of x is no larger than the L2 cache; if not even 8 lanes' is, slices would only read the edges again.
 * Where it is not, and columns take two warps or more, CWM2 reads the edges once for both. */
static inline csaw__way csaw__way_of(uint64_t vectors, bool single, uint64_t mean_degree, uint64_t bytes_of_vector,
                                     uint64_t l2_bytes) {
    static const csaw__way by_width[] = {CSAW__SUBWARP4, CSAW__SUBWARP8, CSAW__SUBWARP16, CSAW__CRC};
    int whole = 0, in_cache;
    while (whole < 3 && vectors > csaw__shape_of(by_width[whole]).lanes) whole++;
    if (single) return by_width[whole];
    if (mean_degree < CSAW__OFTEN) return vectors >= 64 ? CSAW__CWM2 : by_width[whole];
    for (in_cache = whole; in_cache > 0; in_cache--) {
        const uint64_t lanes = csaw__shape_of(by_width[in_cache]).lanes;
        if ((vectors < lanes ? vectors : lanes) * bytes_of_vector <= l2_bytes) return by_width[in_cache];
    }
    return by_width[whole];
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

/* Fills in the layout of a product whose other fields but partial and place stand; way: not CSAW__AUTO on return.
 * l2_bytes: read by CSAW__AUTO. */
static inline void csaw__lay_out(csaw__product *p, csaw__way *way, uint32_t threads, uint64_t l2_bytes) {
    p->columns = p->y.cols / p->heads;
    p->vector = csaw__vector_of(&p->x, &p->y, p->columns);
    if (*way == CSAW__AUTO)
        *way =
            csaw__way_of((p->columns + p->vector - 1) / p->vector, p->vector == 1, p->rows ? p->num_edges / p->rows : 0,
                         p->x.rows * p->vector * (p->x.dtype == CSAW_F32 ? 4 : 2), l2_bytes);
    const csaw__way_shape shape = csaw__shape_of(*way);
    const uint64_t units = p->split.most_chunks + p->rows, groups = threads / shape.lanes;
    p->width = shape.lanes * shape.factor * p->vector;
    p->slices_of_head = (p->columns + p->width - 1) / p->width;
    p->first_slice = 0;
    p->blocks = (units + groups - 1) / groups;
}

/* Bytes of partial results of one slice. */
static inline uint64_t csaw__partial_bytes(const csaw__product *p) {
    return p->split.most_chunks * p->width * (csaw__is_extreme(p->reduce) ? 8 : 4);
}

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/device_arguments.h - what kernels of csaw_spmm() are given, laid out as spmm/device_product.h says: types alone,
 * for NVRTC too. */
#ifndef CSAW_SPMM_DEVICE_ARGUMENTS_H
#define CSAW_SPMM_DEVICE_ARGUMENTS_H

#include <csaw/matrix.h>

/* ---- tunables ---- */

enum {
    CSAW__THREADS = 128, /* of a block */
    CSAW__VECTOR = 4,    /* elements that a lane loads at once, where strides and addresses allow; csaw_spmm()'s of 16
                          * bits may be CSAW__VECTOR_16 */
    CSAW__VECTOR_16 = 8,
    CSAW__LONG = 256,        /* edges; a row of more is long: CSAW_CHUNK, for NVRTC */
    CSAW__LOADERS = 8,       /* warps that load in a block that takes a long row in order, spmm/device_in_order.cuh */
    CSAW__LOADER_EDGES = 16, /* whose elements each has on their way at once */
    CSAW__TURN = CSAW__LOADERS * CSAW__LOADER_EDGES,   /* edges of a turn of the block */
    CSAW__IN_ORDER_THREADS = 32 * (CSAW__LOADERS + 1), /* of the block: the last warp takes */
    CSAW__UNROLL = 8,         /* vectors that a lane has on their way at once, in two batches */
    CSAW__LISTED_DEGREE = 16, /* mean degree from which on a plan lists units of work by length */
    CSAW__OFTEN = 32 /* mean degree from which on the L2 cache is made use of: by narrow slices of x, by the order of
                      * dot products */
};
#define CSAW__ROOM_BYTES (256ull << 20) /* of partial results; more slices than fit take launches of their own */

/* ---- what a kernel is given; device memory ---- */

typedef struct csaw__chunk { /* of a row that is split */
    uint64_t first;          /* edge */
    uint32_t count, row;     /* edges; place of the row in the list of long rows */
} csaw__chunk;

typedef struct csaw__long_row {
    uint64_t row, chunk; /* chunk: the place of its first one; the others follow */
} csaw__long_row;

typedef struct csaw__long_rows {
    uint64_t *count;                 /* [2] chunks, rows */
    csaw__chunk *chunk;              /* [most_chunks] */
    csaw__long_row *row;             /* [most_rows] */
    uint64_t most_chunks, most_rows; /* at least so many as there are */
} csaw__long_rows;

typedef struct csaw__listed_unit { /* of work, in the list of a plan: 16 bytes, loaded at once */
    uint64_t first;                /* as csaw__unit of spmm/device_unit.cuh */
    uint32_t row;
    uint16_t count;
    uint8_t is_chunk, stored;
} csaw__listed_unit;

typedef struct csaw__product {
    const uint64_t *rowptr;
    const csaw_vertex *col;
    const float *weight; /* [num_edges, heads] or NULL */
    uint64_t rows, num_edges;
    csaw_dense x, y; /* strides filled in */
    csaw_edge *arg;  /* [rows, cols of y] or NULL */
    csaw_reduce reduce;
    uint32_t heads;
    csaw__long_rows split;
    const csaw__listed_unit *units; /* [most_chunks + rows] of work by falling number of edges, by a plan; NULL: as they
                                     * are numbered */
    float *partial;                 /* [slices of a launch, most_chunks, width] */
    uint32_t *place; /* the same, of MAX and MIN: counted from the first edge of the row's first chunk there */

    uint64_t columns;             /* of a head */
    uint32_t width, vector;       /* of a slice; elements a lane loads at once */
    uint64_t slices_of_head;      /* no slice crosses a head */
    uint64_t first_slice, slices; /* of this launch */
    uint64_t blocks;              /* of a slice */
} csaw__product;

typedef struct csaw__dots_order { /* of dot products: groups of edges, spmm/device_dots.cuh */
    uint64_t *group;              /* [groups]; NULL: one after the other */
    csaw_vertex *row;             /* [groups] of the first edge */
} csaw__dots_order;

#endif

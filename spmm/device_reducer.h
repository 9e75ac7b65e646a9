/* SPDX-License-Identifier: MIT */
/* spmm/device_reducer.h - csaw_spmm() by a reduction of the caller's on a GPU: its kernels by number, and their layout.
 *
 * The functions need not be associative, so a row goes from its first edge to its last, whatever its length: a short
 * one by a group of lanes, which hold columns; one of more than CSAW_CHUNK edges by a block, in which the functions run
 * in one warp, 32 columns at a time, while the others bring features (spmm/device_in_order.cuh). A slice is narrow, 8
 * lanes of vectors or 32 of single columns: what edges are read again for every slice is a small part of what features
 * are. */
#ifndef CSAW_SPMM_DEVICE_REDUCER_H
#define CSAW_SPMM_DEVICE_REDUCER_H

#include "spmm/device_product.h"

/* By number: storage of x, lanes of a group, elements that a lane loads at once. Those of a whole block are of long
 * rows. */
#define CSAW__REDUCER_KERNELS(X)      \
    X(F32, 8, 1)                      \
    X(F32, 32, 1)                     \
    X(F32, 8, 4)                      \
    X(F32, CSAW__IN_ORDER_THREADS, 1) \
    X(F16, 8, 1)                      \
    X(F16, 32, 1)                     \
    X(F16, 8, 4)                      \
    X(F16, 8, 8)                      \
    X(F16, CSAW__IN_ORDER_THREADS, 1) \
    X(BF16, 8, 1)                     \
    X(BF16, 32, 1)                    \
    X(BF16, 8, 4)                     \
    X(BF16, 8, 8)                     \
    X(BF16, CSAW__IN_ORDER_THREADS, 1)

#define CSAW__ONE_MORE(STORAGE, LANES, VECTOR) +1
enum { CSAW__NUM_REDUCER_KERNELS = 0 CSAW__REDUCER_KERNELS(CSAW__ONE_MORE) };
#undef CSAW__ONE_MORE

/* The kernel for the storage of x and the vectors that are laid out, by so many lanes. */
static inline int csaw__reducer_kernel(const csaw__product *p, uint32_t lanes) {
    static const struct {
        csaw_dtype storage;
        uint32_t lanes, vector;
    } shapes[] = {
#define CSAW__REDUCER_SHAPE(STORAGE, LANES, VECTOR) {CSAW_##STORAGE, LANES, VECTOR},
        CSAW__REDUCER_KERNELS(CSAW__REDUCER_SHAPE)
#undef CSAW__REDUCER_SHAPE
    };
    int kernel = 0;
    while (shapes[kernel].storage != p->x.dtype || shapes[kernel].lanes != lanes || shapes[kernel].vector != p->vector)
        kernel++;
    return kernel;
}

/* Fills in the layout of a product whose matrices and heads stand, with at least one column, for its short rows;
 * returns the kernel. split is empty. */
static inline int csaw__lay_out_reducer(csaw__product *p, uint32_t threads) {
    csaw__lay_vectors(p);
    const csaw_spmm_method of = p->vector == 1 && p->columns > 8 ? CSAW_SPMM_CRC : CSAW_SPMM_SUBWARP8;
    csaw__lay_out(p, of, threads);
    return csaw__reducer_kernel(p, csaw__shape_of(of).lanes);
}

/* The same for its long rows, whose list stands: a block of CSAW__IN_ORDER_THREADS each. */
static inline int csaw__lay_out_long_reducer(csaw__product *p) {
    csaw__lay_vectors(p);
    csaw__lay_out_long(p);
    return csaw__reducer_kernel(p, CSAW__IN_ORDER_THREADS);
}

#endif

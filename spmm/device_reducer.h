/* SPDX-License-Identifier: MIT */
/* spmm/device_reducer.h - csaw_spmm() by a reduction of the caller's on a GPU: its kernels by number, and their layout.
 *
 * A group of lanes takes a row from its first edge to its last, whatever its length, since the functions need not be
 * associative; long rows are not split, and lanes hold columns. A slice is narrow, 8 lanes of vectors or 32 of single
 * columns: few columns a group spread a long row over many groups, and what edges are read again for every slice is a
 * small part of what features are. */
#ifndef CSAW_SPMM_DEVICE_REDUCER_H
#define CSAW_SPMM_DEVICE_REDUCER_H

#include "spmm/device_product.h"

/* By number: storage of x, lanes of a group, elements that a lane loads at once. */
#define CSAW__REDUCER_KERNELS(X) \
    X(F32, 8, 1)                 \
    X(F32, 32, 1)                \
    X(F32, 8, 4)                 \
    X(F16, 8, 1)                 \
    X(F16, 32, 1)                \
    X(F16, 8, 4)                 \
    X(F16, 8, 8)                 \
    X(BF16, 8, 1)                \
    X(BF16, 32, 1)               \
    X(BF16, 8, 4)                \
    X(BF16, 8, 8)

#define CSAW__ONE_MORE(STORAGE, LANES, VECTOR) +1
enum { CSAW__NUM_REDUCER_KERNELS = 0 CSAW__REDUCER_KERNELS(CSAW__ONE_MORE) };
#undef CSAW__ONE_MORE

/* Fills in the layout of a product whose matrices and heads stand, with at least one column; returns the kernel. */
static inline int csaw__lay_out_reducer(csaw__product *p, uint32_t threads) {
    static const struct {
        csaw_dtype storage;
        uint32_t lanes, vector;
    } shapes[] = {
#define CSAW__REDUCER_SHAPE(STORAGE, LANES, VECTOR) {CSAW_##STORAGE, LANES, VECTOR},
        CSAW__REDUCER_KERNELS(CSAW__REDUCER_SHAPE)
#undef CSAW__REDUCER_SHAPE
    };
    int kernel = 0;
    csaw__lay_vectors(p);
    const csaw_spmm_method of = p->vector == 1 && p->columns > 8 ? CSAW_SPMM_CRC : CSAW_SPMM_SUBWARP8;
    csaw__lay_out(p, of, threads);
    while (shapes[kernel].storage != p->x.dtype || shapes[kernel].lanes != csaw__shape_of(of).lanes ||
           shapes[kernel].vector != p->vector)
        kernel++;
    return kernel;
}

#endif

/* SPDX-License-Identifier: MIT */
/* spmm/check.h - what every function of aggregation asks of its arguments before it touches an output. */
#ifndef CSAW_SPMM_CHECK_H
#define CSAW_SPMM_CHECK_H

#include "runtime/base/status.h"
#include "spmm/element.h"

/* The struct itself: pointers that must be there, limits of rows and columns. Neither rowptr nor col is read through.
 */
csaw_status csaw__sparse_check_struct(const csaw_sparse *a);
/* A matrix called `name` of exactly so many rows and columns. */
csaw_status csaw__dense_check(const csaw_dense *m, const char *name, uint64_t rows, uint64_t cols);
/* An array of `count` entries: may be NULL only if there is none. */
csaw_status csaw__array_check(const void *array, const char *name, uint64_t count);
/* That out and in do not begin at the same place. */
csaw_status csaw__apart_check(const void *out, const char *out_name, const void *in, const char *in_name);
/* ordinal: N of "cuda:N", -1 of the CPU. CSAW_EUNSUPPORTED in a build without CUDA. */
csaw_status csaw__device_of(const char *device, int *ordinal);
/* That no stream is given to the CPU. */
csaw_status csaw__stream_check(const void *stream, int ordinal);

typedef struct csaw__where { /* a call runs */
    int ordinal;             /* of the GPU; -1 = the CPU */
    void *stream;
} csaw__where;

/* Both of these checks. exact: refused on a GPU. */
csaw_status csaw__where_of(const char *device, void *stream, bool exact, csaw__where *out);
/* Of functions that take CSAW_SUM or CSAW_MEAN alone. */
csaw_status csaw__mean_check(csaw_reduce reduce);
/* Puts 1 for 0; CSAW_EINVAL if heads does not divide cols. */
csaw_status csaw__heads_check(uint32_t *heads, uint64_t cols);

#endif

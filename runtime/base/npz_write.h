/* SPDX-License-Identifier: MIT */
/* runtime/base/npz_write.h - NumPy arrays into an .npz archive. */
#ifndef CSAW_BASE_NPZ_WRITE_H
#define CSAW_BASE_NPZ_WRITE_H

#include "runtime/base/output_file.h"

typedef struct csaw__npz_array {
    const char *name;  /* without .npy */
    const char *descr; /* of numpy, such as "<u4"; the machine is little-endian */
    uint64_t count;
    uint32_t width; /* bytes an entry */
    bool scalar;    /* no dimensions; count is 1 */
    const void *data;
} csaw__npz_array;

enum { CSAW__NPZ_MOST = 16 };

/* Writes arrays [count], at most CSAW__NPZ_MOST; the output holds nothing before. */
csaw_status csaw__npz_put(const csaw__npz_array *arrays, int count, csaw__output *output);

#endif

/* SPDX-License-Identifier: MIT */
/* runtime/base/npy_array.h - an array of numpy's .npy format, in memory. */
#ifndef CSAW_BASE_NPY_ARRAY_H
#define CSAW_BASE_NPY_ARRAY_H

#include "runtime/base/status.h"

typedef struct csaw__npy {
    char kind; /* of numpy's: b i u f S U */
    int width; /* bytes an entry; of U too */
    uint64_t count;
    int num_dimensions;
    const unsigned char *data; /* [count * width], perhaps not aligned */
} csaw__npy;

/* where: "file: member", for messages. The array lies in bytes, which it borrows. */
csaw_status csaw__npy_parse(const char *where, const char *bytes, uint64_t size, csaw__npy *out);
/* kind b, i or u; u8 above 2^63 - 1 comes out negative. */
int64_t csaw__npy_integer(const csaw__npy *array, uint64_t i);
/* kind b, i, u or f */
double csaw__npy_real(const csaw__npy *array, uint64_t i);

#endif

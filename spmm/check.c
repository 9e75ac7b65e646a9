/* SPDX-License-Identifier: MIT */
/* spmm/check.c - checks of arguments that all functions of aggregation share. */
#include "spmm/check.h"

#include <stdlib.h>

#include "spmm/device.h"

csaw_status csaw__sparse_check_struct(const csaw_sparse *a) {
    CSAW_REQUIRE(a, CSAW_EINVAL, "the sparse matrix is NULL; csaw_graph_sparse() makes one of a graph");
    CSAW_REQUIRE(a->rowptr, CSAW_EINVAL,
                 "rowptr of the sparse matrix is NULL; it takes %llu entries, one of 0 even for no rows",
                 (unsigned long long)a->rows + 1);
    CSAW_REQUIRE(a->rows < UINT64_MAX / 16 && a->num_edges < UINT64_MAX / 16, CSAW_EINVAL,
                 "a sparse matrix of %llu rows and %llu edges does not fit any memory; were its fields filled in?",
                 (unsigned long long)a->rows, (unsigned long long)a->num_edges);
    CSAW_REQUIRE(
        a->cols <= 0xffffffffu, CSAW_EINVAL,
        "the sparse matrix has %llu columns, but column numbers of 32 bits reach 2^32 - 1; split it by columns",
        (unsigned long long)a->cols);
    CSAW_REQUIRE(a->col || !a->num_edges, CSAW_EINVAL, "col of the sparse matrix is NULL, but it has %llu edges",
                 (unsigned long long)a->num_edges);
    return CSAW_OK;
}

csaw_status csaw__dense_check(const csaw_dense *m, const char *name, uint64_t rows, uint64_t cols) {
    CSAW_REQUIRE(m, CSAW_EINVAL, "%s is NULL; this call needs a matrix of %llu x %llu there", name,
                 (unsigned long long)rows, (unsigned long long)cols);
    CSAW_REQUIRE(m->rows == rows && m->cols == cols, CSAW_EINVAL,
                 "%s is %llu x %llu, but must be %llu x %llu to fit the other matrices", name,
                 (unsigned long long)m->rows, (unsigned long long)m->cols, (unsigned long long)rows,
                 (unsigned long long)cols);
    CSAW_REQUIRE((unsigned)m->dtype <= CSAW_BF16, CSAW_EINVAL,
                 "dtype of %s is %d, but storage is CSAW_F32 (0), CSAW_F16 (1) or CSAW_BF16 (2)", name, (int)m->dtype);
    CSAW_REQUIRE(!m->stride || m->stride >= cols, CSAW_EINVAL,
                 "stride of %s is %llu elements, less than its %llu columns; give at least as many, or 0 for as many",
                 name, (unsigned long long)m->stride, (unsigned long long)cols);
    CSAW_REQUIRE(!rows || csaw__stride(m) <= (uint64_t)PTRDIFF_MAX / 4 / rows, CSAW_EINVAL,
                 "%s of %llu rows with a stride of %llu elements is larger than the address space; fix its shape", name,
                 (unsigned long long)rows, (unsigned long long)csaw__stride(m));
    CSAW_REQUIRE(m->data || !rows || !cols, CSAW_EINVAL, "data of %s is NULL, but it has %llu x %llu elements", name,
                 (unsigned long long)rows, (unsigned long long)cols);
    return CSAW_OK;
}

csaw_status csaw__array_check(const void *array, const char *name, uint64_t count) {
    CSAW_REQUIRE(array || !count, CSAW_EINVAL, "%s is NULL, but takes %llu entries", name, (unsigned long long)count);
    return CSAW_OK;
}

csaw_status csaw__apart_check(const void *out, const char *out_name, const void *in, const char *in_name) {
    CSAW_REQUIRE(!out || out != in, CSAW_EINVAL,
                 "%s and %s share memory, but an output must not overlap an input; "
                 "give it memory of its own",
                 out_name, in_name);
    return CSAW_OK;
}

csaw_status csaw__mean_check(csaw_reduce reduce) {
    CSAW_REQUIRE(reduce == CSAW_SUM || reduce == CSAW_MEAN, CSAW_EINVAL,
                 "reduce is %d, but this product is CSAW_SUM (0) or CSAW_MEAN (1); csaw_spmm() has the others",
                 (int)reduce);
    return CSAW_OK;
}

csaw_status csaw__device_of(const char *device, int *ordinal) {
    char *end = NULL;
    long number = -1;
    if (!device || strcmp(device, "cpu") == 0) {
        *ordinal = -1;
        return CSAW_OK;
    }
    if (strncmp(device, "cuda:", 5) == 0 && device[5] >= '0' && device[5] <= '9') number = strtol(device + 5, &end, 10);
    CSAW_REQUIRE(end && *end == 0 && number <= INT32_MAX, CSAW_EINVAL,
                 "device '%s' is not known; give 'cpu' or 'cuda:N', N counted from 0", device);
    CSAW_TRY(csaw__device_find(device, (int)number));
    *ordinal = (int)number;
    return CSAW_OK;
}

csaw_status csaw__stream_check(const void *stream, int ordinal) {
    CSAW_REQUIRE(!stream || ordinal >= 0, CSAW_EINVAL,
                 "a stream is given, but the device is the CPU; name the stream's GPU, such as 'cuda:0'");
    return CSAW_OK;
}

csaw_status csaw__where_of(const char *device, void *stream, bool exact, csaw__where *out) {
    int ordinal = -1;
    CSAW_TRY(csaw__device_of(device, &ordinal));
    CSAW_TRY(csaw__stream_check(stream, ordinal));
    CSAW_REQUIRE(!exact || ordinal < 0, CSAW_EUNSUPPORTED,
                 "exact sums are taken on the CPU alone, but the device is '%s'; give 'cpu', or leave exact out",
                 device);
    *out = (csaw__where){ordinal, stream};
    return CSAW_OK;
}

csaw_status csaw__heads_check(uint32_t *heads, uint64_t cols) {
    if (!*heads) *heads = 1;
    CSAW_REQUIRE(cols % *heads == 0, CSAW_EINVAL,
                 "%u heads do not divide %llu columns; a head takes the same number of columns as every other", *heads,
                 (unsigned long long)cols);
    return CSAW_OK;
}

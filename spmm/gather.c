/* SPDX-License-Identifier: MIT */
/* spmm/gather.c - csaw_gather(): rows of features, copied as they are stored.
 *
 * Rows lie anywhere in a table that no cache holds, so a copy by itself waits for memory once a row. Rows further on
 * are fetched meanwhile, as far as the processor does not see their end coming by itself: 128 float32 columns of a
 * table of 1 GiB then take 0.70 times as long, into memory that was never written, whose pages the system has to find,
 * 0.80 times. Stores past the caches took 1.25 times as long: whoever gathers reads the rows next. */
#include <csaw/training.h>

#include "runtime/base/parallel.h"
#include "spmm/device_gather.h"

enum { AHEAD = 8, LINE = 64, FETCHED = 512 }; /* rows; bytes; bytes of a row, from where on the processor follows */

static csaw_status gather_there(const csaw__where *where, const csaw_dense *x, const csaw_vertex *vertex,
                                uint64_t count, const csaw_dense *y) {
    const uint64_t element = csaw__dtype_bytes(x->dtype);
    const uint64_t bytes = x->rows ? ((x->rows - 1) * csaw__stride(x) + x->cols) * element : 0;
    const void *from = NULL;
    CSAW_TRY(csaw__device_reach(where->ordinal, x->data, bytes, "x", &from));
    return csaw__device_gather(where, &(csaw__gathering){.x = from,
                                                         .y = y->data,
                                                         .x_stride = csaw__stride(x) * element,
                                                         .y_stride = csaw__stride(y) * element,
                                                         .bytes = x->cols * element,
                                                         .vertex = vertex,
                                                         .count = count});
}

csaw_status csaw_gather(const csaw_dense *x, const csaw_vertex *vertex, uint64_t count,
                        const csaw_gather_options *given, const csaw_dense *y) {
    csaw__where where;
    CSAW_OPTIONS(csaw_gather_options, given, options)
    CSAW_TRY(csaw__dense_check(x, "x", x ? x->rows : 0, x ? x->cols : 0));
    CSAW_TRY(csaw__dense_check(y, "y", count, x->cols));
    CSAW_TRY(csaw__array_check(vertex, "vertex", count));
    CSAW_TRY(csaw__apart_check(y->data, "y", x->data, "x"));
    CSAW_REQUIRE(x->dtype == y->dtype, CSAW_EINVAL,
                 "x has dtype %d and y has dtype %d, but rows are gathered as they are stored; give y the dtype of x",
                 (int)x->dtype, (int)y->dtype);
    CSAW_REQUIRE(options.threads >= 0, CSAW_EINVAL, "threads is %d; give 1 or more, or 0 for all cores",
                 options.threads);
    CSAW_TRY(csaw__where_of(options.device, options.stream, false, &where));
    if (where.ordinal >= 0) return gather_there(&where, x, vertex, count, y);
    for (uint64_t i = 0; i < count; i++)
        CSAW_REQUIRE(vertex[i] < x->rows, CSAW_EINVAL,
                     "vertex[%llu] is %u, but x has %llu rows; give features of every vertex", (unsigned long long)i,
                     vertex[i], (unsigned long long)x->rows);
    const uint64_t element = csaw__dtype_bytes(x->dtype), bytes = x->cols * element;
    const uint64_t from = csaw__stride(x) * element, to = csaw__stride(y) * element;
    const int most = options.threads ? options.threads : csaw__max_threads();
    (void)most; /* of a build without OpenMP */
    if (!bytes) return CSAW_OK;
    const uint64_t fetched = bytes < FETCHED ? bytes : FETCHED;
    CSAW__OMP(parallel for num_threads(most) if (csaw__is_long(count * bytes / 64)))
    for (uint64_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            for (uint64_t byte = 0; byte < fetched; byte += LINE)
                __builtin_prefetch((const char *)x->data + vertex[i + AHEAD] * from + byte);
        memcpy((char *)y->data + i * to, (const char *)x->data + vertex[i] * from, bytes);
    }
    return CSAW_OK;
}

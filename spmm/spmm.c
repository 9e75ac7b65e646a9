/* SPDX-License-Identifier: MIT */
/* spmm/spmm.c - csaw_spmm(): arguments checked, then the rows reduced. */
#include "spmm/call.h"
#include "spmm/device.h"
#include "spmm/reducer.h"

csaw_status csaw__call_open(const csaw_sparse *a, const csaw_spmm_options *given, uint64_t cols, csaw__call *out) {
    CSAW_OPTIONS(csaw_spmm_options, given, options);
    CSAW_TRY(csaw__sparse_check_struct(a));
    CSAW_TRY(csaw__heads_check(&options.heads, cols));
    CSAW_REQUIRE((unsigned)options.reduce <= CSAW_MIN, CSAW_EINVAL,
                 "reduce is %d, but csaw_reduce ends with CSAW_MIN (%d)", (int)options.reduce, (int)CSAW_MIN);
    csaw__call call = {.options = options};
    CSAW_TRY(csaw__device_of(options.device, &call.ordinal));
    CSAW_TRY(csaw__stream_check(options.stream, call.ordinal));
    CSAW_REQUIRE(!options.exact || call.ordinal < 0, CSAW_EUNSUPPORTED,
                 "exact on device '%s': float64 sums run on the CPU alone; give 'cpu', or leave exact false",
                 options.device);
    call.extreme = options.reduce == CSAW_MAX || options.reduce == CSAW_MIN;
    CSAW_REQUIRE(!options.arg || call.extreme, CSAW_EINVAL,
                 "arg is given, but only CSAW_MAX and CSAW_MIN pick edges; leave it NULL for sums and means");
    if (options.reducer) CSAW_TRY(csaw__reducer_check(options.reducer, &options, call.ordinal));
    if (options.plan)
        CSAW_TRY(csaw__plan_check(options.plan, a, call.ordinal));
    else if (call.ordinal < 0)
        CSAW_TRY(csaw__rows_find(a, &call.own_rows));
    call.rows = options.plan ? options.plan->rows : call.own_rows;
    *out = call;
    return CSAW_OK;
}

void csaw__call_close(csaw__call *call) { csaw__rows_free(&call->own_rows); }

csaw_status csaw_spmm(const csaw_sparse *a, const csaw_dense *x, const csaw_spmm_options *options,
                      const csaw_dense *y) {
    csaw__call call;
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__call_open(a, options, x ? x->cols : 0, &call));
    CSAW_TRY_DONE(csaw__dense_check(x, "x", a->cols, x ? x->cols : 0));
    CSAW_TRY_DONE(csaw__dense_check(y, "y", a->rows, x->cols));
    CSAW_TRY_DONE(csaw__apart_check(y->data, "y", x->data, "x"));
    if (call.ordinal >= 0) {
        status = call.options.reducer ? csaw__device_reduce_by(&call, a, x, y)
                                      : csaw__device_spmm(&call, CSAW__AUTO, a, x, y);
        goto done;
    }
    csaw__reduction r = {.a = *a,
                         .x = *x,
                         .y = *y,
                         .reduce = call.options.reduce,
                         .heads = call.options.heads,
                         .arg = call.options.arg,
                         .rows = call.rows};
    r.x.stride = csaw__stride(x);
    r.y.stride = csaw__stride(y);
    if (call.options.reducer) {
        csaw__reduce_by(&r, call.options.reducer);
        goto done;
    }
    CSAW_TRY_DONE(csaw__reduce_room(&r, call.options.exact));
    (call.options.exact ? csaw__reduce_f64 : csaw__reduce_f32)(&r);
    csaw__free(r.room);
done:
    csaw__call_close(&call);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* spmm/spmm.c - csaw_spmm(): arguments checked, then the rows reduced, or their work memory counted. */
#include "spmm/call.h"
#include "spmm/device.h"
#include "spmm/reducer.h"

const char *csaw_spmm_method_name(csaw_spmm_method method) {
    static const char *const name[] = {"auto",     "crc",      "cwm2", "cwm4",     "subwarp16",
                                       "subwarp8", "subwarp4", "hubs", "stretches"};
    return (unsigned)method < sizeof name / sizeof *name ? name[method] : NULL;
}

static csaw_status method_check(const csaw_spmm_options *options, int ordinal) {
    const char *const name = csaw_spmm_method_name(options->method);
    CSAW_REQUIRE(name, CSAW_EINVAL, "method is %d, but csaw_spmm_method ends with CSAW_SPMM_STRETCHES (%d)",
                 (int)options->method, (int)CSAW_SPMM_STRETCHES);
    CSAW_REQUIRE(options->method == CSAW_SPMM_AUTO || ordinal >= 0, CSAW_EUNSUPPORTED,
                 "method '%s' is a kernel of GPUs, but the device is the CPU; leave it 'auto', or name a GPU, such as "
                 "'cuda:0'",
                 name);
    CSAW_REQUIRE(options->method == CSAW_SPMM_AUTO || !options->reducer, CSAW_EINVAL,
                 "method '%s' is of csaw's own reductions, but reducer '%s' has kernels of its own; leave it 'auto'",
                 name, options->reducer->name);
    return CSAW_OK;
}

csaw_status csaw__call_open(const csaw_sparse *a, const csaw_spmm_options *given, uint64_t cols, uint64_t *work,
                            csaw__call *out) {
    CSAW_OPTIONS(csaw_spmm_options, given, options);
    CSAW_TRY(csaw__sparse_check_struct(a));
    CSAW_TRY(csaw__heads_check(&options.heads, cols));
    CSAW_REQUIRE((unsigned)options.reduce <= CSAW_MIN, CSAW_EINVAL,
                 "reduce is %d, but csaw_reduce ends with CSAW_MIN (%d)", (int)options.reduce, (int)CSAW_MIN);
    csaw__call call = {.options = options, .work = work};
    CSAW_TRY(csaw__device_of(options.device, &call.ordinal));
    CSAW_TRY(csaw__stream_check(options.stream, call.ordinal));
    CSAW_REQUIRE(!options.exact || call.ordinal < 0, CSAW_EUNSUPPORTED,
                 "exact on device '%s': float64 sums run on the CPU alone; give 'cpu', or leave exact false",
                 options.device);
    call.extreme = options.reduce == CSAW_MAX || options.reduce == CSAW_MIN;
    CSAW_REQUIRE(!options.arg || call.extreme, CSAW_EINVAL,
                 "arg is given, but only CSAW_MAX and CSAW_MIN pick edges; leave it NULL for sums and means");
    CSAW_TRY(method_check(&options, call.ordinal));
    if (options.reducer) CSAW_TRY(csaw__reducer_check(options.reducer, &options, call.ordinal));
    if (options.plan)
        CSAW_TRY(csaw__plan_check(options.plan, a, call.ordinal));
    else if (call.ordinal < 0)
        CSAW_TRY(csaw__rows_find(a, &call.own_rows));
    call.rows = options.plan ? options.plan->rows : call.own_rows;
    if (work) *work = csaw__rows_bytes(&call.own_rows);
    *out = call;
    return CSAW_OK;
}

void csaw__call_close(csaw__call *call) { csaw__rows_free(&call->own_rows); }

static csaw_status on_device(const csaw__call *call, const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y) {
    return (call->options.reducer ? csaw__device_reduce_by : csaw__device_spmm)(call, a, x, y);
}

static csaw_status on_cpu(const csaw__call *call, const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y) {
    const bool exact = call->options.exact;
    csaw__reduction r = {.a = *a,
                         .x = *x,
                         .y = *y,
                         .reduce = call->options.reduce,
                         .heads = call->options.heads,
                         .arg = call->options.arg,
                         .rows = call->rows};
    r.x.stride = csaw__stride(x);
    r.y.stride = csaw__stride(y);
    if (call->options.reducer) {
        if (!call->work) csaw__reduce_by(&r, call->options.reducer);
        return CSAW_OK;
    }
    if (call->work) {
        *call->work += csaw__reduce_bytes(&r, exact);
        return CSAW_OK;
    }
    CSAW_TRY(csaw__reduce_room(&r, exact));
    (exact ? csaw__reduce_f64 : csaw__reduce_f32)(&r);
    csaw__free(r.room);
    return CSAW_OK;
}

/* work: see csaw__call. */
static csaw_status forward(const csaw_sparse *a, const csaw_dense *x, const csaw_spmm_options *options,
                           const csaw_dense *y, uint64_t *work) {
    csaw__call call;
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__call_open(a, options, x ? x->cols : 0, work, &call));
    CSAW_TRY_DONE(csaw__dense_check(x, "x", a->cols, x ? x->cols : 0));
    CSAW_TRY_DONE(csaw__dense_check(y, "y", a->rows, x->cols));
    CSAW_TRY_DONE(csaw__apart_check(y->data, "y", x->data, "x"));
    status = (call.ordinal >= 0 ? on_device : on_cpu)(&call, a, x, y);
done:
    csaw__call_close(&call);
    return status;
}

csaw_status csaw_spmm(const csaw_sparse *a, const csaw_dense *x, const csaw_spmm_options *options,
                      const csaw_dense *y) {
    return forward(a, x, options, y, NULL);
}

csaw_status csaw_spmm_work_bytes(const csaw_sparse *a, const csaw_dense *x, const csaw_spmm_options *options,
                                 const csaw_dense *y, uint64_t *bytes) {
    uint64_t work = 0;
    CSAW_REQUIRE(bytes, CSAW_EINVAL, "csaw_spmm_work_bytes needs a place for the bytes; bytes is NULL");
    CSAW_TRY(forward(a, x, options, y, &work));
    *bytes = work;
    return CSAW_OK;
}

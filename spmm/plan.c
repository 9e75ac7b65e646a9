/* SPDX-License-Identifier: MIT */
/* spmm/plan.c - csaw_spmm_prepare(): what every call on the same matrix would find out again. */
#include "spmm/plan.h"

#include "spmm/check.h"
#include "spmm/device.h"

csaw_status csaw_spmm_prepare(const csaw_sparse *a, const csaw_prepare_options *given, csaw_spmm_plan **out) {
    CSAW_REQUIRE(out, CSAW_EINVAL, "csaw_spmm_prepare needs a place for the plan; out is NULL");
    csaw_spmm_plan *plan = NULL;
    csaw_status status = CSAW_OK;
    CSAW_OPTIONS(csaw_prepare_options, given, options);
    int ordinal = -1;
    CSAW_TRY(csaw__device_of(options.device, &ordinal));
    CSAW_TRY(csaw__stream_check(options.stream, ordinal));
    CSAW_REQUIRE(!options.hubs || ordinal >= 0, CSAW_EUNSUPPORTED,
                 "hubs are kept in a GPU's shared memory, but the device is the CPU; leave hubs false, or prepare on "
                 "'cuda:N'");
    CSAW_TRY(csaw__sparse_check_struct(a));
    CSAW_REQUIRE(!options.means || options.fixed_weights || !a->weight, CSAW_EINVAL,
                 "means keeps weights divided by the lengths of rows, but these may change; set fixed_weights of "
                 "csaw_prepare_options, or leave means false");
    CSAW_TRY(csaw__alloc_zero(&plan, 1, "a plan of aggregation"));
    plan->a = *a;
    plan->ordinal = ordinal;
    if (ordinal >= 0) {
        CSAW_TRY_DONE(csaw__device_plan_create(a, ordinal, &options, &plan->device));
        goto ready;
    }
    CSAW_TRY_DONE(csaw__rows_find(a, &plan->rows));
    CSAW_TRY_DONE(csaw__transpose_create(a, &plan->transpose));
    if (options.fixed_weights && a->weight) {
        plan->heads = options.heads ? options.heads : 1;
        CSAW_TRY_DONE(csaw__alloc(&plan->weight, a->num_edges * plan->heads, "weights of a transpose"));
        csaw__transpose_weights(a, &plan->transpose, plan->heads, false, NULL, plan->weight);
    }
ready:
    *out = plan;
    plan = NULL;
done:
    csaw_spmm_plan_free(plan);
    return status;
}

void csaw_spmm_plan_free(csaw_spmm_plan *plan) {
    if (!plan) return;
    csaw__device_plan_free(plan->device);
    csaw__rows_free(&plan->rows);
    csaw__transpose_free(&plan->transpose);
    csaw__free(plan->weight);
    csaw__free(plan);
}

csaw_status csaw__plan_check(const csaw_spmm_plan *plan, const csaw_sparse *a, int ordinal) {
    const csaw_sparse *const of = &plan->a;
    CSAW_REQUIRE(
        of->rows == a->rows && of->cols == a->cols && of->num_edges == a->num_edges && of->rowptr == a->rowptr &&
            of->col == a->col,
        CSAW_EINVAL,
        "the plan is of a matrix of %llu x %llu with %llu edges, this is another one of %llu x %llu with %llu; "
        "prepare this one, and keep its rowptr and col where they were",
        (unsigned long long)of->rows, (unsigned long long)of->cols, (unsigned long long)of->num_edges,
        (unsigned long long)a->rows, (unsigned long long)a->cols, (unsigned long long)a->num_edges);
    CSAW_REQUIRE(
        plan->ordinal == ordinal, CSAW_EINVAL,
        "the plan was prepared for GPU %d, but the call is for GPU %d (-1 = the CPU); prepare one on the call's device",
        plan->ordinal, ordinal);
    return CSAW_OK;
}

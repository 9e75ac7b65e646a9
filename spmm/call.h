/* SPDX-License-Identifier: MIT */
/* spmm/call.h - a call of csaw_spmm() or of its backward pass: options in order, rows looked at. */
#ifndef CSAW_SPMM_CALL_H
#define CSAW_SPMM_CALL_H

#include "spmm/check.h"
#include "spmm/plan.h"
#include "spmm/reduce.h"

typedef struct csaw__call {
    csaw_spmm_options options; /* checked; heads at least 1 */
    uint64_t *work;            /* if given, nothing is computed: the bytes of work memory are added here */
    int ordinal;               /* of the GPU; -1 = the CPU */
    bool extreme;              /* MAX or MIN */
    csaw__rows rows;           /* of the CPU: borrowed, of the plan or own_rows */
    csaw__rows own_rows;
} csaw__call;

/* cols: of the features. A call that was opened is closed. */
csaw_status csaw__call_open(const csaw_sparse *a, const csaw_spmm_options *given, uint64_t cols, uint64_t *work,
                            csaw__call *out);
void csaw__call_close(csaw__call *call);

#endif

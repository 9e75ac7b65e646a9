/* SPDX-License-Identifier: MIT */
/* spmm/scatter.c - arg comes from the caller, and decides where memory is written: so it is read first. */
#include "spmm/scatter.h"

#include "runtime/base/parallel.h"

csaw_status csaw__scatter_check(const csaw__scatter *s) {
    const uint64_t cols = s->dy.cols;
    uint64_t bad = UINT64_MAX;
    CSAW__OMP(parallel for if(csaw__is_long(s->a.rows * cols)) reduction(min : bad))
    for (uint64_t row = 0; row < s->a.rows; row++) {
        const uint64_t begin = s->a.rowptr[row], length = csaw__row_length(&s->a, row);
        for (uint64_t c = 0; c < cols; c++) {
            const csaw_edge edge = s->arg[row * cols + c];
            const bool good = length ? edge - begin < length : edge == CSAW_NO_EDGE;
            if (!good && row * cols + c < bad) bad = row * cols + c;
        }
    }
    CSAW_REQUIRE(bad == UINT64_MAX, CSAW_EINVAL,
                 "arg[%llu, %llu] is %llu, which is no edge of that row; give arg as csaw_spmm() wrote it",
                 (unsigned long long)(bad / cols), (unsigned long long)(bad % cols), (unsigned long long)s->arg[bad]);
    return CSAW_OK;
}

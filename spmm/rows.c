/* SPDX-License-Identifier: MIT */
/* spmm/rows.c - one pass over rowptr: is it one, and where are the hubs? */
#include "spmm/rows.h"

#include "runtime/base/parallel.h"

csaw_status csaw__rows_find(const csaw_sparse *a, csaw__rows *out) {
    const uint64_t *const rowptr = a->rowptr, rows = a->rows;
    uint64_t bad = UINT64_MAX, hubs = 0, longest = 0;
    CSAW__OMP(parallel for if(csaw__is_long(rows)) reduction(min : bad) reduction(+ : hubs) reduction(max : longest))
    for (uint64_t r = 0; r < rows; r++) {
        const uint64_t length = rowptr[r + 1] - rowptr[r];
        if (rowptr[r + 1] < rowptr[r] && r < bad) bad = r;
        hubs += length > CSAW__HUB;
        if (length > longest) longest = length;
    }
    CSAW_REQUIRE(rowptr[0] == 0, CSAW_EINVAL, "rowptr begins with %llu, but must begin with 0",
                 (unsigned long long)rowptr[0]);
    CSAW_REQUIRE(bad == UINT64_MAX, CSAW_EINVAL, "rowptr falls from %llu to %llu at row %llu, but must never fall",
                 (unsigned long long)rowptr[bad], (unsigned long long)rowptr[bad + 1], (unsigned long long)bad);
    CSAW_REQUIRE(rowptr[rows] == a->num_edges, CSAW_EINVAL,
                 "rowptr ends with %llu, but must end with the number of edges, %llu", (unsigned long long)rowptr[rows],
                 (unsigned long long)a->num_edges);
    csaw__rows found = {.num_hubs = hubs, .longest = longest};
    if (hubs) {
        CSAW_TRY(csaw__alloc(&found.hub, hubs, "the long rows of a matrix"));
        uint64_t *next = found.hub;
        for (uint64_t r = 0; r < rows; r++)
            if (rowptr[r + 1] - rowptr[r] > CSAW__HUB) *next++ = r;
    }
    *out = found;
    return CSAW_OK;
}

void csaw__rows_free(csaw__rows *rows) { csaw__free(rows->hub); }

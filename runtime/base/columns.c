/* SPDX-License-Identifier: MIT */
/* runtime/base/columns.c - memory for the columns of arcs. */
#include "runtime/base/columns.h"

#include "runtime/base/memory.h"

csaw_status csaw__columns_alloc(uint32_t which, uint64_t count, csaw__columns *out) {
    csaw__columns columns = {0};
    csaw_status status = CSAW_OK;
    CSAW_TRY_DONE(csaw__alloc(&columns.dst, count, "the arcs of a graph"));
    if (which & CSAW__WEIGHT) CSAW_TRY_DONE(csaw__alloc(&columns.weight, count, "the weights of a graph"));
    if (which & CSAW__TYPE) CSAW_TRY_DONE(csaw__alloc(&columns.type, count, "the types of a graph"));
    if (which & CSAW__TIME) CSAW_TRY_DONE(csaw__alloc(&columns.time, count, "the times of a graph"));
    *out = columns;
    return CSAW_OK;
done:
    csaw__columns_free(&columns);
    return status;
}

void csaw__columns_free(csaw__columns *columns) {
    csaw__free(columns->time);
    csaw__free(columns->type);
    csaw__free(columns->weight);
    csaw__free(columns->dst);
    *columns = (csaw__columns){0};
}

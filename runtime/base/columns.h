/* SPDX-License-Identifier: MIT */
/* runtime/base/columns.h - what a graph keeps of every arc, one array for each: destination, and weight, type and time
 * where it has them. */
#ifndef CSAW_BASE_COLUMNS_H
#define CSAW_BASE_COLUMNS_H

#include "runtime/base/status.h"

#include <string.h>

enum csaw__column { CSAW__WEIGHT = 1, CSAW__TYPE = 2, CSAW__TIME = 4 }; /* a set of them, in a uint32_t */

typedef struct csaw__columns {
    csaw_vertex *dst;
    float *weight; /* NULL where the graph has none; so the others */
    uint32_t *type;
    int64_t *time;
} csaw__columns;

/* `which` says which columns there are besides the destinations. */
csaw_status csaw__columns_alloc(uint32_t which, uint64_t count, csaw__columns *out);
void csaw__columns_free(csaw__columns *columns);

static inline uint32_t csaw__columns_of(const csaw_csr *csr) {
    return (csr->weight ? CSAW__WEIGHT : 0) | (csr->type ? CSAW__TYPE : 0) | (csr->time ? CSAW__TIME : 0);
}

/* The arcs of a CSR; not to be written to unless the CSR is the caller's. */
static inline csaw__columns csaw__columns_view(const csaw_csr *csr) {
    return (csaw__columns){(csaw_vertex *)csr->col, (float *)csr->weight, (uint32_t *)csr->type, (int64_t *)csr->time};
}

static inline csaw__columns csaw__columns_from(csaw__columns columns, uint64_t place) {
    return (csaw__columns){columns.dst + place, columns.weight ? columns.weight + place : NULL,
                           columns.type ? columns.type + place : NULL, columns.time ? columns.time + place : NULL};
}

/* to[i] = an arc to dst that is otherwise like from[j] */
static inline void csaw__columns_put(const csaw__columns *to, uint64_t i, csaw_vertex dst, const csaw__columns *from,
                                     uint64_t j) {
    to->dst[i] = dst;
    if (to->weight) to->weight[i] = from->weight[j];
    if (to->type) to->type[i] = from->type[j];
    if (to->time) to->time[i] = from->time[j];
}

static inline void csaw__columns_copy(const csaw__columns *to, const csaw__columns *from, uint64_t count) {
    if (count == 0) return;
    memcpy(to->dst, from->dst, count * sizeof *to->dst);
    if (to->weight) memcpy(to->weight, from->weight, count * sizeof *to->weight);
    if (to->type) memcpy(to->type, from->type, count * sizeof *to->type);
    if (to->time) memcpy(to->time, from->time, count * sizeof *to->time);
}

#endif

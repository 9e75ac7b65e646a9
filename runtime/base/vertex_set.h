/* SPDX-License-Identifier: MIT */
/* runtime/base/vertex_set.h - which vertices an instance has seen: a set of (owner, vertex), owner being the place of
 * the instance among those that advance together. Open addressing with linear probing; cleared at once by a new stamp.
 */
#ifndef CSAW_BASE_VERTEX_SET_H
#define CSAW_BASE_VERTEX_SET_H

#include <csaw/types.h>

typedef struct csaw__vertex_cell {
    uint64_t key; /* owner << 32 | vertex */
    uint64_t stamp;
} csaw__vertex_cell;

typedef struct csaw__vertex_set {
    csaw__vertex_cell *cell; /* [mask + 1], at most half of them used */
    uint64_t mask, count;
    uint64_t stamp; /* of the cells that count */
} csaw__vertex_set;

#if !defined(__CUDACC__)
/* The cell of a key, or the free one where it would go. */
CSAW_FN csaw__vertex_cell *csaw__vertex_set_cell(const csaw__vertex_set *set, uint64_t key) {
    uint64_t place = (key * 0x9e3779b97f4a7c15u) >> 20 & set->mask;
    while (set->cell[place].stamp == set->stamp && set->cell[place].key != key) place = (place + 1) & set->mask;
    return &set->cell[place];
}

CSAW_FN bool csaw__vertex_set_has(const csaw__vertex_set *set, uint32_t owner, csaw_vertex v) {
    return csaw__vertex_set_cell(set, (uint64_t)owner << 32 | v)->stamp == set->stamp;
}
#endif

#endif

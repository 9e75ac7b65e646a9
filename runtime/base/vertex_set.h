/* SPDX-License-Identifier: MIT */
/* runtime/base/vertex_set.h - which vertices an instance has seen: a set of (owner, vertex), owner being the place of
 * the instance among those that advance together. Open addressing with linear probing; cleared at once by a new stamp.
 */
#ifndef CSAW_BASE_VERTEX_SET_H
#define CSAW_BASE_VERTEX_SET_H

#include <csaw/types.h>

enum { CSAW__SET_OWNERS = 1 << 10 /* most of them */, CSAW__SET_STAMP = 42 /* bits below the stamp */ };

typedef struct csaw__vertex_set {
    uint64_t *cell; /* [mask + 1], at most half of them used: stamp << 42 | owner << 32 | vertex */
    uint64_t mask, count;
    uint64_t stamp; /* of the cells that count, at its place in them */
} csaw__vertex_set;

#if !defined(__CUDACC__)
CSAW_FN uint64_t csaw__vertex_key(const csaw__vertex_set *set, uint32_t owner, csaw_vertex v) {
    return set->stamp | (uint64_t)owner << 32 | v;
}

/* Where the key is, or the free cell where it would go. */
CSAW_FN uint64_t *csaw__vertex_cell(const csaw__vertex_set *set, uint64_t key) {
    uint64_t place = ((key - set->stamp) * 0x9e3779b97f4a7c15u) >> 32 & set->mask; /* where the owner matters too */
    while (set->cell[place] != key && set->cell[place] >= set->stamp) place = (place + 1) & set->mask;
    return &set->cell[place];
}

CSAW_FN bool csaw__vertex_set_has(const csaw__vertex_set *set, uint32_t owner, csaw_vertex v) {
    const uint64_t key = csaw__vertex_key(set, owner, v);
    return *csaw__vertex_cell(set, key) == key;
}
#endif

#endif

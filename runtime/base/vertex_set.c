/* SPDX-License-Identifier: MIT */
/* runtime/base/vertex_set.c - see vertex_set.h. */
#include "runtime/base/vertex_set.h"

#include "runtime/base/memory.h"
#include "runtime/base/vertex_set_add.h"

csaw_status csaw__vertex_set_clear(csaw__vertex_set *set) {
    const uint64_t first_size = 64;
    if (!set->cell) {
        CSAW_TRY(csaw__alloc_zero(&set->cell, first_size, "a set of vertices"));
        set->mask = first_size - 1;
    }
    set->stamp++; /* from 0: cells of zeros count for nothing */
    set->count = 0;
    return CSAW_OK;
}

csaw_status csaw__vertex_set_grow(csaw__vertex_set *set) {
    csaw__vertex_set larger = {.mask = 4 * set->mask + 3, .stamp = 1, .count = set->count};
    CSAW_TRY(csaw__alloc_zero(&larger.cell, larger.mask + 1, "a set of vertices"));
    for (uint64_t i = 0; i <= set->mask; i++) {
        if (set->cell[i].stamp != set->stamp) continue;
        csaw__vertex_cell *cell = csaw__vertex_set_cell(&larger, set->cell[i].key);
        cell->key = set->cell[i].key;
        cell->stamp = larger.stamp;
    }
    csaw__free(set->cell);
    *set = larger;
    return CSAW_OK;
}

void csaw__vertex_set_free(csaw__vertex_set *set) {
    csaw__free(set->cell);
    *set = (csaw__vertex_set){0};
}

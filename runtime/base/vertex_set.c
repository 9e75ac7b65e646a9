/* SPDX-License-Identifier: MIT */
/* runtime/base/vertex_set.c - see vertex_set.h. */
#include "runtime/base/vertex_set.h"

#include <string.h>

#include "runtime/base/memory.h"
#include "runtime/base/vertex_set_add.h"

csaw_status csaw__vertex_set_clear(csaw__vertex_set *set) {
    const uint64_t first_size = 64, step = (uint64_t)1 << CSAW__SET_STAMP;
    if (!set->cell) {
        CSAW_TRY(csaw__alloc_zero(&set->cell, first_size, "a set of vertices"));
        set->mask = first_size - 1;
    }
    set->stamp += step; /* all cells from before are below it */
    if (set->stamp == 0) {
        memset(set->cell, 0, (set->mask + 1) * sizeof *set->cell);
        set->stamp = step;
    }
    set->count = 0;
    return CSAW_OK;
}

csaw_status csaw__vertex_set_grow(csaw__vertex_set *set) {
    csaw__vertex_set larger = {.mask = 4 * set->mask + 3, .stamp = set->stamp, .count = set->count};
    CSAW_TRY(csaw__alloc_zero(&larger.cell, larger.mask + 1, "a set of vertices"));
    for (uint64_t i = 0; i <= set->mask; i++)
        if (set->cell[i] >= set->stamp) *csaw__vertex_cell(&larger, set->cell[i]) = set->cell[i];
    csaw__free(set->cell);
    *set = larger;
    return CSAW_OK;
}

void csaw__vertex_set_free(csaw__vertex_set *set) {
    csaw__free(set->cell);
    *set = (csaw__vertex_set){0};
}

/* SPDX-License-Identifier: MIT */
/* runtime/base/vertex_set_add.h - filling a csaw__vertex_set, which only the library does. */
#ifndef CSAW_BASE_VERTEX_SET_ADD_H
#define CSAW_BASE_VERTEX_SET_ADD_H

#include "runtime/base/status.h"
#include "runtime/base/vertex_set.h"

csaw_status csaw__vertex_set_clear(csaw__vertex_set *set); /* before the first use as well */
csaw_status csaw__vertex_set_grow(csaw__vertex_set *set);
void csaw__vertex_set_free(csaw__vertex_set *set);

/* *added: it was not there. */
static inline csaw_status csaw__vertex_set_add(csaw__vertex_set *set, uint32_t owner, csaw_vertex v, bool *added) {
    const uint64_t key = csaw__vertex_key(set, owner, v);
    uint64_t *cell = csaw__vertex_cell(set, key);
    *added = *cell != key;
    *cell = key;
    set->count += *added;
    return set->count > set->mask / 2 ? csaw__vertex_set_grow(set) : CSAW_OK;
}

#endif

/* SPDX-License-Identifier: MIT */
/* runtime/engine/relabel.h - numbers for vertices in the order of first visit: a hash table of linear probing (Knuth,
 * vol. 3, section 6.4), as large as the sample, not as the graph. */
#ifndef CSAW_ENGINE_RELABEL_H
#define CSAW_ENGINE_RELABEL_H

#include "runtime/base/memory.h"

#include <string.h>

typedef struct csaw__relabel {
    uint64_t *slot; /* [mask + 1] vertex << 32 | number; all ones = free */
    uint64_t room, mask;
    csaw_vertex *vertex; /* where vertices are listed by number; the caller's, with room for all */
    uint64_t count;      /* of those listed */
} csaw__relabel;

/* Forgets all; room for so many different vertices, to be listed at `vertex`. */
static inline csaw_status csaw__relabel_start(csaw__relabel *map, uint64_t most, csaw_vertex *vertex) {
    uint64_t slots = 16;
    while (slots < 2 * most) slots *= 2;
    if (slots > map->room) {
        csaw__free(map->slot);
        map->slot = NULL;
        map->room = 0;
        CSAW_TRY(csaw__alloc(&map->slot, slots, "new numbers of vertices"));
        map->room = slots;
    }
    memset(map->slot, 0xff, slots * sizeof *map->slot);
    map->mask = slots - 1;
    map->vertex = vertex;
    map->count = 0;
    return CSAW_OK;
}

static inline uint64_t csaw__relabel_place(const csaw__relabel *map, csaw_vertex v) {
    uint64_t at = (v * 0x9e3779b97f4a7c15u) >> 32 & map->mask; /* Fibonacci hashing */
    while (map->slot[at] != UINT64_MAX && map->slot[at] >> 32 != v) at = (at + 1) & map->mask;
    return at;
}

/* The number of v, or CSAW_NONE. */
static inline csaw_vertex csaw__relabel_find(const csaw__relabel *map, csaw_vertex v) {
    return (csaw_vertex)map->slot[csaw__relabel_place(map, v)]; /* of a free slot: CSAW_NONE */
}

/* The number of v, which it has from now on. */
static inline csaw_vertex csaw__relabel_add(csaw__relabel *map, csaw_vertex v) {
    const uint64_t at = csaw__relabel_place(map, v);
    if (map->slot[at] != UINT64_MAX) return (csaw_vertex)map->slot[at];
    map->slot[at] = (uint64_t)v << 32 | map->count;
    map->vertex[map->count] = v;
    return (csaw_vertex)map->count++;
}

#endif

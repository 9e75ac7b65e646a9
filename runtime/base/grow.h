/* SPDX-License-Identifier: MIT */
/* runtime/base/grow.h - arrays that grow: CSAW__GROW(&array, &capacity, need, what) makes room for need entries and
 * keeps those that are there. */
#ifndef CSAW_BASE_GROW_H
#define CSAW_BASE_GROW_H

#include <string.h>

#include "runtime/base/memory.h"

static inline csaw_status csaw__grow(void **array, uint64_t *capacity, uint64_t need, uint64_t size, const char *what) {
    void *larger = NULL;
    if (need <= *capacity) return CSAW_OK;
    const uint64_t room = need < *capacity * 2 ? *capacity * 2 : need < 64 ? 64 : need;
    CSAW_TRY(csaw__alloc_bytes(&larger, room, size, what));
    if (*capacity) memcpy(larger, *array, *capacity * size);
    csaw__free(*array);
    *array = larger;
    *capacity = room;
    return CSAW_OK;
}
#define CSAW__GROW(ARRAY, CAPACITY, NEED, WHAT) csaw__grow((void **)(ARRAY), CAPACITY, NEED, sizeof **(ARRAY), WHAT)

#endif

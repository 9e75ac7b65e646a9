/* SPDX-License-Identifier: MIT */
/* runtime/base/zlib_memory.h - zlib takes its memory where csaw does, so that a refused request is seen by tests. */
#ifndef CSAW_BASE_ZLIB_MEMORY_H
#define CSAW_BASE_ZLIB_MEMORY_H

#include "runtime/base/memory.h"

#include <zlib.h>

static inline void *csaw__zlib_alloc(void *opaque, unsigned count, unsigned size) {
    void *memory = NULL;
    (void)opaque;
    return csaw__alloc_bytes(&memory, count, size, "zlib's tables") == CSAW_OK ? memory : NULL;
}

static inline void csaw__zlib_free(void *opaque, void *memory) {
    (void)opaque;
    csaw__free(memory);
}

#endif

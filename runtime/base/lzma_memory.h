/* SPDX-License-Identifier: MIT */
/* runtime/base/lzma_memory.h - liblzma takes its memory where csaw does, so that a refused request is seen by tests. */
#ifndef CSAW_BASE_LZMA_MEMORY_H
#define CSAW_BASE_LZMA_MEMORY_H

#include "runtime/base/memory.h"

#include <lzma.h>

static inline void *csaw__lzma_alloc(void *opaque, size_t count, size_t size) {
    void *memory = NULL;
    (void)opaque;
    return csaw__alloc_bytes(&memory, count, size, "liblzma's tables") == CSAW_OK ? memory : NULL;
}

static inline void csaw__lzma_free(void *opaque, void *memory) {
    (void)opaque;
    csaw__free(memory);
}

#endif

/* SPDX-License-Identifier: MIT */
/* runtime/engine/compile.h - what is kept of a sampler that csaw_sampler_compile() loaded. */
#ifndef CSAW_ENGINE_COMPILE_H
#define CSAW_ENGINE_COMPILE_H

#include <csaw/descriptor.h>

#include "runtime/engine/source.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__loaded {
    const csaw_sampler *sampler; /* inside the library that handle stands for */
    void *handle;
    csaw__source source;
    struct csaw__loaded *next;
} csaw__loaded;

/* The record of a sampler, NULL if csaw_sampler_compile() did not load it; valid until the sampler is unloaded. */
csaw__loaded *csaw__loaded_find(const csaw_sampler *sampler);

#ifdef __cplusplus
}
#endif
#endif

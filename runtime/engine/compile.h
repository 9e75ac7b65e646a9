/* SPDX-License-Identifier: MIT */
/* runtime/engine/compile.h - what is kept of a sampler that csaw_sampler_compile() loaded. */
#ifndef CSAW_ENGINE_COMPILE_H
#define CSAW_ENGINE_COMPILE_H

#include <csaw/descriptor.h>

#include "runtime/engine/cache.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__device_code { /* what NVRTC made of it: one kernel for one architecture */
    int kernel;                    /* enum csaw__kernel */
    int architecture;              /* 90 = sm_90 */
    char *cubin;
    size_t size;
    struct csaw__device_code *next;
} csaw__device_code;

typedef struct csaw__loaded {
    const csaw_sampler *sampler; /* inside the library that handle stands for */
    void *handle;
    char *path, *text;  /* the sampler file: absolute, and as it was read */
    csaw__hash content; /* of all that the C compiler was given, the file's own headers included */
    csaw__device_code *device;
    struct csaw__loaded *next;
} csaw__loaded;

/* The record of a sampler, NULL if csaw_sampler_compile() did not load it; valid until the sampler is unloaded. */
csaw__loaded *csaw__loaded_find(const csaw_sampler *sampler);

#ifdef __cplusplus
}
#endif
#endif

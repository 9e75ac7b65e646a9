/* SPDX-License-Identifier: MIT */
/* runtime/engine/source.h - a file of the user's that was compiled at run time, kept for kernels to be made of. */
#ifndef CSAW_ENGINE_SOURCE_H
#define CSAW_ENGINE_SOURCE_H

#include "runtime/engine/cache.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__device_code { /* what NVRTC made of it: one kernel for one architecture */
    const char *ending;            /* what was compiled after the file's text, which names the kernel; a literal */
    int architecture;              /* 90 = sm_90 */
    char *cubin;
    size_t size;
    struct csaw__device_code *next;
} csaw__device_code;

typedef struct csaw__source {
    char *path, *text;  /* absolute, and as it was read */
    csaw__hash content; /* of all that the C compiler was given, the file's own headers included */
    csaw__device_code *device;
} csaw__source;

/* Reads the file into *out, all zero but content; csaw__source_free() releases what is there, even if this fails. */
csaw_status csaw__source_read(const char *path, csaw__source *out);
void csaw__source_free(csaw__source *source);

#ifdef __cplusplus
}
#endif

#endif

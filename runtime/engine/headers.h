/* SPDX-License-Identifier: MIT */
/* runtime/engine/headers.h - the headers that a sampler compiled at run time includes, carried inside the library.
 * cmake/csaw_embed.cmake lists them and writes the table. */
#ifndef CSAW_ENGINE_HEADERS_H
#define CSAW_ENGINE_HEADERS_H

#include <stddef.h>

typedef struct csaw__header {
    const char *name; /* as it is included: "csaw/sampler.h", "runtime/base/site.h" */
    const char *text; /* ends with a zero byte */
    size_t size;      /* bytes before that */
} csaw__header;

extern const csaw__header csaw__headers[]; /* the last one has no name */

#endif

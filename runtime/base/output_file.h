/* SPDX-License-Identifier: MIT */
/* runtime/base/output_file.h - a file that appears whole under its name, or not at all. */
#ifndef CSAW_BASE_OUTPUT_FILE_H
#define CSAW_BASE_OUTPUT_FILE_H

#include "runtime/base/status.h"

typedef struct csaw__output csaw__output;

enum { CSAW__OUTPUT_BYTES = 1 << 20 }; /* of the buffer: the most that csaw__output_room() may ask for */

/* "-" = standard output. gzip: compress. */
csaw_status csaw__output_open(const char *path, bool gzip, csaw__output **out);
/* A place for `bytes` more bytes; what was written there counts once csaw__output_advance() says how much it is. */
csaw_status csaw__output_room(csaw__output *output, uint64_t bytes, char **place);
void csaw__output_advance(csaw__output *output, uint64_t bytes);
csaw_status csaw__output_put(csaw__output *output, const void *from, uint64_t bytes);
/* Everything to disk, and under its name. Frees output, whatever it returns. */
csaw_status csaw__output_close(csaw__output *output);
void csaw__output_discard(csaw__output *output); /* removes what was written; NULL is fine */
const char *csaw__output_path(const csaw__output *output);

#endif

/* SPDX-License-Identifier: MIT */
/* runtime/base/text_input.h - the bytes of a file, plain, gzip or xz, whichever its first bytes say it is. */
#ifndef CSAW_BASE_TEXT_INPUT_H
#define CSAW_BASE_TEXT_INPUT_H

#include "runtime/base/status.h"

typedef struct csaw__text_input csaw__text_input;

/* path is kept, not copied. */
csaw_status csaw__text_open(const char *path, csaw__text_input **out);
/* Fills to[0 .. capacity-1] as far as the file goes: fewer bytes come only at its end, or on failure, where *count is
 * what came before it. */
csaw_status csaw__text_read(csaw__text_input *input, char *to, uint64_t capacity, uint64_t *count);
/* Back to the first byte. */
csaw_status csaw__text_rewind(csaw__text_input *input);
/* At most so many bytes are in the file, unless it grows; UINT64_MAX = unknown. */
uint64_t csaw__text_bound(const csaw__text_input *input);
void csaw__text_close(csaw__text_input *input); /* NULL is fine */

#endif

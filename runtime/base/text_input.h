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
/* Bytes begin .. end - 1 of a plain file from now on; CSAW_EUNSUPPORTED of any other. The first byte is `begin` then.
 */
csaw_status csaw__text_range(csaw__text_input *input, uint64_t begin, uint64_t end);
/* Where the line that byte `at` is in begins, if it begins there, else the one after it; of a plain file. */
csaw_status csaw__text_line_from(csaw__text_input *input, uint64_t at, uint64_t *begin);
bool csaw__text_is_plain(const csaw__text_input *input); /* and of known length: csaw__text_bound() */
/* Back to the first byte. */
csaw_status csaw__text_rewind(csaw__text_input *input);
/* At most so many bytes are in the file, unless it grows; UINT64_MAX = unknown. */
uint64_t csaw__text_bound(const csaw__text_input *input);
void csaw__text_close(csaw__text_input *input); /* NULL is fine */

#endif

/* SPDX-License-Identifier: MIT */
/* cli/text_line.c - getline() that skips a byte order mark, as the library does in graph files. */
#include "text_line.h"

#include <string.h>

ssize_t text_line(FILE *file, bool first, char **line, size_t *room) {
    static const char mark[] = {'\xef', '\xbb', '\xbf'};
    const ssize_t length = getline(line, room, file), bytes = sizeof mark;
    if (!first || length < bytes || memcmp(*line, mark, sizeof mark) != 0) return length;
    if (length == bytes) return -1; /* nothing but the mark: an empty file */
    memmove(*line, *line + bytes, (size_t)(length - bytes) + 1);
    return length - bytes;
}

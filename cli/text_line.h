/* SPDX-License-Identifier: MIT */
/* cli/text_line.h - lines of the text files that the program reads itself: seeds, degrees, walks. */
#ifndef CSAW_CLI_TEXT_LINE_H
#define CSAW_CLI_TEXT_LINE_H

#include <stdbool.h>
#include <stdio.h>

/* As getline(), but without the byte order mark of UTF-8 that the first line of a file may begin with. */
ssize_t text_line(FILE *file, bool first, char **line, size_t *room);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/picture.h - a small SVG picture of a few walks over the graph. */
#ifndef CSAW_CLI_PICTURE_H
#define CSAW_CLI_PICTURE_H

#include <csaw/csaw.h>
#include <stdio.h>

typedef struct picture picture;

/* num_seeds: walks of the first round, of which a few are drawn. The arrays of csr outlive the picture. */
picture *picture_begin(const csaw_csr *csr, uint64_t num_seeds);
/* Keeps from a batch what will be drawn. */
void picture_take(picture *picture, const csaw_walks *walks);
/* Returns -1, or the exit code after saying why the file could not be written. */
int picture_write(picture *picture, const char *path, const char *graph_name, const char *sampler_name);
void picture_free(picture *picture);

/* For other pictures too: text inside XML, and the end of a picture; -1, or the exit code after saying why the file
 * could not be written, which is then removed. */
void picture_text(FILE *out, const char *text);
int picture_close(FILE *out, const char *path);

#endif

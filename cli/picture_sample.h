/* SPDX-License-Identifier: MIT */
/* cli/picture_sample.h - a small SVG picture of sampled arcs. */
#ifndef CSAW_CLI_PICTURE_SAMPLE_H
#define CSAW_CLI_PICTURE_SAMPLE_H

#include <csaw/csaw.h>

typedef struct sample_picture sample_picture;

/* induced: also draw, in grey, arcs between the vertices that were not sampled. The graph outlives the picture. */
sample_picture *sample_picture_begin(const csaw_graph *graph, bool induced);
/* Keeps of the first `instances` what will be drawn. */
void sample_picture_take(sample_picture *picture, const csaw_arcs *arcs, uint64_t instances);
/* Returns -1, or the exit code after saying why the file could not be written. */
int sample_picture_write(sample_picture *picture, const char *path, const char *graph_name, const char *sampler_name);
void sample_picture_free(sample_picture *picture);

#endif

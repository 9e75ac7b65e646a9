/* SPDX-License-Identifier: MIT */
/* cli/seeds.h - the vertices that walks start from, read from a file. */
#ifndef CSAW_CLI_SEEDS_H
#define CSAW_CLI_SEEDS_H

#include <csaw/csaw.h>

/* Vertices by the names of the graph, separated by blanks, commas or line ends; names that hold one of these, or begin
 * with # or %, stand in quotes as in edge lists. Lines that start with # or % are comments. seeds->vertex is freed by
 * the caller. Returns -1, or the exit code after saying what is wrong. */
int seeds_read(const char *path, const csaw_graph *graph, csaw_seeds *seeds);

#endif

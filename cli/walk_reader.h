/* SPDX-License-Identifier: MIT */
/* cli/walk_reader.h - reads walks back from a file, one at a time. */
#ifndef CSAW_CLI_WALK_READER_H
#define CSAW_CLI_WALK_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <csaw/csaw.h>

typedef struct walk_reader {
    const char *path;
    const csaw_graph *graph;
    FILE *file;
    bool npy;
    uint64_t rows, columns; /* of .npy */
    uint64_t number;        /* of the walk just read, from 1: the line of a text file */
    uint64_t *vertex;       /* [count], the walk just read; numbers of vertices, also where the file has their names */
    char unknown[48];       /* the first name of no vertex, which stands as UINT64_MAX; "" = none */
    size_t count, room;
    char *line;
    size_t line_room;
    uint32_t *row; /* [columns] */
} walk_reader;

/* Text, in names of the graph if it has any, or NumPy where the content says so. Returns -1, or the exit code after
 * saying what is wrong. */
int walk_reader_open(walk_reader *reader, const char *path, const csaw_graph *graph);
/* Returns -1 with the next walk; or EXIT_OK at the end; or another exit code after saying what is wrong. */
int walk_reader_next(walk_reader *reader);
void walk_reader_close(walk_reader *reader);

#endif

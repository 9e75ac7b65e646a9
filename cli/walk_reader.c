/* SPDX-License-Identifier: MIT */
/* cli/walk_reader.c - walks as text (one a line) and as .npy (NumPy's format, versions 1 and 2: a magic word, the
 * length of a header, the header as a Python dictionary, the array). Vertices come as uint64, so that a number too
 * large for any graph is reported and not wrapped. */
#include "walk_reader.h"

#include <csaw/types.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "report.h"
#include "text_line.h"

enum { MAGIC = 0x93 }; /* a .npy file begins with it, and no text of UTF-8 does */

static int broken(const walk_reader *reader, const char *what) { return report_failure("%s: %s", reader->path, what); }

/* The number in parentheses of 'shape': (rows, columns). */
static bool parse_shape(const char *header, uint64_t *rows, uint64_t *columns) {
    const char *shape = strstr(header, "'shape'");
    return shape && sscanf(shape, "'shape': ( %" SCNu64 " , %" SCNu64, rows, columns) == 2;
}

/* The first byte, MAGIC, is read already. */
static int open_npy(walk_reader *reader) {
    unsigned char start[12] = {MAGIC};
    size_t head = 10, length;
    if (fread(start + 1, 1, head - 1, reader->file) != head - 1)
        return broken(reader, "a .npy file that ends in its header");
    if (memcmp(start + 1, "NUMPY", 5))
        return broken(reader, "neither text nor a .npy file; give walks as one of these");
    length = start[8] | (size_t)start[9] << 8;
    if (start[6] >= 2) {
        if (fread(start + 10, 1, 2, reader->file) != 2) return broken(reader, "a .npy file that ends in its header");
        length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    if (length > 65536) return broken(reader, "a .npy header of more than 65536 bytes; save the array again");
    char *header = allocate(length + 1, 1);
    bool whole = fread(header, 1, length, reader->file) == length;
    bool known = whole && strstr(header, "'<u4'") && strstr(header, "'fortran_order': False") &&
                 parse_shape(header, &reader->rows, &reader->columns);
    free(header);
    if (!known) return broken(reader, "not walks: a .npy of walks is a C-ordered array of '<u4' with two dimensions");
    if (reader->columns == 0 || reader->columns > (uint64_t)1 << 24)
        return broken(reader, "not walks: a .npy of walks has 1 to 2^24 columns");
    reader->npy = true;
    reader->room = reader->columns;
    reader->vertex = allocate(reader->columns, sizeof *reader->vertex);
    reader->row = allocate(reader->columns, sizeof *reader->row);
    return -1;
}

int walk_reader_open(walk_reader *reader, const char *path, const csaw_graph *graph) {
    memset(reader, 0, sizeof *reader);
    reader->path = path;
    reader->graph = graph;
    reader->file = fopen(path, "rb");
    if (!reader->file) return report_failure("walks %s: %s", path, strerror(errno));
    const int first = fgetc(reader->file); /* a pipe is read once */
    if (first == MAGIC) return open_npy(reader);
    if (first != EOF) ungetc(first, reader->file);
    return -1;
}

static int next_row(walk_reader *reader) {
    if (reader->number == reader->rows) {
        if (fgetc(reader->file) == EOF) return EXIT_OK;
        return report_failure("%s: goes on after the %" PRIu64 " rows of its header", reader->path, reader->rows);
    }
    reader->number++;
    if (fread(reader->row, sizeof *reader->row, reader->columns, reader->file) != reader->columns)
        return report_failure("%s: ends in row %" PRIu64 ", but its header says %" PRIu64 " rows; the file is cut off",
                              reader->path, reader->number, reader->rows);
    reader->count = 0;
    while (reader->count < reader->columns && reader->row[reader->count] != CSAW_NONE) {
        reader->vertex[reader->count] = reader->row[reader->count];
        reader->count++;
    }
    for (size_t i = reader->count; i < reader->columns; i++)
        if (reader->row[i] != CSAW_NONE)
            return report_failure("%s row %" PRIu64 ": vertex %" PRIu32 " after the walk's end in column %zu",
                                  reader->path, reader->number, reader->row[i], i);
    return -1;
}

/* Of the word at text, as much as a message shows. */
static int word_length(const char *text) {
    size_t length = strcspn(text, " \t\r\n");
    return length < 20 ? (int)length : 20;
}

/* The vertex that the word at `at` names; *end: past the word. UINT64_MAX, and the word kept, if there is none of that
 * name. */
static uint64_t find_named(walk_reader *reader, char *at, char **end) {
    csaw_vertex vertex;
    *end = at + strcspn(at, " \t\r\n");
    const char after = **end;
    **end = 0;
    const bool found = csaw_graph_find(reader->graph, at, &vertex) == CSAW_OK;
    if (!found && !reader->unknown[0]) snprintf(reader->unknown, sizeof reader->unknown, "%.47s", at);
    **end = after;
    return found ? vertex : UINT64_MAX;
}

/* A number; *end == at if the word there is none. */
static uint64_t read_number(char *at, char **end, const char *line_end) {
    uint64_t vertex = 0;
    for (*end = at; **end >= '0' && **end <= '9' && *end - at < 19; ++*end)
        vertex = vertex * 10 + (uint64_t)(**end - '0');
    if ((**end && !strchr(" \t\r\n", **end)) || (!**end && *end != line_end)) *end = at;
    return vertex;
}

static int next_line(walk_reader *reader) {
    const csaw_names names = csaw_graph_names(reader->graph);
    const bool named = names.number || names.text;
    ssize_t length = text_line(reader->file, reader->number == 0, &reader->line, &reader->line_room);
    if (length < 0) {
        if (ferror(reader->file)) return report_failure("walks %s: %s", reader->path, strerror(errno));
        return EXIT_OK;
    }
    reader->number++;
    reader->count = 0;
    reader->unknown[0] = 0;
    for (char *at = reader->line;;) {
        while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') at++;
        if (at == reader->line + length) break;
        char *end;
        const uint64_t vertex = named ? find_named(reader, at, &end) : read_number(at, &end, reader->line + length);
        if (end == at)
            return report_failure("%s line %" PRIu64
                                  ": '%.*s' is not a vertex; a walk is whole numbers with blanks between",
                                  reader->path, reader->number, word_length(at), at);
        if (reader->count == reader->room) {
            reader->room = reader->room ? 2 * reader->room : 128;
            reader->vertex = reallocate(reader->vertex, reader->room, sizeof *reader->vertex);
        }
        reader->vertex[reader->count++] = vertex;
        at = end;
    }
    if (reader->count == 0)
        return report_failure("%s line %" PRIu64 " is empty; a walk has at least its first vertex", reader->path,
                              reader->number);
    return -1;
}

int walk_reader_next(walk_reader *reader) { return reader->npy ? next_row(reader) : next_line(reader); }

void walk_reader_close(walk_reader *reader) {
    if (reader->file) fclose(reader->file);
    free(reader->vertex);
    free(reader->line);
    free(reader->row);
}

/* SPDX-License-Identifier: MIT */
/* runtime/base/edge_line.h - the lines of an edge list, from a stretch of text in memory. */
#ifndef CSAW_BASE_EDGE_LINE_H
#define CSAW_BASE_EDGE_LINE_H

#include <csaw/types.h>
#include <locale.h>

/* What can be wrong with a line, and what to do about it. */
#define CSAW__LINE_FAULTS(X)                                                                                           \
    X(NONE, "", "")                                                                                                    \
    X(NO_SOURCE, "it does not begin with a vertex id, a whole number from 0",                                          \
      "fix the line, or put # before it if it is a heading")                                                           \
    X(NO_TARGET, "the second column is not a vertex id, a whole number from 0",                                        \
      "write `src dst`, separated by blanks, tabs or one comma")                                                       \
    X(ONE_COLUMN, "it has one column, and an edge has two", "write `src dst`, separated by blanks, tabs or one comma") \
    X(NEGATIVE, "a vertex id is negative, and ids begin at 0", "renumber the vertices from 0")                         \
    X(TOO_LARGE, "a vertex id is above the limit of 4294967293 (2^32 - 3)", "renumber the vertices from 0")            \
    X(NO_WEIGHT, "it has no third column, and the weight is read from there",                                          \
      "add the weight, or load with format \"el\" to ignore weights")                                                  \
    X(BAD_WEIGHT, "the third column is not a finite decimal number",                                                   \
      "fix the weight, or load with format \"el\" to ignore the column")                                               \
    X(WEIGHT_RANGE, "the weight is outside what a float holds, 1.4e-45 to 3.4e38", "scale all weights")                \
    X(LONE_RETURN, "a carriage return stands inside the line", "end every line with a line feed, as dos2unix does")

typedef enum csaw__line_fault {
#define X(name, wrong, remedy) CSAW__LINE_##name,
    CSAW__LINE_FAULTS(X)
#undef X
} csaw__line_fault;

typedef struct csaw__lines {
    /* in */
    const char *text, *end; /* whole lines: end[-1] is a line feed, unless text == end */
    bool weighted;
    locale_t plain; /* the "C" locale: a point is a point in every country */
    /* out */
    csaw_vertex *src, *dst; /* room for (end - text) / 4 + 1: no edge takes fewer bytes */
    float *weight;          /* the same, if weighted */
    uint64_t num_edges;
    uint64_t num_lines;    /* read, the one at fault included */
    uint64_t num_vertices; /* largest id + 1 */
    csaw__line_fault fault;
    const char *fault_line; /* where the line at fault begins */
} csaw__lines;

/* Reads the edges up to the first fault. */
void csaw__lines_read(csaw__lines *lines);

/* The columns of the first edge in the text, at most 3; 0 if the text holds comments and blank lines alone. */
int csaw__lines_columns(const char *text, const char *end);

#endif

/* SPDX-License-Identifier: MIT */
/* runtime/base/edge_line.h - the edges in a stretch of text, one a line, by rules that each format sets. */
#ifndef CSAW_BASE_EDGE_LINE_H
#define CSAW_BASE_EDGE_LINE_H

#include "runtime/base/load_words.h"

#include <locale.h>

/* What a column holds. */
typedef enum csaw__field {
    CSAW__FIELD_SKIP,
    CSAW__FIELD_SRC,
    CSAW__FIELD_DST,
    CSAW__FIELD_WEIGHT,
    CSAW__FIELD_TYPE,
    CSAW__FIELD_TIME
} csaw__field;
const char *csaw__field_name(csaw__field field); /* as in the option `columns` */

enum { CSAW__MAX_FIELDS = 64 };

typedef struct csaw__line_rules {
    unsigned char fields[CSAW__MAX_FIELDS]; /* csaw__field: the last one is wanted */
    int num_fields;
    char separator;     /* of columns; 0 = blanks, tabs or one comma */
    char comments[2];   /* letters that begin a comment line; 0 = none */
    char prefix;        /* a letter before every edge; 0 = none */
    bool words_allowed; /* else ids must be numbers from lowest to highest */
    bool lone_vertices; /* comments `# csaw vertex NAME` count */
    int64_t lowest, highest;
    const char *range_remedy;
    locale_t plain; /* the "C" locale: a point is a point in every country */
} csaw__line_rules;

enum { CSAW__LINE_BYTES = 1 << 20 }; /* the longest line */

/* What can be wrong with a line, and what to do about it. The first group speaks of a column. */
#define CSAW__LINE_FAULTS(X)                                                                                        \
    X(NONE, "", "")                                                                                                 \
    X(MISSING, "is missing",                                                                                        \
      "complete the line, say which columns there are, such as columns \"src,dst\", or load as \"csv\" if "         \
      "semicolons separate them")                                                                                   \
    X(NOT_ID, "is not a vertex id, a whole number", "fix the line, or comment it out if it is a heading")           \
    X(RANGE, "is out of range", "")                                                                                 \
    X(BAD_WEIGHT, "is not a finite decimal number",                                                                 \
      "fix it, or say which columns to read, such as columns \"src,dst\"")                                          \
    X(WEIGHT_RANGE, "is outside what a float holds, 1.4e-45 to 3.4e38", "scale all weights")                        \
    X(BAD_TYPE, "is not a whole number from 0 to 4294967295", "number the types")                                   \
    X(BAD_TIME, "is not a whole number of 64 bits", "give times as whole numbers of some unit, such as seconds")    \
    X(OPEN_QUOTE, "begins with a quote that does not end it",                                                       \
      "close the quote in the same line, and double quotes inside")                                                 \
    X(CONTROL, "holds a control character", "is it a text file? Fix the name")                                      \
    X(LONE_RETURN, "a carriage return stands inside the line", "end every line with a line feed, as dos2unix does") \
    X(PREFIX, "it does not begin with the letter of an edge", "fix the line")                                       \
    X(LONG, "the line is longer than 1048576 bytes, the most that is read", "is it an edge list, with line feeds?") \
    X(WORD, "", "") /* not wrong: the names are words, read the file as such */                                     \
    X(WIDE, "", "") /* not wrong: an id does not fit 32 bits, read the stretch as such */                           \
    X(MEMORY, "", "")

typedef enum csaw__line_fault {
#define X(name, wrong, remedy) CSAW__LINE_##name,
    CSAW__LINE_FAULTS(X)
#undef X
} csaw__line_fault;

typedef enum csaw__id_kind {
    CSAW__IDS_NARROW, /* csaw_vertex */
    CSAW__IDS_WIDE,   /* int64_t */
    CSAW__IDS_WORDS   /* csaw_vertex: places in `words` */
} csaw__id_kind;

typedef struct csaw__lines {
    /* in */
    const csaw__line_rules *rules;
    const char *text, *end; /* whole lines: end[-1] is a line feed, unless text == end; CSAW__TEXT_SLACK follows */
    csaw__id_kind kind;
    uint64_t capacity; /* lines in the text */
    /* out */
    void *src, *dst; /* [capacity]; at the end of src stand the vertices without an edge, num_lone of them */
    float *weight;   /* [capacity], if there is such a column; so the others */
    uint32_t *type;
    int64_t *time;
    csaw__words *words;
    uint64_t num_edges, num_lone;
    uint64_t num_lines; /* read, the one at fault included */
    int64_t largest;    /* id, of numbers; -1 = none */
    csaw__line_fault fault;
    int fault_column;       /* from 0 */
    const char *fault_line; /* where the line at fault begins */
} csaw__lines;

/* Reads the edges up to the first fault. */
void csaw__lines_read(csaw__lines *lines);

/* The first line from `at` on that is neither blank nor a comment, at its first column; end if there is none. */
const char *csaw__lines_first(const csaw__line_rules *rules, const char *at, const char *end);
/* The text of a column of the line at `at`, without its quotes; NULL if the line ends before. */
const char *csaw__line_column(const csaw__line_rules *rules, const char *at, int column, uint64_t *length);
/* Is that text a whole number of 64 bits? */
bool csaw__is_number(const char *text, uint64_t length, int64_t *value);

#endif
